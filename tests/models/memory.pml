/* Memory with store buffers: a process does not see the stores that are still in the buffers of others.
 * A model defines PROCESSES, WORDS and SAME_WORD_OVERTAKES, includes this file, and calls the steps below.
 *
 * A store enters the buffer of its process. The process `drain` moves it to memory at any later time. A relaxed
 * store may overtake earlier stores to other words. With SAME_WORD_OVERTAKES it may also overtake stores to the
 * same word. A release store leaves after all earlier stores. fence() waits until the buffer is empty, as a
 * sequentially consistent fence does. Without a fence, a later load may run ahead of an earlier store. Loads run in
 * program order, so a missing acquire is not found here. loads.pml adds loads out of order. */
#define DEPTH 3 /* stores in a buffer; a store waits while the buffer is full */

int memory[WORDS];
#ifdef LATE_LOADS /* loads.pml */
bool is_late[PROCESSES];
#endif

typedef Buffer {
    byte count = 0;
    byte word[DEPTH];
    int value[DEPTH];
    bool is_release[DEPTH];
    bool is_addition[DEPTH] /* an atomic read-modify-write that adds the value */
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

/* Moves entry `i` of the buffer of `p` to memory, unless an earlier entry or a late load must come first. */
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

/* Each process has one. It moves any entry at any time. */
proctype drain(byte p) {
end:
    do
    :: atomic { buffers[p].count > 0 -> take(p, 0) }
    :: atomic { buffers[p].count > 1 -> take(p, 1) }
    :: atomic { buffers[p].count > 2 -> take(p, 2) }
    od
}
