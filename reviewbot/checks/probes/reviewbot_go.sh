# Vet (`vet CHANGED…`), lint (`lint CHANGED…`) or test (`test [PACKAGE]`) the module at the top, and
# those below it in which something changes; test those as well that import one of these by go.work
# or by a path, and all if go.work changes. Of each module, packages are tested on which the change
# may have an effect. `test ID…` runs these tests again, each in its package.
# Appends to /out/go.txt, for each module, or package of tests that run again,
#   module FOLDER PATH        what follows is about it, until the next
#   read FILE                 a file that is compiled here, so that vet reads it
#   FILE:LINE:func NAME(      functions of test files
#   what vet, golangci-lint or the compiler says, events of `go test -json`, and blocks of the
#       coverage profile
# and in the end `ended`. Ends with 75, so that nothing is recorded, if a module was not downloaded.
command -v go >/dev/null || exit 127
[ "$1" != lint ] || command -v golangci-lint >/dev/null || exit 127
exec >>/out/go.txt 2>&1
export GOFLAGS= # as `go test` does: what is vendored, and workspaces
# What the user compiled before is only read: what is new is written beside links to it.
export GOCACHE=/tmp/go-build
mkdir "$GOCACHE"
if [ -d /tmp/go-cache ]; then
    # golangci-lint has `go list` write again what it wrote in this folder before.
    [ "$1" != lint ] || tar -C /tmp/go-cache -cf - --exclude='*-d' . | tar -C "$GOCACHE" -xf -
    cp -rsn /tmp/go-cache/. "$GOCACHE"
fi
mode=$1 changed=/reviewbot/changed.json
shift
if [ "$mode" != test ]; then
    changed=/tmp/changed
    printf '"%s"\n' "$@" >$changed
elif [ -n "${1-}" ] && [ "${1#./}" = "$1" ]; then
    mode=again
    printf '%s\n' "$@" >/tmp/ids
    # Names of parts may have a slash, and before Go 1.20 a pattern has no alternatives with parts:
    # all tests run that are called so, and of their parts what begins like one of these.
    joined() { sed 's/[][\.*^$+?(){}|]/\\&/g' | sort -u | paste -sd '|' -; }
    set -- .
    if ! grep -qv :: /tmp/ids; then
        pattern="^($(sed -E 's#^[^:]*::([^/]+).*#\1#' /tmp/ids | joined))$"
        grep -qv '::.*/' /tmp/ids ||
            pattern="$pattern/^($(sed -E 's#^[^:]*::[^/]+/([^/]+).*#\1#' /tmp/ids | joined))"
        set -- -run "$pattern" .
    fi
fi
listed='{{.Dir}}{{"\t"}}{{.ImportPath}}{{"\t"}}{{if not .DepOnly}}. {{join .Deps " "}}{{end}}'
files='{{range .%s}}read {{$.Dir}}/{{.}}{{"\\n"}}{{end}}'
files=$(printf "$files$files$files$files" GoFiles CgoFiles TestGoFiles XTestGoFiles)

if [ "$mode" = again ]; then
    sed -E 's#::.*##; s#[^/]*\.go$##; s#$#/.#; s#^/+##' /tmp/ids | sort -u >/tmp/modules
else
    find . -name go.mod -not -path '*/vendor/*' -not -path '*/testdata/*' -not -path '*/[._]*' |
        sort >/tmp/modules
    while read -r file; do
        folder=$(dirname "$file")
        ! grep -qsF "\"${folder#./}/" $changed || echo "$file"
    done </tmp/modules >/tmp/changing
    grep -oE '"([^"\\]|\\.)*"' $changed >/tmp/names
    sed 's#^"##; s#"$##; s#\\\(.\)#\1#g' /tmp/names |
        while read -r file; do printf '%s\n' "$PWD/$file"; done >/tmp/files
    # The one at the top changes if something does that is in no other.
    sed -n 's#^\./\(.*/\)go\.mod$#"\1#p' /tmp/modules >/tmp/below
    ! grep -qvF -f /tmp/below /tmp/names || echo ./go.mod >>/tmp/changing
    while read -r file; do
        file=${file#.}
        printf '%s\n' "$PWD${file%go.mod}"
    done </tmp/changing >/tmp/changed-modules
    # These come first: time may run out.
    { grep -xF -f /tmp/changing /tmp/modules; grep -vxF -f /tmp/changing /tmp/modules; } >/tmp/ordered
    mv /tmp/ordered /tmp/modules
fi

imports_changed() {
    [ "$mode" = test ] || return 1
    ! grep -qE '"go\.work(\.sum)?"' $changed || return 0
    [ -f go.work ] || grep -qE '=> *\.' "$1/go.mod" || return 1
    (cd "$1" && go list -e -deps -test -f '{{with .Module}}{{.Dir}}/{{end}}' ./...) 2>/dev/null |
        grep -qxF -f /tmp/changed-modules
}

vet() {
    go vet ./... || echo "vet failed"
}

lint() {
    case $(golangci-lint version) in
    *"version 1."* | *"version v1."*) text="--out-format=line-number --print-issued-lines=false" ;;
    *) text="--output.text.path=stdout --output.text.print-issued-lines=false"
        text="$text --new-from-merge-base=" ;;
    esac
    golangci-lint run $text --timeout=10m --issues-exit-code=0 --color=never --new=false \
        --new-from-rev= --max-issues-per-linter=0 --max-same-issues=0 ./... ||
        echo "Error: it ended with exit code $?"
}

run_tests() {
    rm -f /tmp/cover
    go test -json -vet=off -count=1 -coverprofile=/tmp/cover "$@" 2>&1 </dev/null |
        grep -vE '"Action":"(start|run|pause|cont)"|"Output":"(=== |--- PASS|ok  )'
    cat /tmp/cover
}

while read -r file; do
    folder=$(dirname "$file")
    [ "$folder" = . ] || [ "$mode" = again ] || grep -qxF "$PWD/${folder#./}/" /tmp/changed-modules ||
        imports_changed "$folder" || continue
    (
        cd "$folder" || exit
        path=$(GOWORK=off go list -m)
        go list -m 2>/dev/null | grep -qxF "$path" || export GOWORK=off
        [ "$mode" != again ] || path=$(go list)
        echo "module $folder $path"
        if [ "$mode" = vet ] || [ "$mode" = lint ]; then
            go list -f "$files" ./... 2>/dev/null
            "$mode"
            exit
        fi
        grep -rn --include='*_test.go' '^func ' .
        if [ $# -gt 0 ]; then
            run_tests "$@"
        else
            go list -e -deps -test -f "$listed" ./... 2>/dev/null |
                awk -v files=/tmp/files -v module="$PWD" -v path="$path" \
                    -f /reviewbot/reviewbot_go_packages.awk >/tmp/packages
            while read -r line; do
                [ -z "$line" ] || run_tests $line
            done </tmp/packages
        fi
    )
done </tmp/modules
echo ended
! grep -E 'GOPROXY=off|cache/download/.*: read-only file system' /out/go.txt |
    grep -qv '"Test":' || exit 75
