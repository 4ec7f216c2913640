# Start bubblewrap with a filter of system calls, which is written to a file.
#   filter.sh FILE PROGRAM OPTION...
# Namespaces of the network hold no sockets of AF_VSOCK, which lead from a virtual machine to its
# host, so none can be made; docker's filter says the same. io_uring would make them past a filter.
# See seccomp(2), and linux/filter.h for codes: an instruction has a code, how many are skipped if
# it holds and if not, and a number. Addresses are those of struct seccomp_data.
load=32 equal=21 end=6
allow=$((0x7fff0000)) no_family=$((0x50000 + 97)) no_call=$((0x50000 + 38))
file=$1
shift
instruction() {
    printf "$(printf '\\%03o' "$1" 0 "$2" "$3" \
        $(($4 & 255)) $(($4 >> 8 & 255)) $(($4 >> 16 & 255)) $(($4 >> 24 & 255)))"
}
{
    instruction $load 0 0 0 # the number of the call
    instruction $equal 10 0 425 # io_uring_setup
    instruction $equal 5 0 41 # socket of x86_64
    instruction $equal 4 0 $((0x40000029)) # its x32
    instruction $equal 3 0 198 # of arm64
    instruction $equal 2 0 359 # of i386
    instruction $equal 3 0 102 # socketcall of i386, whose arguments a filter cannot read
    instruction $end 0 0 $allow
    instruction $load 0 0 16 # the first argument
    instruction $equal 3 4 40 # AF_VSOCK
    instruction $load 0 0 4 # the architecture, where 102 is another call
    instruction $equal 1 2 $((0x40000003)) # i386
    instruction $end 0 0 $no_call
    instruction $end 0 0 $no_family
    instruction $end 0 0 $allow
} >"$file"
exec /usr/bin/env -i "$@" 9<"$file"
