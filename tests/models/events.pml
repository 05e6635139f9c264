/* Events in the completion data of puts (docs/design/decisions/0005-notified-puts-in-one-message.md). Sender S sends owner T one
 * message in each epoch: two parts, each a put with an event, by either of two rails. T's signal expects one message an epoch. A put with an event is
 * complete for S when it has left; that it was delivered S may hear or not. Of each rail both keep a cell for each parity of the
 * epoch: S how many events it has sent by it, and the sum of what they add, T how many it has taken, and their sum. What T has taken comes to S in rows: pushed at a
 * reset, or as an answer; they are late, overtake each other, come again, and may be lost when they are pushed. A connection may lose what is on its way, and T
 * closes a rail's endpoint for this sender or for another one: what was sent there and has not landed never does, and events
 * that lie in the endpoint's queue are dropped, whether S had heard that they were delivered or not. S may be in doubt at any time. Then it has T close
 * the endpoint, asks for the cells of that rail, puts the data again where a cell is short, and settles: T makes its cell
 * what S says, and counts the difference. Shown: T finds its signal fired only when all of the epoch is there, nothing lands in memory
 * of an epoch that T has read, no event comes that is early or late, and all ends.
 *
 * Mistakes that must be found: NO_CHECK (S does not look at the epoch that it knows), GUESSES_EPOCH (S takes it that T has reset what it has sent), TRUSTS_COMPLETION (what was delivered counts as
 * counted), REPEATS_EVENT (the event goes again with the data), REPEATS_ALL (data goes again without a look at the cell), ASKS_BEFORE (the
 * cell is asked for before the endpoint is closed), SETTLES_FIRST (before the data
 * is there), ADDS_DIFFERENCE (a settlement says what to add, and is carried out each time that it comes), NO_NUMBERS (a settlement that comes late is carried out), ONE_CELL (for both
 * rails), SENDS_ON (events go by a rail that is not settled), LANDS_LATE (T takes events that lie in the queue of an endpoint that it has closed). */
#define LONG_SEARCH
#define EPOCHS 3
#define PIECES 4
/* Two parts in epoch 0, one in each other. */
#define EPOCH_OF(p) ((p) < 2 -> 0 : (p) - 1)
#define RAILS 2
#ifndef MOST_FAULTS
#define MOST_FAULTS 2
#endif
#define CELLS 4
#ifdef NO_NUMBERS
#define KEEPS_SETTLEMENT
#endif
#ifdef ADDS_DIFFERENCE
#define KEEPS_SETTLEMENT
#endif
#ifdef ONE_CELL
#define CELL(r, e) ((e) % 2)
#else
#define CELL(r, e) ((r) * 2 + CELL_IN_RAIL(e))
#endif
#ifdef UNCHECKED
bool is_current = false;
#define CELL_IN_RAIL(e) (is_current -> 0 : (e) % 2)
#else
#define CELL_IN_RAIL(e) ((e) % 2)
#endif

/* Of a value modulo 256, with room for one event: bit 0 events, bit 1 overflow, above it parts. */
#define ADDEND(p) ((p) == 0 -> 3 : ((p) == 1 -> 252 : 255))
#define ARMED(e) ((e) / 2 + 1)
#define VALUE(e) ((slot[(e) % 2] + ARMED(e)) & 255)

/* ---- T. */
byte epoch = 0;
byte slot[2];
bool is_read[EPOCHS]; /* T has seen the signal fired, and uses the data */
bool data[PIECES];
byte taken_count[CELLS];
byte taken_sum[CELLS];
byte open_number[RAILS];
bool queued[PIECES];
#ifdef UNCHECKED
byte before[RAILS]; /* of kind current: taken when the epoch of the last event began, */
byte stamp[RAILS];  /* which is this */
#endif

/* ---- On the way. */
byte faults = 0;
bool event_to[PIECES]; /* by the rail home[] */
bool plain_to[PIECES]; /* data alone, by the rail plain_by[] */
byte plain_by[PIECES];
bool has_lost[RAILS];  /* a connection has broken, and S has not heard of it */
bool told_of[EPOCHS + 1]; /* an epoch that T has pushed, or answered */
#ifdef UNCHECKED
bool row_there = false; /* the last answer to a question that is not about one rail */
byte row_count[CELLS];
byte asked_count[CELLS]; /* what had been sent when it was asked */
#endif
/* What T says of a rail that S has to settle. */
bool is_asked[RAILS];
bool is_told[RAILS];
byte told_epoch[RAILS];
byte told_count[RAILS * 2];
/* The last settlement of each rail. */
bool settlement[RAILS];
bool is_waiting[RAILS]; /* for the reply */
bool is_carried_out[RAILS];
byte settle_count[RAILS * 2];
byte settle_sum[RAILS * 2];
byte settle_less[RAILS * 2]; /* what is missing */

/* ---- S. */
mtype = { none, out, lost, plain, there, done };
mtype state[PIECES] = none;
byte home[PIECES];   /* the rail of its event */
#ifdef UNCHECKED
byte place[PIECES]; /* among those of its cell, from 1 */
#endif
bool has_ok[PIECES]; /* S has heard that it was delivered */
byte known = 0;      /* of T's epoch */
byte number[RAILS];  /* of T's endpoints */
bool in_doubt[RAILS];
bool unsettled[RAILS];
bool is_settling[RAILS];
byte sent_count[CELLS];
byte sent_sum[CELLS];
byte next = 0;
bool wants_row = false;
bool is_over = false;
/* Of steps that are made at one go. */
byte i_ = 0;
bool is_missing_ = false;

#ifdef NO_CHECK
#define IS_LET_IN true
#else
#ifdef UNCHECKED
#define IS_LET_IN (is_current -> epoch >= EPOCH_OF(next) : epoch + 1 >= EPOCH_OF(next))
#else
#define IS_LET_IN (EPOCH_OF(next) <= known + 1)
#endif
#endif
#ifdef SENDS_ON
#define TAKES_EVENTS(r) (!in_doubt[r])
#else
#define TAKES_EVENTS(r) (!in_doubt[r] && !unsettled[r])
#endif

inline send(r) {
    next < PIECES && IS_LET_IN && TAKES_EVENTS(r) && !(next == 0 && r == 1) ->
    home[next] = r;
    event_to[next] = (number[r] == open_number[r]);
    state[next] = out;
    sent_count[CELL(r, EPOCH_OF(next))]++;
    sent_sum[CELL(r, EPOCH_OF(next))] = (sent_sum[CELL(r, EPOCH_OF(next))] + ADDEND(next)) & 255;
#ifdef UNCHECKED
    place[next] = sent_count[CELL(r, EPOCH_OF(next))];
#endif
#ifdef GUESSES_EPOCH
    known = EPOCH_OF(next);
#endif
    next++
}

#define CELL_OF(p) CELL(home[p], EPOCH_OF(p))

#ifdef UNCHECKED
#ifdef COMPARES_OLD
#define IS_ROW_EQUAL(p) (row_count[CELL_OF(p)] >= asked_count[CELL_OF(p)] && place[p] <= asked_count[CELL_OF(p)])
#else
#define IS_ROW_EQUAL(p) (row_count[CELL_OF(p)] == sent_count[CELL_OF(p)])
#endif

/* An answer, which may be old. */
inline compare() {
    row_there ->
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: state[i_] == out && IS_ROW_EQUAL(i_) -> state[i_] = done; has_ok[i_] = false
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od
}
#endif

/* What is pushed is late, overtaken, comes again. T has counted all of an epoch that it has left. */
inline merge(e) {
    told_of[e] && e > known ->
    known = e;
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: state[i_] == out && known > EPOCH_OF(i_) -> state[i_] = done; has_ok[i_] = false
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od
}

#ifdef FORGETS_EPOCH
#define IS_BEFORE(p, r) false
#else
#define IS_BEFORE(p, r) (told_epoch[r] > EPOCH_OF(p))
#endif
#ifdef UNCHECKED
#ifdef FORGETS_BEFORE
#define IS_PAST(p, r) (!is_current && IS_BEFORE(p, r))
#else
#define IS_PAST(p, r) (is_current -> home[p] == r && place[p] <= told_count[r * 2 + 1] : IS_BEFORE(p, r))
#endif
#else
#define IS_PAST(p, r) IS_BEFORE(p, r)
#endif
#ifdef REPEATS_ALL
#define IS_COUNTED(p, r) false
#else
#define IS_COUNTED(p, r) (IS_PAST(p, r) || home[p] == r && told_count[r * 2 + CELL_IN_RAIL(EPOCH_OF(p))] == sent_count[CELL_OF(p)])
#endif

/* By the rail nothing is on its way. What it has brought is counted, unless a cell is short: then any of that epoch may be what is missing. */
inline judge(r) {
    if
    :: told_epoch[r] > known -> known = told_epoch[r]
    :: else
    fi;
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: state[i_] == out && IS_COUNTED(i_, r) -> state[i_] = done; has_ok[i_] = false
        :: state[i_] == out && !IS_COUNTED(i_, r) && home[i_] == r ->
            is_missing_ = true;
            if
            :: has_ok[i_] -> state[i_] = there; has_ok[i_] = false
            :: !has_ok[i_] -> state[i_] = lost
            fi
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od;
#ifdef UNCHECKED
    known = 0; /* S does not use it */
#endif
    told_epoch[r] = 0;
    told_count[r * 2] = 0;
    told_count[r * 2 + 1] = 0;
    is_settling[r] = is_missing_;
    unsettled[r] = is_missing_;
    is_missing_ = false
}

/* S hears of a new endpoint. */
inline take_number(r) {
    open_number[r] > number[r] ->
    number[r]++;
    in_doubt[r] = false;
    has_lost[r] = false;
    unsettled[r] = true;
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: state[i_] == plain && plain_by[i_] == r -> state[i_] = lost; plain_by[i_] = 0
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od
}

inline put_again(p, r) {
    state[p] == lost && !in_doubt[r] ->
#ifdef REPEATS_EVENT
    home[p] = r;
    event_to[p] = (number[r] == open_number[r]);
    state[p] = out;
    is_settling[0] = false;
    is_settling[1] = false;
    unsettled[0] = false;
    unsettled[1] = false
#else
    plain_by[p] = r;
    plain_to[p] = (number[r] == open_number[r]);
    state[p] = plain
#endif
}

#define WAITS(p, r) (home[p] == r && (state[p] == lost || state[p] == plain))
#ifdef SETTLES_FIRST
#define IS_ALL_THERE(r) true
#else
#define IS_ALL_THERE(r) !(WAITS(0, r) || WAITS(1, r) || WAITS(2, r) || WAITS(3, r))
#endif

inline settle(r) {
    is_settling[r] && !in_doubt[r] && IS_ALL_THERE(r) && (!settlement[r] || is_carried_out[r]) ->
    settlement[r] = true;
    is_carried_out[r] = false;
    i_ = 0;
    do
    :: i_ < 2 ->
        settle_count[r * 2 + i_] = sent_count[CELL(r, i_)];
        settle_sum[r * 2 + i_] = sent_sum[CELL(r, i_)];
#ifdef ADDS_DIFFERENCE
        settle_less[r * 2 + i_] = (sent_sum[CELL(r, i_)] - taken_sum[CELL(r, i_)]) & 255;
#endif
        i_++
    :: else -> i_ = 0; break
    od;
    is_waiting[r] = true
}

/* S hears that T has carried it out. */
inline end_settling(r) {
    is_waiting[r] && is_carried_out[r] ->
    is_waiting[r] = false;
#ifndef KEEPS_SETTLEMENT
    settlement[r] = false;
    is_carried_out[r] = false;
    settle_count[r * 2] = 0;
    settle_count[r * 2 + 1] = 0;
    settle_sum[r * 2] = 0;
    settle_sum[r * 2 + 1] = 0;
#endif
    is_settling[r] = false;
    unsettled[r] = false;
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: home[i_] == r && (state[i_] == there || state[i_] == lost || state[i_] == plain) -> state[i_] = done
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od
}

#ifdef ASKS_BEFORE
#define MAY_ASK(r) (in_doubt[r] || unsettled[r])
#else
#define MAY_ASK(r) (unsettled[r] && !in_doubt[r])
#endif
#ifdef TRUSTS_COMPLETION
#define IS_DONE(p) (state[p] == done || state[p] == out && has_ok[p])
#else
#define IS_DONE(p) (state[p] == done)
#endif

inline rail_steps(r) {
    if
    :: send(r)
    /* An error, or nothing is heard for long. */
    :: !in_doubt[r] && !has_lost[r] && faults < MOST_FAULTS -> faults++; in_doubt[r] = true
    :: !in_doubt[r] && has_lost[r] -> in_doubt[r] = true
    :: take_number(r)
    :: MAY_ASK(r) && !is_asked[r] && !is_settling[r] -> is_asked[r] = true
    :: unsettled[r] && !in_doubt[r] && !is_settling[r] && is_told[r] ->
        judge(r);
        is_asked[r] = false;
        is_told[r] = false
    :: put_again(0, r)
    :: put_again(1, r)
    :: put_again(2, r)
    :: put_again(3, r)
    :: settle(r)
    :: end_settling(r)
    fi
}

active proctype sender() {
#ifdef UNCHECKED
    if
    :: is_current = true
    :: skip
    fi;
#endif
    do
    :: atomic { rail_steps(0) }
    :: atomic { rail_steps(1) }
#ifdef UNCHECKED
    :: atomic { compare() }
    :: atomic {
        !wants_row && next > 0 ->
        wants_row = true;
        row_there = false;
#ifdef COMPARES_OLD
        asked_count[0] = sent_count[0];
        asked_count[1] = sent_count[1];
        asked_count[2] = sent_count[2];
        asked_count[3] = sent_count[3]
#endif
    }
#else
    :: atomic { merge(1) }
    :: atomic { merge(2) }
    :: atomic { merge(3) }
    :: atomic { !wants_row && (next == PIECES || !IS_LET_IN) && !told_of[epoch] -> wants_row = true }
#endif
    :: atomic {
        IS_DONE(0) && IS_DONE(1) && IS_DONE(2) && IS_DONE(3) && !unsettled[0] && !unsettled[1] ->
        is_over = true;
        break
    }
    od
}

/* ---- What T does, and what the network does there. */

inline land(p) {
    event_to[p] ->
    event_to[p] = false;
    if
    :: assert(!is_read[EPOCH_OF(p)]);
        data[p] = true;
        queued[p] = true;
        if
        :: p != 1 && state[p] == out -> has_ok[p] = true
        :: skip
        fi
    :: faults < MOST_FAULTS && !has_lost[home[p]] -> faults++; has_lost[home[p]] = true
    fi
}

inline land_plain(p) {
    plain_to[p] ->
    plain_to[p] = false;
    if
    :: assert(!is_read[EPOCH_OF(p)]); data[p] = true; state[p] = there; plain_by[p] = 0
    :: faults < MOST_FAULTS && !has_lost[plain_by[p]] ->
        faults++;
        has_lost[plain_by[p]] = true;
        if
        :: assert(!is_read[EPOCH_OF(p)]); data[p] = true
        :: skip
        fi
    fi
}

#ifdef UNCHECKED
inline begin_epoch(r) {
    if
    :: is_current && stamp[r] != epoch -> stamp[r] = epoch; before[r] = taken_count[r * 2]
    :: else
    fi
}
#endif

inline take(p) {
    queued[p] ->
    queued[p] = false;
    assert(EPOCH_OF(p) == epoch || EPOCH_OF(p) == epoch + 1);
#ifdef UNCHECKED
    assert(!is_current || EPOCH_OF(p) == epoch);
    begin_epoch(home[p]);
#endif
    slot[EPOCH_OF(p) % 2] = (slot[EPOCH_OF(p) % 2] + ADDEND(p)) & 255;
    taken_sum[CELL_OF(p)] = (taken_sum[CELL_OF(p)] + ADDEND(p)) & 255;
    taken_count[CELL_OF(p)]++
}

/* What has been sent there and has not landed never does: fence.pml. */
inline close(r) {
    open_number[r]++;
    i_ = 0;
    do
    :: i_ < PIECES ->
        if
        :: home[i_] == r ->
            event_to[i_] = false;
#ifndef LANDS_LATE
            queued[i_] = false
#endif
        :: else
        fi;
        if
        :: plain_by[i_] == r -> plain_to[i_] = false
        :: else
        fi;
        i_++
    :: else -> i_ = 0; break
    od
}

inline tell(r) {
    is_asked[r] ->
    is_told[r] = true;
    told_epoch[r] = epoch;
    told_count[r * 2] = taken_count[CELL(r, 0)];
    told_count[r * 2 + 1] = taken_count[CELL(r, 1)];
#ifdef UNCHECKED
#ifndef KEEPS_BEFORE
    begin_epoch(r);
#endif
    if
    :: is_current -> told_count[r * 2 + 1] = before[r]
    :: else
    fi
#endif
}

#ifdef KEEPS_SETTLEMENT
#define IS_NEW(r) settlement[r]
#else
#define IS_NEW(r) (settlement[r] && !is_carried_out[r])
#endif

inline carry_out(r) {
    IS_NEW(r) ->
    is_carried_out[r] = true;
#ifdef UNCHECKED
    begin_epoch(r);
    if
    :: is_current -> slot[epoch % 2] = (slot[epoch % 2] + settle_sum[r * 2] - taken_sum[r * 2]) & 255
    :: else
    fi;
#endif
    i_ = 0;
    do
#ifdef UNCHECKED
    :: i_ < 2 && is_current ->
        if
        :: i_ == 0 -> taken_sum[r * 2] = settle_sum[r * 2]; taken_count[r * 2] = settle_count[r * 2]
        :: else
        fi;
        i_++
    :: i_ < 2 && !is_current ->
#else
    :: i_ < 2 ->
#endif
#ifdef ADDS_DIFFERENCE
        slot[i_] = (slot[i_] + settle_less[r * 2 + i_]) & 255;
#else
        slot[i_] = (slot[i_] + settle_sum[r * 2 + i_] - taken_sum[CELL(r, i_)]) & 255;
#endif
        taken_sum[CELL(r, i_)] = settle_sum[r * 2 + i_];
        taken_count[CELL(r, i_)] = settle_count[r * 2 + i_];
        i_++
    :: else -> i_ = 0; break
    od
}

inline rail_at_owner(r) {
    if
    :: in_doubt[r] && number[r] == open_number[r] -> close(r) /* S asks for it: fence.pml */
    :: faults < MOST_FAULTS -> faults++; close(r) /* another sender is in doubt */
    :: tell(r)
    :: carry_out(r)
    fi
}

inline piece_at_owner(p) {
    if
    :: land(p)
    :: land_plain(p)
    :: take(p)
    fi
}

active proctype owner() {
    do
    :: atomic { piece_at_owner(0) }
    :: atomic { piece_at_owner(1) }
    :: atomic { piece_at_owner(2) }
    :: atomic { piece_at_owner(3) }
    :: atomic { rail_at_owner(0) }
    :: atomic { rail_at_owner(1) }
    :: atomic {
        epoch < EPOCHS && VALUE(epoch) == 0 && !is_read[epoch] ->
        assert(data[epoch + 1] && (epoch != 0 || data[0]));
        is_read[epoch] = true
    }
    :: atomic {
        epoch < EPOCHS && is_read[epoch] ->
        assert(VALUE(epoch) == 0);
        epoch++;
        if
#ifndef UNCHECKED
        :: told_of[epoch] = true
#endif
        :: skip /* lost */
        fi
    }
#ifdef UNCHECKED
    :: atomic {
        wants_row ->
        wants_row = false;
        row_there = true;
        row_count[0] = taken_count[0];
        row_count[1] = taken_count[1];
        row_count[2] = taken_count[2];
        row_count[3] = taken_count[3]
    }
#else
    :: atomic { wants_row -> wants_row = false; told_of[epoch] = true }
#endif
    :: atomic { is_over && epoch == EPOCHS -> break }
    od
}
