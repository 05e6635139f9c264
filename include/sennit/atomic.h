/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on another rank's memory: on one word, and element by element on arrays.
 *
 * sennit_atomic_VERB_TYPE acts on one word and returns when it is complete. With the suffix _nb a
 * call returns a request; with _nbi sennit_flush completes it. Until the operation is complete,
 * `old` (`value` of a fetch) must not be read or changed. Operands are copied, so they may be
 * changed at once.
 *
 *     set, fetch                          store, load
 *     swap                                old := target, then target := value
 *     compare_swap                        the same, but target changes only if it was `expected`
 *                                         (floats: the same bits)
 *     add, inc, and, or, xor              target := target OP value (inc: + 1); integers only
 *     fetch_add, fetch_inc, ...           the same, and return the old value
 *
 * TYPE is i32, u32, i64, u64, f32 (float) or f64 (double); floats have set, fetch, swap and
 * compare_swap. Integers wrap around.
 *
 * Operations on a word are atomic towards each other, from any rank. On the owner's node they are
 * also atomic towards C11 and C++ atomics of the same size through sennit_ptr. Plain stores, puts
 * and gets do not tear a word, except puts and gets by cma (memory.h). A put that races with an
 * operation takes effect before or after it.
 *
 * Order: an operation that changes the word is a release. If rank B sees a change by rank A in a
 * later operation on the word, B also sees what A had completed before: stores, blocking puts,
 * flushed operations. An operation that returns the old value is an acquire. None is a full fence:
 * if two ranks each set a word and then read the other's word, both need sennit_flush in between.
 * Incomplete operations have no order; sennit_fence orders the ones that change a word, like puts.
 *
 * Where only messages reach the memory, the operation is sent to the owner, which executes it once:
 * in its progress thread (SENNIT_PROGRESS), or in a call of Sennit that waits, tests or flushes (a
 * test of {0} too). An owner that polls its own memory must make such calls.
 *
 * In memory of SENNIT_ALLOC_ACCUMULATE, operations hold a lock of the owner's part of the
 * allocation: long accumulates are several times faster, single words slower. There:
 *
 * - An array of up to 512 bytes changes as a whole: another operation sees all of the change or
 *   none of it. Where load and store reach the memory this holds for any length.
 * - A put that races with an operation may be lost.
 * - C11 and C++ atomics are not atomic towards these operations.
 * - If a rank dies during an operation on an array, some elements may be changed; none is torn.
 *   Other ranks are not blocked.
 * - Where load and store reach the memory, an operation that gets TIMEOUT has changed nothing.
 *
 * Errors of all calls: ARG (target not aligned to its size), RANGE (rank; outside the segment),
 * UNSUPPORTED (memory reached only by the kernel's copies). If an operation that was sent to the
 * owner ends with PEER_LOST, FABRIC or TIMEOUT, the owner may have executed it. After TIMEOUT the
 * memory for the old value is in use until sennit_flush. */
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
 * accumulates of the same type and operations on words of its size; the array as a whole is not
 * (except in memory of SENNIT_ALLOC_ACCUMULATE). The target must be aligned to the size of an
 * element; `source` and `result` need no alignment. `source` may be NULL for NO_OP. Completion and
 * order are those of operations on words, but with _nb and _nbi the source must not change until
 * completion. Errors: UNSUPPORTED (a bitwise operator on floats; types and operators for reductions
 * only). */
sennit_status sennit_accumulate(sennit_gptr target, const void *source, size_t count,
                                sennit_type type, sennit_operator op);
sennit_status sennit_accumulate_nb(sennit_gptr target, const void *source, size_t count,
                                   sennit_type type, sennit_operator op, sennit_request *request);
sennit_status sennit_accumulate_nbi(sennit_gptr target, const void *source, size_t count,
                                    sennit_type type, sennit_operator op);

/* Accumulate; result[i] gets the old target[i]. The three arrays do not overlap. */
sennit_status sennit_get_accumulate(sennit_gptr target, const void *source, void *result,
                                    size_t count, sennit_type type, sennit_operator op);
sennit_status sennit_get_accumulate_nbi(sennit_gptr target, const void *source, void *result,
                                        size_t count, sennit_type type, sennit_operator op);

/* Put `bytes` bytes, then change an 8-byte word of the same rank: SENNIT_SUM adds `value`,
 * SENNIT_REPLACE stores it in the word. A rank that sees the word changed sees the data. `source`
 * may be reused on return, with _nbi after a flush. sennit_flush to that rank waits for data and
 * word and returns their errors. Errors: those of sennit_put and atomics, and ARG (the word is
 * another rank's or not aligned to 8 bytes; another operator). If the call returns RANGE, or ARG
 * for a reason other than an unmapped source, nothing has changed. After other errors the data may
 * have moved and the word may have changed. */
sennit_status sennit_put_word(sennit_gptr destination, const void *source, size_t bytes,
                              sennit_gptr word, sennit_operator op, uint64_t value);
sennit_status sennit_put_word_nbi(sennit_gptr destination, const void *source, size_t bytes,
                                  sennit_gptr word, sennit_operator op, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
