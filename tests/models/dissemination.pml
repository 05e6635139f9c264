/* The dissemination barrier between nodes (src/team/nodes.cpp: disseminate(), send_word(), ask_for_word()). Each
 * rank in the model is the leader of a node. In each round a leader puts a word to another leader. The put is not
 * acknowledged: the word may be lost, may arrive several times, and may arrive after the word of a later barrier.
 * Then the number in memory decreases. Therefore a leader first stores the number of its latest word in its own
 * memory. A leader that waits for a word may read this number instead. The number that was read in one round is not
 * valid in the next round, because it belongs to another leader.
 * Shown: no rank leaves a barrier before all have entered it; and no rank waits for ever.
 *
 * Mistakes that must be found: NOT_ASKED (a leader waits only for the word), SAYS_TOO_EARLY (a leader stores the
 * number of its first word before its node has arrived), KEEPS_TOLD (the number that was read in one round is used
 * in the next), SKIPS_LAST_ROUND. */
#define RANKS 3
#define ROUNDS 2
#define BARRIERS 2
#define WORD(rank, round) ((rank) * ROUNDS + (round))
#define OTHER(me, round) ((me + (1 << (round))) % RANKS)
#define FROM(me, round) ((me + RANKS - (1 << (round))) % RANKS)
#define NUMBER(epoch, round) ((epoch) * ROUNDS + (round) + 1)

#ifdef SKIPS_LAST_ROUND
#define ROUNDS_DONE (ROUNDS - 1)
#else
#define ROUNDS_DONE ROUNDS
#endif

byte memory[RANKS * ROUNDS];
byte out[RANKS];     /* number of the last word put */
byte sent[RANKS];    /* the number that other leaders may read */
byte entered[RANKS]; /* the last barrier entered; for the assertion */

#define LANDS(me, epoch, round) \
    out[me] >= NUMBER(epoch, round) -> memory[WORD(OTHER(me, round), round)] = epoch

/* Delivers words in any order. It may stop at any time: then all later words are lost. */
proctype network() {
    do
    :: LANDS(0, 1, 0)
    :: LANDS(0, 1, 1)
    :: LANDS(0, 2, 0)
    :: LANDS(0, 2, 1)
    :: LANDS(1, 1, 0)
    :: LANDS(1, 1, 1)
    :: LANDS(1, 2, 0)
    :: LANDS(1, 2, 1)
    :: LANDS(2, 1, 0)
    :: LANDS(2, 1, 1)
    :: LANDS(2, 2, 0)
    :: LANDS(2, 2, 1)
    :: break
    od
}

proctype rank(byte me) {
    byte epoch = 1;
    byte round;
    byte told;
    byte i;
    do
    :: epoch <= BARRIERS ->
#ifdef SAYS_TOO_EARLY
        sent[me] = NUMBER(epoch, 0);
#endif
        entered[me] = epoch;
        round = 0;
        do
        :: round < ROUNDS_DONE ->
            atomic {
#ifndef KEEPS_TOLD
                told = 0;
#endif
                sent[me] = NUMBER(epoch, round);
            }
            out[me] = NUMBER(epoch, round);
            do
            :: memory[WORD(me, round)] >= epoch || told >= NUMBER(epoch, round) -> break
#ifndef NOT_ASKED
            :: sent[FROM(me, round)] >= NUMBER(epoch, round) -> told = sent[FROM(me, round)]; break
#endif
            od;
            round++
        :: else -> break
        od;
        atomic {
            for (i : 0 .. RANKS - 1) {
                assert(entered[i] >= epoch)
            }
            i = 0;
            epoch++
        }
    :: else -> break
    od
}

init {
    atomic {
        byte r;
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        run network()
    }
}
