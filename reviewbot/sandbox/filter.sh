# Start bubblewrap with a filter of system calls, which is written to a file.
#   filter.sh FILE PROGRAM OPTION...
# Namespaces of the network hold no sockets of AF_VSOCK, which lead from a virtual machine to its
# host, and those of users hold no keyrings: a job has the keys of the session that started it. So
# neither can be used; docker's filter says the same. io_uring would make sockets past a filter.
# See seccomp(2), and linux/filter.h: an instruction is a code (040 loads a number of struct
# seccomp_data, 124 masks it, 025, 045 and 065 compare it (=, >, >=), 005 jumps, 006 ends) in two
# bytes, how many are skipped if it holds and if not, and a number in four, the lowest first.
file=$1
shift
{
    printf '\040\000\000\000\004\000\000\000' # load the architecture
    printf '\025\000\006\000\076\000\000\300' # x86_64, and x32
    printf '\025\000\012\000\267\000\000\300' # arm64
    printf '\025\000\011\000\363\000\000\300' # riscv64, with the same numbers
    printf '\025\000\010\000\002\001\000\300' # loongarch64, too
    printf '\025\000\013\000\003\000\000\100' # i386
    printf '\040\000\000\000\000\000\000\000' # any other: load the number of the call
    printf '\005\000\000\000\016\000\000\000' # see below
    printf '\040\000\000\000\000\000\000\000' # load the number of the call
    printf '\124\000\000\000\377\377\377\277' # that of x32 has a bit more
    printf '\025\000\014\000\051\000\000\000' # socket: see its argument
    printf '\045\000\012\000\372\000\000\000'
    printf '\065\000\014\011\370\000\000\000' # add_key, request_key, keyctl: no such call
    printf '\040\000\000\000\000\000\000\000' # load the number of the call
    printf '\025\000\010\000\306\000\000\000' # socket
    printf '\045\000\006\000\333\000\000\000'
    printf '\065\000\010\005\331\000\000\000' # add_key, request_key, keyctl
    printf '\040\000\000\000\000\000\000\000' # load the number of the call
    printf '\025\000\004\000\147\001\000\000' # socket
    printf '\025\000\006\000\146\000\000\000' # socketcall, whose arguments cannot be read: no such family
    printf '\045\000\001\000\040\001\000\000'
    printf '\065\000\003\000\036\001\000\000' # add_key, request_key, keyctl
    printf '\025\000\002\004\251\001\000\000' # io_uring_setup: no such call, or else allow
    printf '\040\000\000\000\020\000\000\000' # load the first argument
    printf '\025\000\001\002\050\000\000\000' # AF_VSOCK: no such family, or else allow
    printf '\006\000\000\000\046\000\005\000' # no such call
    printf '\006\000\000\000\141\000\005\000' # no such family
    printf '\006\000\000\000\000\000\377\177' # allow
} >"$file"
exec /usr/bin/env -i "$@" 9<"$file"
