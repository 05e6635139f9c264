/* Mute peers: the messages of the path fabric are lost, but the watchers' messages (beats) arrive
 * (docs/design/fabric.md, "Mute peers"). T is a rank. Other ranks of its node are alive, so the node's watcher
 * answers also while T is stopped. In each step of the clock S asks T. S hears T if T is not stopped and the
 * messages arrive. Messages may be cut for any time. In an outage beats and messages are lost. After the outage
 * messages are lost for the same time again, because TCP waits before it repeats. The next outage begins after this
 * time. T's watcher tells S's watcher, up to one step late, when T last polled its network. S takes T for polling
 * until FRESH steps after this time. While S does not hear T, it counts steps. `blind` counts the steps up to the
 * last one in which T was not known to poll, and `awake` counts the steps after that one. If `awake` is larger, S's
 * node withholds its answers to T's node while T is known to poll. S reports T as lost LEASE + MARGIN after its
 * last answer (lease.pml shows that T then accepts nothing from S).
 * Shown: if messages are not cut, at most FRESH answers in a row are withheld, whatever stops and outages there
 * are; and if messages are cut while T polls, S reports T in time.
 *
 * Mistakes that must be found: COUNTS_STOPPED (answers are withheld also while T does not poll), COUNTS_AT_ONCE
 * (answers are withheld without a comparison with `blind`, also right after an outage), KEEPS_CLAIM (after S hears
 * T again, its claim not to hear T stays until it is too old), ANSWERS_ON (no answer is withheld). */
#define LEASE 5
#define MARGIN 1
#define FRESH 2
#define LONG 30 /* the first time; time 0 is long ago */
#define END (LONG + 20)

byte now = LONG;
bool is_cut = false;
bool is_out = false;
bool is_stopped = false;
byte lag = 0;            /* steps for which messages are lost after the outage */
byte mute_steps = 0;     /* in a row, in which messages were cut, beats were not lost, and T polled */
byte withheld_steps = 0; /* in a row, in which messages were not cut and an answer was withheld */
byte looked = 0;         /* when T last polled */
byte before = 0;         /* `looked` one step ago */
byte known = 0;          /* `looked`, as S's watcher knows it */
byte unheard = 0;        /* when S last claimed that it does not hear T; 0: no claim */
byte blind = 0;          /* steps without T, up to the last one in which T was not known to poll */
byte awake = 0;          /* later steps without T, in which T was known to poll */
byte answered = LONG;
bool has_reported = false;

inline change() {
    if
    :: is_cut = !is_cut
    :: skip
    fi;
    if
    :: is_out || lag == 0 -> is_out = !is_out
    :: skip
    fi;
    if
    :: is_stopped = !is_stopped
    :: skip
    fi;
    if
    :: is_out -> lag++
    :: !is_out && lag > 0 -> lag--
    :: else
    fi;
    if
    :: is_cut && !is_out && !is_stopped -> mute_steps++
    :: else -> mute_steps = 0
    fi
}

inline tell() {
    before = looked;
    if
    :: !is_stopped -> looked = now
    :: else
    fi;
    if
    :: !is_out -> known = looked
    :: !is_out && before > known -> known = before
    :: is_out
    fi
}

#define IS_HEARD (!is_cut && !is_out && lag == 0 && !is_stopped)
#define LOOKS (now - known < FRESH)

inline hear() {
    if
    :: IS_HEARD ->
        blind = 0;
        awake = 0;
#ifndef KEEPS_CLAIM
        unheard = 0
#endif
    :: !IS_HEARD && LOOKS -> awake++
    :: else ->
        blind = blind + awake + 1;
        awake = 0
    fi;
#ifdef COUNTS_AT_ONCE
    if
    :: awake > 0 -> unheard = now
#else
#ifdef COUNTS_STOPPED
    if
    :: awake + blind > 0 -> unheard = now
#else
    if
    :: awake > blind -> unheard = now
#endif
#endif
    :: else
    fi
}

#ifdef COUNTS_STOPPED
#define IS_MUTE (unheard != 0 && now - unheard < FRESH)
#else
#define IS_MUTE (unheard != 0 && now - unheard < FRESH && LOOKS)
#endif
#ifdef ANSWERS_ON
#define WITHHOLDS false
#else
#define WITHHOLDS IS_MUTE
#endif

active proctype job() {
    do
    :: atomic {
        now < END && !has_reported ->
        now++;
        change();
        tell();
        hear();
        if
        :: is_out -> withheld_steps = 0
        :: !is_out && WITHHOLDS && is_cut -> withheld_steps = 0
        :: !is_out && WITHHOLDS && !is_cut -> withheld_steps++
        :: else -> answered = now; withheld_steps = 0
        fi;
        assert(withheld_steps <= FRESH);
        has_reported = (now >= answered + LEASE + MARGIN);
        assert(has_reported || mute_steps <= LEASE + MARGIN + blind + 1)
    }
    :: else -> break
    od
}
