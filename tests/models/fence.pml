/* The fence of the path fabric (docs/design/fabric.md, "The fence"). Ranks S and C put values into one word of rank
 * T. A put in flight may land at any later time while the endpoint of T to which it was sent is open. A later
 * endpoint may have the same address, but has other keys. The sender may come to doubt a put at any time, whether
 * the put has landed or not. Then it asks T to close the endpoint, and T answers with the number of the new
 * endpoint. Questions and answers may be lost, repeated or late. There are two rails, and T has an endpoint with
 * its own numbers on each. A put and its repetition may go by different rails. C puts its value after it has
 * learned that S is done.
 * Shown: after C is done its value stays, whatever is still in flight; and two ranks that are in doubt about one
 * endpoint close it only once.
 *
 * Mistakes that must be found: NO_FENCE (the sender repeats a put without asking), REPORTS_EARLY (a put ends with
 * an error before T has answered), TAKES_OLD_COMPLETION (the completion of the first try ends a put whose
 * repetition is in flight), ANSWERS_FIRST (T answers before it closes the endpoint), TAKES_ANY_ANSWER (the sender
 * also accepts the answer to an earlier question), CLOSES_AGAIN (a question about an earlier endpoint closes the
 * current one), TAKES_OTHER_RAIL (an answer about one rail ends the doubt about the other), KEEPS_KEYS (the next
 * endpoint of T has the same address and the same keys). */
#define S 0
#define C 1
#define SENDERS 2
#define FLIGHTS 8
#define NUMBERS 4
#define RAILS 2
#define AT(rail, number) ((rail) * NUMBERS + (number))
#define MOST_DOUBTS 2

byte open_number[RAILS]; /* of T's endpoints */
byte word = 0;        /* T's memory: rank + 1 of who wrote it */
byte doubts = 0;      /* number of doubts that the network has caused */
bool in_doubt[SENDERS];
/* For each sender, 1 + AT() of the endpoint where its last acknowledged put has landed; 0: none. */
byte acknowledged[SENDERS];
bool done[SENDERS];

/* Puts in flight. flight_of is the sender's rank + 1, or 0 for no put. */
byte flight_of[FLIGHTS];
byte flight_rail[FLIGHTS];
byte flight_number[FLIGHTS];
byte flights = 0;

/* Messages sent, by the rail and number in them. They stay in flight, so each may arrive late and several times. */
bool question[RAILS * NUMBERS];
bool answer[RAILS * NUMBERS];

inline post() {
    atomic {
        if
        :: rail = 0
        :: rail = 1
        fi;
        assert(flights < FLIGHTS);
        flight_of[flights] = me + 1;
        flight_rail[flights] = rail;
        flight_number[flights] = number[rail];
        flights++
    }
}

#ifdef TAKES_OLD_COMPLETION
#define IS_OVER (acknowledged[me] != 0)
#else
#define IS_OVER (acknowledged[me] == AT(rail, number[rail]) + 1)
#endif

proctype sender(byte me) {
    byte number[RAILS]; /* of T's endpoints, as this sender knows them */
    byte rail = 0;      /* of the last try */

    if
    :: me == C -> done[S]
    :: me == S
    fi;
    post();
    do
    :: atomic { IS_OVER -> break }
    /* A connection breaks, an acknowledgement is lost, or T is silent for long. */
    :: atomic {
        !in_doubt[me] && open_number[rail] == number[rail] && doubts < MOST_DOUBTS ->
        doubts++;
        in_doubt[me] = true
    }
    :: atomic { !in_doubt[me] && open_number[rail] != number[rail] -> in_doubt[me] = true }
    :: in_doubt[me] ->
#ifdef REPORTS_EARLY
        break;
#endif
#ifndef NO_FENCE
        question[AT(rail, number[rail])] = true;
        if
        :: atomic { answer[AT(rail, number[rail] + 1)] -> number[rail]++ }
#ifdef TAKES_OTHER_RAIL
        :: atomic { answer[AT(1 - rail, number[rail] + 1)] -> number[rail]++ }
#endif
#ifdef TAKES_ANY_ANSWER
        :: atomic { number[rail] == 1 && answer[AT(rail, 1)] -> skip }
#endif
        :: atomic { IS_OVER -> break }
        fi;
#endif
        in_doubt[me] = false;
        post()
    od;
    done[me] = true
}

#ifdef KEEPS_KEYS
#define IS_ACCEPTED(i) (flight_number[i] <= open_number[flight_rail[i]])
#else
#define IS_ACCEPTED(i) (flight_number[i] == open_number[flight_rail[i]])
#endif

inline land(i) {
    flight_of[i] != 0 ->
    if
    :: IS_ACCEPTED(i) ->
        assert(!(done[C] && flight_of[i] == S + 1));
        word = flight_of[i];
        if
        :: acknowledged[flight_of[i] - 1] = AT(flight_rail[i], open_number[flight_rail[i]]) + 1
        :: doubts < MOST_DOUBTS -> doubts++; in_doubt[flight_of[i] - 1] = true
        fi
    :: else
    fi;
    flight_of[i] = 0
}

/* At most once for each doubt that the network has caused. One atomic step: nothing is polled meanwhile. */
inline close(r) {
    assert(open_number[0] + open_number[1] < doubts);
    open_number[r]++;
    answer[AT(r, open_number[r])] = true
}

inline serve(r) {
#ifdef CLOSES_AGAIN
    question[AT(r, 0)] || question[AT(r, 1)] || question[AT(r, 2)] -> close(r)
#else
#ifdef ANSWERS_FIRST
    if
    :: question[AT(r, open_number[r])] && !answer[AT(r, open_number[r] + 1)] -> answer[AT(r, open_number[r] + 1)] = true
    :: answer[AT(r, open_number[r] + 1)] -> open_number[r]++
    fi
#else
    question[AT(r, open_number[r])] -> close(r)
#endif
#endif
}

active proctype target() {
end:
    do
    :: atomic { land(0) }
    :: atomic { land(1) }
    :: atomic { land(2) }
    :: atomic { land(3) }
    :: atomic { land(4) }
    :: atomic { land(5) }
    :: atomic { land(6) }
    :: atomic { land(7) }
    :: atomic { serve(0) }
    :: atomic { serve(1) }
    :: atomic { done[C] -> assert(word == C + 1) }
    od
}

init {
    atomic {
        run sender(S);
        run sender(C)
    }
}
