# Lint (`clippy`) or test (`test OPTION…`) the package or the workspace here; `twice OPTION…` is for
# a test whose result counts only if it is the same again, without another build. Appends to
# /out/cargo.txt
#   FILE:LINE: … fn NAME      functions of files with tests
#   what cargo, the compiler and the tests print, in the order in which it came
#   built                     before the tests run
#   failed                    where linting found errors
#   FILE:                     a file that was compiled, so that it was linted
# and in the end `ended`. Ends with 75, so that nothing is recorded, if a crate was not fetched or
# cannot be read.
command -v cargo >/dev/null || exit 127
exec >>/out/cargo.txt 2>&1
# The tree is in memory: nothing is kept for debuggers and for later builds.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
export CARGO_TARGET_DIR="$PWD/target" RUSTC_WRAPPER= RUST_BACKTRACE=0
# rustup has no network: a component that rust-toolchain.toml names is hardly one for tests.
export RUSTUP_AUTO_INSTALL=0
export CARGO_TERM_QUIET=false CARGO_TERM_VERBOSE=false
mode=$1
shift
set -- --offline --color never "$@"
if [ "$mode" = clippy ]; then
    cargo clippy --version >/dev/null 2>&1 || mode=check
    # A package that does not compile keeps no other one from being read.
    cargo "$mode" "$@" --workspace --all-targets --keep-going --message-format=json || echo failed
    find target \( -path '*/deps/*.d' -o -path '*/build/*.d' \) -exec cat {} +
else
    grep -rlE --include='*.rs' '#\[.*(test|case)' . | xargs -r -d '\n' grep -nHE '\<fn '
    cargo test "$@" --no-run --message-format=json-render-diagnostics &&
        echo built && cargo test "$@" --no-fail-fast
    first=$?
    if [ "$mode" = twice ]; then
        cargo test "$@" --no-fail-fast >/dev/null 2>&1
        [ $? -eq $first ] || echo 'error: the result of the test varies' >/out/cargo.txt
    fi
fi
echo ended
grep -qx built /out/cargo.txt ||
    ! grep -qE 'offline mode|--offline was specified|Read-only file system|registry/.*: Permission denied|^help: run .rustup ' \
        /out/cargo.txt || exit 75
