# Start bubblewrap with a filter of system calls, which is written to a file.
#   filter.sh FILE PROGRAM OPTION...
# Namespaces of the network hold no sockets of AF_VSOCK, which lead from a virtual machine to its
# host, so none can be made; docker's filter says the same. io_uring would make them past a filter.
# See seccomp(2), and linux/filter.h: an instruction is a code (040 loads a number of struct
# seccomp_data, 025 compares it, 006 ends) in two bytes, how many are skipped if it is equal and if
# not, and a number in four, the lowest first.
file=$1
shift
{
    printf '\040\000\000\000\000\000\000\000' # load the number of the call
    printf '\025\000\012\000\251\001\000\000' # io_uring_setup: no such call
    printf '\025\000\005\000\051\000\000\000' # socket of x86_64: load its argument
    printf '\025\000\004\000\051\000\000\100' # of x32
    printf '\025\000\003\000\306\000\000\000' # of arm64
    printf '\025\000\002\000\147\001\000\000' # of i386
    printf '\025\000\003\000\146\000\000\000' # socketcall of i386, of which none can be read
    printf '\006\000\000\000\000\000\377\177' # allow
    printf '\040\000\000\000\020\000\000\000' # load the first argument
    printf '\025\000\003\004\050\000\000\000' # AF_VSOCK: no such family, or else allow
    printf '\040\000\000\000\004\000\000\000' # load the architecture, where 102 is another call
    printf '\025\000\001\002\003\000\000\100' # i386: no such family, or else allow
    printf '\006\000\000\000\046\000\005\000' # no such call
    printf '\006\000\000\000\141\000\005\000' # no such family
    printf '\006\000\000\000\000\000\377\177' # allow
} >"$file"
exec /usr/bin/env -i "$@" 9<"$file"
