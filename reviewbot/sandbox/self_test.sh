# Runs in the sandbox, and ends with 1 and a reason if its walls are not there.
fail() { echo "$1" >&2; exit 1; }
while read -r key value rest; do
    case $key in
        CapPrm:|CapEff:|CapBnd:) [ "$value" = 0000000000000000 ] || fail "it leaves capabilities" ;;
        NoNewPrivs:) [ "$value" = 1 ] || fail "it leaves privileges" ;;
    esac
done </proc/self/status
for folder in / /usr /etc /dev; do
    (: >"$folder/reviewbot") 2>/dev/null && fail "$folder is writable"
done
while read -r interface rest; do
    case $interface in Iface|lo) ;; *) fail "it leaves a network" ;; esac
done </proc/net/route
