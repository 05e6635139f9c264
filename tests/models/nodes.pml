/* The exchange between nodes (src/team/nodes.cpp). There are two nodes of two ranks, and the even ranks are
 * leaders. A member writes its message, arrives, and waits until its leader releases it. A leader collects the
 * messages of its node, puts them into the other node's buffer, and then puts its word. It releases its node when
 * the word of the other leader has arrived. Puts may overtake each other. One call is a barrier without messages.
 * Shown: every message read belongs to the current exchange; and no rank leaves before all have arrived.
 *
 * Mistakes that must be found: SINGLE_BUFFER (all exchanges use the same buffer), WORD_FIRST (the word does not
 * wait until the messages are delivered), RELEASES_FIRST (the leader releases its node before the other word has
 * arrived), SKIPS_GATHER (the leader does not wait for its node), RELAXED_ARRIVAL (the arrival is not a release). */
#define LONG_SEARCH
#define RANKS 4
#define CALLS 4 /* the third is a barrier alone */
#define PROCESSES RANKS
#define WORDS 24
#define SAME_WORD_OVERTAKES true
#define ARRIVED(rank) (rank)
#define ROUND(node) (RANKS + (node))
#define RELEASED(node) (RANKS + 2 + (node))
#define MAILBOX(rank, turn) (RANKS + 4 + 2 * (rank) + (turn))
#define BUFFER(node, local, turn) (RANKS + 12 + 4 * (node) + 2 * (local) + (turn))
#include "memory.pml"

#ifdef SINGLE_BUFFER
#define TURN(call) 0
#else
#define TURN(call) ((call) % 2)
#endif
#define MESSAGE(rank, call) (10 * (call) + (rank))

byte entered[RANKS]; /* the last call entered; for the assertion */

inline lead() {
#ifndef SKIPS_GATHER
    memory[ARRIVED(me + 1)] >= call;
#endif
    if
    :: call != 3 ->
        /* Not read from memory: the store to this rank's mailbox may still be in the store buffer. */
        store_relaxed(me, BUFFER(1 - node, 0, TURN(call)), MESSAGE(me, call));
        store_relaxed(me, BUFFER(1 - node, 1, TURN(call)), memory[MAILBOX(me + 1, TURN(call))])
    :: else
    fi;
#ifndef WORD_FIRST
    fence(me); /* the messages are delivered */
#endif
    store_relaxed(me, ROUND(1 - node), call);
#ifndef RELEASES_FIRST
    fence(me);
    memory[ROUND(node)] >= call;
#endif
    store_release(me, RELEASED(node), call)
}

proctype rank(byte me) {
    byte call = 1;
    byte i;
    byte node = me / 2;
    do
    :: call <= CALLS ->
        entered[me] = call;
        if
        :: call != 3 -> store_relaxed(me, MAILBOX(me, TURN(call)), MESSAGE(me, call))
        :: else
        fi;
#ifdef RELAXED_ARRIVAL
        store_relaxed(me, ARRIVED(me), call);
#else
        store_release(me, ARRIVED(me), call);
#endif
        if
        :: me % 2 == 0 -> lead()
        :: else -> memory[RELEASED(node)] >= call
        fi;
        for (i : 0 .. RANKS - 1) {
            assert(entered[i] >= call)
        }
        if
        :: call != 3 ->
            for (i : 0 .. 1) {
                assert(memory[BUFFER(node, i, TURN(call))] == MESSAGE(2 * (1 - node) + i, call))
            }
        :: else
        fi;
        i = 0;
        call++
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
