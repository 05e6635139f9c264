/* Sleep and wake-up (src/runtime/wait.hpp, wait.cpp). Two threads of one rank wait for one word each and share the
 * rank's doorbell. Two other ranks set one word each. One setter executes a fence. The other setter executes none,
 * because the sleepers execute a barrier for all processors.
 * Shown: no thread sleeps for ever on a word that was set. The time limit of a sleep is left out, so only a ring
 * ends a sleep.
 *
 * Mistakes that must be found: NO_SETTER_FENCE, NO_SLEEPER_FENCE, NO_BARRIER, LATE_RINGS (the count of rings is
 * read after the last load of the word), WAKES_ONE (a ring wakes only one sleeper). */
#define PROCESSES 4
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define SLEEPERS 2 /* Doorbell::sleepers; the words waited for are 0 and 1 */
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
    /* barrier_everywhere() acts only on the setter that has joined the barriers. */
    fence(3);
#endif
    skip
}

/* sleep(): the kernel compares and sleeps in one step, after the earlier stores of this thread. */
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

/* wait_until(), when it no longer polls */
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

/* A store, then ring_doorbell(). */
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
