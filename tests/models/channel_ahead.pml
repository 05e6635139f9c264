/* A channel where several messages may be unread (src/channel/channel.hpp with Channel::ahead above 1). One rank
 * writes messages into the parts of the buffer in turn. The other rank reads them. The writer loads the read count
 * only when it may not write by the count that it knows. The reader loads the writer's word only when it knows of
 * no unread message. The count in the word wraps.
 * Shown: each message is read once, whole and in order; no message is overwritten before it was read; and no rank
 * waits for ever.
 *
 * Mistakes that must be found: COUNT_RELAXED (the store of the count is relaxed), COUNT_FIRST (the count is stored
 * before the message), NO_ACQUIRE (the load of the count is relaxed), READ_RELAXED (the store of the read count is
 * relaxed), ONE_TOO_MANY (the writer leaves one message too many unread), SHORT_COUNT (the count wraps while
 * messages are unread), KNOWN_BEFORE (the writer assumes that the reader has read one message more than it has
 * counted).
 * Under TSO: COUNT_FIRST, ONE_TOO_MANY, SHORT_COUNT, KNOWN_BEFORE. */
#define PROCESSES 2
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define MESSAGES 5
#define AHEAD 2
#define DATA(number) ((number) % AHEAD) /* the part of the buffer */
#define WORD 2                          /* WrittenLine::word */
#define READ 3                          /* ReadLine::count */
#ifdef SHORT_COUNT
#define ROUND AHEAD
#else
#define ROUND 4 /* larger than the number of unread messages */
#endif
#define MESSAGES_IN(word, read) (((word) + ROUND - (read) % ROUND) % ROUND)
#define LATE_LOADS
#include "memory.pml"
#include "loads.pml"

#ifdef COUNT_RELAXED
#define STORE_WORD(value) STORE_RELAXED(0, WORD, value)
#else
#define STORE_WORD(value) STORE_RELEASE(0, WORD, value)
#endif
#ifdef READ_RELAXED
#define STORE_READ(value) STORE_RELAXED(1, READ, value)
#else
#define STORE_READ(value) STORE_RELEASE(1, READ, value)
#endif
#ifdef ONE_TOO_MANY
#define MOST (AHEAD + 1)
#else
#define MOST AHEAD
#endif
#ifdef KNOWN_BEFORE
#define LOOK (memory[READ] + 1)
#else
#define LOOK memory[READ]
#endif

proctype writer() {
    byte written = 0;
    byte known_read = 0;
    do
    :: written < MESSAGES && written - known_read < MOST ->
#ifdef COUNT_FIRST
        STORE_WORD((written + 1) % ROUND);
#endif
        STORE_RELAXED(0, DATA(written), written + 1);
        written++;
#ifndef COUNT_FIRST
        STORE_WORD(written % ROUND)
#endif
    :: written < MESSAGES && written - known_read >= MOST && written - LOOK < MOST ->
        known_read = LOOK
    :: written == MESSAGES -> break
    od
}

proctype reader() {
    byte read = 0;
    byte known = 0; /* the word at the last load */
    byte w_ = 0;
    do
    :: read < MESSAGES && MESSAGES_IN(known, read) != 0 ->
        load_plain(1, DATA(read), read + 1);
        read++;
        STORE_READ(read)
    :: read < MESSAGES && MESSAGES_IN(known, read) == 0 && MESSAGES_IN(memory[WORD], read) != 0 ->
        atomic {
            known = memory[WORD];
            acquire(1, WORD)
        }
    :: read == MESSAGES -> break
    od
}

init {
    atomic {
        byte r;
        for (r : 0 .. 1) {
            run drain(r);
            run finish_load(r)
        }
        run writer();
        run reader()
    }
}
