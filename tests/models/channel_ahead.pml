/* A channel with several messages under way (src/channel/channel.hpp with Channel::ahead above 1): one
 * rank writes them into parts of the buffer that it uses in turn, the other reads them, and both look
 * at the other's word only where what they know of it is used up. The counts in the word come round.
 * Shown: every message is read once, whole and in order, none is overwritten before it was read, and
 * nobody waits for ever.
 *
 * Mistakes that must be found: COUNT_RELAXED, COUNT_FIRST (counted before it is written), NO_ACQUIRE
 * (of the count), READ_RELAXED (said to be read while it is being read), ONE_TOO_MANY (may be
 * unread), SHORT_COUNT (it comes round while messages are unread), KNOWN_BEFORE (the writer counts
 * on what it knew before it looked, and on the reader's next step).
 * Under TSO: COUNT_FIRST, ONE_TOO_MANY, SHORT_COUNT, KNOWN_BEFORE. */
#define PROCESSES 2
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define MESSAGES 5
#define AHEAD 2
#define DATA(number) ((number) % AHEAD) /* the part of a message */
#define WORD 2                          /* WrittenLine::word */
#define READ 3                          /* ReadLine::count */
#ifdef SHORT_COUNT
#define ROUND AHEAD
#else
#define ROUND 4 /* more than may be unread */
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
    byte known = 0; /* the word when it was looked at last */
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
