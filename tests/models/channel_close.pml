/* Closing a channel (src/channel/close.cpp: say_closing(), is_drained(); src/channel/place.cpp:
 * close_own_end(); src/channel/handover.cpp: test_read(); src/channel/pool.cpp: is_rested(),
 * half_take()): two ranks use a channel and close it when they like, with messages read or not,
 * also in several attempts, and open another one, which takes the same halves where they have
 * rested and others where not. Shown: nobody waits for ever; a close has waited until its message
 * was read, unless the other was closing too; who reads on until the other has closed gets every
 * message; and nothing that was written for the first channel is found in the second.
 *
 * Mistakes that must be found: NO_CLOSING (the drain is not announced), NO_DRAIN, LOOKS_ONCE (sees
 * the mark, and does not look for a message that came before it), EARLY_REUSE (of a half whose
 * writer has not closed), CLOSED_RELAXED, READS_AFTER (something is written behind the mark).
 * Without a mistake all stores are releases, which leave a buffer in their order, as on x86. */
#define PROCESSES 2
#define WORDS 16
#define SAME_WORD_OVERTAKES false
/* In half 0 or 1 that belongs to `owner`; the other rank writes it. */
#define WORD(owner, half, i) (8 * (owner) + 4 * (half) + (i))
#define COUNT 0
#define READ 1
#define CLOSING 2
#define CLOSED 3
#include "memory.pml"

#define OWN(i) memory[WORD(me, own, i)]
#define THEIRS(i) WORD(1 - me, theirs, i)
#define STORE_RELAXED(i, v) store_relaxed(me, THEIRS(i), v)
#define STORE_RELEASE(i, v) store_release(me, THEIRS(i), v)
#ifdef CLOSED_RELAXED
#define STORE_CLOSED STORE_RELAXED(CLOSED, 1)
#else
#define STORE_CLOSED STORE_RELEASE(CLOSED, 1)
#endif

/* By rank * 2 + round. */
#define AT(rank) (2 * (rank) + round)
byte offered[4]; /* the half + 1; channel_open.pml has the rest of the meeting */
bool wrote[4];
bool has_read[4];
bool was_closing[4];

inline take_half() {
    own = 0;
    if
    :: round == 0
#ifdef EARLY_REUSE
    :: round == 1
#else
    :: round == 1 && memory[WORD(me, 0, CLOSED)] == 1
    :: round == 1 && memory[WORD(me, 0, CLOSED)] == 0 -> own = 1
#endif
    fi;
    atomic {
        OWN(COUNT) = 0;
        OWN(READ) = 0;
        OWN(CLOSING) = 0;
        OWN(CLOSED) = 0;
        offered[AT(me)] = own + 1
    }
    atomic {
        offered[AT(1 - me)] != 0;
        theirs = offered[AT(1 - me)] - 1
    }
}

inline read_message() {
    assert(wrote[AT(1 - me)]);
    atomic {
        read = 1;
        has_read[AT(me)] = true
    }
    STORE_RELEASE(READ, 1)
}

/* Looks at the count, and then at the mark. */
inline read_until_closed() {
    do
    :: OWN(COUNT) > read -> read_message()
    :: OWN(COUNT) == read ->
        if
        :: OWN(CLOSED) == 0
        :: OWN(CLOSED) == 1 ->
#ifndef LOOKS_ONCE
            if
            :: OWN(COUNT) > read -> read_message()
            :: else
            fi;
#endif
            break
        fi
    od;
    assert(read == 1 || !wrote[AT(1 - me)])
}

inline use() {
    if
    :: atomic { true -> wrote[AT(me)] = true; written = 1 };
        STORE_RELEASE(COUNT, 1)
    :: true
    fi;
    if
    :: me == round -> read_until_closed() /* both would wait for each other */
    :: OWN(COUNT) > read -> read_message()
    :: true
    fi
}

#define IS_DRAINED (written == 0 || OWN(READ) == 1 || OWN(CLOSING) == 1 || OWN(CLOSED) == 1)

inline close() {
    was_closing[AT(me)] = true;
#ifndef NO_CLOSING
    STORE_RELEASE(CLOSING, 1);
#endif
    /* The time is over once, and the call is made again. */
    if
    :: true
    :: !IS_DRAINED ->
        STORE_RELEASE(CLOSING, 0);
        if
        :: me == round && OWN(CLOSED) == 0 -> read_until_closed()
        :: true
        fi;
#ifndef NO_CLOSING
        STORE_RELEASE(CLOSING, 1)
#endif
    fi;
#ifndef NO_DRAIN
    IS_DRAINED;
#endif
    assert(written == 0 || has_read[AT(1 - me)] || was_closing[AT(1 - me)]);
    STORE_CLOSED;
#ifdef READS_AFTER
    STORE_RELAXED(READ, 1)
#endif
}

proctype rank(byte me) {
    byte round = 0;
    byte own = 0;
    byte theirs = 0;
    byte written = 0;
    byte read = 0;
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
            run rank(r)
        }
    }
}
