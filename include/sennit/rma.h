/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get: reading and writing another rank's memory.
 *
 * The destination comes first, as in memcpy. Source and destination may overlap (memmove). A size
 * of 0 is legal and complete. Any rank calls these alone; the target does nothing.
 *
 * Completion. A blocking call returns when the private buffer may be reused (put) or holds the data
 * (get) and, for a put, when the data is complete at the target: it is seen by whoever synchronises
 * with this rank afterwards (sennit_barrier, an atomic word of the program's own after
 * sennit_flush). A call with _nb returns a request; one with _nbi is completed by sennit_flush.
 * Until then the private buffer must not be changed (put) or read (get). A blocking call that ended
 * with TIMEOUT (knob SENNIT_TIMEOUT) or a flush that did still has it: it is free after a flush
 * that returned OK, or when the rank is finalized.
 *
 * Repetition. Between nodes the bytes of a put may be stored more than once until it is complete,
 * since what a broken connection carried is sent again; never after that. Whoever stores to the
 * same place before the sender knows of the completion may find it changed back. So a flag that its
 * owner resets is set by sennit_atomic_set_u64 or an event of a signal, which happen once.
 *
 * Order. Operations are not ordered among each other unless one completes before the next starts,
 * or sennit_fence lies between.
 *
 * Errors of all calls here: STATE (no rank), ARG (null pointer), RANGE (rank, or a range that
 * leaves the segment), NOT_REGISTERED (segment unknown or freed), OTHER_NODE (no path), PEER_LOST,
 * FABRIC, NOMEM (a request could not be recorded). An operation that was refused has moved nothing.
 */
#ifndef SENNIT_RMA_H
#define SENNIT_RMA_H

#include <sennit/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value; {0} is a request that is complete. wait and test set it back to that. */
typedef struct sennit_request {
    uint64_t handle;
} sennit_request;

#ifdef __cplusplus
#define SENNIT_REQUEST_NULL (sennit_request{0u})
#else
#define SENNIT_REQUEST_NULL ((sennit_request){0u})
#endif

/* Blocking: complete when they return. */
SENNIT_HOT_CALL sennit_status sennit_put(sennit_gptr destination, const void *source, size_t bytes);
SENNIT_HOT_CALL sennit_status sennit_get(void *destination, sennit_gptr source, size_t bytes);

/* A put that is over for the caller alone: the private buffer may be used again when it returns,
 * while the data may still be under way. sennit_flush or sennit_barrier completes it, sennit_fence
 * orders it. Towards ranks of the same node it is sennit_put. On other nodes it is copied, with no
 * trip there and back for each put, as long as such copies of the calling rank take less than
 * 4 MiB; beyond that it waits as sennit_put does. What goes wrong on the way is reported by the
 * next flush. */
sennit_status sennit_put_local(sennit_gptr destination, const void *source, size_t bytes);

/* With a request, which sennit_wait and its like complete. */
sennit_status sennit_put_nb(sennit_gptr destination, const void *source, size_t bytes,
                            sennit_request *request);
sennit_status sennit_get_nb(void *destination, sennit_gptr source, size_t bytes,
                            sennit_request *request);

/* Implicit: sennit_flush or sennit_barrier completes them. */
sennit_status sennit_put_nbi(sennit_gptr destination, const void *source, size_t bytes);
sennit_status sennit_get_nbi(void *destination, sennit_gptr source, size_t bytes);

/* Strided: boxes of up to three dimensions, laid out with strides of their own on either side. The
 * place that the global and the private pointer name is element (0, 0, 0). The box is the caller's
 * and may be changed as soon as the call returns, in all forms.
 *
 * Strides are bytes, may be negative, and those of a dimension with one element are not looked at.
 * Elements of the source may overlap (a stride of 0 repeats one). Elements of the destination must
 * not, and their dimensions must lie in each other: sorted by size, each stride is at least what
 * the elements of the smaller ones span from first to last; else ARG. Where source and destination
 * share memory the result is as if all was read before any was written. Elements of 4 and 8 bytes
 * that are aligned on both sides are moved whole where the peer is reached by load and store, one
 * that is put or got alone on every path.
 *
 * A count of 0 is legal and complete. What is touched must lie in the segment; the place that is
 * named need not. The whole box is checked before any of it moves; RANGE also when counts and
 * strides describe more than an address space holds. */
typedef struct sennit_box {
    size_t element_bytes;      /* that lie together: 8 for a double */
    size_t counts[3];          /* elements along each dimension, fastest first; 1 for those unused,
                                  as 0 says that nothing is moved */
    int64_t remote_strides[3]; /* from element to element in the global memory */
    int64_t local_strides[3];  /* in the private buffer */
} sennit_box;

/* The box of one dimension: `count` elements, each so many bytes behind the one before. A column of
 * a matrix is sennit_box_line(sizeof(double), rows, row_bytes, row_bytes). */
static inline sennit_box sennit_box_line(size_t element_bytes, size_t count, int64_t remote_stride,
                                         int64_t local_stride) {
    sennit_box made;
    made.element_bytes = element_bytes;
    made.counts[0] = count;
    made.counts[1] = 1;
    made.counts[2] = 1;
    made.remote_strides[0] = remote_stride;
    made.local_strides[0] = local_stride;
    made.remote_strides[1] = made.remote_strides[2] = 0;
    made.local_strides[1] = made.local_strides[2] = 0;
    return made;
}

/* A box: blocking, local as sennit_put_local, with a request, implicit. */
sennit_status sennit_put_strided(sennit_gptr destination, const void *source,
                                 const sennit_box *box);
sennit_status sennit_get_strided(void *destination, sennit_gptr source, const sennit_box *box);
sennit_status sennit_put_strided_local(sennit_gptr destination, const void *source,
                                       const sennit_box *box);
sennit_status sennit_put_strided_nb(sennit_gptr destination, const void *source,
                                    const sennit_box *box, sennit_request *request);
sennit_status sennit_get_strided_nb(void *destination, sennit_gptr source, const sennit_box *box,
                                    sennit_request *request);
sennit_status sennit_put_strided_nbi(sennit_gptr destination, const void *source,
                                     const sennit_box *box);
sennit_status sennit_get_strided_nbi(void *destination, sennit_gptr source, const sennit_box *box);

/* Indexed: a list of pieces, each with its place on either side. As above, but pieces may overlap
 * at the destination: which of them a byte is from is then open. A count of 0 is legal. */
typedef struct sennit_piece {
    int64_t remote_offset; /* bytes from the global pointer */
    int64_t local_offset;  /* bytes from the private one */
    size_t bytes;          /* 0 is legal */
} sennit_piece;

/* A list of pieces: blocking, with a request, implicit. */
sennit_status sennit_put_indexed(sennit_gptr destination, const void *source, size_t count,
                                 const sennit_piece pieces[]);
sennit_status sennit_get_indexed(void *destination, sennit_gptr source, size_t count,
                                 const sennit_piece pieces[]);
sennit_status sennit_put_indexed_nb(sennit_gptr destination, const void *source, size_t count,
                                    const sennit_piece pieces[], sennit_request *request);
sennit_status sennit_get_indexed_nb(void *destination, sennit_gptr source, size_t count,
                                    const sennit_piece pieces[], sennit_request *request);
sennit_status sennit_put_indexed_nbi(sennit_gptr destination, const void *source, size_t count,
                                     const sennit_piece pieces[]);
sennit_status sennit_get_indexed_nbi(void *destination, sennit_gptr source, size_t count,
                                     const sennit_piece pieces[]);

/* Wait until the request is complete (remotely, for a put). The status is the operation's own, and
 * the request is over, unless the wait itself ended first with TIMEOUT: then it stays valid.
 * Errors: ARG (null, a negative timeout, or a handle that is no request of this rank or was
 * completed before). */
sennit_status sennit_wait(sennit_request *request, int64_t timeout_ns);

/* Never blocks. *done is 1 when the request is over; the status is then the operation's own. */
sennit_status sennit_test(sennit_request *request, int *done);

/* All of them. wait_all returns the first error among the operations, after all are over; with
 * TIMEOUT those that are complete are {0} already. test_all sets *done to 1 when all are over and
 * reports a failed operation in the call that finds it over. count 0 is legal. */
sennit_status sennit_wait_all(size_t count, sennit_request requests[], int64_t timeout_ns);
sennit_status sennit_test_all(size_t count, sennit_request requests[], int *done);

/* One of them. *index is its place, or `count` when all were {0} already. */
sennit_status sennit_wait_any(size_t count, sennit_request requests[], int64_t timeout_ns,
                              size_t *index);

/* Complete all operations with _nbi, and all puts, of this rank to world rank `rank` (to all
 * ranks): afterwards they are visible there to anyone who sees a later store of this rank. Requests
 * stay to be waited for. An operation with _nbi that failed is reported here, once. */
sennit_status sennit_flush(int rank, int64_t timeout_ns);
sennit_status sennit_flush_all(int64_t timeout_ns);

/* The same for private buffers alone: those of all operations with _nbi, and of all puts, of this
 * rank to world rank `rank` (to all ranks) are the caller's again, and what was got is there. Puts
 * may still be under way to their destination. A failed operation is reported here or by
 * sennit_flush, once. */
sennit_status sennit_flush_local(int rank, int64_t timeout_ns);
sennit_status sennit_flush_local_all(int64_t timeout_ns);

/* Puts to a rank before the fence arrive before puts to the same rank after it; a blocking get
 * after it reads what is there after the blocking gets before it. */
sennit_status sennit_fence(void);

#ifdef __cplusplus
}
#endif

#endif
