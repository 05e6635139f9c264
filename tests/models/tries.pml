/* The tries of one piece by the active endpoint A of the path fabric (docs/design/fabric.md, "States of a
 * transfer"). A piece is a part of a transfer, and each posting of it is a try. The piece has one record, and a
 * completion contains only the address of this record. The piece also has a private buffer, which belongs to the
 * caller again when the piece has ended. A try moves data while it is under way. An error of a try ends it. Its
 * completion may also never come. In this case the sender closes A: all tries under way are dropped, with or
 * without an error in the queue. Completions stay in the queue until they are read, in any order.
 * Shown: no data moves after the piece has ended; and if the piece ends with OK, its last try was delivered.
 *
 * Mistakes that must be found: REPORTS_UNDER_WAY (the loss of the peer ends the piece while its try is under way),
 * REPEATS_UNDER_WAY (after the fence was answered, the record is posted again while its try is under way),
 * KEEPS_QUEUE (A is closed, but the next A uses the same queue). */
#define MOST_TRIES 3

byte last = 0; /* the last try posted; the first is 1 */
bool under_way[MOST_TRIES + 1];
bool delivered[MOST_TRIES + 1];
/* Completions in the queue, by their try. The sender cannot see the try. */
bool has_ok[MOST_TRIES + 1];
bool has_error[MOST_TRIES + 1];
bool has_ended = false;

inline post() {
    last++;
    under_way[last] = true
}

inline forget_completions() {
    has_ok[1] = false;
    has_ok[2] = false;
    has_ok[3] = false;
    has_error[1] = false;
    has_error[2] = false;
    has_error[3] = false
}

inline close_active() {
    if
    :: has_error[last] = under_way[last]
    :: skip
    fi;
    under_way[1] = false;
    under_way[2] = false;
    under_way[3] = false;
#ifndef KEEPS_QUEUE
    forget_completions()
#endif
}

inline read_ok(try) {
    has_ok[try] ->
    has_ok[try] = false;
    assert(delivered[last]);
    has_ended = true
}

active proctype sender() {
    bool in_doubt = false;
    bool is_over = false;

    atomic { post() }
    do
    :: has_ended -> break
    :: !has_ended ->
        if
        :: atomic { read_ok(1) }
        :: atomic { read_ok(2) }
        :: atomic { read_ok(3) }
        :: atomic { has_error[1] -> has_error[1] = false; in_doubt = true; is_over = true }
        :: atomic { has_error[2] -> has_error[2] = false; in_doubt = true; is_over = true }
        :: atomic { has_error[3] -> has_error[3] = false; in_doubt = true; is_over = true }
        :: in_doubt = true /* the peer is silent */
        :: atomic { in_doubt && !is_over -> close_active(); is_over = true }
        /* The fence has been answered. */
#ifdef REPEATS_UNDER_WAY
        :: atomic { in_doubt && last < MOST_TRIES -> post(); in_doubt = false; is_over = false }
#else
        :: atomic { in_doubt && is_over && last < MOST_TRIES -> post(); in_doubt = false; is_over = false }
#endif
        /* The peer is lost. */
#ifdef REPORTS_UNDER_WAY
        :: atomic { in_doubt -> has_ended = true }
#else
        :: atomic { in_doubt && is_over -> has_ended = true }
#endif
        fi
    od
}

inline move(try) {
    under_way[try] ->
    if
    :: assert(!has_ended) /* a part of the data moves */
    :: assert(!has_ended); delivered[try] = true; has_ok[try] = true; under_way[try] = false
    :: has_error[try] = true; under_way[try] = false
    fi
}

active proctype provider() {
end:
    do
    :: atomic { move(1) }
    :: atomic { move(2) }
    :: atomic { move(3) }
    od
}
