/* Sleeping and waking (src/runtime/wait.hpp, wait.cpp): two threads of a rank wait for a word each,
 * two other ranks set one word each, and all meet at the rank's doorbell. One setter makes a fence,
 * the other leaves that to the sleepers, which make one for all processors. Shown: nobody sleeps
 * for ever on a word that was set. The bound of a sleep (the tick) is left out, so that nothing but a
 * ring ends it.
 *
 * Mistakes that must be found: NO_SETTER_FENCE, NO_SLEEPER_FENCE, NO_BARRIER, LATE_RINGS (the count of rings is
 * read after the last look at the word), WAKES_ONE (instead of all). */
#define PROCESSES 4
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define SLEEPERS 2 /* index of Doorbell::sleepers in memory, after the two words waited for */
#define RINGS 3
#include "memory.pml"

bool is_asleep[2];

/* announce_sleep() */
inline announce() {
#ifndef LATE_RINGS
    seen = memory[RINGS];
#endif
    add_relaxed(me, SLEEPERS, 1);
#ifndef NO_SLEEPER_FENCE
    fence(me);
#endif
#ifndef NO_BARRIER
    /* barrier_everywhere() reaches the setter that has joined, and not the other */
    fence(3);
#endif
    skip
}

/* sleep(): the kernel compares and sleeps in one step, after all that this thread stored. */
inline sleep() {
#ifdef LATE_RINGS
    seen = memory[RINGS];
#endif
    fence(me);
    atomic {
        if
        :: memory[RINGS] == seen -> is_asleep[me] = true
        :: else
        fi
    }
    !is_asleep[me];
    add_relaxed(me, SLEEPERS, -1)
}

/* wait_until(), after polling has not helped */
proctype waiter(byte me) {
    int seen = 0;
    do
    :: memory[me] == 1 -> break
    :: else ->
        announce();
        if
        :: memory[me] == 1 ->
            add_relaxed(me, SLEEPERS, -1);
            break
        :: else -> sleep()
        fi
    od
}

/* A store and ring_doorbell() */
proctype setter(byte me; byte word) {
    store_release(me, word, 1);
#ifndef NO_SETTER_FENCE
    if
    :: me == 2 -> fence(me)
    :: me == 3 /* store_and_ring_lightly() */
    fi;
#endif
    if
    :: memory[SLEEPERS] != 0 ->
        memory[RINGS] = memory[RINGS] + 1;
        atomic {
#ifdef WAKES_ONE
            if
            :: is_asleep[0] -> is_asleep[0] = false
            :: !is_asleep[0] && is_asleep[1] -> is_asleep[1] = false
            :: else
            fi
#else
            is_asleep[0] = false;
            is_asleep[1] = false
#endif
        }
    :: else
    fi
}

init {
    atomic {
        byte i;
        for (i : 0 .. PROCESSES - 1) {
            run drain(i)
        }
        run waiter(0);
        run waiter(1);
        run setter(2, 0);
        run setter(3, 1)
    }
}
