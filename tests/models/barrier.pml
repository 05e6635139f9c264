/* The flat barrier (src/team/barrier.cpp: look_flat(), publish_arrival(), have_all_arrived()). A wait may time out
 * at any point, and the next call continues it. Before each barrier a rank stores the number of the barrier as its
 * data.
 * Shown: after a barrier a rank finds the data of this barrier, or of the next one, from all ranks; and no rank
 * waits for ever.
 *
 * Mistakes that must be found: RELAXED_ARRIVAL (the arrival is not a release), MOVES_ON (a call that timed out
 * counts as a barrier), KEEPS_NEXT_PEER (the next barrier does not start with the first peer), ONLY_EQUAL (an
 * arrival at a later barrier does not count). */
#define RANKS 3
#define BARRIERS 3
#define TIMEOUTS 1 /* of each rank */
#define PROCESSES RANKS
#define WORDS 6
#define SAME_WORD_OVERTAKES false
#define ARRIVED(rank) (rank)
#define DATA(rank) (RANKS + (rank))
#include "memory.pml"

#ifdef ONLY_EQUAL
#define HAS_COME(peer, number) (memory[ARRIVED(peer)] == (number))
#else
#define HAS_COME(peer, number) (memory[ARRIVED(peer)] >= (number))
#endif

proctype rank(byte me) {
    byte epoch = 0; /* Team::epoch */
    bool published = false;
    byte next_peer = 0;
    byte timeouts = 0;
    byte done = 0; /* barriers that the program has left */
    byte i;
    do
    :: done < BARRIERS ->
        store_relaxed(me, DATA(me), done + 1);
again:
        if
        :: !published ->
#ifdef RELAXED_ARRIVAL
            store_relaxed(me, ARRIVED(me), epoch + 1);
#else
            store_release(me, ARRIVED(me), epoch + 1);
#endif
            published = true
#ifndef KEEPS_NEXT_PEER
            ;
            next_peer = 0
#endif
        :: else
        fi;
        do
        :: next_peer + 1 < RANKS ->
            if
            :: HAS_COME((me + next_peer + 1) % RANKS, epoch + 1) -> next_peer++
            :: timeouts < TIMEOUTS ->
                timeouts++;
#ifdef MOVES_ON
                epoch++;
                published = false;
#endif
                goto again
            fi
        :: else -> break
        od;
        epoch++;
        published = false;
        done++;
        for (i : 0 .. RANKS - 1) {
            if
            :: i != me -> assert(memory[DATA(i)] >= done && memory[DATA(i)] <= done + 1)
            :: else
            fi
        }
        i = 0
    :: else -> break
    od
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
