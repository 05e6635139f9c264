/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on another rank's memory: on one word, and element by element on arrays.
 *
 * Names. sennit_atomic_VERB_TYPE acts on one word and returns when it is complete; with _nb it
 * returns a request, with _nbi sennit_flush completes it. Until then the place of the old value
 * belongs to the library; operands are taken by the call. The verbs:
 *
 *   set, fetch                               store, load
 *   swap, compare_swap                       old := target, target := value; the latter only if
 *                                            target = expected (floats: the same bits, so that
 *                                            0.0 is not -0.0 and a NaN equals itself)
 *   add, inc, and, or, xor                   target := target OP value (inc: + 1); integers only
 *   fetch_add, fetch_inc, fetch_and, ...     the same, and the old value is returned
 *
 * and the types: i32, u32, i64, u64 (int32_t to uint64_t), f32 (float), f64 (double: set, fetch,
 * swap, compare_swap). Integers wrap around. The old value comes last and may not be NULL.
 *
 * Atomic towards whom. Towards every operation of this header on the same word by any rank, and on
 * a node also towards C11 and C++ atomics of the same size through sennit_ptr. Put, get and plain
 * stores are whole for a word, but a put in the middle of somebody's add is lost or wins.
 *
 * Order. An operation that changes the word releases: what this rank has completed before (stores,
 * blocking puts, flushed ones) is seen by a rank whose later operation on the word has seen the
 * change. One that returns the old value acquires. It is no full fence: two ranks that each set a
 * word and then look at the other's need sennit_flush between. Operations that are not complete
 * (_nb, _nbi) have no order among each other; sennit_fence orders those that change a word like
 * puts.
 *
 * Who does it. The processors of the owner's node: ranks that load and store the memory operate on
 * it directly and the owner takes no part; towards others a message is executed by the owner, in a
 * call of Sennit that waits, tests (also a request that is {0}) or flushes, or by the thread that
 * serves other nodes (SENNIT_PROGRESS). So a loop that polls its own memory for another rank's
 * change calls one of them. A message is executed once, also when a rail fails on the way.
 *
 * Memory of SENNIT_ALLOC_ACCUMULATE. There the operations of this header take turns by a lock of
 * the owner's piece, and the holder changes an array by plain vector instructions: long accumulates
 * are several times as fast, single words slower. An array of up to 512 bytes, and of any length
 * where the memory is reached by loads and stores, changes as a whole towards these operations. C11
 * and C++ atomics through sennit_ptr are not atomic towards them. If a rank dies in the middle of
 * an array, some of its elements are changed, each as a whole, and the others go on. A call may
 * wait for the holder; with TIMEOUT (knob SENNIT_TIMEOUT) it has changed nothing where the memory
 * is reached by loads and stores.
 *
 * Errors of all calls: STATE (no rank), ARG (target not aligned to its size; a null pointer; type
 * or operator that is none), RANGE (rank, or a range that leaves the segment), NOT_REGISTERED,
 * OTHER_NODE, UNSUPPORTED (memory that is reached by copies through the kernel only), NOMEM. These
 * have changed nothing. After PEER_LOST, FABRIC (all rails failed) and TIMEOUT (knob
 * SENNIT_TIMEOUT) a message may have been executed or not; after TIMEOUT the place of the old value
 * stays lent until sennit_flush.
 *
 * Any rank calls these alone; all threads may, as said by the thread level. */
#ifndef SENNIT_ATOMIC_H
#define SENNIT_ATOMIC_H

#include <sennit/rma.h>
#include <sennit/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tables that declarations, library and tests are made from: USE(C type, suffix). */
#define SENNIT_ATOMIC_INTEGERS(USE) \
    USE(int32_t, i32) USE(uint32_t, u32) USE(int64_t, i64) USE(uint64_t, u64)
#define SENNIT_ATOMIC_FLOATS(USE) USE(float, f32) USE(double, f64)

/* For all types. */
#define SENNIT_ATOMIC_DECLARE_WORD(T, S)                                                         \
    SENNIT_HOT_CALL sennit_status sennit_atomic_set_##S(sennit_gptr target, T value);            \
    sennit_status sennit_atomic_set_##S##_nbi(sennit_gptr target, T value);                      \
    SENNIT_HOT_CALL sennit_status sennit_atomic_fetch_##S(sennit_gptr target, T *value);         \
    sennit_status sennit_atomic_fetch_##S##_nb(sennit_gptr target, T *value,                     \
                                               sennit_request *request);                         \
    SENNIT_HOT_CALL sennit_status sennit_atomic_swap_##S(sennit_gptr target, T value, T *old);   \
    sennit_status sennit_atomic_swap_##S##_nb(sennit_gptr target, T value, T *old,               \
                                              sennit_request *request);                          \
    SENNIT_HOT_CALL sennit_status sennit_atomic_compare_swap_##S(sennit_gptr target, T expected, \
                                                                 T value, T *old);               \
    sennit_status sennit_atomic_compare_swap_##S##_nb(sennit_gptr target, T expected, T value,   \
                                                      T *old, sennit_request *request);

/* For integers: a verb and its fetching form. V is _add and the like, because C++ takes a bare
 * `and` for an operator. */
#define SENNIT_ATOMIC_DECLARE_CHANGE(T, S, V)                                               \
    SENNIT_HOT_CALL sennit_status sennit_atomic##V##_##S(sennit_gptr target, T value);      \
    sennit_status sennit_atomic##V##_##S##_nbi(sennit_gptr target, T value);                \
    SENNIT_HOT_CALL sennit_status sennit_atomic_fetch##V##_##S(sennit_gptr target, T value, \
                                                               T *old);                     \
    sennit_status sennit_atomic_fetch##V##_##S##_nb(sennit_gptr target, T value, T *old,    \
                                                    sennit_request *request);
#define SENNIT_ATOMIC_DECLARE_INTEGER(T, S)                                                \
    SENNIT_ATOMIC_DECLARE_CHANGE(T, S, _add)                                               \
    SENNIT_ATOMIC_DECLARE_CHANGE(T, S, _and)                                               \
    SENNIT_ATOMIC_DECLARE_CHANGE(T, S, _or)                                                \
    SENNIT_ATOMIC_DECLARE_CHANGE(T, S, _xor)                                               \
    SENNIT_HOT_CALL sennit_status sennit_atomic_inc_##S(sennit_gptr target);               \
    sennit_status sennit_atomic_inc_##S##_nbi(sennit_gptr target);                         \
    SENNIT_HOT_CALL sennit_status sennit_atomic_fetch_inc_##S(sennit_gptr target, T *old); \
    sennit_status sennit_atomic_fetch_inc_##S##_nb(sennit_gptr target, T *old,             \
                                                   sennit_request *request);

SENNIT_ATOMIC_INTEGERS(SENNIT_ATOMIC_DECLARE_WORD)
SENNIT_ATOMIC_INTEGERS(SENNIT_ATOMIC_DECLARE_INTEGER)
SENNIT_ATOMIC_FLOATS(SENNIT_ATOMIC_DECLARE_WORD)

/* target[i] := target[i] OPERATOR source[i] for `count` elements. Each element is atomic by itself,
 * towards accumulates of the same type and the operations above on words of the same size; the
 * array as a whole is not. The target is aligned to its element; source and result need not be.
 * `source` may be NULL for NO_OP. Completion and order are those of the operations on words, but
 * the source is only taken by the blocking call: with _nb and _nbi it must not change until the
 * operation is complete. Errors: as above, and UNSUPPORTED for a bitwise operator on floats and for
 * types and operators that type.h keeps for reductions. */
sennit_status sennit_accumulate(sennit_gptr target, const void *source, size_t count,
                                sennit_type type, sennit_operator op);
sennit_status sennit_accumulate_nb(sennit_gptr target, const void *source, size_t count,
                                   sennit_type type, sennit_operator op, sennit_request *request);
sennit_status sennit_accumulate_nbi(sennit_gptr target, const void *source, size_t count,
                                    sennit_type type, sennit_operator op);

/* The same, and result[i] gets the old element. The three arrays do not overlap. */
sennit_status sennit_get_accumulate(sennit_gptr target, const void *source, void *result,
                                    size_t count, sennit_type type, sennit_operator op);
sennit_status sennit_get_accumulate_nbi(sennit_gptr target, const void *source, void *result,
                                        size_t count, sennit_type type, sennit_operator op);

/* Put `bytes` bytes, and then do the operation with `value` on a word of 8 bytes of the same rank:
 * SENNIT_SUM adds, SENNIT_REPLACE sets. Who sees the word changed sees the data. When the call
 * returns `source` may be changed again; with _nbi it must not be until a flush. Neither the data
 * nor the word need be there when the call returns: a flush of that rank waits for both, and tells
 * what went wrong on the way. What goes to another node in few bytes (up to 32768 by the path
 * fabric over TCP, 8192 by cards, 488 by sim) and lies in one segment with the word is one message.
 * 0 bytes are legal. Errors: those of sennit_put and of the operation, and ARG (the word is another
 * rank's, or not aligned to 8 bytes; null with bytes; another operator). After ARG, RANGE and
 * NOT_REGISTERED of the call nothing is done; after others either may be. */
sennit_status sennit_put_word(sennit_gptr destination, const void *source, size_t bytes,
                              sennit_gptr word, sennit_operator op, uint64_t value);
sennit_status sennit_put_word_nbi(sennit_gptr destination, const void *source, size_t bytes,
                                  sennit_gptr word, sennit_operator op, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
