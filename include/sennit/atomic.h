/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on another rank's memory: on one word, and element by element on arrays.
 *
 * Names: sennit_atomic_VERB_TYPE acts on one word and returns when it is complete. _nb gives a
 * request; _nbi is completed by sennit_flush. Until then the place of the old value is the
 * library's; operands are copied. The old value comes last and may not be NULL.
 *
 *     set, fetch                          store, load
 *     swap, compare_swap                  old := target, target := value; the latter only if
 *                                         target = expected (floats: the same bits, so that
 *                                         0.0 is not -0.0 and a NaN equals itself)
 *     add, inc, and, or, xor              target := target OP value (inc: + 1); integers only
 *     fetch_add, fetch_inc, ...           the same, and return the old value
 *
 * TYPE is i32, u32, i64, u64, f32 (float) or f64 (double); floats have set, fetch, swap and
 * compare_swap. Integers wrap around.
 *
 * Atomic towards every operation of this header on the same word by any rank, and on the owner's
 * node towards C11 and C++ atomics of the same size through sennit_ptr. Puts, gets and plain stores
 * move a word whole, but a put between the steps of an add is lost or wins.
 *
 * Order: an operation that changes the word releases: a rank whose later operation on the word sees
 * the change sees what this rank completed before (stores, blocking puts, flushed operations). One
 * that returns the old value acquires. It is no full fence: two ranks that each set a word and then
 * look at the other's need sennit_flush between. Operations under way (_nb, _nbi) have no order;
 * sennit_fence orders those that change a word, as puts.
 *
 * Who executes: ranks that load and store the memory operate on it directly. For others the owner
 * executes a message, once even if a rail fails, in a call of Sennit that waits, tests (also a
 * request that is {0}) or flushes, or by its thread for other nodes (SENNIT_PROGRESS). So a loop
 * that polls its own memory must make such calls.
 *
 * Memory of SENNIT_ALLOC_ACCUMULATE: operations take turns by a lock of the owner's piece, and the
 * holder uses plain vector instructions. Long accumulates are several times faster, single words
 * slower.
 *
 * - An array of up to 512 bytes, and of any length by load and store, changes as a whole towards
 *   these operations.
 * - C11 and C++ atomics through sennit_ptr are not atomic towards them.
 * - If a rank dies within an array, some elements are changed, each whole, and the others go on.
 * - A call may wait for the holder; after TIMEOUT (knob SENNIT_TIMEOUT) by load and store it has
 *   changed nothing.
 *
 * Errors of all calls: ARG (target not aligned to its size), RANGE (rank; a range that leaves the
 * segment), NOT_REGISTERED, OTHER_NODE, UNSUPPORTED (memory reached only by the kernel's copies),
 * NOMEM. They have changed nothing. After PEER_LOST, FABRIC (all rails failed) and TIMEOUT a
 * message may have been executed; after TIMEOUT the place of the old value is the library's until
 * sennit_flush. */
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

/* target[i] := target[i] OPERATOR source[i] for `count` elements. Each element is atomic towards
 * accumulates of the same type and operations on words of its size; the array as a whole is not.
 * The target is aligned to its element, source and result need not be. `source` may be NULL for
 * NO_OP. Completion and order as of words, but with _nb and _nbi the source must not change until
 * the operation is complete. Errors: UNSUPPORTED (a bitwise operator on floats; types and operators
 * for reductions only). */
sennit_status sennit_accumulate(sennit_gptr target, const void *source, size_t count,
                                sennit_type type, sennit_operator op);
sennit_status sennit_accumulate_nb(sennit_gptr target, const void *source, size_t count,
                                   sennit_type type, sennit_operator op, sennit_request *request);
sennit_status sennit_accumulate_nbi(sennit_gptr target, const void *source, size_t count,
                                    sennit_type type, sennit_operator op);

/* Accumulate, and get the old elements: result[i] gets that of target[i]. The three arrays do not
 * overlap. */
sennit_status sennit_get_accumulate(sennit_gptr target, const void *source, void *result,
                                    size_t count, sennit_type type, sennit_operator op);
sennit_status sennit_get_accumulate_nbi(sennit_gptr target, const void *source, void *result,
                                        size_t count, sennit_type type, sennit_operator op);

/* Put `bytes` bytes, then change an 8-byte word of the same rank: SENNIT_SUM adds `value`,
 * SENNIT_REPLACE sets it. Who sees the word changed sees the data. `source` may be reused on
 * return, with _nbi after a flush. A flush of that rank waits for data and word and reports
 * failures. To another node it is one message if data and word lie in one segment and the data is
 * short: up to 32768 bytes by the path fabric over TCP, 8192 by cards, 488 by sim. Errors: those of
 * sennit_put and of the operation, and ARG (the word is another rank's or not aligned to 8 bytes;
 * another operator). After ARG, RANGE and NOT_REGISTERED of the call nothing is done; after others
 * data or word may be. */
sennit_status sennit_put_word(sennit_gptr destination, const void *source, size_t bytes,
                              sennit_gptr word, sennit_operator op, uint64_t value);
sennit_status sennit_put_word_nbi(sennit_gptr destination, const void *source, size_t bytes,
                                  sennit_gptr word, sennit_operator op, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
