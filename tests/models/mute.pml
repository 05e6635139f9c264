/* Beats of the watch that come through while the messages of the path fabric do not (docs/design/fabric.md, "Mute peers"). T is a
 * rank whose node has others, so its watch answers also while T is stopped. S asks T in each step of the clock, and hears it if T is
 * not stopped and the messages come through. They may be cut for any time. In an outage beats and messages are lost, and after it
 * messages for as long again, since TCP waits; the next outage comes later. T's watch tells S's, up to a step late, when T last looked at its network; that is known for
 * FRESH steps. While S does not hear T it counts the steps in which T was not known to look, and those since then. Once the latter are
 * more, S's node withholds its answers to T's node while T is known to look. S reports T as lost LEASE + MARGIN after the last answer (lease.pml shows that T
 * accepts nothing from it then, and silence.pml when that is). Shown: unless messages are cut, no more than FRESH answers are withheld in
 * a row, however T is stopped and goes on and whatever outages there are; and if they are cut while T looks, S reports in time.
 *
 * Mistakes that must be found: COUNTS_STOPPED (answers are withheld whether T looks or not), COUNTS_AT_ONCE (also right after an outage), KEEPS_CLAIM (who hears T again
 * lets its claim run out), ANSWERS_ON (nothing is withheld). */
#define LEASE 5
#define MARGIN 1
#define FRESH 2
#define LONG 30 /* so that what never happened is long ago */
#define END (LONG + 20)

byte now = LONG;
bool is_cut = false;
bool is_out = false;
bool is_stopped = false;
byte lag = 0;            /* so long messages are lost after the outage */
byte mute_steps = 0;     /* in a row, in which messages were cut, beats were not, and T looked */
byte withheld_steps = 0; /* in a row, in which messages were not cut and an answer was withheld */
byte looked = 0;         /* T, last */
byte before = 0;         /* the same, a step ago */
byte known = 0;          /* the same, as S's watch knows */
byte unheard = 0;        /* S has last said that it does not hear T; 0: it does */
byte blind = 0;          /* steps in which S did not hear T: T was not known to look, */
byte awake = 0;          /* and it was, since then */
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
