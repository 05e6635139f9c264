/* The lease of the path fabric (docs/design/fabric.md, "Silence"): S's node writes into T's memory and then hears nothing of
 * T. T asks each peer in turns, with the time of its clock in the question; the watcher of S's node gives the time back, and
 * T accepts from that node until LEASE later than this time; before the first answer it accepts without end. A question says whether
 * T's lease has begun. Only those that come after that count for S. Before the first of them is answered S's ranks send nothing, and if
 * that takes too long they report T without a lease. Messages, a put and a task may be lost, late and repeated. A rank of S's node reports
 * PEER_LOST once T can not accept from it any more, and tells C, which puts into the same word. The watcher and the rank are two
 * processes, each of which may be stopped for any time. T looks at the time
 * before it takes anything in, but may be up to LATE behind; a task it takes in first and carries out later. A lease that is over may
 * begin again with an answer to a later question. Shown: what S has sent does not
 * change T's memory after S has reported.
 *
 * Mistakes that must be found: NO_MARGIN (S reports at the end of the lease as it knows it), LEASE_FROM_ARRIVAL (T counts
 * from when the answer comes, which may have been under way for long), NOT_FINAL (S answers after it has reported,
 * and T accepts from it again), COUNTS_FROM_QUESTION (S counts from the last question it has heard, and had answered an older one later), NEVER_LOOKS (T
 * looks for the end of a lease only when it hears of that peer), REMEMBERS_LATER (the watcher answers, and stores after that when it
 * did), COUNTS_FIRST (the first question counts too, and its
 * answer may never come), ASKS_UNCOUNTED (a question that is asked after the end of a lease does not count, and begins another one), SENDS_FIRST (a rank sends before the first such question has been answered), TAKES_TASKS (the end of a lease closes T's memory to
 * puts, and tasks are still taken), CARRIES_OUT_LATER (the lease is looked at when a task is taken in, and not when it is carried out). */
#define LONG_SEARCH
#define LEASE 2
#define LATE 1
#define END 6
#define NONE 255

mtype = { before, open, over };

byte now = 0;
bool has_question[END + 1]; /* in flight, by the time in it; they stay: late and repeated */
bool counts[END + 1];       /* T's lease had begun */
bool has_answer[END + 1];
bool put_in_flight = false;
bool task_in_flight = false;
bool task_is_taken = false;
bool has_reported = false;
byte heard = 0;          /* the latest question that S's node has answered, */
byte answered_at = NONE; /* and when it first did */
mtype lease = before; /* of S's node at T */
byte accepts_until = 0;

/* T has been stopped for at most LATE: time does not go on while it is further behind. */
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

/* The watcher of S's node: first it stores when it answers, if nobody has reported, then it answers. */
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
    :: atomic { answered_at == NONE -> has_reported = true } /* it takes too long */
    fi
#endif
}
