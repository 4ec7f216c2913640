# Test each module of the tree, or the packages that are named. Appends to /out/go.txt, for each
# module,
#   module FOLDER PATH        what follows is about it, until the next
#   FILE:LINE:func NAME(      functions of test files
#   events of `go test -json`, what its compiler says, and blocks of the coverage profile
# and in the end `ended`.
command -v go >/dev/null || exit 127
exec >>/out/go.txt 2>&1
export GOFLAGS= # as `go test` does: what is vendored, and workspaces
# What the user compiled before is only read: what is new is written beside links to it.
export GOCACHE=/tmp/go-build
mkdir "$GOCACHE"
[ ! -d /tmp/go-cache ] || cp -rs /tmp/go-cache/. "$GOCACHE"
find . -name go.mod -not -path '*/vendor/*' -not -path '*/testdata/*' | sort |
    while read -r file; do
        (
            cd "$(dirname "$file")" || exit
            path=$(GOWORK=off go list -m)
            go list -m 2>/dev/null | grep -qxF "$path" || export GOWORK=off
            echo "module $(dirname "$file") $path"
            grep -rn --include='*_test.go' '^func ' .
            go test -json -count=1 -coverprofile=/tmp/cover "${@:-./...}" 2>&1 |
                grep -vE '"Action":"(start|run|pause|cont)"|"Output":"(=== |--- PASS|ok  )'
            cat /tmp/cover
        )
    done
echo ended
