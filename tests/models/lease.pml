/* The lease of the path fabric (docs/design/fabric.md, "Silence"): S puts into T's memory and then hears nothing of
 * T. T asks each peer in turns, with the time of its clock in the question; a peer that answers gives T the time back, and
 * T accepts from that peer until LEASE later than this time. Messages and the put may be lost, late and repeated. S
 * reports PEER_LOST once T can not accept from it any more, and tells C, which puts into the same word. T looks at the time
 * before it takes anything in, but may be up to LATE behind. Shown: what S has put does not land after S has reported.
 *
 * Mistakes that must be found: NO_MARGIN (S reports at the end of the lease as it knows it), LEASE_FROM_ARRIVAL (T counts
 * from when the answer comes, which may have been under way for long), NOT_FINAL (S answers after it has reported,
 * and T accepts from it again), COUNTS_FROM_QUESTION (S counts from the last question it has heard, and had answered an older one later), NEVER_LOOKS (T
 * looks for the end of a lease only when it hears of that peer). */
#define LEASE 3
#define LATE 1
#define END 8

byte now = 0;
bool has_question[END + 1]; /* in flight, by the time in it; they stay: late and repeated */
bool has_answer[END + 1];
bool put_in_flight = false;
bool open_for_s = true;   /* T's endpoint that S's put was sent to */
byte accepts_until = LEASE;
bool has_reported = false;
byte answered_at = 0;     /* when S last answered; at first the start, which is not before T's */

/* T has been stopped for at most LATE: time does not go on while it is further behind. */
#define T_IS_IN_TIME (!open_for_s || now < accepts_until + LATE)

#ifdef NOT_FINAL
#define LISTENS (now <= END)
#define ANSWERS (now <= END)
#else
#define LISTENS open_for_s
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
    :: atomic { LISTENS && !has_question[now] -> has_question[now] = true }
#ifndef NEVER_LOOKS
    :: atomic { open_for_s && now >= accepts_until -> open_for_s = false }
#endif
    :: atomic {
        LISTENS ->
        select(time : 0 .. END);
        if
        :: has_answer[time] ->
#ifdef NEVER_LOOKS
            if
            :: now >= accepts_until -> open_for_s = false
            :: else
            fi;
#endif
#ifdef LEASE_FROM_ARRIVAL
            accepts_until = now + LEASE
#else
            if
            :: time + LEASE > accepts_until ->
                accepts_until = time + LEASE;
                open_for_s = (now < accepts_until) /* already so, but with NOT_FINAL */
            :: else
            fi
#endif
        :: else
        fi;
        time = 0
    }
    /* The put lands, or is refused for good. */
    :: atomic { put_in_flight && open_for_s -> assert(!has_reported); put_in_flight = false }
    :: atomic { put_in_flight && !open_for_s -> put_in_flight = false }
    od
}

active proctype sender() {
    byte time;
    put_in_flight = true;
end:
    do
    :: atomic {
        ANSWERS ->
        select(time : 0 .. END);
        if
        :: has_question[time] ->
            has_answer[time] = true;
#ifdef COUNTS_FROM_QUESTION
            answered_at = time
#else
            answered_at = now
#endif
        :: else
        fi;
        time = 0
    }
#ifdef NO_MARGIN
    :: atomic { !has_reported && now >= answered_at + LEASE -> has_reported = true }
#else
    :: atomic { !has_reported && now >= answered_at + LEASE + LATE + 1 -> has_reported = true }
#endif
    od
}
