/* The dissemination barrier (src/team/nodes.cpp: disseminate(), send_word()) over a path without
 * load and store, where puts to one word may overtake each other. Shown: nobody leaves a barrier
 * before all have entered it, and nobody waits for ever.
 *
 * Mistakes that must be found: NOT_BLOCKING (the word of a round is sent by a put that is not waited
 * for; it takes four ranks to go wrong), SKIPS_LAST_ROUND. */
#define RANKS 4
#define ROUNDS 2
#define BARRIERS 2
#define PROCESSES RANKS
#define WORDS 8
#define SAME_WORD_OVERTAKES true
#define WORD(rank, round) ((rank) * ROUNDS + (round))
#include "memory.pml"

#ifdef SKIPS_LAST_ROUND
#define ROUNDS_DONE (ROUNDS - 1)
#else
#define ROUNDS_DONE ROUNDS
#endif

byte entered[RANKS]; /* what has happened, for the assertion alone */

proctype rank(byte me) {
    byte epoch = 1;
    byte round;
    byte i;
    do
    :: epoch <= BARRIERS ->
        entered[me] = epoch;
        round = 0;
        do
        :: round < ROUNDS_DONE ->
            store_relaxed(me, WORD((me + (1 << round)) % RANKS, round), epoch);
#ifndef NOT_BLOCKING
            fence(me); /* the put is complete */
#endif
            memory[WORD(me, round)] >= epoch;
            round++
        :: else -> break
        od;
        for (i : 0 .. RANKS - 1) {
            assert(entered[i] >= epoch)
        }
        i = 0;
        epoch++
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
