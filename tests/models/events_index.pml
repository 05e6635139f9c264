/* The index that names sender and signal in completion data (docs/design/decisions/0005-notified-puts-in-one-message.md, "Subscriptions"), and its second use. Rank A
 * subscribes for a signal, sends an event, and ends its subscription once T has told it that the event was taken; or it dies, and what it has sent still lies in a connection. The next
 * use of the index is A's for another signal, which is in an earlier epoch, or B's. Rows and the task that ends a subscription are late and come again. Events lie on the way and in the queue of T's
 * endpoint until that is closed. Shown: each event is taken in the use that it was sent in, none of a rank that lives is lost, and no epoch of another
 * signal is believed.
 *
 * Mistakes that must be found: NO_SERIAL (a row, or the end of a subscription, says the index alone), ENDS_EARLY (the subscription ends before its event was taken),
 * REUSES_AT_ONCE (the index of a dead rank is given again while its endpoint is open). */
#define USES 3 /* from 1 */

byte serial = 0;   /* of the use that the index has now; 0: it is free */
byte number = 0;   /* of T's endpoint */
bool is_dead = false; /* A */
bool rests = false;
byte rests_since = 0;
bool on_the_way[USES];
bool queued[USES];
bool taken[USES];
bool row[USES];      /* says that the event was taken, */
byte row_epoch[USES]; /* and this epoch; it stays */
bool end_sent[USES]; /* stays too */
bool is_over[USES];

/* The signal of the first use is in epoch 2, that of the second in epoch 0. */
#define EPOCH(u) ((u) == 1 -> 2 : 0)
#ifdef NO_SERIAL
#define IS_FOR(u, me) (row[me] || (u) == 1 && is_same && row[u])
#define ENDS(u) (end_sent[u] && serial != 0)
#else
#define IS_FOR(u, me) (row[me] && (u) == (me))
#define ENDS(u) (end_sent[u] && serial == (u))
#endif

bool is_same = false; /* A has both uses */

proctype sender(byte me) {
    byte known;

    if
    :: me == 2 -> is_over[1]
    :: me == 1
    fi;
    atomic {
        serial == 0 ->
        serial = me;
        if
        :: me == 2 && !is_dead -> is_same = true
        :: skip
        fi;
        known = EPOCH(me)
    }
    if
    :: atomic { me == 2 && IS_FOR(1, 2) && row_epoch[1] > known && is_same -> known = row_epoch[1] }
    :: skip
    fi;
    atomic {
        /* The last epoch that it may send for. */
        assert(known == EPOCH(me));
        on_the_way[me] = true
    }
    if
#ifdef ENDS_EARLY
    :: true -> end_sent[me] = true
#endif
    :: atomic { row[me] -> end_sent[me] = true }
    :: atomic { me == 1 -> is_dead = true }
    fi;
    is_over[me] = true
}

inline arrive(u) {
    if
    :: on_the_way[u] -> on_the_way[u] = false; queued[u] = true
    :: queued[u] ->
        queued[u] = false;
        assert(serial == u || serial == 0 && is_dead && u == 1);
        taken[u] = true
    :: taken[u] && serial == u && !row[u] -> row[u] = true; row_epoch[u] = EPOCH(u)
    :: ENDS(u) -> serial = 0
    fi
}

active proctype owner() {
end:
    do
    :: atomic { arrive(1) }
    :: atomic { arrive(2) }
#ifdef REUSES_AT_ONCE
    :: atomic { is_dead && serial == 1 -> serial = 0 }
#else
    :: atomic { is_dead && serial == 1 && !rests -> rests = true; rests_since = number }
    :: atomic { rests && serial == 1 && number > rests_since -> serial = 0 }
#endif
    /* For another sender, or by itself since indices run short: what was sent before never comes. That of a rank which lives is settled: events.pml. */
    :: atomic { is_dead && serial != 2 && (number == 0 || rests && number == rests_since) -> number++; on_the_way[1] = false; queued[1] = false }
    :: atomic { is_over[2] && serial == 0 -> assert(taken[2] && (taken[1] || is_dead)) }
    od
}

init {
    atomic {
        run sender(1);
        run sender(2)
    }
}
