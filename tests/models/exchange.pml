/* The exchange through mailboxes (src/team/barrier.cpp: exchange(), read_message()). Each rank has two mailboxes,
 * for odd and even epochs. It writes a message of two words into that of the epoch, takes part in a flat barrier, and
 * reads the messages of all others. One epoch is a barrier without messages, so the exchanges before and after it
 * use the same mailbox.
 * Shown: both words of every message read belong to the current exchange.
 *
 * Mistakes that must be found: SINGLE_MAILBOX (each rank has only one mailbox), ARRIVES_FIRST (the message is
 * written after the arrival), RELAXED_ARRIVAL (the arrival is not a release). */
#define RANKS 3
#define CALLS 4 /* the third is a barrier alone */
#define PROCESSES RANKS
#define WORDS 15
#define SAME_WORD_OVERTAKES false
#define ARRIVED(rank) (rank)
#define MESSAGE(rank, turn) (RANKS + 4 * (rank) + 2 * (turn))
#include "memory.pml"

#ifdef SINGLE_MAILBOX
#define TURN(epoch) 0
#else
#define TURN(epoch) ((epoch) % 2)
#endif
#ifdef RELAXED_ARRIVAL
#define ARRIVE(number) store_relaxed(me, ARRIVED(me), number)
#else
#define ARRIVE(number) store_release(me, ARRIVED(me), number)
#endif

inline write_message() {
    if
    :: call != 3 ->
        store_relaxed(me, MESSAGE(me, TURN(call)), call);
        store_relaxed(me, MESSAGE(me, TURN(call)) + 1, 10 * call + me)
    :: else
    fi
}

proctype rank(byte me) {
    byte call = 1; /* the epoch that it completes */
    byte peer;
    do
    :: call <= CALLS ->
#ifdef ARRIVES_FIRST
        ARRIVE(call);
        write_message();
#else
        write_message();
        ARRIVE(call);
#endif
        for (peer : 0 .. RANKS - 1) {
            peer == me || memory[ARRIVED(peer)] >= call
        }
        for (peer : 0 .. RANKS - 1) {
            if
            :: peer != me && call != 3 ->
                assert(memory[MESSAGE(peer, TURN(call))] == call);
                assert(memory[MESSAGE(peer, TURN(call)) + 1] == 10 * call + peer)
            :: else
            fi
        }
        peer = 0;
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
