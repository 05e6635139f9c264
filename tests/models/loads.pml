/* Loads that run early or late, for models that define LATE_LOADS and include this after memory.pml.
 * The two are a memory weaker than that of x86: stores overtake each other there, here a load may
 * be done before earlier ones or after later stores. With TSO defined they are the memory of x86: a
 * buffer that is first in first out, and nothing else.
 *
 * Early: each process has a view of every word, as old as it likes. A relaxed load takes what is in
 * the view or in memory; an acquire takes what is in memory and brings the whole view up to date. A
 * word is seen in the order of its stores, because a view never goes back.
 * Late: one load of a process may be under way. A release store stays in the buffer until it is
 * over, a relaxed one does not. What it finds in the end is compared with what it should find.
 *
 * STORE_RELAXED and STORE_RELEASE are the same on TSO.
 *
 * A model whose plain loads are of its last words alone says which is the first of them
 * (FIRST_PLAIN): no view of the others is kept. */
#ifndef FIRST_PLAIN
#define FIRST_PLAIN 0
#endif
byte view[PROCESSES * WORDS];
byte late_word[PROCESSES];
byte late_wanted[PROCESSES];

#ifdef TSO
#define STORE_RELAXED(p, w, v) store_release(p, w, v)
#else
#define STORE_RELAXED(p, w, v) store_relaxed(p, w, v)
#endif
#define STORE_RELEASE(p, w, v) store_release(p, w, v)

inline refresh(p) {
    d_step {
        w_ = FIRST_PLAIN;
        do
        :: w_ < WORDS -> view[p * WORDS + w_] = memory[w_]; w_++
        :: else -> break
        od;
        w_ = 0
    }
}

/* After a look at `w` that found what it waited for. */
inline acquire(p, w) {
#ifdef NO_ACQUIRE
    view[p * WORDS + w] = memory[w]
#else
    refresh(p)
#endif
}

/* A load of `w` without any order, whose result must be `wanted`. */
inline load_plain(p, w, wanted) {
#ifdef TSO
    assert(memory[w] == wanted)
#else
    if
    :: assert(view[p * WORDS + w] == wanted)
    :: atomic {
        view[p * WORDS + w] = memory[w];
        assert(memory[w] == wanted)
    }
    :: atomic {
        !is_late[p];
        is_late[p] = true;
        late_word[p] = w;
        late_wanted[p] = wanted
    }
    fi
#endif
}

/* One for each process that loads late. */
proctype finish_load(byte p) {
end:
    do
    :: atomic {
        is_late[p] ->
            assert(memory[late_word[p]] == late_wanted[p]);
            is_late[p] = false;
            late_word[p] = 0;
            late_wanted[p] = 0
    }
    od
}
