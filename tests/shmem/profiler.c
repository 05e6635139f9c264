/* A profiler as the standard describes it: functions under the original names, which count a call
 * and call the function with the prefix `p`. It is part of the program, or of a library before
 * Sennit's. */
#include "profiler.h"

#include <pshmem.h>

long profiled_counts[kProfiled];

#define PROFILE(RESULT, NAME, ARGUMENTS, COUNT, HAND_ON) \
    RESULT NAME ARGUMENTS {                              \
        ++profiled_counts[COUNT];                        \
        return p##NAME HAND_ON;                          \
    }
#define PROFILE_VOID(NAME, ARGUMENTS, COUNT, HAND_ON) \
    void NAME ARGUMENTS {                             \
        ++profiled_counts[COUNT];                     \
        p##NAME HAND_ON;                              \
    }

PROFILE_VOID(shmem_init, (void), kInit, ())
PROFILE_VOID(shmem_finalize, (void), kFinalize, ())
PROFILE(void *, shmem_malloc, (size_t bytes), kMalloc, (bytes))
PROFILE_VOID(shmem_free, (void *memory), kFree, (memory))
PROFILE_VOID(shmem_barrier_all, (void), kBarrierAll, ())
PROFILE_VOID(shmem_sync_all, (void), kSyncAll, ())
PROFILE(int, shmem_team_sync, (shmem_team_t team), kTeamSync, (team))
PROFILE_VOID(shmem_quiet, (void), kQuiet, ())
PROFILE_VOID(shmem_fence, (void), kFence, ())
PROFILE_VOID(shmem_putmem, (void *to, const void *from, size_t bytes, int pe), kPutmem,
             (to, from, bytes, pe))
PROFILE_VOID(shmem_long_put, (long *to, const long *from, size_t count, int pe), kLongPut,
             (to, from, count, pe))
PROFILE_VOID(shmem_double_put, (double *to, const double *from, size_t count, int pe), kDoublePut,
             (to, from, count, pe))
PROFILE_VOID(shmem_ctx_double_put,
             (shmem_ctx_t ctx, double *to, const double *from, size_t count, int pe), kCtxDoublePut,
             (ctx, to, from, count, pe))
PROFILE_VOID(shmem_long_p, (long *to, long value, int pe), kLongP, (to, value, pe))
PROFILE(long, shmem_long_atomic_fetch, (const long *from, int pe), kLongFetch, (from, pe))
PROFILE(long, shmem_long_atomic_fetch_add, (long *to, long value, int pe), kLongFetchAdd,
        (to, value, pe))
PROFILE_VOID(shmem_long_wait_until, (long *word, int cmp, long value), kLongWaitUntil,
             (word, cmp, value))
PROFILE(int, shmem_short_test, (short *word, int cmp, short value), kShortTest, (word, cmp, value))
PROFILE(uint64_t, shmem_signal_wait_until, (uint64_t * word, int cmp, uint64_t value), kSignalWait,
        (word, cmp, value))
PROFILE(int, shmem_long_sum_reduce, (shmem_team_t team, long *to, const long *from, size_t count),
        kLongSumReduce, (team, to, from, count))
PROFILE(int, shmem_int_broadcast,
        (shmem_team_t team, int *to, const int *from, size_t count, int root), kIntBroadcast,
        (team, to, from, count, root))
