#!/bin/sh
# many_signals.sh SENNIT PROGRAM: events of 8 bits have an index for 31 signals. The puts for the other 9 are
# counted in three of four epochs, since the first only asks for an index; events for the 31 ride with their puts.
set -eu
SENNIT_STATS=many_signals.stats SENNIT_PATHS='self,mapped,fabric:events=8;eager=0;packed=0' \
    "$1" run -n 2 --nodes 2 --timeout 50 "$2"
"$1" stats many_signals.stats | tee many_signals.out
awk '
    $1 " " $2 " " $3 == "puts without index" { without = $4 }
    $1 " " $2 " " $3 " " $4 == "puts with completion data" { with = $5 }
    END { exit with != 3 * 31 || without != 3 * 9 }
' many_signals.out
