/* Closing a channel (src/channel/close.cpp: publish_closing(), is_drained(); src/channel/place.cpp:
 * close_own_end(); src/channel/handover.cpp: test_read(); src/channel/pool.cpp: is_reusable(), half_take()). A half
 * is the memory at one end of a channel. Two ranks use a channel and close it at any time, also while messages are
 * unread. The first close of rank 0 may time out. Then the ranks open a second channel. It uses the same halves if
 * they are reusable, otherwise others.
 * Shown: no rank waits for ever; a close waits until the rank's message is read, unless the other rank is closing
 * too; a rank that reads until the other has closed gets every message; and the second channel contains nothing
 * that was written for the first.
 *
 * Mistakes that must be found: NO_CLOSING (the close is not announced), NO_DRAIN (the close does not wait),
 * LOOKS_ONCE (a reader that finds the closed mark does not look again for a message), EARLY_REUSE (a half is reused
 * before its writer has closed), CLOSED_RELAXED (the store of the mark is relaxed), READS_AFTER (the writer stores
 * something after the mark), MARK_ALONE (the mark is stored without the counts), NO_ACQUIRE (the load of the word
 * is relaxed), COUNT_RELAXED (the store of the count is relaxed).
 * Under TSO: NO_CLOSING, NO_DRAIN, LOOKS_ONCE, EARLY_REUSE, READS_AFTER, MARK_ALONE. */
#define PROCESSES 2
#define WORDS 14
#define SAME_WORD_OVERTAKES false
/* Word `i` of half 0 or 1 of `owner`. The other rank writes it. */
#define AT_HALF(owner, half, i) (6 * (owner) + 3 * (half) + (i))
#define WORD 0    /* WrittenLine::word, packed as in src/channel/words.hpp */
#define CLOSING 1 /* WrittenLine::is_closing */
#define READ 2    /* ReadLine::count */
#define DATA(rank) (12 + (rank)) /* what the rank writes for the other, in both channels */
#define FIRST_PLAIN DATA(0)
#define LATE_LOADS
#define LONG_SEARCH
#include "memory.pml"
#include "loads.pml"

/* The word contains the lowest bit of the number of messages that its writer has written, the number
 * of messages that the writer has read, and the closed mark. With the mark, READS_IN() equals no count. */
#define PACK(written, read) (2 * (read) + (written))
#define CLOSED 8
#define IS_CLOSED(word) ((word) >= CLOSED)
#define HAS_MESSAGE(word, read) ((word) % 2 != (read))
#define READS_IN(word) ((word) / 2)

#define OWN(i) memory[AT_HALF(me, own, i)]
#define THEIRS(i) AT_HALF(1 - me, theirs, i)
#ifdef COUNT_RELAXED
#define STORE_COUNT(value) STORE_RELAXED(me, THEIRS(WORD), value)
#else
#define STORE_COUNT(value) STORE_RELEASE(me, THEIRS(WORD), value)
#endif
#ifdef CLOSED_RELAXED
#define STORE_CLOSED(value) STORE_RELAXED(me, THEIRS(WORD), value)
#else
#define STORE_CLOSED(value) STORE_RELEASE(me, THEIRS(WORD), value)
#endif
#ifdef MARK_ALONE
#define LAST_WORD CLOSED
#else
#define LAST_WORD (CLOSED + PACK(written, read))
#endif

/* The index of the arrays below. */
#define AT(rank) (2 * (rank) + round)
byte offered[4]; /* half + 1; 0: no offer. channel_open.pml models the handshake. */
bool wrote[4];
bool has_read[4];
bool was_closing[4];

/* In the library the compare and swap of the handshake orders all earlier accesses. This model orders only the
 * loads: earlier stores may still be in the buffer. */
inline take_half() {
    own = 0;
    if
    :: round == 0
#ifdef EARLY_REUSE
    :: round == 1
#else
    :: round == 1 && IS_CLOSED(memory[AT_HALF(me, 0, WORD)])
    :: round == 1 && !IS_CLOSED(memory[AT_HALF(me, 0, WORD)]) -> own = 1
#endif
    fi;
    atomic {
        !is_late[me];
        OWN(WORD) = 0;
        OWN(CLOSING) = 0;
        OWN(READ) = 0;
        offered[AT(me)] = own + 1
    }
    atomic {
        offered[AT(1 - me)] != 0;
        theirs = offered[AT(1 - me)] - 1
    }
    refresh(me)
}

inline read_message() {
    assert(wrote[AT(1 - me)]);
    acquire(me, AT_HALF(me, own, WORD));
    load_plain(me, DATA(1 - me), round + 1);
    atomic {
        read = 1;
        has_read[AT(me)] = true
    }
    STORE_RELEASE(me, THEIRS(READ), 1)
}

/* Looks for a message first, then at the mark. */
inline read_until_closed() {
    do
    :: HAS_MESSAGE(OWN(WORD), read) -> read_message()
    :: !HAS_MESSAGE(OWN(WORD), read) ->
        if
        :: !IS_CLOSED(OWN(WORD))
        :: IS_CLOSED(OWN(WORD)) ->
#ifndef LOOKS_ONCE
            if
            :: HAS_MESSAGE(OWN(WORD), read) -> read_message()
            :: else
            fi;
#endif
            break
        fi
    od;
    assert(read == 1 || !wrote[AT(1 - me)])
}

inline write_message() {
    atomic {
        wrote[AT(me)] = true;
        written = 1
    }
    STORE_RELAXED(me, DATA(me), round + 1);
    STORE_COUNT(PACK(1, read))
}

/* A rank may write before or after it reads. Its message carries its read count. */
inline use() {
    if
    :: write_message()
    :: true
    fi;
    if
    :: me == round -> read_until_closed() /* only one rank: two would wait for each other */
    :: HAS_MESSAGE(OWN(WORD), read) ->
        read_message();
        if
        :: written == 0 -> write_message()
        :: true
        fi
    :: true
    fi
}

#define IS_ALL_READ (READS_IN(OWN(WORD)) == written || OWN(READ) == written)
#define IS_DRAINED (IS_CLOSED(OWN(WORD)) || IS_ALL_READ || OWN(CLOSING) == 1)

inline close() {
    was_closing[AT(me)] = true;
#ifndef NO_CLOSING
    STORE_RELEASE(me, THEIRS(CLOSING), 1);
#endif
    /* The first close of rank 0 may time out. Then the rank may read, and closes again. */
    if
    :: true
    :: me == 0 && !IS_DRAINED ->
        STORE_RELEASE(me, THEIRS(CLOSING), 0);
        if
        :: me == round && !IS_CLOSED(OWN(WORD)) -> read_until_closed()
        :: true
        fi;
#ifndef NO_CLOSING
        STORE_RELEASE(me, THEIRS(CLOSING), 1)
#endif
    fi;
#ifndef NO_DRAIN
    IS_DRAINED;
#endif
    assert(written == 0 || has_read[AT(1 - me)] || was_closing[AT(1 - me)]);
    STORE_CLOSED(LAST_WORD);
#ifdef READS_AFTER
    STORE_RELAXED(me, THEIRS(READ), 1)
#endif
}

proctype rank(byte me) {
    byte round = 0;
    byte own = 0;
    byte theirs = 0;
    byte written = 0;
    byte read = 0;
    byte w_ = 0;
    do
    :: round < 2 ->
        take_half();
        use();
        close();
        written = 0;
        read = 0;
        round++
    :: else -> break
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
