/* The C++ forms for words that the program has declared volatile. Older versions of the standard
 * had such words for waits, tests and locks, and the C11 forms accept them. The library accesses
 * every word atomically, whatever its type is. A parameter is a pointer to const if the C form has
 * a pointer to const: otherwise a call with a plain word would be ambiguous.
 */
#ifndef SENNIT_SHMEM_OLD_WORDS_H
#define SENNIT_SHMEM_OLD_WORDS_H

#pragma GCC system_header

#include <sennit_shmem/overloads.h>

#define SENNIT_SHMEM_OLD_WORD(RESULT, NAME, T, PARAMETERS, ARGUMENTS)          \
    static inline RESULT NAME(volatile T *word SENNIT_SHMEM_BARE PARAMETERS) { \
        return NAME(const_cast<T *>(word) SENNIT_SHMEM_BARE ARGUMENTS);        \
    }
#define SENNIT_SHMEM_OLD_WORD_BOTH(RESULT, NAME, T, PARAMETERS, ARGUMENTS)                      \
    SENNIT_SHMEM_OLD_WORD(RESULT, NAME, T, PARAMETERS, ARGUMENTS)                               \
    static inline RESULT NAME(shmem_ctx_t ctx, volatile T *word SENNIT_SHMEM_BARE PARAMETERS) { \
        return NAME(ctx, const_cast<T *>(word) SENNIT_SHMEM_BARE ARGUMENTS);                    \
    }

#define SENNIT_SHMEM_OLD_WORD_SETS(T, NAME, RESULT, Z, VALUES)                         \
    SENNIT_SHMEM_OLD_WORD(RESULT, NAME##_all##Z, T,                                    \
                          (, size_t nelems, const int *status, int cmp, VALUES value), \
                          (, nelems, status, cmp, value))                              \
    SENNIT_SHMEM_OLD_WORD(size_t, NAME##_any##Z, T,                                    \
                          (, size_t nelems, const int *status, int cmp, VALUES value), \
                          (, nelems, status, cmp, value))                              \
    SENNIT_SHMEM_OLD_WORD(                                                             \
        size_t, NAME##_some##Z, T,                                                     \
        (, size_t nelems, size_t * indices, const int *status, int cmp, VALUES value), \
        (, nelems, indices, status, cmp, value))
#define SENNIT_SHMEM_OLD_WORD_VECTORS(T, NAME, RESULT) \
    SENNIT_SHMEM_OLD_WORD_SETS(T, NAME, RESULT, , T)   \
    SENNIT_SHMEM_OLD_WORD_SETS(T, NAME, RESULT, _vector, const T *)
#define SENNIT_SHMEM_OLD_WORD_TEST(T, NAME)                                                 \
    SENNIT_SHMEM_OLD_WORD(void, NAME##_wait_until, T, (, int cmp, T value), (, cmp, value)) \
    SENNIT_SHMEM_OLD_WORD(int, NAME##_test, T, (, int cmp, T value), (, cmp, value))

/* The functions with a type in their names. */
#define SENNIT_SHMEM_OLD_WORD_STANDARD(T, N, ...)                  \
    SENNIT_SHMEM_OLD_WORD_TEST(T, shmem_##N)                       \
    SENNIT_SHMEM_OLD_WORD_VECTORS(T, shmem_##N##_wait_until, void) \
    SENNIT_SHMEM_OLD_WORD_VECTORS(T, shmem_##N##_test, int)
#define SENNIT_SHMEM_OLD_WORD_SHORT(T, N, ...) SENNIT_SHMEM_OLD_WORD_TEST(T, shmem_##N)
#define SENNIT_SHMEM_OLD_WORD_WAIT(T, N, ...) \
    SENNIT_SHMEM_OLD_WORD(void, shmem_##N##_wait, T, (, T value), (, value))
SENNIT_SHMEM_AMO(SENNIT_SHMEM_OLD_WORD_STANDARD, )
SENNIT_SHMEM_OLD_TEST(SENNIT_SHMEM_OLD_WORD_SHORT, )
SENNIT_SHMEM_OLD_WAIT(SENNIT_SHMEM_OLD_WORD_WAIT, )
SENNIT_SHMEM_OLD_WORD(void, shmem_wait, long, (, long value), (, value))
SENNIT_SHMEM_OLD_WORD(void, shmem_set_lock, long, (), ())
SENNIT_SHMEM_OLD_WORD(void, shmem_clear_lock, long, (), ())
SENNIT_SHMEM_OLD_WORD(int, shmem_test_lock, long, (), ())
SENNIT_SHMEM_OLD_WORD(uint64_t, shmem_signal_wait_until, uint64_t, (, int cmp, uint64_t value),
                      (, cmp, value))
SENNIT_SHMEM_OLD_WORD(uint64_t, shmem_signal_fetch, const uint64_t, (), ())
SENNIT_SHMEM_OLD_WORD_BOTH(void, shmem_signal_add, uint64_t, (, uint64_t signal, int pe),
                           (, signal, pe))
SENNIT_SHMEM_OLD_WORD_BOTH(void, shmem_signal_set, uint64_t, (, uint64_t signal, int pe),
                           (, signal, pe))

/* The overloads. */
#define SENNIT_SHMEM_OLD_WORD_TESTS(T, N, ...)               \
    SENNIT_SHMEM_OLD_WORD_TEST(T, shmem)                     \
    SENNIT_SHMEM_OLD_WORD_VECTORS(T, shmem_wait_until, void) \
    SENNIT_SHMEM_OLD_WORD_VECTORS(T, shmem_test, int)
SENNIT_SHMEM_AMO_KINDS(SENNIT_SHMEM_OLD_WORD_TESTS, )
SENNIT_SHMEM_OLD_WORD_TEST(short, shmem)
SENNIT_SHMEM_OLD_WORD_TEST(unsigned short, shmem)
#define SENNIT_SHMEM_OLD_WORD_RMA(T, N, ...)                                         \
    SENNIT_SHMEM_OLD_WORD_BOTH(void, shmem_p, T, (, T value, int pe), (, value, pe)) \
    SENNIT_SHMEM_OLD_WORD_BOTH(T, shmem_g, const T, (, int pe), (, pe))
SENNIT_SHMEM_RMA_KINDS(SENNIT_SHMEM_OLD_WORD_RMA, )

#define SENNIT_SHMEM_OLD_WORD_CHANGE(T, NAME) \
    SENNIT_SHMEM_OLD_WORD_BOTH(void, NAME, T, (, T value, int pe), (, value, pe))
#define SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, NAME) \
    SENNIT_SHMEM_OLD_WORD_BOTH(T, NAME, T, (, T value, int pe), (, value, pe))
#define SENNIT_SHMEM_OLD_WORD_EXTENDED(T, N, ...)        \
    SENNIT_SHMEM_OLD_WORD_CHANGE(T, shmem_atomic_set)    \
    SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, shmem_atomic_swap) \
    SENNIT_SHMEM_OLD_WORD_BOTH(T, shmem_atomic_fetch, const T, (, int pe), (, pe))
#define SENNIT_SHMEM_OLD_WORD_AMO(T, N, ...)                                                 \
    SENNIT_SHMEM_OLD_WORD_CHANGE(T, shmem_atomic_add)                                        \
    SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, shmem_atomic_fetch_add)                                \
    SENNIT_SHMEM_OLD_WORD_BOTH(void, shmem_atomic_inc, T, (, int pe), (, pe))                \
    SENNIT_SHMEM_OLD_WORD_BOTH(T, shmem_atomic_fetch_inc, T, (, int pe), (, pe))             \
    SENNIT_SHMEM_OLD_WORD_BOTH(T, shmem_atomic_compare_swap, T, (, T cond, T value, int pe), \
                               (, cond, value, pe))
#define SENNIT_SHMEM_OLD_WORD_BITWISE(T, N, ...)              \
    SENNIT_SHMEM_OLD_WORD_CHANGE(T, shmem_atomic_and)         \
    SENNIT_SHMEM_OLD_WORD_CHANGE(T, shmem_atomic_or)          \
    SENNIT_SHMEM_OLD_WORD_CHANGE(T, shmem_atomic_xor)         \
    SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, shmem_atomic_fetch_and) \
    SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, shmem_atomic_fetch_or)  \
    SENNIT_SHMEM_OLD_WORD_EXCHANGE(T, shmem_atomic_fetch_xor)
SENNIT_SHMEM_EXTENDED_KINDS(SENNIT_SHMEM_OLD_WORD_EXTENDED, )
SENNIT_SHMEM_AMO_KINDS(SENNIT_SHMEM_OLD_WORD_AMO, )
SENNIT_SHMEM_BITWISE_KINDS(SENNIT_SHMEM_OLD_WORD_BITWISE, )

#endif
