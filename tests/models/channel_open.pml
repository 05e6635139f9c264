/* Opening channels (src/channel/handshake.hpp: made_ready(), withdrawn(), ended(); src/channel/open.cpp:
 * put_offer(), answer_offer(), apply_end(), withdraw_offer()). Two ranks make offers until each has opened all its
 * channels. While a rank waits, it may give up at any step. Rank 0 may refuse one offer. The offers are not part of
 * the word that both ranks change, and are copied word by word.
 * Shown: both ranks open the same channels, each from two offers that belong together; both ranks learn of a
 * refusal; and no rank waits for ever.
 *
 * Mistakes that must be found: OFFER_LATE (the offer is written after it is announced), NO_RECHECK (a copied offer
 * is used without a check that it was not withdrawn meanwhile), BLIND_TAKE_BACK (a rank withdraws its offer without
 * a check that the number has not ended), KEEPS_NUMBER (a withdrawal does not end the number, though the other rank
 * may have accepted the offer), SILENT_END (a rank that finds a new number assumes that the channel is open). */
#define PROCESSES 2
#define WORDS 4
#define SAME_WORD_OVERTAKES false
#define OFFER(rank, part) (2 * (rank) + (part))
#define CHANNELS 2
#define GIVES_UP 2 /* by both ranks together */
#include "memory.pml"

/* The word that both ranks change by compare and swap. */
byte number = 0;
byte how = 0; /* result of the previous number: 0 open, 1 withdrawn, 2 refused */
bool offered[2];
bool ready[2];

/* Results. A channel is made of one attempt of each rank. */
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

/* Ends the number. The caller checks in the same atomic step that the number has not ended yet. */
inline end_number(ending) {
    number++;
    how = ending;
    offered[0] = false;
    offered[1] = false;
    ready[0] = false;
    ready[1] = false
}

/* fence() is here because a compare and swap comes after all earlier stores. */
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
        assert(first == second); /* the offer is used here */
        if
        :: refusals == 0 -> /* the offer is bad */
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
