/* SPDX-License-Identifier: BSD-3-Clause */
/* Global memory: segments that other ranks can reach, and pointers to them. */
#ifndef SENNIT_MEMORY_H
#define SENNIT_MEMORY_H

#include <sennit/error.h>
#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A global pointer: rank, segment, offset. Plain data of 16 bytes without padding: send it by any
 * means; any rank of the segment's team may use it. */
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

/* The place `bytes` further on, or back, in the same rank's piece. Not checked before it is used.
 */
static inline sennit_gptr sennit_gptr_add(sennit_gptr gptr, int64_t bytes) {
    gptr.offset += (uint64_t)bytes;
    return gptr;
}

/* The same place in the piece of world rank `rank` (sennit_team_world_rank translates team ranks).
 */
static inline sennit_gptr sennit_gptr_at(sennit_gptr gptr, int rank) {
    gptr.rank = rank;
    return gptr;
}

/* 1 for a pointer to nothing such as SENNIT_GPTR_NULL, else 0. */
static inline int sennit_gptr_is_null(sennit_gptr gptr) {
    return gptr.segment == 0u;
}

/* Flags of the allocations. */
#define SENNIT_ALLOC_RESERVE \
    0x1u                       /* take the pages now: where memory is short the error comes here */
#define SENNIT_ALLOC_HUGE 0x2u /* ask for huge pages; granted where the kernel has them */
#define SENNIT_ALLOC_ACCUMULATE                                                                  \
    0x4u /* for long accumulates: the operations of atomic.h take turns by a lock of each rank's \
            piece, see there */

/* Allocate `bytes` zeroed bytes on every rank of `team`. Collective, with the same bytes, alignment
 * and flags everywhere. `alignment` is a power of two up to 1 GiB, or 0 for 64. *gptr names the
 * caller's piece; sennit_gptr_at names the others'. The owner's first touch places a page.
 *
 * If any rank has an error, all get one and nothing is allocated.
 *
 * After TIMEOUT (knob SENNIT_TIMEOUT) nothing is allocated anywhere, and the call can not be
 * resumed: other collective calls of the team give STATE here until sennit_barrier has returned OK;
 * late ranks get ARG in the next collective call, as its caller may. Exception: if the errors of
 * other calls say that sennit_alloc is under way, the ranks had agreed, and the same call made
 * again goes on.
 *
 * Errors: ARG (alignment; arguments that differ between ranks), NOMEM (memory, the control group's
 * limit, 16383 segments of a rank), PEER_LOST, OTHER_NODE (no path joins the ranks of a team other
 * than the world), BOOTSTRAP (the launcher, where no path joins the ranks of the world), OS,
 * TIMEOUT. */
sennit_status sennit_alloc(sennit_team team, size_t bytes, size_t alignment, unsigned flags,
                           sennit_gptr *gptr);

/* Allocate `bytes` zeroed bytes of the calling rank alone, as sennit_alloc. Any rank that gets the
 * pointer may use it. */
sennit_status sennit_alloc_local(size_t bytes, size_t alignment, unsigned flags, sennit_gptr *gptr);

/* Free an allocation, named by any rank's piece with offset 0. Of sennit_alloc: collective over the
 * team; it waits until all ranks have come, so their earlier operations are over. Of
 * sennit_alloc_local: the owner alone. Pointers of sennit_ptr become invalid.
 *
 * Errors: NOT_REGISTERED (never allocated, or freed), ARG (offset, memory that was registered or a
 * queue's, ranks that free different segments), RANGE, PEER_LOST, OTHER_NODE, BOOTSTRAP, TIMEOUT
 * (knob SENNIT_TIMEOUT: an operation is outstanding or a rank has not come; the same call made
 * again goes on). */
sennit_status sennit_free(sennit_gptr gptr);

/* Memory that the program has already: any that it may read and write (heap, static, stack, mapped
 * files). It keeps its addresses and stays the program's. Ranks of the same process reach it by its
 * address. For other processes of the node its pages are moved, where that is safe, into memory
 * that they map (`adopt`); sennit_ptr, atomics, put and get are then loads and stores. Elsewhere
 * the kernel copies (path cma), by a system call and without a pointer. */

/* A registered region. Plain data of 24 bytes: send it by any means; any rank may use its `gptr`.
 */
typedef struct sennit_region {
    sennit_gptr gptr; /* its first byte */
    uint64_t bytes;
} sennit_region;

#ifdef __cplusplus
#define SENNIT_REGION_NULL (sennit_region{SENNIT_GPTR_NULL, 0u})
#else
#define SENNIT_REGION_NULL ((sennit_region){SENNIT_GPTR_NULL, 0u})
#endif

/* How a region is reached, best first. */
typedef enum sennit_mechanism {
    SENNIT_MECHANISM_NONE = 0,
    SENNIT_MECHANISM_ALLOCATED = 1, /* it lies in memory of sennit_alloc or sennit_alloc_local */
    SENNIT_MECHANISM_INPROC = 2,    /* by its own address: all peers are in the owner's process */
    SENNIT_MECHANISM_XPMEM = 3,     /* attached through the kernel module of that name */
    SENNIT_MECHANISM_ADOPT = 4,     /* its pages were moved into memory that peers map */
    SENNIT_MECHANISM_CMA = 5,       /* where it was: the kernel copies, or the path's messages do */
    SENNIT_MECHANISM_END = 6
} sennit_mechanism;

/* Flags of sennit_register. */
#define SENNIT_REGISTER_SHARED_PAGES                                                          \
    0x1u /* no thread stores to the first and last page of the buffer during sennit_register, \
            also not to other data there: the caller makes sure */

#define SENNIT_REGISTER_STACK                                                                  \
    0x2u /* the buffer may lie on a stack of the process and is adopted there too, if it fills \
            whole pages; its function does not return before sennit_deregister */

/* Make `bytes` at `memory` reachable for other ranks. 0 bytes may lie at any address. Regions may
 * overlap; each has a life of its own. Memory in a segment, this rank's or one that it has a
 * pointer into, is not registered anew: the region points into the segment.
 *
 * What the program keeps to:
 *
 * - During sennit_register and sennit_deregister threads may read the buffer, none writes it, and
 *   no other library moves data to or from it.
 * - Deregister before the memory is freed. Else other processes read its old content (adopt), or
 *   get NOT_REGISTERED while nothing else lies there (cma); a rank of the same process crashes.
 * - The pages hold no process-shared locks or condition variables, and no buffers that the kernel
 *   knows by their pages (fixed ones of io_uring).
 * - Words that other ranks poll lie in allocated or adopted memory: by cma a word need not move
 *   whole, and there are no atomics.
 *
 * Other data on the first and last page:
 *
 * - A thread that writes there meanwhile waits for some microseconds.
 * - In a process without privileges, a system call of another thread that writes there at that
 *   moment fails with EFAULT.
 * - Where the kernel can not hold writers off and the process has several threads, pages move only
 *   with SENNIT_REGISTER_SHARED_PAGES; else they stay (cma).
 *
 * Stacks and fork:
 *
 * - A buffer on a stack stays there (cma). SENNIT_REGISTER_STACK adopts it, by a thread that the
 *   call starts and waits for, if it fills whole pages of 4096 bytes, is not on the lowest page of
 *   the stack and holds no thread-local storage or thread control block. The function that has the
 *   array must not return before sennit_deregister: other frames would lie on the pages.
 * - A forked child gets a private copy of the buffer. A fork by a function whose frames lie on
 *   adopted stack pages ends the child.
 * - The call takes about 64 KiB of the caller's stack.
 *
 * Errors: ARG (a range that wraps, memory that is not mapped), RANGE (it lies in part inside a
 * segment), NOMEM (the rank already has 16383 segments), UNSUPPORTED (no mechanism that the knob
 * SENNIT_REGISTER names takes this memory). */
sennit_status sennit_register(void *memory, size_t bytes, unsigned flags, sennit_region *region);

/* End a region. By the rank that registered it, when no other rank uses it: later use gives
 * NOT_REGISTERED, and pointers of sennit_ptr on other ranks are invalid. The memory keeps its
 * content and is private again. If the region lies in a segment, the segment lives on until
 * sennit_free. Errors: ARG (another rank's), NOT_REGISTERED (never registered, or ended). */
sennit_status sennit_deregister(sennit_region region);

/* Exchange regions: each rank of `team` gives one, or SENNIT_REGION_NULL, and gets all, in the
 * order of the team, each tried to be reachable. Sizes may differ. Collective. If any rank has an
 * error all get one, and each rank's own region stays registered. Errors: NOT_REGISTERED,
 * UNSUPPORTED (the kernel does not allow access to a rank's private memory), PEER_LOST, NOMEM,
 * TIMEOUT (as of sennit_alloc). */
sennit_status sennit_region_attach(sennit_team team, sennit_region region, sennit_region regions[]);

/* Give up what this rank keeps of another rank's region, at any time. The next use of its pointer
 * attaches it again. Errors: ARG (the caller's own), NOT_REGISTERED (not attached). */
sennit_status sennit_region_detach(sennit_region region);

/* How this rank reaches the region. Ranks may differ: a rank that can not attach xpmem memory
 * copies it (cma). Errors: NOT_REGISTERED, OTHER_NODE, PEER_LOST, UNSUPPORTED (the owner offers
 * xpmem, which this rank can not attach, and the kernel does not copy). */
sennit_status sennit_region_mechanism(sennit_region region, sennit_mechanism *mechanism);

/* Why `candidate` was not taken for the region, or that it was: one sentence in `text`, cut to
 * `bytes`. Errors: those of sennit_region_mechanism. */
sennit_status sennit_region_reason(sennit_region region, sennit_mechanism candidate, char *text,
                                   size_t bytes);

/* "allocated", "inproc", "xpmem", "adopt", "cma", or "unknown". Any time. */
const char *sennit_mechanism_name(sennit_mechanism mechanism);

/* A plain pointer to the memory if this rank can load and store there, else NULL;
 * sennit_last_error() says why. It is valid until the segment is freed or the region deregistered.
 * Loads and stores follow C11. sennit_barrier or the program's own atomics order them against other
 * ranks. */
void *sennit_ptr(sennit_gptr gptr);

/* The size of the piece that `gptr` points into. Errors: NOT_REGISTERED. */
sennit_status sennit_segment_bytes(sennit_gptr gptr, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
