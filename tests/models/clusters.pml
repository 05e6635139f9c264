/* The barrier of large teams (src/team/cluster.cpp: arrive_at_cluster(); src/team/cluster.hpp: is_released()).
 * Ranks 0 and 1 form one cluster, rank 2 another. A wait may time out, and the next call continues it. One rank may
 * die at any step. Before each barrier a rank stores the number of the barrier as its data.
 * Shown: after a barrier a rank finds the data of this barrier, or of the next one, from all ranks; and no rank
 * waits for ever. If a death prevents the barrier, the other ranks find that the dead rank has not arrived.
 *
 * Mistakes that must be found: RELAXED_COUNT (the additions are relaxed), RELAXED_RELEASE (the stores that release
 * the clusters are relaxed), NO_RESET (the counts are not reset), COUNTS_AGAIN (the call after a timeout adds this
 * rank again), ARRIVES_FIRST (a rank says that it has arrived before it adds itself), ONE_RELEASED (the last rank
 * releases only its own cluster). */
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

/* An addition is a release: it waits for the earlier stores. */
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
