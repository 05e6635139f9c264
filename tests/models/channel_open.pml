/* Opening a channel (src/channel/handshake.hpp: made_ready(), withdrawn(), ended();
 * src/channel/open.cpp: put_offer(), answer_offer(), apply_end(), withdraw_offer()): two ranks come until
 * each has opened as many channels as it wants. Each may give up some times while it waits, at any
 * step, and may find one offer of the other bad. The offers lie beside the word and are copied word
 * by word. Shown: both have the same channels, each made of the two offers that belong together;
 * a refusal is heard by both; and nobody waits for ever.
 *
 * Mistakes that must be found: OFFER_LATE (written after it is said to be there), NO_RECHECK (a
 * copied offer is used though it may have been taken back meanwhile), BLIND_TAKE_BACK (does not
 * look whether both were ready), KEEPS_NUMBER (an offer taken back ends nothing, though the other
 * may have found it good), SILENT_END (the next number alone tells that a channel is open). */
#define PROCESSES 2
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define OFFER(rank, part) (2 * (rank) + (part))
#define CHANNELS 2
#define GIVES_UP 2 /* of both in all */
#include "memory.pml"

/* The word that both change by compare and swap. */
byte number = 0;
byte how = 0; /* the number before ended: 0 open, 1 taken back, 2 refused */
bool offered[2];
bool ready[2];

/* What the ranks have come to: attempts of both sides that make up a channel. */
byte opened[2];
byte made_of[8]; /* [rank * 4 + channel * 2 + side] */
byte refused[2];
byte gave_up = 0;

inline load() {
    atomic {
        seen_number = number;
        seen_how = how;
        seen_offered = offered[1 - me];
        seen_ready = ready[1 - me]
    }
}

/* The number ends; in one step with the look that it was still the one. */
inline end_number(ending) {
    number++;
    how = ending;
    offered[0] = false;
    offered[1] = false;
    ready[0] = false;
    ready[1] = false
}

/* Stores before a compare and swap come before it. */
inline put_offer() {
    attempt++;
#ifndef OFFER_LATE
    store_relaxed(me, OFFER(me, 0), attempt);
    store_relaxed(me, OFFER(me, 1), attempt);
#endif
    atomic { fence(me) -> offered[me] = true; mine = number };
#ifdef OFFER_LATE
    store_relaxed(me, OFFER(me, 0), attempt);
    store_relaxed(me, OFFER(me, 1), attempt);
#endif
    is_ready = false
}

inline opens() {
    made_of[me * 4 + opened[me] * 2 + me] = attempt;
    made_of[me * 4 + opened[me] * 2 + 1 - me] = first;
    opened[me]++;
    goto next
}

inline answer_offer() {
    first = memory[OFFER(1 - me, 0)];
    second = memory[OFFER(1 - me, 1)];
    load();
    if
#ifndef NO_RECHECK
    :: seen_number != mine -> skip
    :: else ->
#else
    :: true ->
#endif
        assert(first == second); /* it is used: memory is mapped and addresses are followed */
        if
        :: refusals == 0 -> /* it is bad */
            atomic {
                if
                :: number == mine -> end_number(2); refused[me]++; refusals++; goto next
                :: else
                fi
            }
        :: true ->
            atomic {
                if
                :: number == mine && ready[1 - me] -> end_number(0); opens()
                :: number == mine && !ready[1 - me] -> ready[me] = true; is_ready = true
                :: else
                fi
            }
        fi
    fi
}

inline apply_end() {
    if
#ifdef SILENT_END
    :: is_ready -> opens()
#else
    :: seen_how == 0 && is_ready -> opens()
#endif
    :: seen_how == 2 -> refused[me]++; goto next
    :: seen_how == 1 -> put_offer()
    :: else -> assert(false)
    fi
}

inline withdraw_offer() {
    atomic {
        gave_up++;
        if
        :: gave_up > GIVES_UP -> gave_up--
#ifdef BLIND_TAKE_BACK
        :: gave_up <= GIVES_UP -> end_number(1); goto next
#else
        :: gave_up <= GIVES_UP && number == mine && offered[1 - me] ->
#ifdef KEEPS_NUMBER
            offered[me] = false;
            ready[me] = false
#else
            end_number(1)
#endif
            ; goto next
        :: gave_up <= GIVES_UP && number == mine && !offered[1 - me] ->
            offered[me] = false;
            goto next
        :: gave_up <= GIVES_UP && number != mine && how == 0 && is_ready -> opens()
        :: gave_up <= GIVES_UP && number != mine && how == 2 -> refused[me]++; goto next
        :: gave_up <= GIVES_UP && number != mine && how == 1 -> goto next
#endif
        fi
    }
}

proctype rank(byte me) {
    byte attempt = 0;
    byte mine = 0;
    byte refusals = me; /* rank 0 may refuse once */
    byte seen_number = 0;
    byte seen_how = 0;
    bool seen_offered = false;
    bool seen_ready = false;
    bool is_ready = false;
    byte first = 0;
    byte second = 0;
next:
    if
    :: opened[me] == CHANNELS -> goto over
    :: else
    fi;
    put_offer();
    do
    :: gave_up < GIVES_UP -> withdraw_offer()
    :: number != mine ->
        load();
        apply_end()
    :: number == mine && offered[1 - me] && !is_ready -> answer_offer()
    od;
over:
    skip
}

proctype check() {
    opened[0] == CHANNELS && opened[1] == CHANNELS;
    byte i;
    for (i : 0 .. 3) {
        assert(made_of[i] == made_of[4 + i])
    }
    assert(refused[0] == refused[1])
}

init {
    atomic {
        byte r;
        for (r : 0 .. 1) {
            run drain(r);
            run rank(r)
        }
        run check()
    }
}
