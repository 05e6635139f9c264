/* Posts of the collective calls (src/coll/posts.cpp: post(), has_posted(), has_reached(), has_room()). Each member
 * has SLOTS slots with a number each, and the number of its last post. In each round either one member (the root)
 * posts data that all others read, or all members do. A member whose data nobody reads stores only the number of
 * its post.
 * Shown: the payload read is of the current round; and no rank waits for ever.
 *
 * Mistakes that must be found: NO_ROOM (a slot is written without a check that it is free), ONE_TOO_FEW (a slot
 * counts as free when the others have posted its number, not the next one), POSTS_EARLY (a member makes the post of
 * the next round before it has read this round), RELAXED_NUMBER (the stores of the numbers are relaxed),
 * SILENT_TAKES_SLOT (a post that nobody reads is written into a slot without the check). */
#define RANKS 3
#define ROUNDS 5
#define SLOTS 2
#define PROCESSES RANKS
#define WORDS 15
#define SAME_WORD_OVERTAKES false
#define LATEST(rank) (rank)
#define NUMBER(rank, slot) (RANKS + 2 * (rank) + (slot))
#define PAYLOAD(rank, slot) (3 * RANKS + 2 * (rank) + (slot))
#include "memory.pml"

/* Rounds 1 and 2: the root is rank 0. Round 3: all post. Rounds 4 and 5: the root is rank 1. */
#define IS_READ(rank, n) ((n) == 3 || ((n) < 3 && (rank) == 0) || ((n) > 3 && (rank) == 1))

#ifdef RELAXED_NUMBER
#define STORE_NUMBER(word, value) store_relaxed(me, word, value)
#else
#define STORE_NUMBER(word, value) store_release(me, word, value)
#endif
#ifdef ONE_TOO_FEW
#define NEEDED(n) (n)
#else
#define NEEDED(n) ((n) + 1)
#endif

inline await_room(n) {
#ifndef NO_ROOM
    for (peer : 0 .. RANKS - 1) {
        peer == me || memory[LATEST(peer)] >= needed[(n) % SLOTS]
    }
    peer = 0
#else
    skip
#endif
}

inline make_post(n) {
    if
    :: IS_READ(me, n) ->
        await_room(n);
        store_relaxed(me, PAYLOAD(me, (n) % SLOTS), n);
        STORE_NUMBER(NUMBER(me, (n) % SLOTS), n);
        needed[(n) % SLOTS] = NEEDED(n)
    :: else ->
#ifdef SILENT_TAKES_SLOT
        store_relaxed(me, PAYLOAD(me, (n) % SLOTS), 0);
        STORE_NUMBER(NUMBER(me, (n) % SLOTS), n)
#else
        await_room(n)
#endif
    fi;
    STORE_NUMBER(LATEST(me), n)
}

proctype rank(byte me) {
    byte n = 1;
    byte peer;
    byte needed[SLOTS];
    do
    :: n <= ROUNDS ->
#ifdef POSTS_EARLY
        if
        :: n == 1 -> make_post(n)
        :: else
        fi;
        if
        :: n < ROUNDS -> make_post(n + 1)
        :: else
        fi;
#else
        make_post(n);
#endif
        for (peer : 0 .. RANKS - 1) {
            if
            :: peer != me && IS_READ(peer, n) ->
                memory[NUMBER(peer, n % SLOTS)] >= n;
                assert(memory[PAYLOAD(peer, n % SLOTS)] == n)
            :: else
            fi
        }
        peer = 0;
        n++
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
