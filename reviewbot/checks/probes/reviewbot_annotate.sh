# Linters that print annotations of GitHub do not name the files that they are configured to leave
# out: how many they read says whether there are any.
#   reviewbot_annotate.sh 'COMMAND' OPTION FILE...
command=$1 report=$2
shift 2
reads() {
    number=$1
    shift
    $command "$@" 2>&1 | grep -qE "(Checked|on) $number files?[ .]"
}
reads $# "$@" || for file; do ! reads 0 "$file" || echo "::debug file=$file::left out"; done
exec $command "$report" "$@"
