/* Loads that run early or late. A model that defines LATE_LOADS includes this file after memory.pml. This memory is
 * weaker than that of x86: stores may overtake each other, and a load may run before earlier loads or after later
 * stores. With TSO defined it is the memory of x86, which has only store buffers that are first in, first out.
 *
 * Early loads: each process has a view, with an old or current value of each word. A plain load takes the value in
 * the view or the one in memory. An acquire takes the value in memory and updates the whole view. The view only
 * goes forward, so a process finds the values of a word in the order of their stores.
 * Late loads: each process may have one pending load. A release store stays in the buffer until the load has ended.
 * A relaxed store does not wait for the load. When the load ends, its value is compared with the expected one.
 *
 * With TSO, STORE_RELAXED and STORE_RELEASE are the same.
 *
 * FIRST_PLAIN is the first word that is read by plain loads. The views do not contain the words before it. */
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

/* Called after a load of `w` has found the awaited value. */
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

/* Ends late loads. Each process with late loads has one. */
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
