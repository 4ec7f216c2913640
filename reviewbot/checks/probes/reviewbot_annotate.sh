# Linters that print annotations of GitHub do not name the files that they are configured to leave
# out: how many they read says whether there are any.
#   reviewbot_annotate.sh 'COMMAND' OPTION FILE...
command=$1 report=$2
shift 2
reads() {
    number=$1
    shift
    $command "$@" 2>&1 | grep -qE "^(Checked|Finished in .* on) $number files?[ .]"
}
reads $# "$@" || for file; do
    name=$(printf '%s' "$file" | sed 's/%/%25/g; s/,/%2C/g; s/:/%3A/g' | tr '\n' ' ')
    ! reads 0 "$file" || printf '::debug file=%s::left out\n' "$name"
done
exec $command "$report" "$@"
