/* The tries of one piece by the active endpoint A of the path fabric (docs/design/fabric.md, "States of a transfer"). The
 * piece has one record, whose address is all that a completion says, and a private buffer, which belongs to the caller again once the
 * piece has ended. A try moves data as long as it is under way. An error of a try ends it; its completion may also never come. Then S closes A: what was under way is
 * dropped, with an error in the queue or without a word, as the provider likes. Completions stay in a queue until
 * they are read, in any order. Shown: nothing moves after the piece has ended, and a piece that ends with OK has had its last
 * try delivered.
 *
 * Mistakes that must be found: REPORTS_UNDER_WAY (a lost peer ends the piece while its try is under way), REPEATS_UNDER_WAY (the fence is answered, and the
 * record is posted again while its try is under way), KEEPS_QUEUE (A is closed, and its queue stays for the next A). */
#define MOST_TRIES 3

byte last = 0; /* try that was posted, from 1 */
bool under_way[MOST_TRIES + 1];
bool delivered[MOST_TRIES + 1];
/* Completions in the queue, by the try that they belong to, which S cannot see. */
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
        :: in_doubt = true /* nothing is heard */
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
    :: assert(!has_ended) /* a part of its data */
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
