/* The functions that profiler.c counts, and the index of each count. */
#ifndef SHMEM_TEST_PROFILER_H
#define SHMEM_TEST_PROFILER_H

enum profiled {
    kInit,
    kFinalize,
    kMalloc,
    kFree,
    kBarrierAll,
    kSyncAll,
    kTeamSync,
    kQuiet,
    kFence,
    kPutmem,
    kLongPut,
    kDoublePut,
    kCtxDoublePut,
    kLongP,
    kLongFetch,
    kLongFetchAdd,
    kLongWaitUntil,
    kShortTest,
    kSignalWait,
    kLongSumReduce,
    kIntBroadcast,
    kProfiled
};
extern long profiled_counts[kProfiled];

#endif
