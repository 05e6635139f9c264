/* A hand-over (src/channel/channel.hpp: may_write(), note_written(), may_read(), note_read()). Two ranks write
 * messages to each other, through one buffer for each direction. Their steps may interleave in any order. Either
 * both buffers may be written from the start, or each may be written only after its reader has used it and has said
 * that it is ready (SENNIT_CHANNEL_NOT_READY).
 * Shown: each message is read once, whole and in order; no message is overwritten before it was read; nothing is
 * written before the reader is ready; and no rank waits for ever.
 *
 * Mistakes that must be found: COUNT_RELAXED (the store of the count is relaxed), COUNT_FIRST (the count is stored
 * before the message), NO_ACQUIRE (the load of the count is relaxed), READ_RELAXED (the store of the read count is
 * relaxed, so a load of the message may still be pending), SIDE_AHEAD (the read count that goes with a message
 * includes one message too many), NO_PERMISSION (the writer ignores the read count), NO_READ_LINE (the read count
 * goes only with messages), SHORT_SIDE (the read count that goes with a message wraps), READY_LINE (the read line
 * does not start as "not ready"), READY_SIDE (the message word does not start as "not ready"), READY_FIRST (the
 * reader says that it is ready before its last use of the buffer).
 * Under TSO: COUNT_FIRST, SIDE_AHEAD, NO_PERMISSION, NO_READ_LINE, SHORT_SIDE, READY_LINE, READY_SIDE, READY_FIRST. */
#define PROCESSES 2
#define WORDS 6
#define SAME_WORD_OVERTAKES false
#define MESSAGES 3
#define NEVER 4 /* kNotReady: larger than any count, and even: no message yet */
#define DATA(rank) (rank)      /* what the rank writes for the other */
#define WORD(rank) (2 + rank)  /* WrittenLine::word */
#define READ(rank) (4 + rank)  /* ReadLine::count */
/* The count of messages written wraps after two. The count of messages read does not wrap. */
#ifdef SHORT_SIDE
#define PACK(written, read) (2 * ((read) % 2) + (written) % 2)
#define READS_ARE(word, number) ((word) / 2 == (number) % 2)
#else
#define PACK(written, read) (2 * (read) + (written) % 2)
#define READS_ARE(word, number) ((word) / 2 == (number))
#endif
#define LATE_LOADS
#include "memory.pml"
#include "loads.pml"

#ifdef COUNT_RELAXED
#define STORE_WORD(value) STORE_RELAXED(me, WORD(me), value)
#else
#define STORE_WORD(value) STORE_RELEASE(me, WORD(me), value)
#endif
#ifdef READ_RELAXED
#define STORE_READ(value) STORE_RELAXED(me, READ(me), value)
#else
#define STORE_READ(value) STORE_RELEASE(me, READ(me), value)
#endif
#ifdef SIDE_AHEAD
#define SIDE (read + 1)
#else
#define SIDE read
#endif

#ifdef NO_PERMISSION
#define MAY_WRITE true
#else
#define MAY_WRITE (READS_ARE(memory[WORD(1 - me)], written) || memory[READ(1 - me)] == written)
#endif
#define MAY_READ (memory[WORD(1 - me)] % 2 != read % 2)

inline write_message() {
#ifdef COUNT_FIRST
    STORE_WORD(PACK(written + 1, SIDE));
#endif
    STORE_RELAXED(me, DATA(me), written + 1);
    written++;
#ifndef COUNT_FIRST
    STORE_WORD(PACK(written, SIDE))
#endif
}

inline read_message() {
    acquire(me, WORD(1 - me));
    load_plain(me, DATA(1 - me), read + 1);
    read++;
#ifndef NO_READ_LINE
    STORE_READ(read)
#endif
}

inline get_ready() {
#ifndef READY_FIRST
    load_plain(me, DATA(1 - me), 0);
#endif
    read = 0;
#ifndef NO_READ_LINE
    STORE_READ(read);
#endif
#ifdef READY_FIRST
    load_plain(me, DATA(1 - me), 0)
#endif
}

bool is_ready;

proctype rank(byte me) {
    byte written = 0;
    byte read = (is_ready -> 0 : NEVER);
    byte w_ = 0;
    do
    :: read == NEVER -> get_ready()
    :: written < MESSAGES && MAY_WRITE -> write_message()
    :: read < MESSAGES && MAY_READ -> read_message()
    :: written == MESSAGES && read == MESSAGES -> break
    od
}

init {
    atomic {
        byte r;
        if
        :: is_ready = true
        :: is_ready = false
        fi;
        for (r : 0 .. 1) {
            if
            :: !is_ready ->
#ifndef READY_SIDE
                memory[WORD(r)] = PACK(0, NEVER);
#endif
#ifndef READY_LINE
                memory[READ(r)] = NEVER
#endif
            :: else
            fi;
            run drain(r);
            run finish_load(r);
            run rank(r)
        }
    }
}
