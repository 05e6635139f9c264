/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks, and put and get with notification: data and the event that tells of it in one call.
 *
 * A block is a piece of a region with all that another rank needs to reach it, and with signals of
 * its owner. It is plain data: it goes to other ranks by any means, a collective call, MPI, a file
 * or a socket, and is attached there. A put into the block then counts an event of one signal when
 * the data is there, a get from it one of the other when the data has been read.
 *
 *     owner                                          rank that sends
 *     sennit_block_init(region, 0, bytes,
 *         SENNIT_SIGNAL_NULL, arrived, &block)
 *     ... block goes over ...                        sennit_block_attach(&block, &there)
 *     sennit_signal_wait(arrived, ...)               sennit_put_notify(there, 0, data, bytes)
 *     ... use the data ...
 *     sennit_signal_reset(arrived)
 *
 * In a loop a sender may be one epoch ahead of the owner. One that puts to the same offset in each
 * epoch writes over what the owner has not read yet, and nobody is told, unless the signal is
 * strict (SENNIT_SIGNAL_STRICT). So a block has room for two messages, which take turns:
 *
 *     sennit_put_notify(there, epoch % 2 * bytes, data, bytes)    read at epoch % 2 * bytes
 *
 * That is all the synchronisation that a loop needs: a put of epoch r + 1 is accepted only when the
 * owner has reset epoch r - 1, and so has read what was in that half. (Not of a signal with
 * SENNIT_SIGNAL_UNCHECKED, whose senders do not look.) examples/notified.c is a whole program.
 *
 * A sender that is two epochs ahead gets SENNIT_ERR_SIGNAL_EARLY and makes its call again, or gives
 * a notice with a time to wait; or it has a signal of its own for credit, which the owner counts by
 * sennit_signal_notify after each reset, and waits for that before it sends. Where senders hear
 * from the owner in each epoch anyway, as neighbours do that exchange their edges, nobody gets so
 * far ahead.
 *
 * An owner that answers what it got answers first and resets then: the message that follows on the
 * answer belongs to the next epoch, and is counted whether the reset has come or not. A reset
 * before the answer holds it up for as long as it takes to have the epoch's line from the sender.
 */
#ifndef SENNIT_NOTIFY_H
#define SENNIT_NOTIFY_H

#include <sennit/rma.h>
#include <sennit/signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque, 64 bytes; all of them count, and carry a check value. It stays good until its region
 * ends. */
typedef struct sennit_block {
    uint64_t words[8];
} sennit_block;

#ifdef __cplusplus
#define SENNIT_BLOCK_NULL (sennit_block{{0u}})
#else
#define SENNIT_BLOCK_NULL ((sennit_block){{0u}})
#endif

/* 1 for a block that is all zero, as SENNIT_BLOCK_NULL, or no block at all (NULL), else 0. For
 * tables with places that no block belongs into. Does not look whether it is a block that can be
 * attached. */
static inline int sennit_block_is_null(const sennit_block *block) {
    uint64_t any = 0;
    for (int i = 0; block != NULL && i < 8; ++i)
        any |= block->words[i];
    return any == 0;
}

/* A block as the calling rank has attached it: a handle by value, which may be copied within the
 * rank. {0} is none. */
typedef struct sennit_peer_block {
    uint32_t handle;
} sennit_peer_block;

#ifdef __cplusplus
#define SENNIT_PEER_BLOCK_NULL (sennit_peer_block{0u})
#else
#define SENNIT_PEER_BLOCK_NULL ((sennit_peer_block){0u})
#endif

/* Describe `bytes` bytes at `offset` of a region of the caller's own: of sennit_register, or one
 * that a program makes of a global pointer and a size. `on_recv` counts what is put there,
 * `on_send` what is got from there; both are the caller's own or SENNIT_SIGNAL_NULL. Events that
 * name no epoch begin with the epochs that the signals have now. By one rank alone.
 * Errors: STATE, ARG (null, SENNIT_REGION_NULL, another rank's region, no signal of the caller's),
 * RANGE (the block leaves the region, or that its segment), NOT_REGISTERED. */
sennit_status sennit_block_init(sennit_region region, size_t offset, size_t bytes,
                                sennit_signal on_send, sennit_signal on_recv, sennit_block *block);

/* What a block says. */
typedef struct sennit_block_info {
    sennit_gptr gptr; /* its first byte */
    uint64_t bytes;
    sennit_signal on_send; /* handle 0: none */
    sennit_signal on_recv;
} sennit_block_info;

/* Read a block, without looking whether its region lives. Errors: STATE, ARG (null,
 * SENNIT_BLOCK_NULL; not a block of this job: foreign, or changed on the way). */
sennit_status sennit_block_query(const sennit_block *block, sennit_block_info *info);

/* Make a block reachable for the calling rank; its own are legal too. One block may be attached
 * more than once, and each counts its epochs by itself. At most 1048575 at a time.
 * Errors: STATE, ARG (as query), NOT_REGISTERED (the region has ended, even if its memory is in use
 * again; a signal has been destroyed), OTHER_NODE, UNSUPPORTED (its signals are out of reach: see
 * sennit_signal_notify; the memory is), PEER_LOST, NOMEM, OS. */
sennit_status sennit_block_attach(const sennit_block *block, sennit_peer_block *attached);

/* Give it up; the handle is no more. No other thread is in a call with it. Errors: STATE, ARG. */
sennit_status sennit_block_detach(sennit_peer_block attached);

/* Put `bytes` bytes into the block, `offset` bytes from its beginning, and count one event of its
 * on_recv, if it has one, when they are there. Get: the same from the block, with its on_send. The
 * first call through an attached block counts in the epoch that the signal had when the block was
 * made, each later one in the next epoch: right where one message comes each epoch. A call that
 * failed is not counted as one. 0 bytes are legal and count their event, which tells of all that
 * the caller has completed before, a strided put for example; that the owner is more than one epoch
 * behind is then found after that put, and not before it. Any rank. Several threads use
 * one attached block at a time where each call names its epoch; other calls through it come one
 * after the other.
 * Blocking: the private buffer is the caller's again when the call returns, and what was got is
 * there. What was put is complete where load and store lead to the owner; on another node when the
 * signal has counted it, or after a flush of the owner's rank and all calls that flush. What such
 * an owner finds wrong may come too late for the call: then the next flush of its rank tells it,
 * and the epoch of the call is used up.
 * Errors: STATE, ARG (null with bytes, no attached block), RANGE (it leaves the block),
 * NOT_REGISTERED (the region has ended, the signal was destroyed), SIGNAL_EARLY (the owner is too
 * far behind, by more than one epoch or, of a strict signal, by one, and lives: call again; on
 * another node it says so itself, in a call or by its thread for progress), PEER_LOST (it is so far
 * behind, and gone), and those of put and get: nothing has moved. After SIGNAL_OVERFLOW, and
 * NOT_REGISTERED of a signal on another node, data may have moved, and nothing was counted. A flush
 * may tell these two, NOT_REGISTERED of a region, and errors of the way: PEER_LOST, FABRIC, NOMEM.
 */
SENNIT_HOT_CALL sennit_status sennit_put_notify(sennit_peer_block destination, size_t offset,
                                                const void *source, size_t bytes);
SENNIT_HOT_CALL sennit_status sennit_get_notify(void *destination, sennit_peer_block source,
                                                size_t offset, size_t bytes);

/* In the place of an epoch: the one after that of the last call through the attached block. */
#define SENNIT_EPOCH_NEXT UINT64_MAX
/* The one that the owner of the remote signal is in when the event is counted: for programs whose
 * senders know no epochs, since something else tells them when they may send, as in UNR. Such an
 * event is never early or late; one for a signal that has fired is one too many. The epochs of the
 * block go on as they were. */
#define SENNIT_EPOCH_CURRENT (UINT64_MAX - 1)

/* Signals and epoch given in the call. The remote one is of the block's owner, the local one of the
 * caller, which counts an event in its own epoch as it is then; either may be SENNIT_SIGNAL_NULL.
 * wait_ns is for an owner that is more than one epoch behind: SIGNAL_EARLY is told when it has been
 * so for as long, in nanoseconds; SENNIT_FOREVER waits as long as it lives, and the knob
 * SENNIT_TIMEOUT bounds the call. Such a call looks again after 20 us, and at last every
 * millisecond; where ranks wait for each other in each epoch, a signal for credit is faster. */
typedef struct sennit_notice {
    sennit_signal remote; /* in place of the block's own, also where it is none */
    sennit_signal local;  /* when the private buffer is the caller's again */
    uint64_t epoch;       /* of the remote signal, SENNIT_EPOCH_NEXT or SENNIT_EPOCH_CURRENT */
    int64_t wait_ns;      /* 0: not at all */
} sennit_notice;

/* As above with what `notice` says. With another signal than the block's own SENNIT_EPOCH_NEXT is
 * ARG, and the epochs of the block go on as they were. Errors: as above, and ARG (null, wait_ns
 * below 0, a remote signal of another rank, a local one that is not the caller's). */
sennit_status sennit_put_notify_with(sennit_peer_block destination, size_t offset,
                                     const void *source, size_t bytes, const sennit_notice *notice);
sennit_status sennit_get_notify_with(void *destination, sennit_peer_block source, size_t offset,
                                     size_t bytes, const sennit_notice *notice);

/* The same without a wait, as many at a time as memory allows: `notice` may be NULL, then signal
 * and epoch are those of a call that takes none. The private buffer is the library's until *request
 * is completed (sennit_wait, sennit_test); with NULL for `request`, until the local signal of the
 * notice has counted it, or the next flush of the owner's rank. Where the buffer is the caller's
 * again at once *request is SENNIT_REQUEST_NULL. The remote event comes when the data is there;
 * what is still to be sent goes in later calls of Sennit, or by the rank's thread for progress.
 * sennit_fence does not order such a put, whose event tells of it, before others.
 * Errors: as of sennit_put_notify_with, and ARG (wait_ns is not 0). On another node SIGNAL_EARLY,
 * NOT_REGISTERED, PEER_LOST and the errors of the way may come later, by the request, or by a flush
 * where there is none; after SIGNAL_EARLY nothing has moved. What is wrong with the event when the
 * data is there is told by a flush, as it is of the calls above. The epoch of the call is used up
 * when it returns SENNIT_OK: who makes a call again that was refused later names the epoch. What
 * fails counts no local signal, unless its data was copied and the signal had counted it. */
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

/* A message of many pieces: a box or a list of pieces (rma.h), whose named place in the block is at
 * `offset`. All of it is one message with one event, counted when all its data is there. Offsets of
 * pieces and strides may be negative: what is touched must lie in the block, its named place need
 * not. `notice` may be NULL, as in sennit_put_notify_nb. Nothing to move is legal and counts its
 * event. The box or the list is the caller's again when the call returns. On another node the runs
 * of a put that are short go together, and the owner's processor puts each to its place: in one
 * message with the event if they are short (by TCP 128 KiB in all, by cards 8), else in several.
 * Errors: as of sennit_put_notify_with, and those of a strided or indexed put or get: ARG (null
 * box, list or pieces, elements of the destination that overlap), RANGE, NOMEM. */
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

/* The same without a wait, as sennit_put_notify_nb. */
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
    sennit_status status; /* set by the call: what this part has come to */
    size_t offset;        /* in bytes, from the beginning of the block */
    void *local;          /* the private buffer, which a put only reads */
    size_t bytes;
    const sennit_notice *notice; /* signals and epoch; NULL: as in a call that takes none */
} sennit_notify_part;

/* Make `count` notified puts, or gets: as many calls of sennit_put_notify_with or sennit_put_notify
 * in the order of the array, through any blocks. Where messages lead to the owners, up to 32 parts
 * are under way together, and take the trips of one. An event tells of the data of its own part.
 * Parts of one epoch of a block's own signal need a notice that names the epoch, since each without
 * one takes the next. Blocks and notices are looked at before anything moves: after ARG, RANGE and
 * NOT_REGISTERED of that look *done is 0 and the error's text names the part. Any other error ends
 * the batch at parts[*done]; all before that are over as single calls are, and the call goes on
 * from there when it is made with parts + *done. After SIGNAL_EARLY nothing behind has moved. After
 * an error of the way (PEER_LOST, FABRIC, TIMEOUT, NOMEM), SIGNAL_OVERFLOW, and NOT_REGISTERED of a
 * signal on another node, a part behind may be over too, if it was under way: leave out those whose
 * status is SENNIT_OK. After TIMEOUT flush first, since data may still be on its way; the event of
 * the part at *done, and of others whose status is TIMEOUT, may be counted or not, as after TIMEOUT
 * of a single call. Where the memory of parts overlaps, the data of either may be what is there
 * afterwards. 0 parts are legal. Errors: STATE, ARG (null, and as above), and those of the single
 * calls for the part at *done, which a flush may tell as it does theirs. */
sennit_status sennit_put_notify_batch(size_t count, sennit_notify_part parts[], size_t *done);
sennit_status sennit_get_notify_batch(size_t count, sennit_notify_part parts[], size_t *done);

#ifdef __cplusplus
}
#endif

#endif
