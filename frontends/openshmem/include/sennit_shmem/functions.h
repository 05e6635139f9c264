/* The functions of the standard, as FUNCTION(result, name, arguments) in the groups of the
 * standard. shmem.h declares each function by its name, and for profilers also with a `p` before
 * the name. shmem.h itself declares shmem_global_exit, which has an attribute.
 */
#ifndef SENNIT_SHMEM_FUNCTIONS_H
#define SENNIT_SHMEM_FUNCTIONS_H

#pragma GCC system_header

#include <sennit_shmem/types.h>

#define SENNIT_SHMEM_DECLARE(RESULT, NAME, ARGUMENTS) \
    RESULT NAME ARGUMENTS;                            \
    RESULT p##NAME ARGUMENTS;

/* Set-up, query, memory, teams, contexts, ordering, locks, and other calls without a type. */
#define SENNIT_SHMEM_PLAIN(FUNCTION)                                                              \
    FUNCTION(void, shmem_init, (void))                                                            \
    FUNCTION(int, shmem_init_thread, (int requested, int *provided))                              \
    FUNCTION(void, shmem_finalize, (void))                                                        \
    FUNCTION(void, shmem_query_initialized, (int *initialized))                                   \
    FUNCTION(void, shmem_query_thread, (int *provided))                                           \
    FUNCTION(int, shmem_my_pe, (void))                                                            \
    FUNCTION(int, shmem_n_pes, (void))                                                            \
    FUNCTION(int, shmem_pe_accessible, (int pe))                                                  \
    FUNCTION(int, shmem_addr_accessible, (const void *addr, int pe))                              \
    FUNCTION(void *, shmem_ptr, (const void *dest, int pe))                                       \
    FUNCTION(void, shmem_info_get_version, (int *major, int *minor))                              \
    FUNCTION(void, shmem_info_get_name, (char *name))                                             \
    FUNCTION(void, start_pes, (int npes))                                                         \
    FUNCTION(int, _my_pe, (void))                                                                 \
    FUNCTION(int, _num_pes, (void))                                                               \
    FUNCTION(void *, shmem_malloc, (size_t size))                                                 \
    FUNCTION(void, shmem_free, (void *ptr))                                                       \
    FUNCTION(void *, shmem_realloc, (void *ptr, size_t size))                                     \
    FUNCTION(void *, shmem_align, (size_t alignment, size_t size))                                \
    FUNCTION(void *, shmem_malloc_with_hints, (size_t size, long hints))                          \
    FUNCTION(void *, shmem_calloc, (size_t count, size_t size))                                   \
    FUNCTION(void *, shmalloc, (size_t size))                                                     \
    FUNCTION(void, shfree, (void *ptr))                                                           \
    FUNCTION(void *, shrealloc, (void *ptr, size_t size))                                         \
    FUNCTION(void *, shmemalign, (size_t alignment, size_t size))                                 \
    FUNCTION(int, shmem_team_my_pe, (shmem_team_t team))                                          \
    FUNCTION(int, shmem_team_n_pes, (shmem_team_t team))                                          \
    FUNCTION(int, shmem_team_get_config,                                                          \
             (shmem_team_t team, long config_mask, shmem_team_config_t *config))                  \
    FUNCTION(int, shmem_team_translate_pe,                                                        \
             (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))                         \
    FUNCTION(int, shmem_team_split_strided,                                                       \
             (shmem_team_t parent_team, int start, int stride, int size,                          \
              const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team))       \
    FUNCTION(int, shmem_team_split_2d,                                                            \
             (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,      \
              long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, \
              long yaxis_mask, shmem_team_t *yaxis_team))                                         \
    FUNCTION(void, shmem_team_destroy, (shmem_team_t team))                                       \
    FUNCTION(void *, shmem_team_ptr, (shmem_team_t team, const void *dest, int pe))               \
    FUNCTION(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx))                             \
    FUNCTION(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))     \
    FUNCTION(void, shmem_ctx_destroy, (shmem_ctx_t ctx))                                          \
    FUNCTION(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t * team))                     \
    FUNCTION(void, shmem_ctx_session_start,                                                       \
             (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,            \
              long config_mask))                                                                  \
    FUNCTION(void, shmem_ctx_session_stop, (shmem_ctx_t ctx))                                     \
    FUNCTION(void, shmem_fence, (void))                                                           \
    FUNCTION(void, shmem_ctx_fence, (shmem_ctx_t ctx))                                            \
    FUNCTION(void, shmem_quiet, (void))                                                           \
    FUNCTION(void, shmem_ctx_quiet, (shmem_ctx_t ctx))                                            \
    FUNCTION(void, shmem_pe_quiet, (const int *target_pes, size_t npes))                          \
    FUNCTION(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int *target_pes, size_t npes))     \
    FUNCTION(void, shmem_set_lock, (long *lock))                                                  \
    FUNCTION(void, shmem_clear_lock, (long *lock))                                                \
    FUNCTION(int, shmem_test_lock, (long *lock))                                                  \
    FUNCTION(void, shmem_pcontrol, (int level, ...))                                              \
    FUNCTION(void, shmem_set_cache_inv, (void))                                                   \
    FUNCTION(void, shmem_clear_cache_inv, (void))                                                 \
    FUNCTION(void, shmem_set_cache_line_inv, (void *dest))                                        \
    FUNCTION(void, shmem_clear_cache_line_inv, (void *dest))                                      \
    FUNCTION(void, shmem_udcflush, (void))                                                        \
    FUNCTION(void, shmem_udcflush_line, (void *dest))                                             \
    FUNCTION(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr))                            \
    FUNCTION(uint64_t, shmem_signal_wait_until,                                                   \
             (uint64_t * sig_addr, int cmp, uint64_t cmp_value))                                  \
    FUNCTION(void, shmem_signal_add, (uint64_t * sig_addr, uint64_t signal, int pe))              \
    FUNCTION(void, shmem_ctx_signal_add,                                                          \
             (shmem_ctx_t ctx, uint64_t * sig_addr, uint64_t signal, int pe))                     \
    FUNCTION(void, shmem_signal_set, (uint64_t * sig_addr, uint64_t signal, int pe))              \
    FUNCTION(void, shmem_ctx_signal_set,                                                          \
             (shmem_ctx_t ctx, uint64_t * sig_addr, uint64_t signal, int pe))                     \
    FUNCTION(void, shmem_barrier_all, (void))                                                     \
    FUNCTION(void, shmem_sync_all, (void))                                                        \
    FUNCTION(int, shmem_team_sync, (shmem_team_t team))                                           \
    FUNCTION(void, shmem_barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))     \
    FUNCTION(void, shmem_sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))        \
    FUNCTION(void, shmem_wait, (long *ivar, long cmp_value))                                      \
    FUNCTION(void, shmem_wait_until, (long *ivar, int cmp, long cmp_value))

/* Put and get, with and without a context, blocking and not. T is the element type. N is the part
 * of the name before the verb, Z the part after it. */
#define SENNIT_SHMEM_MOVES(FUNCTION, T, N, Z)                                                   \
    FUNCTION(void, shmem_##N##put##Z, (T * dest, const T *source, size_t nelems, int pe))       \
    FUNCTION(void, shmem_ctx_##N##put##Z,                                                       \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, int pe))               \
    FUNCTION(void, shmem_##N##get##Z, (T * dest, const T *source, size_t nelems, int pe))       \
    FUNCTION(void, shmem_ctx_##N##get##Z,                                                       \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, int pe))               \
    FUNCTION(void, shmem_##N##put##Z##_nbi, (T * dest, const T *source, size_t nelems, int pe)) \
    FUNCTION(void, shmem_ctx_##N##put##Z##_nbi,                                                 \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, int pe))               \
    FUNCTION(void, shmem_##N##get##Z##_nbi, (T * dest, const T *source, size_t nelems, int pe)) \
    FUNCTION(void, shmem_ctx_##N##get##Z##_nbi,                                                 \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, int pe))               \
    FUNCTION(void, shmem_##N##put##Z##_signal,                                                  \
             (T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,    \
              int sig_op, int pe))                                                              \
    FUNCTION(void, shmem_ctx_##N##put##Z##_signal,                                              \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, uint64_t *sig_addr,    \
              uint64_t signal, int sig_op, int pe))                                             \
    FUNCTION(void, shmem_##N##put##Z##_signal_nbi,                                              \
             (T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,    \
              int sig_op, int pe))                                                              \
    FUNCTION(void, shmem_ctx_##N##put##Z##_signal_nbi,                                          \
             (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, uint64_t *sig_addr,    \
              uint64_t signal, int sig_op, int pe))

/* Strided, and strided by blocks. */
#define SENNIT_SHMEM_STRIDES(FUNCTION, T, N, Z)                                                \
    FUNCTION(void, shmem_##N##iput##Z,                                                         \
             (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)) \
    FUNCTION(void, shmem_ctx_##N##iput##Z,                                                     \
             (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
              size_t nelems, int pe))                                                          \
    FUNCTION(void, shmem_##N##iget##Z,                                                         \
             (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)) \
    FUNCTION(void, shmem_ctx_##N##iget##Z,                                                     \
             (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
              size_t nelems, int pe))                                                          \
    FUNCTION(void, shmem_##N##ibput##Z,                                                        \
             (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,           \
              size_t nblocks, int pe))                                                         \
    FUNCTION(void, shmem_ctx_##N##ibput##Z,                                                    \
             (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
              size_t bsize, size_t nblocks, int pe))                                           \
    FUNCTION(void, shmem_##N##ibget##Z,                                                        \
             (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,           \
              size_t nblocks, int pe))                                                         \
    FUNCTION(void, shmem_ctx_##N##ibget##Z,                                                    \
             (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
              size_t bsize, size_t nblocks, int pe))

/* One element. */
#define SENNIT_SHMEM_ELEMENT(FUNCTION, T, N)                                        \
    FUNCTION(void, shmem_##N##_p, (T * dest, T value, int pe))                      \
    FUNCTION(void, shmem_ctx_##N##_p, (shmem_ctx_t ctx, T * dest, T value, int pe)) \
    FUNCTION(T, shmem_##N##_g, (const T *source, int pe))                           \
    FUNCTION(T, shmem_ctx_##N##_g, (shmem_ctx_t ctx, const T *source, int pe))

/* Atomic operations, by their arguments. V is the verb with an underscore before it, because a bare
 * `and` is an operator in C++. */
#define SENNIT_SHMEM_AMO_CHANGE(FUNCTION, T, N, V)                     \
    FUNCTION(void, shmem_##N##_atomic##V, (T * dest, T value, int pe)) \
    FUNCTION(void, shmem_ctx_##N##_atomic##V, (shmem_ctx_t ctx, T * dest, T value, int pe))
#define SENNIT_SHMEM_AMO_EXCHANGE(FUNCTION, T, N, V)                                     \
    FUNCTION(T, shmem_##N##_atomic##V, (T * dest, T value, int pe))                      \
    FUNCTION(T, shmem_ctx_##N##_atomic##V, (shmem_ctx_t ctx, T * dest, T value, int pe)) \
    FUNCTION(void, shmem_##N##_atomic##V##_nbi, (T * fetch, T * dest, T value, int pe))  \
    FUNCTION(void, shmem_ctx_##N##_atomic##V##_nbi,                                      \
             (shmem_ctx_t ctx, T * fetch, T * dest, T value, int pe))
#define SENNIT_SHMEM_AMO_BIT(FUNCTION, T, N, V) \
    SENNIT_SHMEM_AMO_CHANGE(FUNCTION, T, N, V)  \
    SENNIT_SHMEM_AMO_EXCHANGE(FUNCTION, T, N, _fetch##V)

/* set, fetch, swap. */
#define SENNIT_SHMEM_AMO_EXTENDED_OF(FUNCTION, T, N)                                      \
    SENNIT_SHMEM_AMO_CHANGE(FUNCTION, T, N, _set)                                         \
    SENNIT_SHMEM_AMO_EXCHANGE(FUNCTION, T, N, _swap)                                      \
    FUNCTION(T, shmem_##N##_atomic_fetch, (const T *source, int pe))                      \
    FUNCTION(T, shmem_ctx_##N##_atomic_fetch, (shmem_ctx_t ctx, const T *source, int pe)) \
    FUNCTION(void, shmem_##N##_atomic_fetch_nbi, (T * fetch, const T *source, int pe))    \
    FUNCTION(void, shmem_ctx_##N##_atomic_fetch_nbi,                                      \
             (shmem_ctx_t ctx, T * fetch, const T *source, int pe))

/* add, increment, compare and swap. */
#define SENNIT_SHMEM_AMO_STANDARD_OF(FUNCTION, T, N)                                   \
    SENNIT_SHMEM_AMO_BIT(FUNCTION, T, N, _add)                                         \
    FUNCTION(void, shmem_##N##_atomic_inc, (T * dest, int pe))                         \
    FUNCTION(void, shmem_ctx_##N##_atomic_inc, (shmem_ctx_t ctx, T * dest, int pe))    \
    FUNCTION(T, shmem_##N##_atomic_fetch_inc, (T * dest, int pe))                      \
    FUNCTION(T, shmem_ctx_##N##_atomic_fetch_inc, (shmem_ctx_t ctx, T * dest, int pe)) \
    FUNCTION(void, shmem_##N##_atomic_fetch_inc_nbi, (T * fetch, T * dest, int pe))    \
    FUNCTION(void, shmem_ctx_##N##_atomic_fetch_inc_nbi,                               \
             (shmem_ctx_t ctx, T * fetch, T * dest, int pe))                           \
    FUNCTION(T, shmem_##N##_atomic_compare_swap, (T * dest, T cond, T value, int pe))  \
    FUNCTION(T, shmem_ctx_##N##_atomic_compare_swap,                                   \
             (shmem_ctx_t ctx, T * dest, T cond, T value, int pe))                     \
    FUNCTION(void, shmem_##N##_atomic_compare_swap_nbi,                                \
             (T * fetch, T * dest, T cond, T value, int pe))                           \
    FUNCTION(void, shmem_ctx_##N##_atomic_compare_swap_nbi,                            \
             (shmem_ctx_t ctx, T * fetch, T * dest, T cond, T value, int pe))

/* and, or, xor. */
#define SENNIT_SHMEM_AMO_BITWISE_OF(FUNCTION, T, N) \
    SENNIT_SHMEM_AMO_BIT(FUNCTION, T, N, _and)      \
    SENNIT_SHMEM_AMO_BIT(FUNCTION, T, N, _or)       \
    SENNIT_SHMEM_AMO_BIT(FUNCTION, T, N, _xor)

/* Atomic operations with the older names. */
#define SENNIT_SHMEM_OLD_EXTENDED_OF(FUNCTION, T, N)             \
    FUNCTION(void, shmem_##N##_set, (T * dest, T value, int pe)) \
    FUNCTION(T, shmem_##N##_fetch, (const T *source, int pe))    \
    FUNCTION(T, shmem_##N##_swap, (T * dest, T value, int pe))
#define SENNIT_SHMEM_OLD_AMO_OF(FUNCTION, T, N)                         \
    FUNCTION(T, shmem_##N##_cswap, (T * dest, T cond, T value, int pe)) \
    FUNCTION(T, shmem_##N##_finc, (T * dest, int pe))                   \
    FUNCTION(void, shmem_##N##_inc, (T * dest, int pe))                 \
    FUNCTION(T, shmem_##N##_fadd, (T * dest, T value, int pe))          \
    FUNCTION(void, shmem_##N##_add, (T * dest, T value, int pe))

/* Waits for and tests of one word or several words: with one value for all, or (_vector) with one
 * value for each word. */
#define SENNIT_SHMEM_TEST_OF(FUNCTION, T, N)                                 \
    FUNCTION(void, shmem_##N##_wait_until, (T * ivar, int cmp, T cmp_value)) \
    FUNCTION(int, shmem_##N##_test, (T * ivar, int cmp, T cmp_value))
#define SENNIT_SHMEM_SETS_OF(FUNCTION, T, N, Z, VALUES)                                        \
    FUNCTION(void, shmem_##N##_wait_until_all##Z,                                              \
             (T * ivars, size_t nelems, const int *status, int cmp, VALUES))                   \
    FUNCTION(size_t, shmem_##N##_wait_until_any##Z,                                            \
             (T * ivars, size_t nelems, const int *status, int cmp, VALUES))                   \
    FUNCTION(size_t, shmem_##N##_wait_until_some##Z,                                           \
             (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUES)) \
    FUNCTION(int, shmem_##N##_test_all##Z,                                                     \
             (T * ivars, size_t nelems, const int *status, int cmp, VALUES))                   \
    FUNCTION(size_t, shmem_##N##_test_any##Z,                                                  \
             (T * ivars, size_t nelems, const int *status, int cmp, VALUES))                   \
    FUNCTION(size_t, shmem_##N##_test_some##Z,                                                 \
             (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUES))

/* Collective calls of teams; N ends with the underscore, Z is "mem" for bytes. */
#define SENNIT_SHMEM_TEAM_OF(FUNCTION, T, N, Z)                                           \
    FUNCTION(int, shmem_##N##broadcast##Z,                                                \
             (shmem_team_t team, T * dest, const T *source, size_t nelems, int PE_root))  \
    FUNCTION(int, shmem_##N##collect##Z,                                                  \
             (shmem_team_t team, T * dest, const T *source, size_t nelems))               \
    FUNCTION(int, shmem_##N##fcollect##Z,                                                 \
             (shmem_team_t team, T * dest, const T *source, size_t nelems))               \
    FUNCTION(int, shmem_##N##alltoall##Z,                                                 \
             (shmem_team_t team, T * dest, const T *source, size_t nelems))               \
    FUNCTION(int, shmem_##N##alltoalls##Z,                                                \
             (shmem_team_t team, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
              size_t nelems))

/* Collective calls of active sets, for elements of 32 and 64 bits. */
#define SENNIT_SHMEM_ACTIVE_OF(FUNCTION, Z)                                                  \
    FUNCTION(void, shmem_broadcast##Z,                                                       \
             (void *dest, const void *source, size_t nelems, int PE_root, int PE_start,      \
              int logPE_stride, int PE_size, long *pSync))                                   \
    FUNCTION(void, shmem_collect##Z,                                                         \
             (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
              int PE_size, long *pSync))                                                     \
    FUNCTION(void, shmem_fcollect##Z,                                                        \
             (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
              int PE_size, long *pSync))                                                     \
    FUNCTION(void, shmem_alltoall##Z,                                                        \
             (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
              int PE_size, long *pSync))                                                     \
    FUNCTION(void, shmem_alltoalls##Z,                                                       \
             (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,   \
              int PE_start, int logPE_stride, int PE_size, long *pSync))

/* Reductions and scans; V is the operator. */
#define SENNIT_SHMEM_REDUCE_OF(FUNCTION, T, N, V) \
    FUNCTION(int, shmem_##N##V##_reduce,          \
             (shmem_team_t team, T * dest, const T *source, size_t nreduce))
#define SENNIT_SHMEM_SCAN_OF(FUNCTION, T, N)                                \
    FUNCTION(int, shmem_##N##_sum_inscan,                                   \
             (shmem_team_t team, T * dest, const T *source, size_t nelems)) \
    FUNCTION(int, shmem_##N##_sum_exscan,                                   \
             (shmem_team_t team, T * dest, const T *source, size_t nelems))
#define SENNIT_SHMEM_TO_ALL_OF(FUNCTION, T, N, V)                                                  \
    FUNCTION(void, shmem_##N##V##_to_all,                                                          \
             (T * dest, const T *source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
              T *pWrk, long *pSync))

#endif
