/* How soon the path fabric reports a silent peer (docs/design/fabric.md, "Silence"). From some time on no answer of
 * S's node reaches T, but T's questions still reach S. T asks a new question, with the time of its clock, when the
 * last one is answered and PAUSE has passed. Until then it repeats the last question. S counts from its first
 * answer to the latest question. A message is in flight for less than one step of the clock.
 * Shown: S reports T as lost within PAUSE + LEASE + MARGIN after the silence began, when T no longer accepts data
 * from S; and without silence S reports nothing.
 *
 * Mistakes that must be found: ASKS_ON (T asks a new question although the last one has no answer),
 * COUNTS_REPETITIONS (S counts from its last answer, also to a repeated question). */
#define LEASE 4
#define MARGIN 1
#define PAUSE 1
#define END 14

byte now = 0;
byte asked = 0; /* when T asked the last question */
byte heard = 0; /* the latest question that S has answered */
bool is_answered = true; /* whether the last question is answered, as T knows */
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
