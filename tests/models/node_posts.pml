/* Posts between nodes (src/coll/nodes.cpp). There are two nodes of two ranks, and the even ranks are leaders. In
 * round n a member posts data into one of its slots, or stores only its number if nobody reads its data. A leader
 * waits for the posts of its node, puts them as messages into the other node's buffer, and then puts its word. It
 * releases its node when the word of the other leader has arrived. It stays in the round until then. Exception: if
 * all data of the round comes from its own node, it may wait for the word in its next round instead. A member reads
 * the posts of its own node in place, messages of the other node in the node buffer, and longer posts by a get from
 * the slot. A member that reads nothing does not wait. Puts may overtake each other, and a leader's words have two
 * places, used in turn. The first leader sends its messages and its word as one task, which the other rank executes
 * in one step. Two tasks may be in flight, and the later one may be executed first. When a task is sent, no earlier
 * task for the same place is in flight, because the other leader has left that round.
 * Shown: all data read is of the current round; and no rank waits for ever.
 *
 * Mistakes that must be found: SINGLE_BUFFER (all rounds use the same buffer), WORD_FIRST (the word does not wait
 * until the messages are delivered), ONE_PLACE (all words use the same place), SKIPS_GATHER (the leader does not
 * wait for its node), RELEASES_FIRST (the leader releases its node before the other word has arrived), LEAVES_EARLY
 * (a leader that reads nothing takes no part in the round), LEAVES_FOR_EVER (a round that the leader has left is
 * never ended), ROOM_OF_NODE (before a member reuses a slot, it checks only the members of its node),
 * RELAXED_NUMBER (the store of the number is relaxed). */
#define LONG_SEARCH
#define RANKS 4
#define ROUNDS 5
#define SLOTS 2
#define PROCESSES 6 /* the ranks, and the two places of the words of the second leader */
#define WORDS 26
#define SAME_WORD_OVERTAKES true
#define LATEST(rank) (rank)
#define WORD(node, place) (RANKS + 2 * (node) + (place))
#define RELEASED(node) (RANKS + 4 + (node))
#define PAYLOAD(rank, slot) (RANKS + 6 + 2 * (rank) + (slot))
#define BUFFER(node, local, turn) (RANKS + 14 + 4 * (node) + 2 * (local) + (turn))
#include "memory.pml"

/* Rounds 1 to 3: the root is rank 1, not a leader. Round 4: all post. Round 5: the root is rank 0, a leader. */
#define COMES_FROM_NODE(node, n) ((n) != 4 && (node) == 0)
#define IS_READ(rank, n) ((n) == 4 || ((n) < 4 && (rank) == 1) || ((n) == 5 && (rank) == 0))

#ifdef SINGLE_BUFFER
#define TURN(n) 0
#else
#define TURN(n) ((n) % 2)
#endif
#ifdef ONE_PLACE
#define PLACE(n) 0
#else
#define PLACE(n) ((n) % 2)
#endif
#ifdef RELAXED_NUMBER
#define STORE_NUMBER(word, value) store_relaxed(me, word, value)
#else
#define STORE_NUMBER(word, value) store_release(me, word, value)
#endif

/* Tasks of the first leader, by the places of their words. Number 0: no task. */
typedef Task {
    byte number;
    int messages[2]
};
Task tasks[2];

proctype carry(byte i) {
end:
    do
    :: atomic {
        tasks[i].number != 0 ->
        if
        :: IS_READ(0, tasks[i].number) -> memory[BUFFER(1, 0, TURN(tasks[i].number))] = tasks[i].messages[0]
        :: else
        fi;
        if
        :: IS_READ(1, tasks[i].number) -> memory[BUFFER(1, 1, TURN(tasks[i].number))] = tasks[i].messages[1]
        :: else
        fi;
        memory[WORD(1, PLACE(tasks[i].number))] = tasks[i].number;
        tasks[i].number = 0;
        tasks[i].messages[0] = 0;
        tasks[i].messages[1] = 0
    }
    od
}

inline end_left() {
    if
    :: left != 0 ->
        memory[WORD(node, PLACE(left))] >= left;
        store_release(me, RELEASED(node), left);
        left = 0
    :: else
    fi
}

inline lead() {
#ifndef LEAVES_FOR_EVER
    end_left();
#endif
#ifndef SKIPS_GATHER
    memory[LATEST(me + 1)] >= n;
#endif
    if
    :: node == 0 ->
        assert(tasks[n % 2].number == 0);
        fence(me); /* the task leaves after the earlier stores of its sender */
        atomic {
            tasks[n % 2].number = n;
            tasks[n % 2].messages[0] = n;
            tasks[n % 2].messages[1] = memory[PAYLOAD(me + 1, n % SLOTS)]
        }
    :: else ->
        if
        :: IS_READ(me, n) -> store_relaxed(me, BUFFER(1 - node, 0, TURN(n)), n)
        :: else
        fi;
        if
        :: IS_READ(me + 1, n) ->
            store_relaxed(me, BUFFER(1 - node, 1, TURN(n)), memory[PAYLOAD(me + 1, n % SLOTS)])
        :: else
        fi;
#ifndef WORD_FIRST
        fence(me); /* the messages are delivered */
#endif
        store_relaxed(RANKS + n % 2, WORD(1 - node, PLACE(n)), n)
    fi;
    if
    :: COMES_FROM_NODE(node, n) -> left = n
    :: true ->
#ifndef RELEASES_FIRST
        memory[WORD(node, PLACE(n))] >= n;
#endif
        store_release(me, RELEASED(node), n)
    fi
}

inline make_post() {
    if
    :: IS_READ(me, n) ->
        memory[LATEST(me ^ 1)] >= needed[n % SLOTS];
#ifndef ROOM_OF_NODE
        memory[RELEASED(node)] >= needed[n % SLOTS];
#endif
        store_relaxed(me, PAYLOAD(me, n % SLOTS), n);
        needed[n % SLOTS] = n + 1
    :: else
    fi;
    STORE_NUMBER(LATEST(me), n)
}

proctype rank(byte me) {
    byte n = 1;
    byte peer;
    byte node = me / 2;
    byte left; /* the round that this leader has left before the word arrived; 0: none */
    byte needed[SLOTS];
    do
    :: n <= ROUNDS ->
        make_post();
#ifdef LEAVES_EARLY
        if
        :: me % 2 == 0 && !(n == 5 && me == 0) -> lead()
        :: else
        fi;
#else
        if
        :: me % 2 == 0 -> lead()
        :: else
        fi;
#endif
        for (peer : 0 .. RANKS - 1) {
            if
            :: peer != me && IS_READ(peer, n) && peer / 2 == node ->
                memory[LATEST(peer)] >= n;
                assert(memory[PAYLOAD(peer, n % SLOTS)] == n)
            :: peer != me && IS_READ(peer, n) && peer / 2 != node ->
                memory[RELEASED(node)] >= n;
                assert(memory[BUFFER(node, peer % 2, TURN(n))] == n);
                assert(memory[PAYLOAD(peer, n % SLOTS)] == n)
            :: else
            fi
        }
        peer = 0;
        n++
    :: else -> break
    od
}

init {
    atomic {
        byte r;
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        for (r : 0 .. PROCESSES - 1) {
            run drain(r)
        }
        run carry(0);
        run carry(1)
    }
}
