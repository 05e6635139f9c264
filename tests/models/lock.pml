/* The lock (src/lock/lock.cpp). Three ranks acquire it, rank 0 twice. Rank 1 may die at any step. Calls of rank 2
 * may time out.
 * Shown: no two live ranks hold the lock at once; if a rank died while it held the lock, the next holder learns of
 * the death; and no rank waits for ever. While no rank has died, a waiting rank is woken only by its grant. It also
 * looks at the lock's word about once a millisecond, because of deaths.
 *
 * Each access of the source to shared memory is one atomic operation, and one step here. Every change of the word
 * increments `change`, and a compare_swap of the word compares `change`.
 *
 * Mistakes that must be found: SILENT_JOIN, SILENT_LEAVE (the queue changes without a change of the word),
 * BLIND_LEAVE (a rank that gives up does not check whether it holds the lock), BLIND_RELEASE (the release does not
 * compare the word), FORGETS_WAITERS (a hand-over clears the waiters' mark), NO_LOOK (a waiting rank never looks at
 * the word), STALE_GRANT (a delayed grant overwrites a later one), TELLS_NOBODY (the next holder does not learn of
 * the death). */
#define RANKS 3
#define DEATHS 1
#define FREE 0

byte holder = FREE; /* rank + 1 */
bool waiters = false;
bool died = false;
byte change = 0;
byte tickets = 0;
byte waiting[RANKS];
byte grant[RANKS];

byte deaths = 0;
bool dead[RANKS];
bool inside[RANKS];

#define MAY_DIE                                        \
    if                                                 \
    :: me == 1 && deaths < DEATHS -> deaths++; dead[me] = true; goto over \
    :: true                                            \
    fi

inline load_word() {
    atomic {
        seen = change;
        seen_holder = holder;
        seen_waiters = waiters;
        seen_died = died
    }
}

/* compare_swap. Afterwards `seen` and the seen_ variables are the present word, also after a failure. */
inline swap_word(new_holder, new_waiters, new_died) {
    atomic {
        swapped = (seen == change);
        if
        :: swapped ->
            holder = new_holder;
            waiters = new_waiters;
            died = new_died;
            change++
        :: else
        fi;
        seen = change;
        seen_holder = holder;
        seen_waiters = waiters;
        seen_died = died
    }
}

/* LockView::find_first(). Reads one line in each step. */
inline find_first() {
    first = 0;
    lowest = 255;
    at = 0;
    do
    :: at < RANKS ->
        atomic {
            if
            :: waiting[at] != 0 && waiting[at] < lowest && !dead[at] ->
                first = at + 1;
                lowest = waiting[at]
            :: else
            fi;
            at++
        }
    :: else -> at = 0; break
    od
}

inline tell() {
    if
    :: first != me + 1 ->
        MAY_DIE;
#ifdef STALE_GRANT
        grant[first - 1] = lowest
#else
        atomic {
            if
            :: grant[first - 1] < lowest -> grant[first - 1] = lowest
            :: else
            fi
        }
#endif
    :: else
    fi
}

inline go_in() {
    atomic {
        at = 0;
        do
        :: at < RANKS ->
            assert(at == me || !inside[at] || dead[at]);
            if
            :: inside[at] && dead[at] ->
                assert(seen_died);
                inside[at] = false
            :: else
            fi;
            at++
        :: else -> break
        od;
        assert(!seen_died || deaths > 0);
        inside[me] = true;
        at = 0
    }
}

inline release() {
    MAY_DIE;
    atomic { inside[me] = false; load_word() }
    do
    :: true ->
        first = 0;
        if
        :: seen_waiters -> find_first()
        :: else
        fi;
        MAY_DIE;
#ifdef BLIND_RELEASE
        seen = change;
#endif
#ifdef FORGETS_WAITERS
        swap_word(first, false, false);
#else
        swap_word(first, first != 0, false);
#endif
        if
        :: swapped ->
            if
            :: first != 0 -> tell()
            :: else
            fi;
            break
        :: else
        fi
    od
}

proctype rank(byte me) {
    byte seen, seen_holder, first, lowest, at, ticket, round;
    bool seen_waiters, seen_died, swapped, got, timed;
    do
    :: round == 2 || (round == 1 && me != 0) -> break
    :: else ->
        round++;
        got = false;
        if
        :: me == 2 -> timed = true
        :: timed = false
        fi;
        load_word();
        /* try_once(), then join_queue() */
        do
        :: seen_holder == FREE && !got ->
            MAY_DIE;
            swap_word(me + 1, false, false);
            if
            :: swapped -> got = true
            :: else
            fi
        :: else -> break
        od;
        if
        :: got -> goto in
        :: else
        fi;
        atomic { tickets++; ticket = tickets }
        MAY_DIE;
        waiting[me] = ticket;
        MAY_DIE;
        load_word();
        do
        :: seen_holder == FREE ->
            swap_word(me + 1, false, false);
            if
            :: swapped -> waiting[me] = 0; goto in
            :: else
            fi
        :: else ->
#ifdef SILENT_JOIN
            waiters = true;
            break
#else
            swap_word(seen_holder, true, seen_died);
            if
            :: swapped -> break
            :: else
            fi
#endif
        od;
        /* wait_in_queue() */
        do
        :: true ->
            MAY_DIE;
            load_word();
            if
            :: seen_holder == me + 1 -> waiting[me] = 0; goto in
            :: seen_holder == FREE ->
                swap_word(me + 1, false, false);
                if
                :: swapped -> waiting[me] = 0; goto in
                :: else
                fi
            :: seen_holder != FREE && seen_holder != me + 1 && dead[seen_holder - 1] ->
                find_first();
                MAY_DIE;
#ifdef TELLS_NOBODY
                swap_word(first, true, false);
#else
                swap_word(first, true, true);
#endif
                if
                :: swapped -> tell()
                :: else
                fi
            :: else ->
                if
                :: grant[me] == ticket
#ifndef NO_LOOK
                :: deaths > 0 && (holder == FREE || holder == me + 1 || dead[holder - 1])
#endif
                :: timed -> goto leave
                fi
            fi
        od;
leave:
        waiting[me] = 0;
        MAY_DIE;
        load_word();
        do
#ifndef BLIND_LEAVE
        :: seen_holder == me + 1 -> goto in
#endif
#ifdef SILENT_LEAVE
        :: seen_holder != me + 1 -> goto next
#else
#ifdef BLIND_LEAVE
        :: true ->
#else
        :: seen_holder != me + 1 ->
#endif
            swap_word(seen_holder, seen_waiters, seen_died);
            if
            :: swapped -> goto next
            :: else
            fi
#endif
        od;
in:
        go_in();
        release();
next:
        skip;
        /* Clears variables that are no longer needed, which saves states. */
        d_step {
            seen = 0; seen_holder = 0; seen_waiters = false; seen_died = false;
            first = 0; lowest = 0; at = 0; ticket = 0; swapped = false; got = false; timed = false
        }
    od;
over:
    skip
}

init {
    atomic {
        run rank(0);
        run rank(1);
        run rank(2)
    }
}
