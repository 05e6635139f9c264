/* Global memory: segments that every rank of a team can reach, and pointers to them.
 */
#ifndef SENNIT_MEMORY_H
#define SENNIT_MEMORY_H

#include <sennit/error.h>
#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A global pointer: which rank, which segment, how many bytes in. Plain data of 16 bytes without
 * padding: it may be sent by any means and used by any rank of the segment's team. */
typedef struct sennit_gptr {
    int32_t rank;     /* world rank of the owner */
    uint32_t segment; /* opaque; 0 is no segment */
    uint64_t offset;  /* bytes */
} sennit_gptr;

#ifdef __cplusplus
#define SENNIT_GPTR_NULL (sennit_gptr{-1, 0u, 0u})
#else
#define SENNIT_GPTR_NULL ((sennit_gptr){-1, 0u, 0u})
#endif

static inline sennit_gptr sennit_gptr_add(sennit_gptr gptr, int64_t bytes) {
    gptr.offset += (uint64_t)bytes;
    return gptr;
}

/* The same place in the piece of the segment that world rank `rank` owns. */
static inline sennit_gptr sennit_gptr_at(sennit_gptr gptr, int rank) {
    gptr.rank = rank;
    return gptr;
}

static inline int sennit_gptr_is_null(sennit_gptr gptr) {
    return gptr.segment == 0u;
}

/* Flags of the allocations. */
#define SENNIT_ALLOC_RESERVE \
    0x1u                       /* take the pages now: where memory is short the error comes here */
#define SENNIT_ALLOC_HUGE 0x2u /* ask for huge pages; granted where the kernel has them */

/* Allocate `bytes` on every rank of `team`, zeroed. Collective; bytes, alignment and flags must be
 * the same everywhere. `alignment` is a power of two up to 1 GiB, or 0 for the default (64). The
 * result names the caller's own piece; sennit_gptr_at names the others'. No page is touched before
 * its first use, so the owner's first touch places it. 0 bytes are legal.
 * On an error of any rank all ranks get an error and nothing is allocated.
 * Errors: STATE, ARG (team, alignment, flags, null, or arguments that differ between ranks), NOMEM
 * (memory, the memory limit of the job's control group, or the 16384 segments of a team), TIMEOUT,
 * PEER_LOST, OS. */
sennit_status sennit_alloc(sennit_team team, size_t bytes, size_t alignment, unsigned flags,
                           sennit_gptr *gptr);

/* The same by one rank alone; any rank that gets the pointer may use it. Errors: as above. */
sennit_status sennit_alloc_local(size_t bytes, size_t alignment, unsigned flags, sennit_gptr *gptr);

/* Free what one of the two calls above returned (any rank's piece names it, the offset must be 0).
 * Collective over the team for sennit_alloc: it waits until all ranks have come, so every rank's
 * earlier operations are over; the owner alone for sennit_alloc_local. Pointers from sennit_ptr are
 * invalid afterwards. Errors: STATE, NOT_REGISTERED (never allocated, or freed before), ARG
 * (offset, ranks that free different segments; nothing is freed), RANGE, TIMEOUT, PEER_LOST. */
sennit_status sennit_free(sennit_gptr gptr);

/* A plain pointer to the memory if this rank can load and store there, else NULL and the reason in
 * sennit_last_error(). It is valid until the segment is freed. Loads and stores through it follow
 * C11; they are ordered against other ranks by sennit_barrier, or by the program's own atomics. */
void *sennit_ptr(sennit_gptr gptr);

/* The size in bytes of the piece that `gptr` points into. Errors: STATE, RANGE, NOT_REGISTERED,
 * ARG. */
sennit_status sennit_segment_bytes(sennit_gptr gptr, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
