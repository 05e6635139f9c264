/* The dissemination barrier (src/team/nodes.cpp: disseminate(), send_word()) over a path without
 * load and store, where puts to one word may overtake each other, and land again until they are
 * acknowledged. A barrier leaves its words to the next ones; each place has two words, used in
 * turns, and a word goes when the one before in its place is acknowledged. Shown: nobody leaves a
 * barrier before all have entered it, and nobody waits for ever.
 *
 * Mistakes that must be found: NOT_ACKNOWLEDGED (a word goes though the one before in its place may
 * land again), SKIPS_LAST_ROUND. */
#define LONG_SEARCH
#define RANKS 3
#define ROUNDS 2
#define BARRIERS 3
#define PROCESSES RANKS
#define WORDS 12
#define SAME_WORD_OVERTAKES true
#define LANDS_AGAIN
#define WORD(rank, round, epoch) (2 * ((rank) * ROUNDS + (round)) + (epoch) % 2)
#include "memory.pml"

#define IS_OUT(i, w) (buffers[me].count > (i) && buffers[me].word[i] == (w))

#ifdef SKIPS_LAST_ROUND
#define ROUNDS_DONE (ROUNDS - 1)
#else
#define ROUNDS_DONE ROUNDS
#endif

byte entered[RANKS]; /* what has happened, for the assertion alone */

proctype rank(byte me) {
    byte epoch = 1;
    byte round;
    byte to;
    byte i;
    do
    :: epoch <= BARRIERS ->
        entered[me] = epoch;
        round = 0;
        do
        :: round < ROUNDS_DONE ->
            to = WORD((me + (1 << round)) % RANKS, round, epoch);
#ifndef NOT_ACKNOWLEDGED
            !IS_OUT(0, to) && !IS_OUT(1, to) && !IS_OUT(2, to);
#endif
            store_relaxed(me, to, epoch);
            to = 0;
            memory[WORD(me, round, epoch)] >= epoch;
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
