/* A hand-over (src/channel/channel.hpp: may_write(), note_written(), may_read(), note_read()): two
 * ranks write messages to each other, each into one buffer, in both directions and in any order of
 * their steps. Shown: every message is read once, whole and in order, none is overwritten before it
 * was read, and nobody waits for ever.
 *
 * Mistakes that must be found: COUNT_RELAXED, COUNT_FIRST (counted before it is written),
 * NO_ACQUIRE (of the count), READ_RELAXED (said to be read while it is being read), SIDE_RELAXED
 * (the same, of the count that goes along with a message), SIDE_AHEAD (that count includes the next
 * message), NO_PERMISSION, NO_READ_LINE (what was read is told by messages alone).
 * Under TSO: COUNT_FIRST, SIDE_AHEAD, NO_PERMISSION, NO_READ_LINE. */
#define PROCESSES 2
#define WORDS 8
#define SAME_WORD_OVERTAKES false
#define MESSAGES 3
#define DATA(rank) (rank)      /* what the rank writes for the other */
#define COUNT(rank) (2 + rank) /* WrittenLine::count */
#define SIDE(rank) (4 + rank)  /* WrittenLine::reads */
#define READ(rank) (6 + rank)  /* ReadLine::count */
#define LATE_LOADS
#include "memory.pml"
#include "loads.pml"

#ifdef COUNT_RELAXED
#define STORE_COUNT(value) STORE_RELAXED(me, COUNT(me), value)
#else
#define STORE_COUNT(value) STORE_RELEASE(me, COUNT(me), value)
#endif
#ifdef READ_RELAXED
#define STORE_READ(value) STORE_RELAXED(me, READ(me), value)
#else
#define STORE_READ(value) STORE_RELEASE(me, READ(me), value)
#endif
#ifdef SIDE_RELAXED
#define STORE_SIDE(value) STORE_RELAXED(me, SIDE(me), value)
#else
#define STORE_SIDE(value) STORE_RELEASE(me, SIDE(me), value)
#endif

#ifdef NO_PERMISSION
#define MAY_WRITE true
#else
#define MAY_WRITE (memory[SIDE(1 - me)] == written || memory[READ(1 - me)] == written)
#endif
#define MAY_READ (memory[COUNT(1 - me)] != read)

inline write_message() {
#ifdef COUNT_FIRST
    STORE_COUNT(written + 1);
#endif
    STORE_RELAXED(me, DATA(me), written + 1);
    written++;
#ifdef SIDE_AHEAD
    STORE_SIDE(read + 1);
#else
    STORE_SIDE(read);
#endif
#ifndef COUNT_FIRST
    STORE_COUNT(written)
#endif
}

inline read_message() {
    acquire(me, COUNT(1 - me));
    load_plain(me, DATA(1 - me), read + 1);
    read++;
#ifndef NO_READ_LINE
    STORE_READ(read)
#endif
}

proctype rank(byte me) {
    byte written = 0;
    byte read = 0;
    byte w_ = 0;
    do
    :: written < MESSAGES && MAY_WRITE -> write_message()
    :: read < MESSAGES && MAY_READ -> read_message()
    :: written == MESSAGES && read == MESSAGES -> break
    od
}

init {
    atomic {
        byte r;
        for (r : 0 .. 1) {
            run drain(r);
            run finish_load(r);
            run rank(r)
        }
    }
}
