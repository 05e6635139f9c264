/* The dissemination barrier between nodes (src/team/nodes.cpp: disseminate(), send_word(), ask_for_word()).
 * The word of a round is a put that is not acknowledged: it may be lost, or land at any time, more than once, and behind
 * the word of a later barrier, so that the word goes back. So each leader first stores in its own memory what it sends,
 * and who waits for a word may read that instead. What was read for one round says nothing of another: it is another
 * leader's. Shown: nobody leaves a barrier before all have entered it, and nobody waits for ever.
 *
 * Mistakes that must be found: NOT_ASKED (the word alone is waited for), SAYS_TOO_EARLY (a leader says that it has
 * sent its first word before its node has come), KEEPS_TOLD (what was read for one round is taken for the next one's),
 * SKIPS_LAST_ROUND. */
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
byte out[RANKS];     /* number of the last word that was put */
byte sent[RANKS];    /* what the rank says of it */
byte entered[RANKS]; /* what has happened, for the assertion alone */

#define LANDS(me, epoch, round) \
    out[me] >= NUMBER(epoch, round) -> memory[WORD(OTHER(me, round), round)] = epoch

/* What comes of the words; nothing more from some time on. */
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
