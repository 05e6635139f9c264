/* Posts of three sizes in the same slots of the collective calls (src/coll/area.hpp; src/coll/progress.cpp:
 * fill_and_post()). Posts of full size use all slots in turn. Posts of middle size use only the first slots. A wide
 * post has its number in a slot of full size and its payload in a wide slot. There are fewer wide slots. The rest
 * of the protocol is in posts.pml.
 * Shown: the payload read is of the current round; and no rank waits for ever.
 *
 * Mistakes that must be found: OWN_BOOKS (a post of middle size does not check that the post of full size in its
 * slot has been read), WIDE_LOOKS_ONCE (a wide post checks its own slot, but not the slot of the last post with the
 * same wide slot), ONE_MIDDLE_SLOT (a post of middle size may get the slot of the post before it, so all members
 * wait for each other). */
#define RANKS 2
#define ROUNDS 8
#define SLOTS 4
#define WIDE_SLOTS 2
#ifdef ONE_MIDDLE_SLOT
#define MIDDLE_SLOTS 1
#else
#define MIDDLE_SLOTS 2
#endif
#define PROCESSES RANKS
#define WORDS 22
#define SAME_WORD_OVERTAKES false
#define LATEST(rank) (rank)
#define NUMBER(rank, slot) (2 + 4 * (rank) + (slot))
#define PAYLOAD(rank, slot) (10 + 4 * (rank) + (slot))
#define WIDE(rank, slot) (18 + 2 * (rank) + (slot))
#include "memory.pml"

/* Rounds 1 to 5: the root is rank 0; full, wide, middle, wide, full. Rounds 6 to 8: all post; middle, middle, full. */
#define IS_READ(rank, n) ((rank) == 0 || (n) >= 6)
#define IS_WIDE(n) ((n) == 2 || (n) == 4)
#define IS_MIDDLE(n) ((n) == 3 || (n) == 6 || (n) == 7)

inline find_slot(n) {
    if
    :: IS_MIDDLE(n) -> slot = (n) % MIDDLE_SLOTS
    :: else -> slot = (n) % SLOTS
    fi
}

inline await_all(number) {
    for (peer : 0 .. RANKS - 1) {
        peer == me || memory[LATEST(peer)] >= number
    }
    peer = 0
}

inline await_room(n) {
#ifdef OWN_BOOKS
    if
    :: IS_MIDDLE(n) -> await_all(needed_middle[slot])
    :: else -> await_all(needed[slot])
    fi
#else
    await_all(needed[slot])
#endif
    ;
#ifndef WIDE_LOOKS_ONCE
    if
    :: IS_WIDE(n) -> await_all(needed[((n) + SLOTS - WIDE_SLOTS) % SLOTS])
    :: else
    fi
#else
    skip
#endif
}

inline note_needed(n) {
#ifdef OWN_BOOKS
    if
    :: IS_MIDDLE(n) -> needed_middle[slot] = (n) + 1
    :: else -> needed[slot] = (n) + 1
    fi
#else
    needed[slot] = (n) + 1
#endif
}

inline make_post(n) {
    await_room(n);
    if
    :: IS_READ(me, n) ->
        if
        :: IS_WIDE(n) -> store_relaxed(me, WIDE(me, (n) % WIDE_SLOTS), n)
        :: else -> store_relaxed(me, PAYLOAD(me, slot), n)
        fi;
        store_release(me, NUMBER(me, slot), n);
        note_needed(n)
    :: else
    fi;
    store_release(me, LATEST(me), n)
}

proctype rank(byte me) {
    byte n = 1;
    byte peer;
    byte slot;
    byte needed[SLOTS];
    byte needed_middle[SLOTS];
    do
    :: n <= ROUNDS ->
        find_slot(n);
        make_post(n);
        for (peer : 0 .. RANKS - 1) {
            if
            :: peer != me && IS_READ(peer, n) ->
                memory[NUMBER(peer, slot)] >= n;
                if
                :: IS_WIDE(n) -> assert(memory[WIDE(peer, n % WIDE_SLOTS)] == n)
                :: else -> assert(memory[PAYLOAD(peer, slot)] == n)
                fi
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
