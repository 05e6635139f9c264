/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks, and put and get with notification: data and the event that reports it in one call.
 *
 * A block describes a piece of a region and up to two signals of its owner, on_recv and on_send. It
 * is plain data: the owner sends it by any means, and the other rank attaches it. A put into the
 * block counts an event of on_recv when the data is there; a get counts one of on_send when the
 * data has been read.
 *
 *     owner                                          rank that sends
 *     sennit_block_init(region, 0, bytes,
 *         SENNIT_SIGNAL_NULL, arrived, &block)
 *     ... send the block ...                         sennit_block_attach(&block, &there)
 *     sennit_signal_wait(arrived, ...)               sennit_put_notify(there, 0, data, bytes)
 *     ... use the data ...
 *     sennit_signal_reset(arrived)
 *
 * In a loop a sender may be one epoch ahead of the owner. A put to the same offset then overwrites
 * unread data, without an error unless the signal is SENNIT_SIGNAL_STRICT. So give a block room
 * for two messages, used in turn:
 *
 *     sennit_put_notify(there, epoch % 2 * bytes, data, bytes)    read at epoch % 2 * bytes
 *
 * A put of epoch r + 1 is accepted only after the reset that ends epoch r - 1, so its half has been
 * read (not with SENNIT_SIGNAL_UNCHECKED). Example: examples/notified.c.
 *
 * A sender two epochs ahead gets SENNIT_ERR_SIGNAL_EARLY. It repeats the call, gives a notice with
 * wait_ns, or waits for credit: a signal of its own that the owner notifies after each reset.
 *
 * If the owner answers each message, it sends the answer before the reset: a reset first delays the
 * answer by a cache miss. With SENNIT_SIGNAL_STRICT the reset comes first, because the answer lets
 * the sender send again. */
#ifndef SENNIT_NOTIFY_H
#define SENNIT_NOTIFY_H

#include <sennit/rma.h>
#include <sennit/signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block: opaque, 64 bytes with a check value, valid until its region ends. */
typedef struct sennit_block {
    uint64_t words[8];
} sennit_block;

#ifdef __cplusplus
#define SENNIT_BLOCK_NULL (sennit_block{{0u}})
#else
#define SENNIT_BLOCK_NULL ((sennit_block){{0u}})
#endif

/* 1 for NULL or a block that is all zero, such as SENNIT_BLOCK_NULL, else 0. */
static inline int sennit_block_is_null(const sennit_block *block) {
    uint64_t any = 0;
    for (int i = 0; block != NULL && i < 8; ++i)
        any |= block->words[i];
    return any == 0;
}

/* An attached block: a handle of the calling rank. */
typedef struct sennit_peer_block {
    uint32_t handle;
} sennit_peer_block;

#ifdef __cplusplus
#define SENNIT_PEER_BLOCK_NULL (sennit_peer_block{0u})
#else
#define SENNIT_PEER_BLOCK_NULL ((sennit_peer_block){0u})
#endif

/* Describe `bytes` bytes at `offset` of the caller's region: a result of sennit_register, or a
 * global pointer and a size. `on_recv` counts puts, `on_send` counts gets; both are the caller's
 * signals or SENNIT_SIGNAL_NULL. Calls that name no epoch start with the epochs that the signals
 * have now. Errors: ARG (another rank's region or signal), RANGE (outside the region, or the region
 * outside its segment). */
sennit_status sennit_block_init(sennit_region region, size_t offset, size_t bytes,
                                sennit_signal on_send, sennit_signal on_recv, sennit_block *block);

/* The contents of a block. */
typedef struct sennit_block_info {
    sennit_gptr gptr; /* its first byte */
    uint64_t bytes;
    sennit_signal on_send; /* handle 0: none */
    sennit_signal on_recv;
} sennit_block_info;

/* Read a block, even if its region has ended. Errors: ARG (not a block of this job, or corrupted).
 */
sennit_status sennit_block_query(const sennit_block *block, sennit_block_info *info);

/* Attach a block, also one of the caller's. Each attachment counts its own epochs; a block may
 * have several. A rank has at most 1048575. Errors: ARG (as sennit_block_query), UNSUPPORTED (its
 * signals cannot be reached: sennit_signal_notify). */
sennit_status sennit_block_attach(const sennit_block *block, sennit_peer_block *attached);

/* Detach a block that no other thread is using. */
sennit_status sennit_block_detach(sennit_peer_block attached);

/* Put `bytes` bytes to `offset` of a block, or get them from there. When the data is there, one
 * event of the block's on_recv (put) or on_send (get) is counted, if the block has this signal.
 *
 * - Calls through one attached block count in successive epochs, beginning with the signal's epoch
 *   at sennit_block_init. A failed call uses no epoch. For n messages per epoch attach the block n
 *   times, or give a notice.
 * - A call with 0 bytes only counts an event, which reports everything that the caller has
 *   completed before, such as a strided put. But such a put does not check the owner's epoch: if
 *   the owner is more than one epoch behind, the put may have overwritten unread data.
 * - On return the private buffer may be reused. A put is complete at once where load and store
 *   reach the owner; on another node when the signal has counted it, or after a flush of its rank.
 * - On another node, a put that fits into one message is sent on return (by default up to 48 KiB by
 *   TCP, 8 KiB by cards: `eager` of SENNIT_PATHS). The call waits until the data of a longer put or
 *   of a get has arrived; sennit_put_notify_nb and sennit_get_notify_nb do not wait.
 * - Threads may share an attached block if each call names its epoch.
 *
 * Errors that leave nothing moved: RANGE (the bytes leave the block), NOT_REGISTERED, SIGNAL_EARLY
 * (the owner is more than one epoch behind, or one epoch with a strict signal: call again),
 * PEER_LOST (as SIGNAL_EARLY, and the owner has died or left), those of put and get. An owner on
 * another node can report SIGNAL_EARLY only in a Sennit call or with a progress thread.
 *
 * Errors after data may have moved, with nothing counted: SIGNAL_OVERFLOW, NOT_REGISTERED (a signal
 * on another node). For another node a flush of the owner's rank may report these, NOT_REGISTERED
 * of a region, PEER_LOST, FABRIC and NOMEM; the epoch of the call is then used up. */
SENNIT_HOT_CALL sennit_status sennit_put_notify(sennit_peer_block destination, size_t offset,
                                                const void *source, size_t bytes);
SENNIT_HOT_CALL sennit_status sennit_get_notify(void *destination, sennit_peer_block source,
                                                size_t offset, size_t bytes);

/* In place of an epoch: one more than in the last call through the attached block. */
#define SENNIT_EPOCH_NEXT UINT64_MAX
/* In place of an epoch: the owner's epoch at the time when the event is counted. For senders that
 * do not count epochs because the program tells them when to send, as with UNR. Such an event is
 * never early or late; for a fired signal it is surplus. The block's count of epochs does not
 * change. */
#define SENNIT_EPOCH_CURRENT (UINT64_MAX - 1)

/* Signals and epoch of a call. The local signal counts in its current epoch. Before the call
 * returns SIGNAL_EARLY, it waits for the owner's reset for up to wait_ns; with SENNIT_FOREVER as
 * long as the owner lives. The knob SENNIT_TIMEOUT limits this wait, too. The wait polls first
 * after 20 us, later every millisecond. */
typedef struct sennit_notice {
    sennit_signal remote; /* SENNIT_SIGNAL_NULL: the block's own */
    sennit_signal local;  /* when the private buffer may be reused; SENNIT_SIGNAL_NULL: none */
    uint64_t epoch;       /* of the remote signal: 0, 1, ..., SENNIT_EPOCH_NEXT or _CURRENT */
    int64_t wait_ns;      /* 0: no wait */
} sennit_notice;

/* Put or get with a notice. With a signal other than the block's own, SENNIT_EPOCH_NEXT is ARG and
 * the block's count of epochs does not change. Errors: those of sennit_put_notify, and ARG (a
 * remote signal that is not the owner's, a local one that is not the caller's). */
sennit_status sennit_put_notify_with(sennit_peer_block destination, size_t offset,
                                     const void *source, size_t bytes, const sennit_notice *notice);
sennit_status sennit_get_notify_with(void *destination, sennit_peer_block source, size_t offset,
                                     size_t bytes, const sennit_notice *notice);

/* Put or get with notification, without a wait. Only memory limits how many are under way. `notice`
 * may be NULL; its wait_ns must be 0.
 *
 * - The private buffer is in use until *request is complete; with a NULL `request`, until the
 *   local signal has counted or the next flush of the owner's rank. *request is
 *   SENNIT_REQUEST_NULL if the buffer is free at once.
 * - The remote event is counted when the data is there. Later calls of Sennit, or the progress
 *   thread, send the rest of the data. sennit_fence does not order such a put.
 * - A call that returned SENNIT_OK has used its epoch. If the operation fails later, name this
 *   epoch to repeat it.
 * - A failed operation does not count in the local signal, unless its data was copied and the
 *   signal has counted it before.
 *
 * Errors: those of sennit_put_notify_with. On another node SIGNAL_EARLY (nothing has moved),
 * NOT_REGISTERED, PEER_LOST, FABRIC and NOMEM may be reported later: by the request, or without one
 * by a flush. A flush reports errors of the event. */
sennit_status sennit_put_notify_nb(sennit_peer_block destination, size_t offset, const void *source,
                                   size_t bytes, const sennit_notice *notice,
                                   sennit_request *request);
sennit_status sennit_get_notify_nb(void *destination, sennit_peer_block source, size_t offset,
                                   size_t bytes, const sennit_notice *notice,
                                   sennit_request *request);

/* A list of pieces (rma.h). */
typedef struct sennit_piece_list {
    size_t count;
    const sennit_piece *pieces; /* may be NULL where count is 0 */
} sennit_piece_list;

/* Put or get a box or a list of pieces (rma.h) with notification. One event is counted when all
 * data is there, also for an empty box or list. The place at `offset` may lie outside the block;
 * the moved bytes may not. `notice` may be NULL. The caller may change or free box and list after
 * the return. Errors: those of sennit_put_notify_with, and of a strided or indexed put or get. */
sennit_status sennit_put_notify_strided(sennit_peer_block destination, size_t offset,
                                        const void *source, const sennit_box *box,
                                        const sennit_notice *notice);
sennit_status sennit_get_notify_strided(void *destination, sennit_peer_block source, size_t offset,
                                        const sennit_box *box, const sennit_notice *notice);
sennit_status sennit_put_notify_indexed(sennit_peer_block destination, size_t offset,
                                        const void *source, const sennit_piece_list *list,
                                        const sennit_notice *notice);
sennit_status sennit_get_notify_indexed(void *destination, sennit_peer_block source, size_t offset,
                                        const sennit_piece_list *list, const sennit_notice *notice);

/* sennit_put_notify_strided and its like without a wait, as sennit_put_notify_nb. Errors: those of
 * sennit_put_notify_strided and sennit_put_notify_nb. */
sennit_status sennit_put_notify_strided_nb(sennit_peer_block destination, size_t offset,
                                           const void *source, const sennit_box *box,
                                           const sennit_notice *notice, sennit_request *request);
sennit_status sennit_get_notify_strided_nb(void *destination, sennit_peer_block source,
                                           size_t offset, const sennit_box *box,
                                           const sennit_notice *notice, sennit_request *request);
sennit_status sennit_put_notify_indexed_nb(sennit_peer_block destination, size_t offset,
                                           const void *source, const sennit_piece_list *list,
                                           const sennit_notice *notice, sennit_request *request);
sennit_status sennit_get_notify_indexed_nb(void *destination, sennit_peer_block source,
                                           size_t offset, const sennit_piece_list *list,
                                           const sennit_notice *notice, sennit_request *request);

/* One put or get of a batch. */
typedef struct sennit_notify_part {
    sennit_peer_block block;
    sennit_status status; /* set by the call */
    size_t offset;        /* in the block */
    void *local;          /* the private buffer, which a put only reads */
    size_t bytes;
    const sennit_notice *notice; /* may be NULL */
} sennit_notify_part;

/* Make `count` notified puts or gets through any blocks, like single calls in the order of the
 * array. Up to 32 parts that need messages are under way at the same time, so they take the time of
 * one trip. An event reports the data of its own part only. To count several parts in one epoch of
 * a block's own signal, name the epoch in their notices. If parts overlap, the data of either may
 * remain.
 *
 * All blocks and notices are checked before anything moves. If this check fails (ARG, RANGE,
 * NOT_REGISTERED), *done is 0 and the error's text names the part. Any other error ends the batch
 * at parts[*done]; the parts before it are over. To repeat the call from parts + *done:
 *
 * - after SIGNAL_EARLY no later part has moved;
 * - after PEER_LOST, FABRIC, TIMEOUT, NOMEM, SIGNAL_OVERFLOW, and NOT_REGISTERED of a signal on
 *   another node, leave out later parts with status SENNIT_OK: they are over;
 * - after TIMEOUT flush first: data may be under way, and events of parts with status TIMEOUT may
 *   be counted or not.
 *
 * Errors: those of the single calls, for parts[*done]. A flush may report the errors that it may
 * report for single calls. */
sennit_status sennit_put_notify_batch(size_t count, sennit_notify_part parts[], size_t *done);
sennit_status sennit_get_notify_batch(size_t count, sennit_notify_part parts[], size_t *done);

#ifdef __cplusplus
}
#endif

#endif
