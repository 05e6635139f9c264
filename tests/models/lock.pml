/* The lock (src/lock/lock.cpp): three ranks come, rank 0 twice; rank 1 may die at any step,
 * rank 2 may have a time limit. Shown: never two live ranks inside; a rank that comes in after
 * one that died inside is told so; and nobody waits for ever. While nobody has died, a rank that
 * waits is woken by its grant alone; the look at the lock's word about once a millisecond is there
 * for deaths.
 *
 * Every shared step of the source is one atomic operation and one step here. A compare_swap of the
 * word compares `change`, which every change of the word counts up.
 *
 * Mistakes that must be found: SILENT_JOIN, SILENT_LEAVE (the queue changes, the word does not),
 * BLIND_LEAVE (does not look whether it was given the lock), BLIND_RELEASE (stores the word),
 * FORGETS_WAITERS (hands over without the mark), NO_LOOK, STALE_GRANT (a
 * grant that was under way for long hides a later one), TELLS_NOBODY (of a death inside). */
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

/* compare_swap; what is there afterwards is seen in both cases. */
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

/* LockView::find_first(): one line after the other. */
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

/* A rank that died after release() had begun is not inside any more: the word it left says so. */
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
        /* What is over is forgotten, so that runs which differ in it are one. */
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
