/* The barrier of large teams (src/team/cluster.cpp: arrive_at_cluster(), is_released()), with waits that
 * time out and are taken up again by the next call, and with a rank that dies at any step. Ranks 0 and
 * 1 are a cluster, rank 2 is one. Before each barrier a rank stores its data with the number of the
 * barrier. Shown: after a barrier a rank finds everybody's data of that barrier, and nobody waits for
 * ever: where the barrier can not be completed, the dead rank is found not to have arrived.
 *
 * Mistakes that must be found: RELAXED_COUNT, RELAXED_RELEASE, NO_RESET (of the counts), COUNTS_AGAIN (the
 * call after a timeout counts this rank in once more), ARRIVES_FIRST (a rank says that it has arrived
 * before it counts), ONE_RELEASED (the last rank releases its own cluster alone). */
#define RANKS 3
#define BARRIERS 2
#define TIMEOUTS 1 /* of each rank */
#define PROCESSES RANKS
#define WORDS 11
#define SAME_WORD_OVERTAKES false
#define CLUSTERS 2
#define CLUSTER(rank) ((rank) / 2)
#define SIZE(cluster) (2 - (cluster))
#define COME(cluster) (cluster)
#define COMPLETE 2
#define RELEASED(cluster) (3 + (cluster))
#define ARRIVED(rank) (5 + (rank))
#define DATA(rank) (8 + (rank))
#include "memory.pml"

bool is_dead[RANKS];
byte deaths = 0;

inline perhaps_die() {
    if
    :: deaths < 1 ->
        deaths++;
        is_dead[me] = true;
        goto over
    :: true
    fi
}

/* An addition waits for the stores before it, as a release does. */
inline add_one(word, size) {
    atomic {
#ifndef RELAXED_COUNT
        fence(me);
#endif
        memory[word] = memory[word] + 1;
        is_last = memory[word] >= size
    };
#ifndef NO_RESET
    if
    :: is_last -> store_relaxed(me, word, 0)
    :: else
    fi;
#endif
    perhaps_die()
}

inline release_cluster(cluster) {
#ifdef RELAXED_RELEASE
    store_relaxed(me, RELEASED(cluster), epoch + 1);
#else
    store_release(me, RELEASED(cluster), epoch + 1);
#endif
    perhaps_die()
}

inline arrive() {
    store_release(me, ARRIVED(me), epoch + 1)
}

#define IS_LOST(rank) (is_dead[rank] && buffers[rank].count == 0 && memory[ARRIVED(rank)] < epoch + 1)

proctype rank(byte me) {
    byte epoch = 0; /* Team::epoch */
    bool published = false;
    bool is_last = false;
    byte timeouts = 0;
    byte i;
    do
    :: epoch < BARRIERS ->
        store_relaxed(me, DATA(me), epoch + 1);
again:
        if
        :: !published ->
            perhaps_die();
#ifdef ARRIVES_FIRST
            arrive();
            perhaps_die();
#endif
            add_one(COME(CLUSTER(me)), SIZE(CLUSTER(me)));
            if
            :: is_last -> add_one(COMPLETE, CLUSTERS)
            :: else
            fi;
            if
            :: is_last ->
                release_cluster(CLUSTER(me));
#ifndef ONE_RELEASED
                release_cluster(1 - CLUSTER(me))
#endif
            :: else
            fi;
#ifndef ARRIVES_FIRST
            arrive();
#endif
            published = true
        :: else
        fi;
        if
        :: memory[RELEASED(CLUSTER(me))] >= epoch + 1 -> skip
        :: timeouts < TIMEOUTS ->
            timeouts++;
#ifdef COUNTS_AGAIN
            published = false;
#endif
            goto again
        :: IS_LOST(0) || IS_LOST(1) || IS_LOST(2) -> goto over
        fi;
        epoch++;
        published = false;
        is_last = false;
        for (i : 0 .. RANKS - 1) {
            if
            :: i != me -> assert(memory[DATA(i)] >= epoch && memory[DATA(i)] <= epoch + 1)
            :: else
            fi
        }
        i = 0
    :: else -> break
    od;
over:
    skip
}

init {
    atomic {
        byte r;
        for (r : 0 .. RANKS - 1) {
            run drain(r);
            run rank(r)
        }
    }
}
