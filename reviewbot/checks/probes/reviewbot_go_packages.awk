# Choose the packages whose tests a change may break: a line of those in which a file changes, and
# one of others that import one of these, also by a third. The only line is `./...` if none of them
# has a test, before or after the change, or if a go.mod, go.sum or go.work changes.
#   files     a file with the paths of what changes, a line each
#   module    the folder of the module
#   path      the path of the module
# The input is a line for each package and what it imports, which comes before it:
#   FOLDER <tab> PATH <tab> `. PATH…` of all that it imports, if it is in the module
# Tests of a package are `PATH.test`. Of files that are no source, tests may read those in a folder
# `testdata` beside or above them, and others below them.
BEGIN {
    FS = "\t"
    while ((getline file < files) > 0) {
        folder = file
        if (sub(/\/testdata\/.*/, "", folder)) {
            around[folder "/"]
            continue
        }
        all = all || file ~ /\/go\.(mod|sum|work|work\.sum)$/
        # One that is not here is in the other tree, where the same packages have to be chosen.
        has_tests = has_tests || (file ~ /_test\.go$/ && (getline text < file) < 0)
        while (sub(/\/[^\/]*$/, "", folder) && folder) {
            at[folder]
            if (index(folder "/", module "/") == 1) # it may be gone: who imports it says so
                changed[path substr(folder, length(module) + 1)]
            if (file ~ /\.go$/)
                break
        }
    }
}
{
    name = $2
    sub(/ .*/, "", name)
    if ($1 in at)
        changed[name]
    for (folder in around)
        if (index($1 "/", folder) == 1)
            changed[name]
}
$3 && $2 !~ / / { # of the module, and no variant for tests
    are_tests = sub(/\.test$/, "", name)
    is_near = name in changed
    count = split($3, imported, " ")
    for (i = 1; i <= count && !is_near && !(name in chosen); i++)
        if (imported[i] in changed) {
            chosen[name]
            others = others " " name
        }
    if (is_near && !(name in chosen)) {
        chosen[name]
        nearest = nearest " " name
    }
    has_tests = has_tests || (are_tests && name in chosen)
}
END {
    print (all || !has_tests ? "./..." : nearest "\n" others) # in parentheses for busybox
}
