#!/bin/sh
# notify_messages.sh SENNIT PROGRAM: what the two ranks of the program have sent. At most 1.1 tasks a
# put, and each was answered, by itself or along with another message.
set -eu
SENNIT_STATS=messages.stats "$1" run -n 2 --nodes 2 --timeout 50 "$2"
"$1" stats messages.stats | tee messages.out
awk '
    function judge() {
        if (ranks > 0 && (tasks < 100000 || tasks > 110000 || answers < 100000)) bad = 1
        tasks = answers = 0
    }
    /^rank/ { judge(); ++ranks }
    $1 == "tasks" && $2 != "sent" { tasks = $2 }
    $1 == "answers" { answers += $(NF - 1) }
    END { judge(); exit bad || ranks != 2 }
' messages.out
