/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. Every rank of the team makes the same calls in the same order, one thread of
 * each rank at a time in each team. Ranks here (root, the order of blocks) are ranks of the team;
 * sizes are bytes, except in reductions, which count elements.
 *
 * Blocking calls take a timeout in nanoseconds (SENNIT_FOREVER waits without end). After TIMEOUT
 * the call is still under way: made again with the same arguments it goes on where it was, and
 * until it has returned something else the team's other collective calls give STATE. A call returns
 * when this rank's part is done: its buffers may be used again, its results are there. That other
 * ranks have got so far only sennit_barrier promises.
 *
 * Calls with _nb start and return a request, which sennit_wait, test, wait_all, test_all and
 * wait_any complete. Buffers and arrays of sizes belong to the library until then. Several may be
 * open; they are carried out in the order of their start, by whatever waits or tests in this rank,
 * and by the later collective calls of the team. The blocking calls may be mixed with them.
 *
 * Buffers may be anywhere. Where a buffer lies in a segment of the team, of the world or of a
 * single rank's allocation, or where the ranks are threads, peers read a source and write a
 * destination in place, and long private buffers the kernel copies for them; others are copied
 * through memory that the ranks of a node share. So until the call has returned, a destination
 * holds anything; and after an error on any rank peers may write there until they too have
 * returned from the call. NULL is legal where no byte is read or
 * written. SENNIT_IN_PLACE says that the result replaces the input: each call tells where the input
 * lies then; for alltoall and reductions the same address twice says it too. Other overlaps of
 * source and destination are faults of the program.
 *
 * Where load and store join the ranks, a blocking wait that has lasted a second looks which calls
 * the others wait in: two that can not belong together give ARG, and each names the other; a
 * sennit_finalize that meets another call gives ARG. Waits for requests are not seen. Where
 * messages lead to some rank of the team nothing of this is looked at: two different calls end with
 * their time limits, if at all. TIMEOUT names the ranks that have not come, of those that load and
 * store reach.
 *
 * Errors of all calls here: STATE (no rank, another thread of the rank in a collective call of the
 * team, a call that timed out under way, or a team on which ranks gave up before), ARG (team, null,
 * a negative timeout, or arguments that are seen to differ between ranks: this rank's result is
 * then not to be used, and where sizes differ the team may be given up), RANGE (root), NOMEM,
 * TIMEOUT, PEER_LOST (a rank of the team died or left; the team makes no collective calls any
 * more), OTHER_NODE and FABRIC (paths). */
#ifndef SENNIT_COLL_H
#define SENNIT_COLL_H

#include <sennit/rma.h>
#include <sennit/team.h>
#include <sennit/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As the source (broadcast has none): the input lies in the destination. For scatter and scatterv
 * as the destination at the root: its own block stays where it is. */
#define SENNIT_IN_PLACE ((void *)1)

/* Return when all ranks of the team have come. Whatever a rank did before (stores through pointers,
 * put, operations with _nbi) is complete and seen by all ranks after. Requests stay to be waited
 * for. After TIMEOUT the barrier is still under way: the next call goes on waiting in the same one,
 * and until it has returned OK the other collective calls (alloc, free) give STATE. Not so where no
 * path joins all ranks: on the world the launcher's barrier stands in, which is not resumed (and
 * gives BOOTSTRAP when it fails); on other teams the call gives OTHER_NODE. All ranks make
 * the same collective calls in the same order; a barrier may return OK against a peer that is in
 * another one, which then gets ARG. A barrier with _nb meets barriers with _nb alone. It returns at
 * once, and its request completes after the puts and the operations with _nbi that came before it;
 * what one of them failed with is the result of the request. Errors: STATE (no rank, or another
 * thread of the rank is in a collective call of the team), ARG (team, negative timeout), TIMEOUT,
 * PEER_LOST, and what an operation with _nbi failed with. */
sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns);
sennit_status sennit_barrier_nb(sennit_team team, sennit_request *request);

/* The root's `bytes` at `buffer` come to `buffer` on all ranks. `bytes` is the same everywhere. */
sennit_status sennit_broadcast(sennit_team team, int root, void *buffer, size_t bytes,
                               int64_t timeout_ns);
sennit_status sennit_broadcast_nb(sennit_team team, int root, void *buffer, size_t bytes,
                                  sennit_request *request);

/* Block i of the root's source, which begins at i * bytes, comes to the destination of rank i.
 * `source` is looked at on the root alone. */
sennit_status sennit_scatter(sennit_team team, int root, const void *source, void *destination,
                             size_t bytes, int64_t timeout_ns);
sennit_status sennit_scatter_nb(sennit_team team, int root, const void *source, void *destination,
                                size_t bytes, sennit_request *request);

/* The source of rank i comes to i * bytes of the root's destination, which is looked at on the root
 * alone. In place (the root only): its own block lies in the destination. */
sennit_status sennit_gather(sennit_team team, int root, const void *source, void *destination,
                            size_t bytes, int64_t timeout_ns);
sennit_status sennit_gather_nb(sennit_team team, int root, const void *source, void *destination,
                               size_t bytes, sennit_request *request);

/* The source of rank i comes to i * bytes of everyone's destination. In place: each rank's block
 * lies in its destination. */
sennit_status sennit_allgather(sennit_team team, const void *source, void *destination,
                               size_t bytes, int64_t timeout_ns);
sennit_status sennit_allgather_nb(sennit_team team, const void *source, void *destination,
                                  size_t bytes, sennit_request *request);

/* Block j of rank i's source comes to block i of rank j's destination; `bytes` is the size of one
 * block. In place: all blocks lie in the destination. */
sennit_status sennit_alltoall(sennit_team team, const void *source, void *destination, size_t bytes,
                              int64_t timeout_ns);
sennit_status sennit_alltoall_nb(sennit_team team, const void *source, void *destination,
                                 size_t bytes, sennit_request *request);

/* Memory with a part of its own size for each rank of the team: part i has bytes[i] bytes and
 * begins offsets[i] bytes into the memory, or right behind part i-1 if `offsets` is NULL. */
typedef struct sennit_vbuffer {
    void *memory; /* only read where it is a source */
    const size_t *bytes;
    const size_t *offsets;
} sennit_vbuffer;

/* As above with a size for each rank. Sender and receiver of a block must name the same size;
 * `bytes` is the caller's own. The blocks of scatterv and gatherv are looked at on the root alone.
 * In place as above; for alltoallv by a null `source` or SENNIT_IN_PLACE as its memory, and sizes
 * and places are then those of the destination. */
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
 * associative and need not be commutative. `result` may be `left` or `right`. The three are aligned
 * for the elements, up to 32 bytes, if the program's own buffers are.
 *
 * It must return: it may not call Sennit, end its thread, or leave by longjmp, after which the
 * calls of its team give STATE. A C++ exception is caught, and the reduction gives ARG on this
 * rank; on long vectors the other ranks may then get an error too, and the team may be given up. */
typedef void (*sennit_combine)(const void *left, const void *right, void *result, size_t count,
                               void *context);

/* What a reduction does, the same on all ranks. Make it with one of the two functions below. */
typedef struct sennit_reduction {
    size_t count; /* elements */
    sennit_type type;
    sennit_operator op;
    sennit_combine combine; /* SENNIT_USER_OPERATOR only, with the two below */
    void *context;
    size_t element_bytes; /* 1 to 4096 */
} sennit_reduction;

/* Minimum and maximum of a NaN and a number are either of them. Logical operators take floats, the
 * bitwise ones do not. */
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

/* Reductions combine the ranks' elements in the order of the ranks, ((x0 op x1) op x2) ...,
 * whatever the size, the timing, the path and the kind of buffer: sums of floats are the same bits
 * in every run with as many ranks. In place: the input lies in the destination.
 *
 * reduce: the result is at the root, the only rank whose destination is looked at (in place the
 * root only). allreduce: on all ranks. */
sennit_status sennit_reduce(sennit_team team, int root, const void *source, void *destination,
                            sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_reduce_nb(sennit_team team, int root, const void *source, void *destination,
                               sennit_reduction reduction, sennit_request *request);
sennit_status sennit_allreduce(sennit_team team, const void *source, void *destination,
                               sennit_reduction reduction, int64_t timeout_ns);
sennit_status sennit_allreduce_nb(sennit_team team, const void *source, void *destination,
                                  sennit_reduction reduction, sennit_request *request);

/* Block i of the reduced elements comes to the destination of rank i. With _block all blocks have
 * `reduction.count` elements; else block i has counts[i], the same array on all ranks, and
 * `reduction.count` is ignored. In place: all elements lie in the destination, and the rank's block
 * of the result is at its beginning. */
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

/* Rank i gets x0 op ... op xi; with _exclusive up to x(i-1), and rank 0's destination stays as it
 * was. */
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
