/* SPDX-License-Identifier: BSD-3-Clause */
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

/* The place `bytes` further on, or back, in the same rank's piece. Looked at when it is used: a
 * place outside the piece is RANGE there. */
static inline sennit_gptr sennit_gptr_add(sennit_gptr gptr, int64_t bytes) {
    gptr.offset += (uint64_t)bytes;
    return gptr;
}

/* The same place in the piece that world rank `rank` owns. A number in another team is translated
 * by sennit_team_world_rank first. */
static inline sennit_gptr sennit_gptr_at(sennit_gptr gptr, int rank) {
    gptr.rank = rank;
    return gptr;
}

/* 1 for a pointer to nothing, as SENNIT_GPTR_NULL, else 0. */
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

/* Allocate `bytes` on every rank of `team`, zeroed. Collective; bytes, alignment and flags must be
 * the same everywhere. `alignment` is a power of two up to 1 GiB, or 0 for the default (64). The
 * result names the caller's own piece; sennit_gptr_at names the others'. No page is touched before
 * its first use, so the owner's first touch places it. 0 bytes are legal.
 * On an error of any rank all ranks get an error and nothing is allocated.
 * Errors: STATE, ARG (team, alignment, flags, null, or arguments that differ between ranks), NOMEM
 * (memory, the memory limit of the job's control group, or the 16383 segments of a rank),
 * PEER_LOST, OTHER_NODE (no path joins the ranks of a team other than the world), BOOTSTRAP (the
 * launcher, where no path joins the ranks of the world), OS, and TIMEOUT if the knob SENNIT_TIMEOUT
 * bounds the call. That call can not be taken up again: collective calls on the team give STATE
 * here until sennit_barrier has returned OK; ranks that were later wait for the collective call
 * after that one and get ARG, as the caller of it may. Nothing is allocated on any rank. If the
 * ranks had agreed on the allocation already, the errors of other calls say that sennit_alloc is
 * under way: then it goes on when it is called again with the same arguments. */
sennit_status sennit_alloc(sennit_team team, size_t bytes, size_t alignment, unsigned flags,
                           sennit_gptr *gptr);

/* The same by one rank alone; any rank that gets the pointer may use it. Errors: as above. */
sennit_status sennit_alloc_local(size_t bytes, size_t alignment, unsigned flags, sennit_gptr *gptr);

/* Free what one of the two calls above returned (any rank's piece names it, the offset must be 0).
 * Collective over the team for sennit_alloc: it waits until all ranks have come, so every rank's
 * earlier operations are over; the owner alone for sennit_alloc_local. Pointers from sennit_ptr are
 * invalid afterwards. Errors: STATE, NOT_REGISTERED (never allocated, or freed before), ARG
 * (offset, memory that was registered or is a queue's, ranks that free different segments; nothing
 * is freed), RANGE, PEER_LOST, OTHER_NODE and BOOTSTRAP (as above), and TIMEOUT of what is
 * outstanding, or where a rank has not come in the time of SENNIT_TIMEOUT: the free is then still
 * under way, and the same call made again goes on with it. */
sennit_status sennit_free(sennit_gptr gptr);

/* Memory that the program had before: any it may read and write (heap, static, stack, mapped
 * files). Its addresses stay as they are and it stays the program's. Ranks of the same process
 * reach it by its own address. For other processes of the node its pages are moved into memory that
 * they can map, where that is safe (`adopt`): then sennit_ptr, atomics, put and get are loads and
 * stores. Where it is not, the kernel copies (path cma), which costs a system call and gives no
 * pointer (sennit_ptr is NULL and says why). */

/* What was registered. Plain data of 24 bytes: it may be sent by any means, and `gptr` used by any
 * rank that gets it. */
typedef struct sennit_region {
    sennit_gptr gptr; /* its first byte */
    uint64_t bytes;
} sennit_region;

#ifdef __cplusplus
#define SENNIT_REGION_NULL (sennit_region{SENNIT_GPTR_NULL, 0u})
#else
#define SENNIT_REGION_NULL ((sennit_region){SENNIT_GPTR_NULL, 0u})
#endif

/* Ways by which a region is reached, best first. */
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

/* Make `bytes` at `memory` reachable for other ranks. By one rank alone. 0 bytes are legal, with
 * any address. Regions may overlap and the same memory may be registered again: each has a life of
 * its own. Memory that lies in a segment of Sennit, this rank's or one that this rank has a pointer
 * into, is not registered anew: the region points into that segment, with all that load and store
 * can do there.
 * During sennit_register and sennit_deregister the buffer may be read by other threads and is
 * written by none, and nothing is under way to or from it by other libraries. Data of others on its
 * first and last page may be written at any time: who does so waits for some microseconds. In a
 * process without privileges a system call of another thread that stores there at that moment fails
 * with EFAULT. Where the kernel does not let such writers be held off and the process has more than
 * one thread, the pages are moved only with SENNIT_REGISTER_SHARED_PAGES, and else stay (cma).
 * A buffer on a stack stays there (cma), or with SENNIT_REGISTER_STACK is adopted as any other, by
 * a thread that the call starts and waits for, if it fills whole pages of 4096 bytes, is not on the
 * lowest page of the stack and holds nothing of a thread's own. Until sennit_deregister the
 * function whose array it is must not return: another's frames would lie on the pages. A fork is
 * allowed until then, and its child has a copy; a fork by a function whose frames lie on such pages
 * ends the child, so that it can not write into its parent's. On pages of a registered buffer,
 * locks and condition variables that processes share do not work, nor do buffers that were given to
 * the kernel by their pages (io_uring's fixed ones). A forked child gets a private copy of the
 * buffer. The call takes some 64 KiB of the caller's stack. Deregister before the memory is freed.
 * Memory that was freed all the same: another process reads what was there (adopt), or gets
 * NOT_REGISTERED from its put or get while nothing else lies there (cma); a rank of the same
 * process crashes, as it would by its own pointer. By cma the kernel does not promise to move a
 * word whole, and there are no atomics: a word that another rank polls for belongs into an
 * allocated segment, or into memory that is adopted. Errors: STATE, ARG (null, flags, a range that
 * wraps, memory that is not mapped), RANGE (it lies in part inside a segment), NOMEM (the 16383
 * segments of a rank), UNSUPPORTED (SENNIT_REGISTER names mechanisms, and none of them takes this
 * memory). */
sennit_status sennit_register(void *memory, size_t bytes, unsigned flags, sennit_region *region);

/* End it. By the rank that registered it, when no other rank uses it any more: later use is refused
 * with NOT_REGISTERED, and pointers from sennit_ptr on other ranks are invalid. The memory keeps
 * its content and is private again. Of a region inside a segment only the region ends: the segment
 * lives until sennit_free. Errors: STATE, ARG (another rank's), NOT_REGISTERED (never registered,
 * or ended before). */
sennit_status sennit_deregister(sennit_region region);

/* Exchange regions: every rank of `team` gives one (or SENNIT_REGION_NULL) and gets all, by rank in
 * the team, each tried to be reachable from here. Sizes may differ. Collective. On an error of any
 * rank all ranks get an error; every rank's own region stays registered.
 * Errors: STATE, ARG (team, null), NOT_REGISTERED, UNSUPPORTED (private
 * memory of a rank can not be reached: the kernel does not allow it), PEER_LOST, NOMEM, and TIMEOUT
 * if the knob SENNIT_TIMEOUT bounds the call: as for sennit_alloc. */
sennit_status sennit_region_attach(sennit_team team, sennit_region region, sennit_region regions[]);

/* Give up what this rank keeps of another rank's region. By one rank alone, at any time; using the
 * region's pointer again attaches it again. Errors: STATE, RANGE (rank), ARG (its own),
 * NOT_REGISTERED (not attached). */
sennit_status sennit_region_detach(sennit_region region);

/* How the region is reached from here. Any rank that has it; ranks may differ: what the owner
 * offers by xpmem is copied (cma) for who can not attach it. Errors: STATE, RANGE (rank), ARG
 * (null), NOT_REGISTERED, OTHER_NODE, PEER_LOST, UNSUPPORTED (the owner offers it by xpmem, this
 * rank can not attach it, and the kernel does not copy). */
sennit_status sennit_region_mechanism(sennit_region region, sennit_mechanism *mechanism);

/* Why `candidate` was not taken for the region, or that it was, as one sentence in `text` (cut to
 * `bytes`). Any rank that has it. Errors: as above. */
sennit_status sennit_region_reason(sennit_region region, sennit_mechanism candidate, char *text,
                                   size_t bytes);

/* "allocated", "inproc", "xpmem", "adopt", "cma"; "unknown" for a value that is none. Any time. */
const char *sennit_mechanism_name(sennit_mechanism mechanism);

/* A plain pointer to the memory if this rank can load and store there, else NULL and the reason in
 * sennit_last_error(). It is valid until the segment is freed or the region deregistered. Loads and
 * stores through it follow C11; they are ordered against other ranks by sennit_barrier, or by the
 * program's own atomics. */
void *sennit_ptr(sennit_gptr gptr);

/* The size in bytes of the piece that `gptr` points into. Errors: STATE, RANGE, NOT_REGISTERED,
 * ARG. */
sennit_status sennit_segment_bytes(sennit_gptr gptr, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
