/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: puts and gets with notification that are recorded once and carried out again and again.
 *
 * What would be found out by each call anew is found out once: blocks, addresses, signals. Pieces
 * that lie one behind the other on both sides are moved as one; where messages lead to the owners
 * all are under way together, also while the program computes: the rank's thread for progress
 * (SENNIT_PROGRESS) moves them. Every run has its own epoch, or is counted in
 * that of the owner (sennit_plan_commit):
 *
 *     sennit_plan_create(&plan)
 *     sennit_plan_put(plan, there, offset, data, bytes)       as often as needed
 *     sennit_plan_commit(plan, 0, 1)
 *     loop
 *         sennit_plan_start(plan)
 *         ... anything that leaves the data alone ...
 *         sennit_plan_wait(plan, ...)
 *
 * A plan puts to the same places in each run, and may be one epoch ahead of the owners of its
 * blocks. So a loop has two plans that take turns, each with a half of the blocks of its own: then
 * a run of epoch r + 1 starts only when the owners have reset epoch r - 1, the last that used this
 * half (notify.h). One plan alone is right where something else keeps it back until all owners have
 * read. examples/plan.c is a whole program:
 *
 *     sennit_plan_put(even, there, 0, data, bytes)        sennit_plan_commit(even, 0, 2)
 *     sennit_plan_put(odd, there, bytes, data, bytes)     sennit_plan_commit(odd, 1, 2)
 *
 * A plan belongs to the rank that made it, and is used by one thread at a time. Threads that send
 * parts of what a rank sends, each when it has computed its own, have a plan each: plans share
 * blocks and signals, and a signal counts the events of all. */
#ifndef SENNIT_PLAN_H
#define SENNIT_PLAN_H

#include <sennit/notify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value. {0} is no plan. */
typedef struct sennit_plan {
    uint32_t handle;
} sennit_plan;

#ifdef __cplusplus
#define SENNIT_PLAN_NULL (sennit_plan{0u})
#else
#define SENNIT_PLAN_NULL ((sennit_plan){0u})
#endif

/* An empty plan. By one rank alone. A rank has at most 1048575. Errors: STATE, ARG (null), NOMEM.
 */
sennit_status sennit_plan_create(sennit_plan *plan);

/* Record a put into an attached block, or a get from one, as sennit_put_notify and
 * sennit_get_notify would carry it out; nothing moves yet. The buffer is kept by its address: it
 * must be there until the plan is destroyed. The block stays attached as long. Operations of one
 * plan that write the same bytes do so in no order. 0 bytes are legal and count their event.
 * Errors: STATE (no rank; committed already), ARG (no plan, null with bytes, no attached block),
 * RANGE (it leaves the block), NOMEM. */
sennit_status sennit_plan_put(sennit_plan plan, sennit_peer_block destination, size_t offset,
                              const void *source, size_t bytes);
sennit_status sennit_plan_get(sennit_plan plan, void *destination, sennit_peer_block source,
                              size_t offset, size_t bytes);

/* The same with signals that the notice names, as in sennit_put_notify_with: the remote one in
 * place of the block's own, the local one of the caller, which counts an event of its own epoch
 * when the run has moved all data and the private buffers may be used; a run that fails counts
 * none. So a local signal in one operation, of no bytes if need be, is one for the plan. Its epoch
 * is SENNIT_EPOCH_NEXT, since commit says the epochs of all operations, and wait_ns is 0. The
 * notice is copied. Errors: as above, and ARG (null, another epoch or wait_ns, a remote signal of
 * another rank, a local one that is not the caller's). */
sennit_status sennit_plan_put_with(sennit_plan plan, sennit_peer_block destination, size_t offset,
                                   const void *source, size_t bytes, const sennit_notice *notice);
sennit_status sennit_plan_get_with(sennit_plan plan, void *destination, sennit_peer_block source,
                                   size_t offset, size_t bytes, const sennit_notice *notice);

/* A box or a list of pieces (notify.h): one operation, which counts one event however many runs it
 * has. The description is copied. `notice` may be NULL: the block's own signal. The buffer and the
 * memory of the block do not overlap where load and store lead to both. Errors: as of
 * sennit_plan_put_with, and ARG (null box, list or pieces, elements of the destination that
 * overlap), RANGE. */
sennit_status sennit_plan_put_strided(sennit_plan plan, sennit_peer_block destination,
                                      size_t offset, const void *source, const sennit_box *box,
                                      const sennit_notice *notice);
sennit_status sennit_plan_get_strided(sennit_plan plan, void *destination, sennit_peer_block source,
                                      size_t offset, const sennit_box *box,
                                      const sennit_notice *notice);
sennit_status sennit_plan_put_indexed(sennit_plan plan, sennit_peer_block destination,
                                      size_t offset, const void *source,
                                      const sennit_piece_list *list, const sennit_notice *notice);
sennit_status sennit_plan_get_indexed(sennit_plan plan, void *destination, sennit_peer_block source,
                                      size_t offset, const sennit_piece_list *list,
                                      const sennit_notice *notice);

/* No more is recorded; the plan may be started. The events of run k = 0, 1, 2, ... are of epoch
 * first_epoch + k * epoch_step of their signals: 1 for a plan that is started in every epoch, 2 for
 * each of two plans that take turns. SENNIT_EPOCH_CURRENT with a step of 0: of the epoch that the
 * owner is in when they are counted, for programs whose senders know no epochs (notify.h). A plan
 * without operations is legal.
 * Errors: STATE (no rank; committed already), ARG (no plan; SENNIT_EPOCH_NEXT;
 * SENNIT_EPOCH_CURRENT with another step; more operations with one signal than it expects in an
 * epoch), NOT_REGISTERED, NOMEM, and those of the way to a signal that a notice names: OTHER_NODE,
 * UNSUPPORTED, PEER_LOST, OS. */
sennit_status sennit_plan_commit(sennit_plan plan, uint64_t first_epoch, uint64_t epoch_step);

/* Start the next run. The buffers belong to the library until sennit_plan_wait has returned.
 * Errors: STATE (no rank; not committed; the run before was not waited for), ARG (no plan, a block
 * that is not attached any more, a local signal that was destroyed, no epochs left),
 * NOT_REGISTERED, SIGNAL_EARLY (an owner is more than one epoch behind), PEER_LOST (it is, and is
 * gone), SIGNAL_OVERFLOW (its epoch is over; a local signal has fired): nothing has moved, and the
 * same run may be started again. After another error of put and get, and after SIGNAL_OVERFLOW
 * where one message came on top of all that were expected, a part has been carried out, and the
 * next start is another run; the buffers are the caller's again, unless the time of SENNIT_TIMEOUT
 * was over before that: then the run is waited for as if it had been started. An owner on another
 * node that is known to be near enough is not asked: what it finds wrong, SIGNAL_OVERFLOW or
 * NOT_REGISTERED of a signal, is told by a flush of its rank, and data may have moved then. Puts
 * that go there in messages with their event (what is short, and short runs) are copied: they are
 * over for the run when they are on their way, and a flush tells all that goes wrong with them. */
SENNIT_HOT_CALL sennit_status sennit_plan_start(sennit_plan plan);

/* Wait until the run that was started is over, for at most timeout_ns: the buffers are the caller's
 * again, what was got is there, and what was put, with its event, is complete where load and store
 * lead to the owner; on another node when the signal has counted it, or after a flush of its rank.
 * After TIMEOUT the run goes on. Errors: STATE (no rank; no run was started), ARG (no plan, a
 * negative timeout), TIMEOUT, and, of a run that is over, those of put and get. */
SENNIT_HOT_CALL sennit_status sennit_plan_wait(sennit_plan plan, int64_t timeout_ns);

/* End a plan; its blocks stay attached. Errors: STATE (no rank; a run was not waited for), ARG. */
sennit_status sennit_plan_destroy(sennit_plan plan);

#ifdef __cplusplus
}
#endif

#endif
