/* How long a lease of the path fabric may take to tell of silence (docs/design/fabric.md, "Silence"): from some time on no
 * answer of S's node reaches T, while what T says still reaches S. T asks anew, with the time of its clock, once the last question has been
 * answered and PAUSE is over; until then it repeats the last one. S counts from its first answer to the latest question.
 * Messages are under way for less than one step of the clock. Shown: S reports within PAUSE + LEASE + MARGIN of the silence, when T does
 * not accept from it any more, and reports nothing while there is no silence.
 *
 * Mistakes that must be found: ASKS_ON (T asks anew although the last question has no answer), COUNTS_REPETITIONS (S counts from its
 * last answer, also to a question that it had answered before). */
#define LEASE 4
#define MARGIN 1
#define PAUSE 1
#define END 14

byte now = 0;
byte asked = 0; /* when T asked the last question */
byte heard = 0; /* the latest question that S has answered */
bool is_answered = true; /* the last question, as T knows */
byte accepts_until = LEASE;
byte answered_at = 0;
byte silent_since = 0;
bool is_silent = false;
bool has_reported = false;

#define LISTENS (now < accepts_until)
#define MUST_ASK (LISTENS && is_answered && now >= asked + PAUSE)
#define MUST_ANSWER (!has_reported && heard != asked)
#define MUST_REPORT (!has_reported && now >= answered_at + LEASE + MARGIN)

active proctype clock() {
end:
    do
    :: atomic {
        now < END && !MUST_ASK && !MUST_ANSWER && !MUST_REPORT ->
        now++;
        assert(has_reported || !is_silent || now <= silent_since + PAUSE + LEASE + MARGIN)
    }
    od
}

active proctype silence() {
end:
    do
    :: atomic { !is_silent -> is_silent = true; silent_since = now }
    od
}

active proctype target() {
end:
    do
    :: atomic { MUST_ASK -> asked = now; is_answered = false }
#ifdef ASKS_ON
    :: atomic { LISTENS && now >= asked + PAUSE -> asked = now; is_answered = false }
#endif
    od
}

active proctype sender() {
end:
    do
    :: atomic {
        MUST_ANSWER ->
        heard = asked;
        answered_at = now;
        if
        :: is_silent
        :: !is_silent -> is_answered = true; accepts_until = asked + LEASE
        fi
    }
#ifdef COUNTS_REPETITIONS
    :: atomic { LISTENS && !has_reported && !is_answered && heard == asked -> answered_at = now }
#endif
    :: atomic { MUST_REPORT -> assert(is_silent && !LISTENS); has_reported = true }
    od
}
