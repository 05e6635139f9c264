/* The C++ forms: overloads for the types of the C11 forms. */
#ifndef SENNIT_SHMEM_OVERLOADS_H
#define SENNIT_SHMEM_OVERLOADS_H

#pragma GCC system_header

/* OVERLOAD defines an overload NAME that calls CALL with the same arguments. BOTH defines one
 * overload without and one with a context. */
#define SENNIT_SHMEM_OVERLOAD(RESULT, NAME, CALL, PARAMETERS, ARGUMENTS) \
    static inline RESULT NAME PARAMETERS {                               \
        return CALL ARGUMENTS;                                           \
    }
#define SENNIT_SHMEM_COMMA ,
#define SENNIT_SHMEM_BARE(...) __VA_ARGS__
#define SENNIT_SHMEM_BOTH(RESULT, N, VERB, PARAMETERS, ARGUMENTS)                               \
    SENNIT_SHMEM_OVERLOAD(RESULT, shmem##VERB, shmem_##N##VERB, (SENNIT_SHMEM_BARE PARAMETERS), \
                          (SENNIT_SHMEM_BARE ARGUMENTS))                                        \
    SENNIT_SHMEM_OVERLOAD(RESULT, shmem##VERB, shmem_ctx_##N##VERB,                             \
                          (shmem_ctx_t ctx, SENNIT_SHMEM_BARE PARAMETERS),                      \
                          (ctx, SENNIT_SHMEM_BARE ARGUMENTS))

#define SENNIT_SHMEM_CXX_BLOCK(T, N, VERB)                                               \
    SENNIT_SHMEM_BOTH(void, N, VERB, (T * dest, const T *source, size_t nelems, int pe), \
                      (dest, source, nelems, pe))
#define SENNIT_SHMEM_CXX_SIGNAL(T, N, VERB)                                          \
    SENNIT_SHMEM_BOTH(void, N, VERB,                                                 \
                      (T * dest, const T *source, size_t nelems, uint64_t *sig_addr, \
                       uint64_t signal, int sig_op, int pe),                         \
                      (dest, source, nelems, sig_addr, signal, sig_op, pe))
#define SENNIT_SHMEM_CXX_STRIDED(T, N, VERB)                                              \
    SENNIT_SHMEM_BOTH(                                                                    \
        void, N, VERB,                                                                    \
        (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
        (dest, source, dst, sst, nelems, pe))
#define SENNIT_SHMEM_CXX_BLOCKED(T, N, VERB)                                                  \
    SENNIT_SHMEM_BOTH(void, N, VERB,                                                          \
                      (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                       size_t nblocks, int pe),                                               \
                      (dest, source, dst, sst, bsize, nblocks, pe))
#define SENNIT_SHMEM_CXX_TEAM(T, N, VERB)                                                \
    SENNIT_SHMEM_OVERLOAD(int, shmem##VERB, shmem_##N##VERB,                             \
                          (shmem_team_t team, T * dest, const T *source, size_t nelems), \
                          (team, dest, source, nelems))

#define SENNIT_SHMEM_CXX_RMA(T, N, ...)                                                 \
    SENNIT_SHMEM_CXX_BLOCK(T, N, _put)                                                  \
    SENNIT_SHMEM_CXX_BLOCK(T, N, _get)                                                  \
    SENNIT_SHMEM_CXX_BLOCK(T, N, _put_nbi)                                              \
    SENNIT_SHMEM_CXX_BLOCK(T, N, _get_nbi)                                              \
    SENNIT_SHMEM_CXX_SIGNAL(T, N, _put_signal)                                          \
    SENNIT_SHMEM_CXX_SIGNAL(T, N, _put_signal_nbi)                                      \
    SENNIT_SHMEM_CXX_STRIDED(T, N, _iput)                                               \
    SENNIT_SHMEM_CXX_STRIDED(T, N, _iget)                                               \
    SENNIT_SHMEM_CXX_BLOCKED(T, N, _ibput)                                              \
    SENNIT_SHMEM_CXX_BLOCKED(T, N, _ibget)                                              \
    SENNIT_SHMEM_BOTH(void, N, _p, (T * dest, T value, int pe), (dest, value, pe))      \
    SENNIT_SHMEM_BOTH(T, N, _g, (const T *source, int pe), (source, pe))                \
    SENNIT_SHMEM_CXX_TEAM(T, N, _collect)                                               \
    SENNIT_SHMEM_CXX_TEAM(T, N, _fcollect)                                              \
    SENNIT_SHMEM_CXX_TEAM(T, N, _alltoall)                                              \
    SENNIT_SHMEM_CXX_TEAM(T, N, _max_reduce)                                            \
    SENNIT_SHMEM_CXX_TEAM(T, N, _min_reduce)                                            \
    SENNIT_SHMEM_OVERLOAD(                                                              \
        int, shmem_broadcast, shmem_##N##_broadcast,                                    \
        (shmem_team_t team, T * dest, const T *source, size_t nelems, int PE_root),     \
        (team, dest, source, nelems, PE_root))                                          \
    SENNIT_SHMEM_OVERLOAD(int, shmem_alltoalls, shmem_##N##_alltoalls,                  \
                          (shmem_team_t team, T * dest, const T *source, ptrdiff_t dst, \
                           ptrdiff_t sst, size_t nelems),                               \
                          (team, dest, source, dst, sst, nelems))
SENNIT_SHMEM_RMA_KINDS(SENNIT_SHMEM_CXX_RMA, )

#define SENNIT_SHMEM_CXX_CHANGE(T, N, VERB) \
    SENNIT_SHMEM_BOTH(void, N, VERB, (T * dest, T value, int pe), (dest, value, pe))
#define SENNIT_SHMEM_CXX_EXCHANGE(T, N, VERB)                                      \
    SENNIT_SHMEM_BOTH(T, N, VERB, (T * dest, T value, int pe), (dest, value, pe))  \
    SENNIT_SHMEM_BOTH(void, N, VERB##_nbi, (T * fetch, T * dest, T value, int pe), \
                      (fetch, dest, value, pe))
#define SENNIT_SHMEM_CXX_EXTENDED(T, N, ...)                                            \
    SENNIT_SHMEM_CXX_CHANGE(T, N, _atomic_set)                                          \
    SENNIT_SHMEM_CXX_EXCHANGE(T, N, _atomic_swap)                                       \
    SENNIT_SHMEM_BOTH(T, N, _atomic_fetch, (const T *source, int pe), (source, pe))     \
    SENNIT_SHMEM_BOTH(void, N, _atomic_fetch_nbi, (T * fetch, const T *source, int pe), \
                      (fetch, source, pe))
SENNIT_SHMEM_EXTENDED_KINDS(SENNIT_SHMEM_CXX_EXTENDED, )

#define SENNIT_SHMEM_CXX_SETS(T, N, Z, VALUES, VALUE)                                           \
    SENNIT_SHMEM_OVERLOAD(void, shmem_wait_until_all##Z, shmem_##N##_wait_until_all##Z,         \
                          (T * ivars, size_t nelems, const int *status, int cmp, VALUES VALUE), \
                          (ivars, nelems, status, cmp, VALUE))                                  \
    SENNIT_SHMEM_OVERLOAD(size_t, shmem_wait_until_any##Z, shmem_##N##_wait_until_any##Z,       \
                          (T * ivars, size_t nelems, const int *status, int cmp, VALUES VALUE), \
                          (ivars, nelems, status, cmp, VALUE))                                  \
    SENNIT_SHMEM_OVERLOAD(                                                                      \
        size_t, shmem_wait_until_some##Z, shmem_##N##_wait_until_some##Z,                       \
        (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUES VALUE), \
        (ivars, nelems, indices, status, cmp, VALUE))                                           \
    SENNIT_SHMEM_OVERLOAD(int, shmem_test_all##Z, shmem_##N##_test_all##Z,                      \
                          (T * ivars, size_t nelems, const int *status, int cmp, VALUES VALUE), \
                          (ivars, nelems, status, cmp, VALUE))                                  \
    SENNIT_SHMEM_OVERLOAD(size_t, shmem_test_any##Z, shmem_##N##_test_any##Z,                   \
                          (T * ivars, size_t nelems, const int *status, int cmp, VALUES VALUE), \
                          (ivars, nelems, status, cmp, VALUE))                                  \
    SENNIT_SHMEM_OVERLOAD(                                                                      \
        size_t, shmem_test_some##Z, shmem_##N##_test_some##Z,                                   \
        (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUES VALUE), \
        (ivars, nelems, indices, status, cmp, VALUE))
#define SENNIT_SHMEM_CXX_AMO(T, N, ...)                                                \
    SENNIT_SHMEM_CXX_CHANGE(T, N, _atomic_add)                                         \
    SENNIT_SHMEM_CXX_EXCHANGE(T, N, _atomic_fetch_add)                                 \
    SENNIT_SHMEM_BOTH(void, N, _atomic_inc, (T * dest, int pe), (dest, pe))            \
    SENNIT_SHMEM_BOTH(T, N, _atomic_fetch_inc, (T * dest, int pe), (dest, pe))         \
    SENNIT_SHMEM_BOTH(void, N, _atomic_fetch_inc_nbi, (T * fetch, T * dest, int pe),   \
                      (fetch, dest, pe))                                               \
    SENNIT_SHMEM_BOTH(T, N, _atomic_compare_swap, (T * dest, T cond, T value, int pe), \
                      (dest, cond, value, pe))                                         \
    SENNIT_SHMEM_BOTH(void, N, _atomic_compare_swap_nbi,                               \
                      (T * fetch, T * dest, T cond, T value, int pe),                  \
                      (fetch, dest, cond, value, pe))                                  \
    SENNIT_SHMEM_CXX_SETS(T, N, , T, cmp_value)                                        \
    SENNIT_SHMEM_CXX_SETS(T, N, _vector, const T *, cmp_values)
SENNIT_SHMEM_AMO_KINDS(SENNIT_SHMEM_CXX_AMO, )

#define SENNIT_SHMEM_CXX_BITWISE(T, N, ...)            \
    SENNIT_SHMEM_CXX_CHANGE(T, N, _atomic_and)         \
    SENNIT_SHMEM_CXX_CHANGE(T, N, _atomic_or)          \
    SENNIT_SHMEM_CXX_CHANGE(T, N, _atomic_xor)         \
    SENNIT_SHMEM_CXX_EXCHANGE(T, N, _atomic_fetch_and) \
    SENNIT_SHMEM_CXX_EXCHANGE(T, N, _atomic_fetch_or)  \
    SENNIT_SHMEM_CXX_EXCHANGE(T, N, _atomic_fetch_xor)
SENNIT_SHMEM_BITWISE_KINDS(SENNIT_SHMEM_CXX_BITWISE, )

#define SENNIT_SHMEM_CXX_OLD_EXTENDED(T, N, ...)                                         \
    SENNIT_SHMEM_OVERLOAD(void, shmem_set, shmem_##N##_set, (T * dest, T value, int pe), \
                          (dest, value, pe))                                             \
    SENNIT_SHMEM_OVERLOAD(T, shmem_fetch, shmem_##N##_fetch, (const T *source, int pe),  \
                          (source, pe))                                                  \
    SENNIT_SHMEM_OVERLOAD(T, shmem_swap, shmem_##N##_swap, (T * dest, T value, int pe),  \
                          (dest, value, pe))
SENNIT_SHMEM_OLD_EXTENDED(SENNIT_SHMEM_CXX_OLD_EXTENDED, )
#define SENNIT_SHMEM_CXX_OLD_AMO(T, N, ...)                                                       \
    SENNIT_SHMEM_OVERLOAD(T, shmem_cswap, shmem_##N##_cswap, (T * dest, T cond, T value, int pe), \
                          (dest, cond, value, pe))                                                \
    SENNIT_SHMEM_OVERLOAD(T, shmem_finc, shmem_##N##_finc, (T * dest, int pe), (dest, pe))        \
    SENNIT_SHMEM_OVERLOAD(void, shmem_inc, shmem_##N##_inc, (T * dest, int pe), (dest, pe))       \
    SENNIT_SHMEM_OVERLOAD(T, shmem_fadd, shmem_##N##_fadd, (T * dest, T value, int pe),           \
                          (dest, value, pe))                                                      \
    SENNIT_SHMEM_OVERLOAD(void, shmem_add, shmem_##N##_add, (T * dest, T value, int pe),          \
                          (dest, value, pe))
SENNIT_SHMEM_OLD_AMO(SENNIT_SHMEM_CXX_OLD_AMO, )

#define SENNIT_SHMEM_CXX_TEST(T, N, ...)                                                       \
    SENNIT_SHMEM_OVERLOAD(int, shmem_test, shmem_##N##_test, (T * ivar, int cmp, T cmp_value), \
                          (ivar, cmp, cmp_value))
SENNIT_SHMEM_AMO_KINDS(SENNIT_SHMEM_CXX_TEST, )
SENNIT_SHMEM_OLD_TEST(SENNIT_SHMEM_CXX_TEST, )
/* Not for long, for which there is a C function of this name. */
#define SENNIT_SHMEM_CXX_WAIT(T, N)                                       \
    SENNIT_SHMEM_OVERLOAD(void, shmem_wait_until, shmem_##N##_wait_until, \
                          (T * ivar, int cmp, T cmp_value), (ivar, cmp, cmp_value))
SENNIT_SHMEM_CXX_WAIT(short, short)
SENNIT_SHMEM_CXX_WAIT(int, int)
SENNIT_SHMEM_CXX_WAIT(long long, longlong)
SENNIT_SHMEM_CXX_WAIT(unsigned short, ushort)
SENNIT_SHMEM_CXX_WAIT(unsigned int, uint)
SENNIT_SHMEM_CXX_WAIT(unsigned long, ulong)
SENNIT_SHMEM_CXX_WAIT(unsigned long long, ulonglong)

#define SENNIT_SHMEM_CXX_REDUCE_BITS(T, N, ...) \
    SENNIT_SHMEM_CXX_TEAM(T, N, _and_reduce)    \
    SENNIT_SHMEM_CXX_TEAM(T, N, _or_reduce)     \
    SENNIT_SHMEM_CXX_TEAM(T, N, _xor_reduce)
SENNIT_SHMEM_REDUCE_BITS_KINDS(SENNIT_SHMEM_CXX_REDUCE_BITS, )
#define SENNIT_SHMEM_CXX_REDUCE_SUM(T, N, ...) \
    SENNIT_SHMEM_CXX_TEAM(T, N, _sum_reduce)   \
    SENNIT_SHMEM_CXX_TEAM(T, N, _prod_reduce)  \
    SENNIT_SHMEM_CXX_TEAM(T, N, _sum_inscan)   \
    SENNIT_SHMEM_CXX_TEAM(T, N, _sum_exscan)
SENNIT_SHMEM_REDUCE_SUM_KINDS(SENNIT_SHMEM_CXX_REDUCE_SUM, )

SENNIT_SHMEM_OVERLOAD(int, shmem_sync, shmem_team_sync, (shmem_team_t team), (team))
SENNIT_SHMEM_OVERLOAD(void, shmem_signal_add, shmem_ctx_signal_add,
                      (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe),
                      (ctx, sig_addr, signal, pe))
SENNIT_SHMEM_OVERLOAD(void, shmem_signal_set, shmem_ctx_signal_set,
                      (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe),
                      (ctx, sig_addr, signal, pe))

#endif
