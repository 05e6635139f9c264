/* A hand-over (src/channel/channel.hpp: may_write(), note_written(), may_read(), note_read()): two
 * ranks write messages to each other, each into one buffer, in both directions and in any order of
 * their steps. Both directions may be written at once, or each only when its reader has said that it
 * is ready, and has used its buffer before (SENNIT_CHANNEL_NOT_READY). Shown: every message is read
 * once, whole and in order, none is overwritten before it was read, nothing is written before the
 * reader is ready, and nobody waits for ever.
 *
 * Mistakes that must be found: COUNT_RELAXED, COUNT_FIRST (counted before it is written),
 * NO_ACQUIRE (of the count), READ_RELAXED (said to be read while it is being read), SIDE_AHEAD
 * (the count of what was read that goes along with a message includes the next one), NO_PERMISSION,
 * NO_READ_LINE (what was read is told by messages alone), SHORT_SIDE (that count comes round while
 * nothing comes back), READY_LINE (the line of what was read begins with a count), READY_SIDE (the
 * word does), READY_FIRST (said before the last use).
 * Under TSO: COUNT_FIRST, SIDE_AHEAD, NO_PERMISSION, NO_READ_LINE, SHORT_SIDE, READY_LINE,
 * READY_SIDE, READY_FIRST. */
#define PROCESSES 2
#define WORDS 6
#define SAME_WORD_OVERTAKES false
#define MESSAGES 3
#define NEVER 4 /* kNotReady: no count of messages, and even, so that none seems to be there */
#define DATA(rank) (rank)      /* what the rank writes for the other */
#define WORD(rank) (2 + rank)  /* WrittenLine::word */
#define READ(rank) (4 + rank)  /* ReadLine::count */
/* Messages written come round after two; what was read does not. */
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
