/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get: write and read another rank's memory. The destination is the first argument, as in
 * memcpy; source and destination may overlap, as in memmove. The target takes no part.
 *
 * Completion:
 *
 * - A blocking call returns when the private buffer may be reused (put) or holds the data (get). A
 *   put is then complete at the target. Ranks that afterwards synchronise with this one see it: by
 *   sennit_barrier, or by a word that is set after sennit_flush.
 * - A call with _nb returns a request for sennit_wait and similar calls. sennit_flush or
 *   sennit_barrier completes a call with _nbi. Until then the private buffer must not be changed
 *   (put) or read (get).
 * - After TIMEOUT of a blocking call or flush the private buffer is in use until a flush returns
 *   OK or the rank is finalized.
 *
 * Order: operations have none, unless one is complete before the next one starts, or sennit_fence
 * is called between them.
 *
 * Repetition: when a connection between nodes breaks, a put is sent again unless the sender knows
 * that it is complete. This may overwrite a later store to the same memory. So if an owner resets a
 * flag, the others set it by sennit_atomic_set_u64 or use a signal: atomic operations and events
 * are executed once.
 *
 * Errors of all calls: RANGE (rank; outside the segment), NOMEM. A refused operation has moved
 * nothing. */
#ifndef SENNIT_RMA_H
#define SENNIT_RMA_H

#include <sennit/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle; {0} is a complete request. Wait and test set it to {0}. */
typedef struct sennit_request {
    uint64_t handle;
} sennit_request;

#ifdef __cplusplus
#define SENNIT_REQUEST_NULL (sennit_request{0u})
#else
#define SENNIT_REQUEST_NULL ((sennit_request){0u})
#endif

/* Write to the memory of another rank, or read from it. Blocking: on return the private buffer may
 * be reused (put) or holds the data (get), and a put is complete at the target. */
SENNIT_HOT_CALL sennit_status sennit_put(sennit_gptr destination, const void *source, size_t bytes);
SENNIT_HOT_CALL sennit_status sennit_get(void *destination, sennit_gptr source, size_t bytes);

/* A put that returns when the private buffer may be reused. sennit_flush or sennit_barrier
 * completes it, sennit_fence orders it; the next flush reports failures. Within a node it is
 * sennit_put. To another node it copies the data and makes no round trip; if the copies in use
 * already have 4 MiB, it waits as sennit_put does. */
sennit_status sennit_put_local(sennit_gptr destination, const void *source, size_t bytes);

/* Start a put or get and return a request. The operation is complete when a wait or test says so;
 * until then the private buffer is in use. *request is SENNIT_REQUEST_NULL if the operation is
 * complete on return. The wait or test returns errors that are found later. */
sennit_status sennit_put_nb(sennit_gptr destination, const void *source, size_t bytes,
                            sennit_request *request);
sennit_status sennit_get_nb(void *destination, sennit_gptr source, size_t bytes,
                            sennit_request *request);

/* Start a put or get without a request; sennit_flush or sennit_barrier completes it and returns
 * errors that are found later. Until then the private buffer is in use. */
sennit_status sennit_put_nbi(sennit_gptr destination, const void *source, size_t bytes);
sennit_status sennit_get_nbi(void *destination, sennit_gptr source, size_t bytes);

/* A box: elements in up to three dimensions, with separate strides in global and private memory.
 * The global and the private pointer are the addresses of element (0, 0, 0).
 *
 * - Unused counts are 1; a count of 0 moves nothing.
 * - Strides may be negative. A stride along a count of 1 is ignored.
 * - Source elements may overlap; a stride of 0 repeats one. Destination elements must not overlap:
 *   with the strides sorted by size, each must be at least the span of the elements along all
 *   smaller ones. Otherwise ARG.
 * - If source and destination share memory, all elements are read before the first is written.
 * - Where load and store reach the peer, aligned elements of 4 and 8 bytes are not torn. On other
 *   paths, except cma, this holds for a box of one element (memory.h).
 * - All elements must lie in the segment. The whole box is checked before any of it moves. A box
 *   larger than an address space is RANGE, too.
 * - In all forms the caller may change the box after the return. */
typedef struct sennit_box {
    size_t element_bytes;      /* size of an element: 8 for a double */
    size_t counts[3];          /* elements along each dimension, fastest first */
    int64_t remote_strides[3]; /* from element to element in the global memory */
    int64_t local_strides[3];  /* in the private buffer */
} sennit_box;

/* A box of one dimension. A column of a matrix: sennit_box_line(sizeof(double), rows, row_bytes,
 * row_bytes). */
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

/* Put or get a box. The forms are those of sennit_put, sennit_put_local, sennit_put_nb (with a
 * request) and sennit_put_nbi (without). Errors: RANGE (an element lies outside the segment; the
 * box is larger than an address space), ARG (elements of the destination overlap or have no
 * bytes). */
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

/* A piece of a list. The rules of boxes apply, but pieces may overlap at the destination: the bytes
 * of either piece may remain. */
typedef struct sennit_piece {
    int64_t remote_offset; /* bytes from the global pointer */
    int64_t local_offset;  /* bytes from the private one */
    size_t bytes;          /* 0 is legal */
} sennit_piece;

/* Put or get a list of pieces. The forms are those of sennit_put, sennit_put_nb (with a request)
 * and sennit_put_nbi (without). The caller may change the list after the return. Errors: RANGE (a
 * piece lies outside the segment; then none was moved). */
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

/* Wait until the operation is complete, a put at the target. Returns the operation's status and
 * ends the request; after TIMEOUT the request stays valid. Errors: ARG (no request of this rank, or
 * completed before), TIMEOUT, and the operation's. */
sennit_status sennit_wait(sennit_request *request, int64_t timeout_ns);

/* *done is 1 if the operation is complete; then its status is returned. Does not wait for it. */
sennit_status sennit_test(sennit_request *request, int *done);

/* Wait for or test all requests. wait_all returns the first error after all are complete; after
 * TIMEOUT the complete ones are {0}. test_all sets *done to 1 when all are complete, and returns
 * the first error of those that it completes. */
sennit_status sennit_wait_all(size_t count, sennit_request requests[], int64_t timeout_ns);
sennit_status sennit_test_all(size_t count, sennit_request requests[], int *done);

/* Wait for one of the requests: *index is its place, or `count` if all are {0}. */
sennit_status sennit_wait_any(size_t count, sennit_request requests[], int64_t timeout_ns,
                              size_t *index);

/* Complete this rank's puts and operations with _nbi to `rank`, or to all ranks. A rank that sees a
 * later store of this rank sees their data. Requests must still be waited for. Errors: those of
 * failed operations with _nbi and _local, once. */
sennit_status sennit_flush(int rank, int64_t timeout_ns);
sennit_status sennit_flush_all(int64_t timeout_ns);

/* Wait until the private buffers of all puts and of all operations with _nbi of this rank to
 * `rank`, or to all ranks, may be reused, and gets have their data. Puts may still be under way. A
 * failed operation is reported here or by sennit_flush, once. */
sennit_status sennit_flush_local(int rank, int64_t timeout_ns);
sennit_status sennit_flush_local_all(int64_t timeout_ns);

/* Puts to a rank before the fence arrive before puts to it after the fence. A blocking get after
 * it reads no earlier state than the blocking gets before it. */
sennit_status sennit_fence(void);

#ifdef __cplusplus
}
#endif

#endif
