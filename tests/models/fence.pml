/* The fence of the path fabric (docs/design/fabric.md, "The fence"): ranks S and C put into one word of T. What is in
 * flight may land at any later time, as long as the endpoint of T that it was sent to is open: a later endpoint may have the
 * same address, but not the same keys. A put may be in
 * doubt at any time, whether it has landed or not. Who is in doubt asks T to close the endpoint, and T
 * answers with the number of the new one; both messages may be lost, repeated and late. There are two rails, each with an endpoint
 * of T's and numbers of its own; a put goes by either, and so does its repetition. C
 * puts its value once it knows that S is done. Shown: once C is done its value stays, whatever is still in flight; and two
 * ranks that are in doubt about one endpoint close it once.
 *
 * Mistakes that must be found: NO_FENCE (repeats at once), REPORTS_EARLY (an error ends the put before the fence has been
 * answered), TAKES_OLD_COMPLETION (the completion of the first try ends a put whose repetition is in flight), ANSWERS_FIRST (T answers and closes later), TAKES_ANY_ANSWER (also the answer to an earlier question),
 * CLOSES_AGAIN (T closes whatever endpoint is open, also for a question about an earlier one), TAKES_OTHER_RAIL (an answer about one rail ends a doubt on the other), KEEPS_KEYS (the next endpoint of T has the
 * address and the keys of the last). */
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
byte doubts = 0;      /* that the network has caused */
bool in_doubt[SENDERS];
/* 1 + rail and number of the endpoint at which the last acknowledged put of each has landed; 0: none. */
byte acknowledged[SENDERS];
bool done[SENDERS];

/* Puts in flight: rank + 1 of the sender, 0: none. */
byte flight_of[FLIGHTS];
byte flight_rail[FLIGHTS];
byte flight_number[FLIGHTS];
byte flights = 0;

/* Messages of each rail and number that were sent; they stay in flight, so each may come late and several times, by any rail. */
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
    byte number[RAILS]; /* of T's endpoints, as far as is known here */
    byte rail = 0;      /* of the last try */

    if
    :: me == C -> done[S]
    :: me == S
    fi;
    post();
    do
    :: atomic { IS_OVER -> break }
    /* A connection breaks, an acknowledgement is lost, or nothing is heard for long. */
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

/* Once for each time that the network has caused a doubt, and at one go: nothing is polled meanwhile. */
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
