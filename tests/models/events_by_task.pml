/* Events of level 0 (docs/design/decisions/0005-notified-puts-in-one-message.md): the cell of no rail. S counts an event in its cell when the data has been delivered,
 * and sends its cell to T by tasks, with all that has come together since the last one. Tasks come late, several times, and overtake each other; T knows by its number that one was carried
 * out. T makes its cell what the task says, and counts the difference. Shown: T counts each event once, after its data, and all of them in the end.
 *
 * Mistakes that must be found: SETTLES_BY_TWO (S sends the next task before it has the reply to the last one, or gives that one up), COUNTS_UNDELIVERED (when the data is sent), NO_NUMBERS (T carries out what comes again). */
#define EVENTS 3

byte sent = 0;
byte delivered = 0;
byte cell = 0;      /* S's */
byte taken = 0;     /* T's */
byte tasks = 0;
byte says[EVENTS + 1];
bool carried_out[EVENTS + 1];
bool is_out = false; /* a task without a reply */

#ifdef COUNTS_UNDELIVERED
#define COUNTABLE sent
#else
#define COUNTABLE delivered
#endif
#ifdef SETTLES_BY_TWO
#define MAY_SEND true
#else
#define MAY_SEND (!is_out)
#endif

active proctype sender() {
    do
    :: atomic { sent < EVENTS -> sent++ }
    :: atomic { cell < COUNTABLE -> cell = COUNTABLE }
    :: atomic {
        MAY_SEND && tasks < EVENTS && cell > says[tasks] ->
        tasks++;
        says[tasks] = cell;
        is_out = true
    }
    :: atomic { is_out && carried_out[tasks] -> is_out = false }
    :: atomic { !is_out && says[tasks] == EVENTS -> break }
    od
}

inline carry_out(n) {
#ifdef NO_NUMBERS
    tasks >= n && taken != says[n] ->
#else
    tasks >= n && !carried_out[n] ->
#endif
    assert(says[n] > taken && says[n] <= delivered);
    taken = says[n];
    carried_out[n] = true
}

active proctype owner() {
end:
    do
    :: atomic { delivered < sent -> delivered++ }
    :: atomic { carry_out(1) }
    :: atomic { carry_out(2) }
    :: atomic { carry_out(3) }
    od
}
