#!/bin/sh
# Two ranks whose network carries nothing, because each has its own loopback interface. Broken by an init that
# tries forever to reach the other rank, or by a library that treats that rank as dead.
#     unreached.sh SENNIT
set -eu
unshare -rn ip link set lo up 2> /dev/null || {
    echo "skipped: no network namespaces here"
    exit 77
}
export SENNIT_PATHS="self,mapped,fabric:host=127.0.0.1"
out=$("$1" run -n 2 --nodes 2 --timeout 60 sh -c '
    [ "$SENNIT_RANK" = 0 ] || exec unshare -rn sh -c "ip link set lo up; exec \"\$@\"" sh "$@"
    exec "$@"' sh "$1" info --peers 2>&1)
echo "$out"
echo "$out" | grep -q "rank 1 does not answer by the network and counts as out of reach"
echo "$out" | grep -q "fabric  not taken: the peer does not answer by it: "
