/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. All ranks of a team make the same calls in the same order, by one thread of
 * each rank at a time in each team. Reductions count elements, all else bytes.
 *
 * Blocking calls return when this rank's buffers may be used again and its results are there. Only
 * the return of sennit_barrier means that the other ranks have made the call, too. After TIMEOUT
 * repeat the same call, which continues; until it has returned another status, other collective
 * calls of the team return STATE.
 *
 * Calls with _nb return a request. Buffers and arrays of sizes are in use until it is over. Several
 * may be open, also together with blocking calls. Any wait or test of this rank, and later
 * collective calls of the team, execute them in the order of their start.
 *
 * - Buffers may be anywhere; NULL if no byte is read or written. Buffers in segments of the team,
 *   the world or one rank, and all buffers of ranks that are threads, are accessed in place by the
 *   peers; others are copied.
 * - A destination is undefined until the call returns. After an error on any rank, peers may write
 *   there until their calls have returned too.
 * - With SENNIT_IN_PLACE the result replaces the input; each call tells where the input lies. In
 *   alltoall and reductions the same address for source and destination has the same effect.
 *   Otherwise source and destination must not overlap.
 *
 * Ranks may make calls that do not match. If load and store reach the ranks, blocking calls find
 * this when they have waited for a second: both calls return ARG, and each error names the other
 * call. Otherwise, and with requests, such calls end only by their timeouts. The error TIMEOUT
 * names the missing ranks that load and store reach.
 *
 * Errors of all calls: STATE (another thread of the rank is in a collective call of the team, a
 * call that timed out is under way, or ranks gave up the team), ARG (Sennit found that arguments
 * differ between ranks: this rank's result is invalid, and if sizes differ the team may be given
 * up), PEER_LOST (a rank of the team died or left; the team makes no collective calls any more),
 * NOMEM. */
#ifndef SENNIT_COLL_H
#define SENNIT_COLL_H

#include <sennit/rma.h>
#include <sennit/team.h>
#include <sennit/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As source: the input lies in the destination. As destination of scatter and scatterv at the root:
 * the root's block stays where it is. Not for broadcast; any other destination is ARG. */
#define SENNIT_IN_PLACE ((void *)1)

/* Return when all ranks of the team have called it. What a rank did before (stores through
 * pointers, puts, operations with _nbi) is complete and visible to all ranks. Requests must still
 * be waited for.
 *
 * - After TIMEOUT the next call continues the same barrier; until it returns OK other collective
 *   calls (alloc, free) return STATE.
 * - If a peer is in another collective call, the barrier may return OK and the peer gets ARG.
 * - If no path joins all ranks, the barrier of the world uses that of the launcher, which cannot
 *   be resumed and returns BOOTSTRAP when it fails. Other teams get OTHER_NODE.
 * - A barrier with _nb matches only barriers with _nb. Its request completes after the puts and
 *   operations with _nbi before it.
 *
 * Errors: those of failed operations with _nbi, from the call or the request. */
sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns);
sennit_status sennit_barrier_nb(sennit_team team, sennit_request *request);

/* Copy `bytes` of the root's `buffer` to `buffer` of all ranks. */
sennit_status sennit_broadcast(sennit_team team, int root, void *buffer, size_t bytes,
                               int64_t timeout_ns);
sennit_status sennit_broadcast_nb(sennit_team team, int root, void *buffer, size_t bytes,
                                  sennit_request *request);

/* Block i of the root's source, at offset i * bytes, is copied to the destination of rank i. Only
 * the root's `source` is used. */
sennit_status sennit_scatter(sennit_team team, int root, const void *source, void *destination,
                             size_t bytes, int64_t timeout_ns);
sennit_status sennit_scatter_nb(sennit_team team, int root, const void *source, void *destination,
                                size_t bytes, sennit_request *request);

/* The source of rank i is copied to offset i * bytes of the root's destination. Only the root's
 * `destination` is used. In place, at the root only: its block lies in the destination. */
sennit_status sennit_gather(sennit_team team, int root, const void *source, void *destination,
                            size_t bytes, int64_t timeout_ns);
sennit_status sennit_gather_nb(sennit_team team, int root, const void *source, void *destination,
                               size_t bytes, sennit_request *request);

/* The source of rank i is copied to offset i * bytes of the destination on every rank. In place:
 * each rank's block lies in its destination. */
sennit_status sennit_allgather(sennit_team team, const void *source, void *destination,
                               size_t bytes, int64_t timeout_ns);
sennit_status sennit_allgather_nb(sennit_team team, const void *source, void *destination,
                                  size_t bytes, sennit_request *request);

/* Block j of rank i's source, of `bytes` each, is copied to block i of rank j's destination. In
 * place: all blocks lie in the destination. */
sennit_status sennit_alltoall(sennit_team team, const void *source, void *destination, size_t bytes,
                              int64_t timeout_ns);
sennit_status sennit_alltoall_nb(sennit_team team, const void *source, void *destination,
                                 size_t bytes, sennit_request *request);

/* A part for each rank of the team: bytes[i] bytes at offsets[i] of the memory, or right after
 * part i-1 if `offsets` is NULL. */
typedef struct sennit_vbuffer {
    void *memory; /* only read where it is a source */
    const size_t *bytes;
    const size_t *offsets;
} sennit_vbuffer;

/* Scatter, gather, allgather and alltoall with a size for each rank. Sender and receiver give the
 * same size of a block; `bytes` is the size of the caller's own block. scatterv and gatherv use
 * only the root's parts. In place as in the calls with one size; for alltoallv `source` is NULL or
 * its memory is SENNIT_IN_PLACE, and sizes and places are those of the destination. */
sennit_status sennit_scatterv(sennit_team team, int root, const sennit_vbuffer *source,
                              void *destination, size_t bytes, int64_t timeout_ns);
sennit_status sennit_scatterv_nb(sennit_team team, int root, const sennit_vbuffer *source,
                                 void *destination, size_t bytes, sennit_request *request);
sennit_status sennit_gatherv(sennit_team team, int root, const void *source, size_t bytes,
                             const sennit_vbuffer *destination, int64_t timeout_ns);
sennit_status sennit_gatherv_nb(sennit_team team, int root, const void *source, size_t bytes,
                                const sennit_vbuffer *destination, sennit_request *request);
sennit_status sennit_allgatherv(sennit_team team, const void *source, size_t bytes,
                                const sennit_vbuffer *destination, int64_t timeout_ns);
sennit_status sennit_allgatherv_nb(sennit_team team, const void *source, size_t bytes,
                                   const sennit_vbuffer *destination, sennit_request *request);
sennit_status sennit_alltoallv(sennit_team team, const sennit_vbuffer *source,
                               const sennit_vbuffer *destination, int64_t timeout_ns);
sennit_status sennit_alltoallv_nb(sennit_team team, const sennit_vbuffer *source,
                                  const sennit_vbuffer *destination, sennit_request *request);

/* An operator of the program: result[i] = left[i] op right[i] for `count` elements. It must be
 * associative and need not be commutative. `result` may be `left` or `right`. All three are
 * aligned for the elements, up to 32 bytes, if the program's buffers are.
 *
 * It must return, and must not call Sennit, end its thread or leave by longjmp; otherwise the calls
 * of its team return STATE. A C++ exception gives ARG on this rank; on long vectors others may get
 * an error too, and the team may be given up. */
typedef void (*sennit_combine)(const void *left, const void *right, void *result, size_t count,
                               void *context);

/* A reduction, the same on all ranks. Made by the two functions below. */
typedef struct sennit_reduction {
    size_t count; /* elements */
    sennit_type type;
    sennit_operator op;
    sennit_combine combine; /* SENNIT_USER_OPERATOR only, with the two below */
    void *context;
    size_t element_bytes; /* 1 to 4096 */
} sennit_reduction;

/* Make a reduction by an operator of type.h, or by one of the program. Logical operators take
 * floats, bitwise ones do not. */
static inline sennit_reduction sennit_reduction_of(size_t count, sennit_type type,
                                                   sennit_operator op) {
    sennit_reduction made;
    made.count = count;
    made.type = type;
    made.op = op;
    made.combine = NULL;
    made.context = NULL;
    made.element_bytes = 0;
    return made;
}

static inline sennit_reduction sennit_reduction_by(size_t count, size_t element_bytes,
                                                   sennit_combine combine, void *context) {
    sennit_reduction made;
    made.count = count;
    made.type = SENNIT_UINT8;
    made.op = SENNIT_USER_OPERATOR;
    made.combine = combine;
    made.context = context;
    made.element_bytes = element_bytes;
    return made;
}

/* Reductions combine elements in the order of the ranks, ((x0 op x1) op x2) .... Sums of floats
 * have the same bits in every run with as many ranks. In place: the input lies in the destination.
 *
 * reduce gives the result to the root, and uses only the root's destination (in place at the root
 * only). allreduce gives it to all ranks. */
sennit_status sennit_reduce(sennit_team team, int root, const void *source, void *destination,
                            sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_reduce_nb(sennit_team team, int root, const void *source, void *destination,
                               sennit_reduction reduction, sennit_request *request);
sennit_status sennit_allreduce(sennit_team team, const void *source, void *destination,
                               sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_allreduce_nb(sennit_team team, const void *source, void *destination,
                                  sennit_reduction reduction, sennit_request *request);

/* Block i of the reduced elements is copied to the destination of rank i. With _block each block
 * has `reduction.count` elements; without, block i has counts[i], the same array on all ranks, and
 * `reduction.count` is ignored. In place: all elements lie in the destination, and the rank's block
 * of the result replaces the first ones. */
sennit_status sennit_reduce_scatter(sennit_team team, const void *source, void *destination,
                                    const size_t counts[], sennit_reduction reduction,
                                    int64_t timeout_ns);
sennit_status sennit_reduce_scatter_nb(sennit_team team, const void *source, void *destination,
                                       const size_t counts[], sennit_reduction reduction,
                                       sennit_request *request);
sennit_status sennit_reduce_scatter_block(sennit_team team, const void *source, void *destination,
                                          sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_reduce_scatter_block_nb(sennit_team team, const void *source,
                                             void *destination, sennit_reduction reduction,
                                             sennit_request *request);

/* Rank i gets x0 op ... op xi; with _exclusive up to x(i-1), and rank 0's destination is unchanged.
 */
sennit_status sennit_scan(sennit_team team, const void *source, void *destination,
                          sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_scan_nb(sennit_team team, const void *source, void *destination,
                             sennit_reduction reduction, sennit_request *request);
sennit_status sennit_scan_exclusive(sennit_team team, const void *source, void *destination,
                                    sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_scan_exclusive_nb(sennit_team team, const void *source, void *destination,
                                       sennit_reduction reduction, sennit_request *request);

#ifdef __cplusplus
}
#endif

#endif
