/* The lock under which ranks update a segment of SENNIT_ALLOC_ACCUMULATE (src/op/update_lock.cpp). Three ranks
 * change an array of two elements, each of them twice. Ranks 0 and 1 may die at any step, also between two
 * elements. Calls of rank 2 may time out.
 * Shown: no two live ranks hold the lock at once; no stored update is lost; after a death the other ranks continue;
 * and a call that timed out has changed nothing.
 *
 * The word of the lock contains rank + 1, or 0 if the lock is free. A change of an element is a load and a store,
 * which are two steps.
 *
 * Mistakes that must be found: NO_LOOK (no rank checks whether the holder is dead), TAKES_FROM_LIVING (a rank takes
 * the lock from its holder without this check), BLIND_TAKE (a rank takes the lock of a dead holder without
 * comparing the word, so two ranks may take it), BLIND_FREE (a rank that finds a dead holder marks the lock as free
 * without comparing the word). */
#define RANKS 3
#define DEATHS 2

byte holder = 0;
byte deaths = 0;
bool dead[RANKS];
bool inside[RANKS];
byte element[2];
byte stored[2]; /* updates that ranks have stored */
byte finished = 0;

#define MAY_DIE                                                               \
    if                                                                        \
    :: me < 2 && deaths < DEATHS -> atomic { deaths++; dead[me] = true }; goto over \
    :: true                                                                   \
    fi

inline swap(from, to) {
    atomic {
        got = (holder == from);
        if
        :: got -> holder = to
        :: else
        fi
    }
}

inline change(i) {
    value = element[i];
    MAY_DIE;
    element[i] = value + 1;
    mine[i]++;
    MAY_DIE
}

proctype rank(byte me) {
    byte seen, value, round;
    byte mine[2];
    bool got;
    do
    :: round == 2 -> break
    :: else ->
        round++;
        /* try_update_lock(), then wait_for_update_lock() */
        do
        :: true ->
            MAY_DIE;
            swap(0, me + 1);
            if
            :: got -> break
            :: else
            fi;
            seen = holder;
            if
#ifdef TAKES_FROM_LIVING
            :: seen != 0 && seen != me + 1 ->
#else
#ifdef NO_LOOK
            :: false ->
#else
            :: seen != 0 && seen != me + 1 && dead[seen - 1] ->
#endif
#endif
                MAY_DIE;
#ifdef BLIND_TAKE
                holder = me + 1;
                break
#else
#ifdef BLIND_FREE
                holder = 0
#else
                swap(seen, me + 1);
                if
                :: got -> break
                :: else
                fi
#endif
#endif
            :: else ->
                if
                :: holder == 0
#ifndef NO_LOOK
                :: holder != 0 && dead[holder - 1]
#endif
                :: me == 2 -> goto next /* TIMEOUT */
                fi
            fi
        od;
        atomic {
            assert(!inside[0] || dead[0]);
            assert(!inside[1] || dead[1]);
            assert(!inside[2]);
            inside[me] = true
        }
        change(0);
        change(1);
        atomic { inside[me] = false; holder = 0 }
next:
        skip
    od;
over:
    /* Each rank has counted its stores in `mine`. */
    atomic {
        stored[0] = stored[0] + mine[0];
        stored[1] = stored[1] + mine[1];
        finished++
    }
}

init {
    atomic {
        run rank(0);
        run rank(1);
        run rank(2)
    }
    finished == RANKS;
    assert(element[0] == stored[0] && element[1] == stored[1])
}
