/* A message that fails (docs/design/decisions/0005-notified-puts-in-one-message.md, "Once each", rule 8). S sends a message A in two parts, by either of two rails. It fails if its second part cannot be
 * sent, or if a cell was short after a fence and the data cannot go again; T may have taken a part by then, and one may be on its way. S takes the addends off its sums and
 * not off its counts, and sends no event by these rails until their cells are equal or the rails are fenced; then it settles. Message B takes the place of A in the epoch. Shown: T's signal fires once, with
 * the message that has not failed.
 *
 * Mistakes that must be found: SETTLES_AT_ONCE (while a part may still come), KEEPS_SUM (what T has taken stays), DROPS_COUNT (S takes the parts off its counts too), SENDS_ON (B goes by a rail that is not settled),
 * FAILS_UNJUDGED (a message fails whose parts may all have been taken), FAILS_LATE (while a settlement with its parts is out). */
#define RAILS 2
#define A0 0
#define A1 1
#define B 2
#define ADDEND(k) ((k) == A0 -> 3 : ((k) == A1 -> 252 : 255))

byte home[3];
bool sent[3];
bool on_the_way[3];
bool queued[3];
bool taken[3];
byte sent_count[RAILS];
byte sent_sum[RAILS];
byte taken_count[RAILS];
byte taken_sum[RAILS];
byte slot = 0;
bool has_fired = false;
bool failed = false;
bool is_lost[RAILS]; /* the cell was short after a fence */
bool unsettled[RAILS];
bool is_final[RAILS]; /* fenced since the message failed */
bool settlement[RAILS];
byte says_count[RAILS];
byte says_sum[RAILS];
byte fences = 0;
byte i_ = 0;

#ifdef SENDS_ON
#define TAKES_EVENTS(r) true
#else
#define TAKES_EVENTS(r) (!unsettled[r])
#endif

inline send(k, r) {
    home[k] = r;
    sent[k] = true;
    on_the_way[k] = true;
    sent_count[r]++;
    sent_sum[r] = (sent_sum[r] + ADDEND(k)) & 255
}

inline take_off(k) {
    if
    :: sent[k] ->
#ifndef KEEPS_SUM
        sent_sum[home[k]] = (sent_sum[home[k]] - ADDEND(k)) & 255;
#endif
#ifdef DROPS_COUNT
        sent_count[home[k]]--;
#endif
        unsettled[home[k]] = true
    :: else
    fi
}

#ifdef FAILS_LATE
#define NONE_IS_OUT true
#else
#define NONE_IS_OUT (!settlement[0] && !settlement[1])
#endif
#ifdef FAILS_UNJUDGED
#define MAY_FAIL (sent[A0] && NONE_IS_OUT)
#else
#define MAY_FAIL (sent[A0] && (!sent[A1] || is_lost[0] || is_lost[1]) && NONE_IS_OUT)
#endif

#ifdef SETTLES_AT_ONCE
#define MAY_SETTLE(r) true
#else
#define MAY_SETTLE(r) (is_final[r] || taken_count[r] == sent_count[r])
#endif

inline rail_steps(r) {
    if
    :: !failed && !sent[A0] -> send(A0, r)
    :: !failed && sent[A0] && !sent[A1] && TAKES_EVENTS(r) -> send(A1, r)
    :: failed && !sent[B] && TAKES_EVENTS(r) -> send(B, r)
    :: unsettled[r] && !settlement[r] && MAY_SETTLE(r) ->
        settlement[r] = true;
        says_count[r] = sent_count[r];
        says_sum[r] = sent_sum[r]
    fi
}

active proctype sender() {
end:
    do
    :: atomic { rail_steps(0) }
    :: atomic { rail_steps(1) }
    :: atomic { MAY_FAIL && !failed -> failed = true; take_off(A0); take_off(A1) }
    od
}

/* The rail's endpoint is closed; what lies in its queue goes. What was sent by it and not taken is lost. */
inline fence(r) {
    fences < 2 && !(sent[B] && home[B] == r) && (sent[A0] && home[A0] == r && !taken[A0] || sent[A1] && home[A1] == r && !taken[A1]) ->
    fences++;
    i_ = 0;
    do
    :: i_ < 2 ->
        if
        :: sent[i_] && home[i_] == r && !taken[i_] -> on_the_way[i_] = false; queued[i_] = false; is_lost[r] = true
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od;
    is_final[r] = true;
    unsettled[r] = true
}

inline arrive(k) {
    if
    :: on_the_way[k] -> on_the_way[k] = false; queued[k] = true
    :: queued[k] ->
        queued[k] = false;
        taken[k] = true;
        taken_count[home[k]]++;
        taken_sum[home[k]] = (taken_sum[home[k]] + ADDEND(k)) & 255;
        slot = (slot + ADDEND(k)) & 255
    fi
}

inline carry_out(r) {
    settlement[r] ->
    settlement[r] = false;
    unsettled[r] = false;
    is_final[r] = false;
    is_lost[r] = false;
    /* If the message has not failed, its data was put again. */
    i_ = 0;
    do
    :: i_ < 2 ->
        if
        :: sent[i_] && home[i_] == r && !failed -> taken[i_] = true
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od;
    slot = (slot + says_sum[r] - taken_sum[r]) & 255;
    taken_sum[r] = says_sum[r];
    taken_count[r] = says_count[r]
}

active proctype owner() {
    do
    :: atomic { arrive(A0) }
    :: atomic { arrive(A1) }
    :: atomic { arrive(B) }
    :: atomic { carry_out(0) }
    :: atomic { carry_out(1) }
    :: atomic { fence(0) }
    :: atomic { fence(1) }
    :: atomic {
        ((slot + 1) & 255) == 0 && !has_fired ->
        assert(failed -> taken[B] : sent[A1]);
        has_fired = true
    }
    :: atomic {
        has_fired && !unsettled[0] && !unsettled[1] && !on_the_way[0] && !on_the_way[1] && !queued[0] && !queued[1] ->
        assert(((slot + 1) & 255) == 0 && (failed || sent[A1]));
        break
    }
    od
}
