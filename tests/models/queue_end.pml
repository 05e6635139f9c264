/* The end of a queue (src/queue/queue.cpp: attach(), detach(), destroy(), free_ended()). Two threads of one rank
 * attach to a queue, put items into it and detach, while its owner destroys it. A thread increments `attaching` in
 * its rank's control block, checks that the queue is alive, claims a ring, and decrements `attaching`. A claimed
 * ring keeps the memory allocated. The owner first marks the queue as ended. Then it looks repeatedly, until no
 * thread is attaching and no ring is claimed.
 * Shown: no thread accesses the memory after it was freed; and the memory is freed.
 *
 * Mistakes that must be found: NO_RAISE_FENCE (no fence after the increment), NO_END_FENCE (no fence after the
 * mark), RINGS_FIRST (the owner looks at the rings before it looks at `attaching`), LOWERS_EARLY (a thread
 * decrements `attaching` before it claims a ring), NO_LOOK (a thread does not check that the queue is alive after
 * the increment), RELAXED_LOWER (the decrement may become visible before the claim), RELAXED_DETACH (the free ring
 * may become visible before the item), HOLDS_NOTHING (the owner looks only at `attaching`). */
#define PRODUCERS 2
#define PROCESSES 3 /* the owner is process PRODUCERS */
#define WORDS 6
#define SAME_WORD_OVERTAKES false
#define IS_ENDED 0  /* the opposite of SegmentRecord::live */
#define ATTACHING 1 /* ControlHeader::attaching */
#define RING(p) (2 + (p))
#define PUT(p) (4 + (p))
#include "memory.pml"

bool is_gone = false;

inline add_release(p, w, v) {
    put_in_buffer(p, w, v, true, true)
}

/* The exchange that claims a ring. Only its store matters here, and later steps need not wait for this store. */
inline claim() {
    atomic {
        assert(!is_gone);
        buffers[me].count < DEPTH
    };
    store_relaxed(me, RING(me), 1)
}

inline lower() {
#ifdef RELAXED_LOWER
    add_relaxed(me, ATTACHING, -1)
#else
    add_release(me, ATTACHING, -1)
#endif
}

inline attach() {
    add_relaxed(me, ATTACHING, 1);
#ifndef NO_RAISE_FENCE
    fence(me);
#endif
#ifdef NO_LOOK
    is_attached = true;
#else
    is_attached = memory[IS_ENDED] == 0;
#endif
#ifdef LOWERS_EARLY
    lower();
#endif
    if
    :: is_attached -> claim()
    :: else
    fi;
#ifndef LOWERS_EARLY
    lower()
#endif
}

proctype producer(byte me) {
    bool is_attached = false;
    byte left = 2;
    attach();
    if
    :: is_attached ->
        do
        :: left > 0 && memory[IS_ENDED] == 0 ->
            atomic {
                assert(!is_gone);
                buffers[me].count < DEPTH
            };
            store_release(me, PUT(me), 3 - left);
            left--
        :: left > 0 && memory[IS_ENDED] != 0 -> break
        :: left == 0 -> break
        od;
#ifdef RELAXED_DETACH
        store_relaxed(me, RING(me), 0)
#else
        store_release(me, RING(me), 0)
#endif
    :: else
    fi
}

/* Frees the memory. No store into it may still be in a buffer. */
inline give_up() {
    d_step {
        is_gone = true;
        p = 0;
        do
        :: p < PRODUCERS ->
            i = 0;
            do
            :: i < buffers[p].count ->
                assert(buffers[p].word[i] < RING(0));
                i++
            :: else -> break
            od;
            p++
        :: else -> break
        od
    }
}

inline look_at_rings() {
    p = 0;
    do
    :: p < PRODUCERS ->
        is_used = is_used || memory[RING(p)] != 0;
        p++
    :: else -> break
    od
}

proctype owner(byte me) {
    byte p = 0;
    byte i = 0;
    bool is_used = true;
    store_relaxed(me, IS_ENDED, 1);
#ifndef NO_END_FENCE
    fence(me);
#endif
    do
    :: is_used ->
        is_used = false;
#ifdef RINGS_FIRST
        look_at_rings();
#endif
        is_used = is_used || memory[ATTACHING] != 0;
#ifndef RINGS_FIRST
#ifndef HOLDS_NOTHING
        look_at_rings();
#endif
#endif
        skip
    :: else -> break
    od;
    give_up()
}

init {
    atomic {
        byte b;
        for (b : 0 .. PROCESSES - 1) {
            run drain(b)
        }
        for (b : 0 .. PRODUCERS - 1) {
            run producer(b)
        }
        run owner(PRODUCERS)
    }
}
