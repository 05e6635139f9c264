/* OpenSHMEM 1.6 on Sennit: the whole C interface, with its C11 and C++ forms.
 *
 * The functions are declared from the tables of sennit_shmem/types.h and functions.h. The
 * specification describes them; docs/openshmem.md describes the properties of this library.
 */
#ifndef SHMEM_H
#define SHMEM_H

/* Makes this a system header. The compiler then shows errors and warnings of a call at the line of
 * the program, without the macros in between. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include <sennit_shmem/functions.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "Sennit"
#define SENNIT_SHMEM 1 /* for #if defined(SENNIT_SHMEM): other libraries do not define it */

#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_LE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_GE 6

#define SHMEM_SIGNAL_SET 1
#define SHMEM_SIGNAL_ADD 2

#define SHMEM_TEAM_NUM_CONTEXTS 1L

#define SHMEM_CTX_SERIALIZED 1L
#define SHMEM_CTX_PRIVATE 2L
#define SHMEM_CTX_NOSTORE 4L
#define SHMEM_CTX_SESSION_BATCH 1L
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L

#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L

/* Work arrays of active sets: longs that the program sets to SHMEM_SYNC_VALUE. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 4
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Older names. */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* Handles. The predefined ones are addresses at which there is no object. */
typedef struct sennit_shmem_team *shmem_team_t;
typedef struct sennit_shmem_ctx *shmem_ctx_t;

#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)

typedef struct {
    int num_contexts;
} shmem_team_config_t;

typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

#ifdef __cplusplus
extern "C" {
#endif

#define SENNIT_SHMEM_USE_MOVES(T, N, ...)                    \
    SENNIT_SHMEM_MOVES(SENNIT_SHMEM_DECLARE, T, N##_, )      \
    SENNIT_SHMEM_STRIDES(SENNIT_SHMEM_DECLARE, T, N##_, )    \
    SENNIT_SHMEM_ELEMENT(SENNIT_SHMEM_DECLARE, T, N)         \
    SENNIT_SHMEM_TEAM_OF(SENNIT_SHMEM_DECLARE, T, N##_, )    \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _max) \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _min)
#define SENNIT_SHMEM_USE_SIZES(BITS)                       \
    SENNIT_SHMEM_MOVES(SENNIT_SHMEM_DECLARE, void, , BITS) \
    SENNIT_SHMEM_STRIDES(SENNIT_SHMEM_DECLARE, void, , BITS)
#define SENNIT_SHMEM_USE_EXTENDED(T, N, ...) \
    SENNIT_SHMEM_AMO_EXTENDED_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_STANDARD(T, N, ...)                        \
    SENNIT_SHMEM_AMO_STANDARD_OF(SENNIT_SHMEM_DECLARE, T, N)        \
    SENNIT_SHMEM_TEST_OF(SENNIT_SHMEM_DECLARE, T, N)                \
    SENNIT_SHMEM_SETS_OF(SENNIT_SHMEM_DECLARE, T, N, , T cmp_value) \
    SENNIT_SHMEM_SETS_OF(SENNIT_SHMEM_DECLARE, T, N, _vector, const T *cmp_values)
#define SENNIT_SHMEM_USE_BITWISE(T, N, ...) SENNIT_SHMEM_AMO_BITWISE_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_OLD_EXTENDED(T, N, ...) \
    SENNIT_SHMEM_OLD_EXTENDED_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_OLD_AMO(T, N, ...) SENNIT_SHMEM_OLD_AMO_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_OLD_TEST(T, N, ...) SENNIT_SHMEM_TEST_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_OLD_WAIT(T, N, ...) \
    SENNIT_SHMEM_DECLARE(void, shmem_##N##_wait, (T * ivar, T cmp_value))
#define SENNIT_SHMEM_USE_REDUCE_BITS(T, N, ...)              \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _and) \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _or)  \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _xor)
#define SENNIT_SHMEM_USE_REDUCE_SUM(T, N, ...)                \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _sum)  \
    SENNIT_SHMEM_REDUCE_OF(SENNIT_SHMEM_DECLARE, T, N, _prod) \
    SENNIT_SHMEM_SCAN_OF(SENNIT_SHMEM_DECLARE, T, N)
#define SENNIT_SHMEM_USE_ACTIVE_BITS(T, N, ...)              \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _and) \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _or)  \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _xor)
#define SENNIT_SHMEM_USE_ACTIVE_ORDER(T, N, ...)             \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _max) \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _min)
#define SENNIT_SHMEM_USE_ACTIVE_SUM(T, N, ...)               \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _sum) \
    SENNIT_SHMEM_TO_ALL_OF(SENNIT_SHMEM_DECLARE, T, N, _prod)

/* Ends all PEs of the program with this exit status. Does not return. */
void shmem_global_exit(int status) __attribute__((__noreturn__));
void pshmem_global_exit(int status) __attribute__((__noreturn__));

SENNIT_SHMEM_PLAIN(SENNIT_SHMEM_DECLARE)
SENNIT_SHMEM_RMA(SENNIT_SHMEM_USE_MOVES, )
SENNIT_SHMEM_SIZES(SENNIT_SHMEM_USE_SIZES)
SENNIT_SHMEM_MOVES(SENNIT_SHMEM_DECLARE, void, , mem)
SENNIT_SHMEM_EXTENDED(SENNIT_SHMEM_USE_EXTENDED, )
SENNIT_SHMEM_AMO(SENNIT_SHMEM_USE_STANDARD, )
SENNIT_SHMEM_BITWISE(SENNIT_SHMEM_USE_BITWISE, )
SENNIT_SHMEM_OLD_EXTENDED(SENNIT_SHMEM_USE_OLD_EXTENDED, )
SENNIT_SHMEM_OLD_AMO(SENNIT_SHMEM_USE_OLD_AMO, )
SENNIT_SHMEM_OLD_TEST(SENNIT_SHMEM_USE_OLD_TEST, )
SENNIT_SHMEM_OLD_WAIT(SENNIT_SHMEM_USE_OLD_WAIT, )
SENNIT_SHMEM_TEAM_OF(SENNIT_SHMEM_DECLARE, void, , mem)
SENNIT_SHMEM_ACTIVE_OF(SENNIT_SHMEM_DECLARE, 32)
SENNIT_SHMEM_ACTIVE_OF(SENNIT_SHMEM_DECLARE, 64)
SENNIT_SHMEM_REDUCE_BITS(SENNIT_SHMEM_USE_REDUCE_BITS, )
SENNIT_SHMEM_REDUCE_SUM(SENNIT_SHMEM_USE_REDUCE_SUM, )
SENNIT_SHMEM_ACTIVE_BITS(SENNIT_SHMEM_USE_ACTIVE_BITS, )
SENNIT_SHMEM_ACTIVE_ORDER(SENNIT_SHMEM_USE_ACTIVE_ORDER, )
SENNIT_SHMEM_ACTIVE_SUM(SENNIT_SHMEM_USE_ACTIVE_SUM, )

#ifdef __cplusplus
}
#include <sennit_shmem/old_words.h>
#else
#include <sennit_shmem/generic.h>
#endif

#endif
