#!/bin/sh
# notify_messages.sh SENNIT PROGRAM: checks the messages that ranks have sent for their notified puts.
# Together, tasks, repeated tasks and all other messages are at most 1.1 per put. Each task was answered, separately
# or with another message. If ranks put to each other, hardly any put waits for the owner's epoch, and a
# put's message names each signal once. A put of 64 KiB is a write with completion data and a task that ends it.
set -eu
# Arguments: the program's WORDS, puts of each rank that puts, number of such ranks, 1 if the puts are long;
# optional limits: the number of waits, and the bytes of a task's message
count() {
    SENNIT_STATS=messages.stats "$sennit" run -n 2 --nodes 2 --timeout 50 "$program" $1
    "$sennit" stats messages.stats | tee messages.out
    awk -v puts="$2" -v wanted="$3" -v are_long="$4" -v most_waits="${5:-}" -v most_bytes="${6:-}" '
        function judge() {
            if (rank == "" || rank >= wanted) return
            ++judged
            if (messages > 1.1 * puts || tasks < 0.99 * puts) bad = 1
            if (most_waits != "" && waits > most_waits) bad = 1
            if (most_bytes != "" && bytes > most_bytes * tasks) bad = 1
            if (are_long && (rides > puts || rides < 0.9 * puts)) bad = 1
        }
        /^rank/ { judge(); rank = $2 + 0; messages = tasks = rides = waits = 0 }
        $2 == "fabric" { waits += $5 }
        $1 == "tasks" || ($1 == "other" && $2 == "messages") { messages += $(NF - 1) }
        $1 == "tasks" && $2 != "sent" { tasks = $2; bytes = $3 }
        $1 == "puts" && $3 == "completion" { rides = $(NF - 1) }
        $1 == "answers" { answers += $(NF - 1) }
        END { judge(); exit bad || judged != wanted || answers < 0.99 * puts * wanted }
    ' messages.out
}
sennit=$1
program=$2
count turns 100000 2 0 5000 130
count strict 50000 2 0 2500
count "stream 8" 100000 1 0
count "stream 65536" 4800 1 1
