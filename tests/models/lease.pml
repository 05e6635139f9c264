/* The lease of the path fabric (docs/design/fabric.md, "Silence"). Ranks of S's node write into T's memory, then
 * hear nothing more from T. T sends questions with the time of its clock. The watcher of S's node returns this
 * time. T accepts data from the node until this time + LEASE. Before the first answer T accepts data without limit.
 * A question says whether T's lease has begun, and S counts only a question that says so. S's ranks send nothing
 * before their node has answered such a question. If that takes too long, they report T as lost without a lease.
 * Questions and answers may be lost, late and repeated. The put and the task may be lost or late. A rank of S's
 * node reports T as lost when T can no longer accept data from this node. The watcher and the rank are two
 * processes, and each may be stopped for any time. T checks the time before it accepts anything, but may notice the
 * end of a lease up to LATE too late. T executes a task some time after it has accepted the task. The answer to a
 * later question may start a lease again that has ended.
 * Shown: no data that S has sent changes T's memory after S has reported T as lost.
 *
 * Mistakes that must be found: NO_MARGIN (S reports at the end of the lease, without a margin), LEASE_FROM_ARRIVAL
 * (T counts the lease from the arrival of the answer, which may have been in flight for long), NOT_FINAL (S answers
 * after its report, and T accepts data from S again), COUNTS_FROM_QUESTION (S counts from the time in the question
 * that it answered last, although it may have answered a newer one before), NEVER_LOOKS (T checks for the end of a
 * lease only when it receives an answer), REMEMBERS_LATER (the watcher answers before it stores the time of its
 * answer), COUNTS_FIRST (S also counts a question from before the lease, whose answer may never arrive),
 * ASKS_UNCOUNTED (after the end of a lease the questions say that no lease has begun, but their answers start
 * another one), SENDS_FIRST (a rank sends before its node has answered a question that counts), TAKES_TASKS (after
 * the end of a lease T refuses puts, but still accepts and executes tasks), CARRIES_OUT_LATER (T checks the lease
 * when it accepts a task, but not when it executes the task). */
#define LONG_SEARCH
#define LEASE 2
#define LATE 1
#define END 6
#define NONE 255

mtype = { before, open, over };

byte now = 0;
bool has_question[END + 1]; /* in flight, by the time in it; stays there: late and repeated */
bool counts[END + 1];       /* the question says that T's lease has begun */
bool has_answer[END + 1];
bool put_in_flight = false;
bool task_in_flight = false;
bool task_is_taken = false;
bool has_reported = false;
byte heard = 0;          /* the time in the latest question that S's node has answered */
byte answered_at = NONE; /* time of the first answer to this question */
mtype lease = before; /* of S's node at T */
byte accepts_until = 0;

/* T is stopped for at most LATE: the clock waits until T has noticed the end of the lease. */
#define T_IS_IN_TIME (lease != open || now < accepts_until + LATE)

#ifdef NOT_FINAL
#define ANSWERS (now <= END)
#else
#define ANSWERS (!has_reported)
#endif

active proctype clock() {
end:
    do
    :: atomic {
#ifdef NEVER_LOOKS
        now < END ->
#else
        now < END && T_IS_IN_TIME ->
#endif
        now++
    }
    od
}

active proctype target() {
    byte time;
end:
    do
#ifdef ASKS_UNCOUNTED
    :: atomic { !has_question[now] -> has_question[now] = true; counts[now] = (lease == open) }
#else
    :: atomic { !has_question[now] -> has_question[now] = true; counts[now] = (lease != before) }
#endif
#ifndef NEVER_LOOKS
    :: atomic { lease == open && now >= accepts_until -> lease = over }
#endif
    :: atomic {
        select(time : 0 .. END);
        if
        :: has_answer[time] ->
#ifdef NEVER_LOOKS
            if
            :: lease == open && now >= accepts_until -> lease = over
            :: else
            fi;
#endif
#ifdef LEASE_FROM_ARRIVAL
            accepts_until = now + LEASE;
            if
            :: lease == before -> lease = open
            :: else
            fi
#else
            if
            :: time + LEASE > accepts_until ->
                accepts_until = time + LEASE;
                lease = (now < accepts_until -> open : over)
            :: else
            fi
#endif
        :: else
        fi;
        time = 0
    }
    /* The put lands, or is refused for good. */
    :: atomic { put_in_flight && lease != over -> assert(!has_reported); put_in_flight = false }
    :: atomic { put_in_flight && lease == over -> put_in_flight = false }
#ifdef TAKES_TASKS
    :: atomic { task_in_flight -> task_is_taken = true; task_in_flight = false }
    :: atomic { task_is_taken -> assert(!has_reported); task_is_taken = false }
#else
    :: atomic { task_in_flight -> task_is_taken = (lease != over); task_in_flight = false }
#ifdef CARRIES_OUT_LATER
    :: atomic { task_is_taken -> assert(!has_reported); task_is_taken = false }
#else
    :: atomic { task_is_taken && lease != over -> assert(!has_reported); task_is_taken = false }
    :: atomic { task_is_taken && lease == over -> task_is_taken = false }
#endif
#endif
    od
}

#ifdef COUNTS_FIRST
#define IS_COUNTED(time) true
#else
#define IS_COUNTED(time) counts[time]
#endif

/* The watcher of S's node. Unless T was reported, it stores the time of its answer and then answers. */
active proctype watcher() {
    byte time;
    bool is_between = false;
end:
    do
    :: atomic {
        ANSWERS && !is_between ->
        select(time : 0 .. END);
        if
        :: has_question[time] ->
#ifdef REMEMBERS_LATER
            has_answer[time] = true;
#else
            if
#ifdef COUNTS_FROM_QUESTION
            :: IS_COUNTED(time) -> answered_at = time
#else
            :: (IS_COUNTED(time)) && (answered_at == NONE || time > heard) -> heard = time; answered_at = now
#endif
            :: else
            fi;
#endif
            is_between = true
        :: else -> time = 0
        fi
    }
    :: atomic {
        is_between ->
#ifdef REMEMBERS_LATER
        if
        :: IS_COUNTED(time) -> answered_at = now
        :: else
        fi;
#else
        has_answer[time] = true;
#endif
        is_between = false;
        time = 0
    }
    od
}

#ifdef NO_MARGIN
#define MAY_REPORT (answered_at != NONE && now >= answered_at + LEASE)
#else
#define MAY_REPORT (answered_at != NONE && now >= answered_at + LEASE + LATE + 1)
#endif

/* A rank of S's node. */
active proctype rank() {
#ifdef SENDS_FIRST
    atomic { put_in_flight = true; task_in_flight = true }
end1:
    atomic { MAY_REPORT || answered_at == NONE -> has_reported = true }
#else
    if
    :: atomic { answered_at != NONE -> put_in_flight = true; task_in_flight = true };
end1:
        atomic { MAY_REPORT -> has_reported = true }
    :: atomic { answered_at == NONE -> has_reported = true } /* no counted question for too long */
    fi
#endif
}
