/* A team slot that several teams use in turn (src/team/create.cpp: create(), destroy()). Ranks 0, 1 and 2 end team
 * A. Ranks 0 and 1 make team B in the same slot, use it and end it. Ranks 1 and 2 make team C there. The words of
 * the slot are never cleared. When a team is created, its members agree on the number from which it counts, in an
 * exchange over the parent team. The parent has its own words.
 * Shown: every message read is of this team and of the current exchange; and no rank waits for ever.
 *
 * Mistakes that must be found: OWN_NUMBER (each member counts on from its own numbers), FROM_ZERO (the numbers
 * start again at 0), ONE_SYNCHRONISATION (a team ends with the exchange alone, so a slow member may still read
 * messages while the next team writes its own). */
#define RANKS 3
#define PROCESSES RANKS
#define WORDS 13
#define SAME_WORD_OVERTAKES false
#define ARRIVED(rank) (rank)
#define MESSAGE(rank, turn) (RANKS + 2 * (rank) + (turn))
#define OF_B(rank) (3 * RANKS + (rank))
#define OF_C(rank) (3 * RANKS + 1 + (rank))
#define MARGIN 2
#include "memory.pml"

#define MESSAGE_OF(rank, team, number) (100 * (number) + 10 * (team) + (rank))

byte numbers[RANKS]; /* Registry::numbers; sent to the others in the parent's exchange */

/* Ranks `first` to `last` synchronise in the slot. */
inline synchronise() {
    epoch++;
    store_release(me, ARRIVED(me), epoch);
    for (peer : first .. last) {
        peer == me || memory[ARRIVED(peer)] >= epoch
    }
}

inline exchange(team) {
    store_relaxed(me, MESSAGE(me, (epoch + 1) % 2), MESSAGE_OF(me, team, epoch + 1));
    synchronise();
    for (peer : first .. last) {
        if
        :: peer != me -> assert(memory[MESSAGE(peer, epoch % 2)] == MESSAGE_OF(peer, team, epoch))
        :: else
        fi
    }
}

inline destroy(team) {
    exchange(team);
#ifndef ONE_SYNCHRONISATION
    synchronise();
#endif
    numbers[me] = epoch + MARGIN
}

/* Both members synchronise over the parent; `mine` and `theirs` are its words. */
inline create(mine, theirs, other) {
    store_release(me, mine, 1);
    memory[theirs] == 1;
    epoch = numbers[me];
#ifndef OWN_NUMBER
    if
    :: numbers[other] > epoch -> epoch = numbers[other]
    :: else
    fi;
#endif
#ifdef FROM_ZERO
    epoch = 0;
#endif
    skip
}

proctype rank(byte me) {
    byte epoch = 0;
    byte first = 0;
    byte last = 2;
    byte peer;
    destroy(1);
    if
    :: me < 2 ->
        last = 1;
        create(OF_B(me), OF_B(1 - me), 1 - me);
        exchange(2);
        destroy(2)
    :: else
    fi;
    if
    :: me > 0 ->
        first = 1;
        last = 2;
        create(OF_C(me), OF_C(3 - me), 3 - me);
        exchange(3)
    :: else
    fi
}

init {
    atomic {
        byte r;
        for (r : 0 .. RANKS - 1) {
            run drain(r);
            run rank(r)
        }
    }
}
