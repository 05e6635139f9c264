/* Memory as the models see it: every process has a buffer of stores that the others do not see yet.
 * Included by the models, which define PROCESSES and WORDS first and call the steps below.
 *
 * A store enters the buffer of its process; the process `drain` takes it to memory some time later.
 * A relaxed store may overtake earlier ones to other words. A release store stays behind all of
 * them. fence() waits until the buffer is empty, as a sequentially consistent fence does; that is
 * what lets a later load run ahead of an earlier store without it. Loads happen in the order of the
 * program, so a missing acquire is not found here. */
#define DEPTH 3 /* of a buffer; a store waits while it is full */

int memory[WORDS];
#ifdef LATE_LOADS /* loads.pml */
bool is_late[PROCESSES];
#endif

typedef Buffer {
    byte count = 0;
    byte word[DEPTH];
    int value[DEPTH];
    bool is_release[DEPTH];
    bool is_addition[DEPTH] /* of the value, by an atomic read-modify-write */
};
Buffer buffers[PROCESSES];

inline put_in_buffer(p, w, v, release, addition) {
    atomic {
        buffers[p].count < DEPTH;
        buffers[p].word[buffers[p].count] = w;
        buffers[p].value[buffers[p].count] = v;
        buffers[p].is_release[buffers[p].count] = release;
        buffers[p].is_addition[buffers[p].count] = addition;
        buffers[p].count++
    }
}

inline store_relaxed(p, w, v) {
    put_in_buffer(p, w, v, false, false)
}
inline store_release(p, w, v) {
    put_in_buffer(p, w, v, true, false)
}
inline add_relaxed(p, w, v) {
    put_in_buffer(p, w, v, false, true)
}
inline fence(p) {
    buffers[p].count == 0
}

/* Takes entry `i` of the buffer of `p` to memory, if nothing before it forbids that. */
inline take(p, i) {
    byte j = 0;
    bool is_free = true;
#ifdef LATE_LOADS
    if
    :: buffers[p].is_release[i] && is_late[p] -> is_free = false
    :: else
    fi;
#endif
    do
    :: j < i ->
        if
        :: buffers[p].is_release[i] -> is_free = false
        :: buffers[p].word[j] == buffers[p].word[i] && !SAME_WORD_OVERTAKES -> is_free = false
        :: else
        fi;
        j++
    :: else -> break
    od;
    if
    :: is_free && buffers[p].is_addition[i] ->
        memory[buffers[p].word[i]] = memory[buffers[p].word[i]] + buffers[p].value[i]
    :: is_free && !buffers[p].is_addition[i] -> memory[buffers[p].word[i]] = buffers[p].value[i]
    :: else
    fi;
    if
    :: is_free ->
        j = i;
        do
        :: j + 1 < buffers[p].count ->
            buffers[p].word[j] = buffers[p].word[j + 1];
            buffers[p].value[j] = buffers[p].value[j + 1];
            buffers[p].is_release[j] = buffers[p].is_release[j + 1];
            buffers[p].is_addition[j] = buffers[p].is_addition[j + 1];
            j++
        :: else -> break
        od;
        buffers[p].count--;
        j = buffers[p].count;
        buffers[p].word[j] = 0;
        buffers[p].value[j] = 0;
        buffers[p].is_release[j] = false;
        buffers[p].is_addition[j] = false
    :: else
    fi;
    j = 0;
    is_free = true
}

/* One for each process, so that any of its entries may go at any time. */
proctype drain(byte p) {
end:
    do
    :: atomic { buffers[p].count > 0 -> take(p, 0) }
    :: atomic { buffers[p].count > 1 -> take(p, 1) }
    :: atomic { buffers[p].count > 2 -> take(p, 2) }
    od
}
