/* SPDX-License-Identifier: BSD-3-Clause */
/* Global memory: segments that other ranks can reach, and pointers to them. A rank has at most
 * 16383 segments. */
#ifndef SENNIT_MEMORY_H
#define SENNIT_MEMORY_H

#include <sennit/error.h>
#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A global pointer: plain data of 16 bytes without padding. Send it by any means; any rank of the
 * segment's team may use it. */
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

/* The address `bytes` further in the same piece; negative: before it. It is checked only when it is
 * used. */
static inline sennit_gptr sennit_gptr_add(sennit_gptr gptr, int64_t bytes) {
    gptr.offset += (uint64_t)bytes;
    return gptr;
}

/* The same offset in the piece of world rank `rank`. */
static inline sennit_gptr sennit_gptr_at(sennit_gptr gptr, int rank) {
    gptr.rank = rank;
    return gptr;
}

/* 1 for a null pointer such as SENNIT_GPTR_NULL, else 0. */
static inline int sennit_gptr_is_null(sennit_gptr gptr) {
    return gptr.segment == 0u;
}

/* Flags of the allocations. */
#define SENNIT_ALLOC_RESERVE 0x1u    /* allocate the pages now; lack of memory is then NOMEM here */
#define SENNIT_ALLOC_HUGE 0x2u       /* ask for huge pages; granted where the kernel has them */
#define SENNIT_ALLOC_ACCUMULATE 0x4u /* long accumulates: faster; words: slower */

/* Allocate `bytes` zeroed bytes on every rank of `team`. Collective, with the same bytes, alignment
 * and flags everywhere. `alignment` is a power of two up to 1 GiB, or 0 for 64. *gptr is a pointer
 * to the caller's piece; sennit_gptr_at makes those to the others. The owner's first touch places a
 * page.
 *
 * If any rank has an error, all get one and nothing is allocated. After TIMEOUT other collective
 * calls of the team return STATE on this rank until sennit_barrier has returned OK. Ranks without
 * TIMEOUT then get ARG from sennit_alloc, and this rank may get it from its next collective call.
 * Exception: if an error says that sennit_alloc is unfinished, repeat it with the same arguments.
 *
 * Errors: ARG (alignment; arguments that differ between ranks), NOMEM (memory, the control group's
 * limit, too many segments), BOOTSTRAP (the launcher failed; it is used if no path joins the ranks
 * of the world). */
sennit_status sennit_alloc(sennit_team team, size_t bytes, size_t alignment, unsigned flags,
                           sennit_gptr *gptr);

/* Allocate as sennit_alloc, for the calling rank alone. Any rank that gets the pointer may use it.
 * Errors: ARG (alignment), NOMEM (memory, the control group's limit, too many segments). */
sennit_status sennit_alloc_local(size_t bytes, size_t alignment, unsigned flags, sennit_gptr *gptr);

/* Free an allocation. `gptr` is the beginning of any rank's piece. All ranks of the team free
 * memory of sennit_alloc collectively; the call first completes the earlier operations of all of
 * them. The owner frees memory of sennit_alloc_local. Pointers of sennit_ptr become invalid.
 *
 * Errors: ARG (an offset that is not 0; registered or queue memory; memory that another rank
 * allocated alone; ranks free different segments), BOOTSTRAP, TIMEOUT (an operation is outstanding
 * or a rank is missing: repeat the call). */
sennit_status sennit_free(sennit_gptr gptr);

/* Registration makes existing readable and writable memory reachable: heap, static, stack, mapped
 * files. The memory keeps its addresses. sennit_mechanism tells how other ranks reach it: with
 * `adopt` sennit_ptr, atomics, put and get are loads and stores; with `cma` there is no pointer. */

/* A registered region: plain data of 24 bytes. Send it by any means; any rank may use its `gptr`.
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
    SENNIT_MECHANISM_CMA = 5,       /* not moved: copied by the kernel or by messages of the path */
    SENNIT_MECHANISM_END = 6
} sennit_mechanism;

/* Flags of sennit_register. */
#define SENNIT_REGISTER_SHARED_PAGES \
    0x1u /* no thread stores to the first and last page, other data included, during the call */

#define SENNIT_REGISTER_STACK 0x2u /* a buffer on a stack may be adopted */

/* Make `bytes` at `memory` reachable for other ranks. Regions may overlap and are independent.
 * Memory in a segment of this rank, or in one that this rank has a pointer into, is not registered
 * again: the region points into the segment. 0 bytes may lie at any address.
 * docs/manual/registered-memory.md lists memory that must never be registered.
 *
 * - During sennit_register and sennit_deregister threads may read the buffer but must not write it,
 *   and no other library may move data to or from it.
 * - Deregister before the memory is freed. Otherwise other processes access the old pages (adopt),
 *   or get NOT_REGISTERED until the addresses are used again (cma); a rank of the same process
 *   crashes.
 * - Words that other ranks poll must lie in allocated or adopted memory: cma may tear a word and
 *   has no atomics.
 * - During the call, a thread that writes other data on the first or last page is delayed by some
 *   microseconds; without privileges, its system call that writes there fails with EFAULT. If the
 *   process has several threads and the kernel cannot block writers, a buffer that shares these
 *   pages with other data is adopted only with SENNIT_REGISTER_SHARED_PAGES; otherwise cma reaches
 *   it.
 * - A buffer on a stack stays there (cma). SENNIT_REGISTER_STACK adopts it if it fills whole pages
 *   of 4096 bytes, is not on the lowest page of the stack and holds no thread-local storage or
 *   thread control block; the call starts a thread for that. The function with the buffer must not
 *   return before sennit_deregister.
 * - A forked child gets a private copy of the buffer. If a function with frames on adopted stack
 *   pages calls fork, the child dies.
 * - The call takes about 64 KiB of the caller's stack.
 *
 * Errors: ARG (a range that wraps, memory that is not mapped), RANGE (partly inside a segment),
 * UNSUPPORTED (no mechanism that the knob SENNIT_REGISTER names takes this memory). */
sennit_status sennit_register(void *memory, size_t bytes, unsigned flags, sennit_region *region);

/* End a region, by the rank that registered it, when no other rank uses it. Pointers of sennit_ptr
 * on other ranks become invalid. The memory keeps its content and is private again; a segment
 * around the region stays. Errors: ARG (another rank's). */
sennit_status sennit_deregister(sennit_region region);

/* Exchange regions. Collective: each rank of `team` gives one of any size, or SENNIT_REGION_NULL,
 * and gets those of all ranks in the order of the team. All of them are then reachable. If any rank
 * has an error all get one; registrations stay. Errors: UNSUPPORTED (the kernel forbids access to a
 * rank's private memory), TIMEOUT (as in sennit_alloc). */
sennit_status sennit_region_attach(sennit_team team, sennit_region region, sennit_region regions[]);

/* Detach another rank's region, at any time; the next use of its pointer attaches it again.
 * Errors: ARG (the caller's own), NOT_REGISTERED (not attached). */
sennit_status sennit_region_detach(sennit_region region);

/* How this rank reaches the region. Ranks may differ: one that cannot attach xpmem memory copies
 * it (cma). Errors: UNSUPPORTED (xpmem memory that this rank can neither attach nor copy). */
sennit_status sennit_region_mechanism(sennit_region region, sennit_mechanism *mechanism);

/* Why `candidate` was or was not taken for the region: one sentence in `text`, cut to `bytes`.
 * Errors: those of sennit_region_mechanism. */
sennit_status sennit_region_reason(sennit_region region, sennit_mechanism candidate, char *text,
                                   size_t bytes);

/* "allocated", "inproc", "xpmem", "adopt", "cma", or "unknown". Any time. */
const char *sennit_mechanism_name(sennit_mechanism mechanism);

/* A plain pointer to the memory, or NULL if this rank cannot load and store there
 * (sennit_last_error() says why). Valid until the segment is freed or the region deregistered.
 * Loads and stores follow C11; sennit_barrier or atomics order them against other ranks. Errors:
 * RANGE (outside the segment), UNSUPPORTED (no load and store to it), NOMEM. */
void *sennit_ptr(sennit_gptr gptr);

/* The global pointer to world rank `rank`'s copy of `memory`: if an array begins at p, rank r's
 * copy is at sennit_gptr_of(p, r). `memory` lies in an allocation of the caller; only the caller
 * has a copy of memory of sennit_alloc_local. Takes a lock, so call it outside of inner loops.
 * SENNIT_GPTR_NULL on errors (sennit_last_error() says which): ARG (no allocation of the caller,
 * NULL), RANGE (rank). */
sennit_gptr sennit_gptr_of(const void *memory, int rank);

/* The size of the piece that `gptr` points into. Errors: UNSUPPORTED (memory that this rank can
 * neither attach nor copy), NOMEM. */
sennit_status sennit_segment_bytes(sennit_gptr gptr, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
