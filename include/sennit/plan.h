/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: notified puts and gets that are recorded once and run many times. Blocks, addresses and
 * signals are looked up once, and adjacent pieces are moved as one. All messages are under way
 * together, also while the program computes: the progress thread (SENNIT_PROGRESS) moves them.
 *
 *     sennit_plan_create(&plan)
 *     sennit_plan_put(plan, there, offset, data, bytes)       as often as needed
 *     sennit_plan_commit(plan, 0, 1)
 *     loop
 *         sennit_plan_start(plan)
 *         ... anything that leaves the data alone ...
 *         sennit_plan_wait(plan, ...)
 *
 * Each run writes the same memory, and may start before the owner has read the data of the last
 * run. So a loop uses two plans in turn, each with its half of the blocks (notify.h). One plan is
 * enough if the program delays the start until all owners have read. Example: examples/plan.c.
 *
 *     sennit_plan_put(even, there, 0, data, bytes)        sennit_plan_commit(even, 0, 2)
 *     sennit_plan_put(odd, there, bytes, data, bytes)     sennit_plan_commit(odd, 1, 2)
 *
 * One thread at a time uses a plan. Plans of several threads may share blocks and signals. */
#ifndef SENNIT_PLAN_H
#define SENNIT_PLAN_H

#include <sennit/notify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle of the rank that made the plan. */
typedef struct sennit_plan {
    uint32_t handle;
} sennit_plan;

#ifdef __cplusplus
#define SENNIT_PLAN_NULL (sennit_plan{0u})
#else
#define SENNIT_PLAN_NULL ((sennit_plan){0u})
#endif

/* Make an empty plan. A rank has at most 1048575. Errors: NOMEM (memory, too many plans). */
sennit_status sennit_plan_create(sennit_plan *plan);

/* Record a put or get like sennit_put_notify and sennit_get_notify; nothing moves yet. Buffer and
 * attached block must exist until the plan is destroyed. Operations of one plan that write the same
 * bytes have no order. 0 bytes count their event. Errors: STATE (committed), RANGE (it leaves the
 * block). */
sennit_status sennit_plan_put(sennit_plan plan, sennit_peer_block destination, size_t offset,
                              const void *source, size_t bytes);
sennit_status sennit_plan_get(sennit_plan plan, void *destination, sennit_peer_block source,
                              size_t offset, size_t bytes);

/* Record a put or get with signals of a notice. The remote one replaces the block's own. The local
 * one counts an event in its current epoch when the whole run has moved its data and the private
 * buffers may be used; a failed run counts none. The notice is copied; its epoch must be
 * SENNIT_EPOCH_NEXT (sennit_plan_commit sets the epochs) and its wait_ns 0. Errors: those of
 * sennit_plan_put, and ARG (another epoch or wait_ns, a remote signal that is not the owner's, a
 * local one that is not the caller's). */
sennit_status sennit_plan_put_with(sennit_plan plan, sennit_peer_block destination, size_t offset,
                                   const void *source, size_t bytes, const sennit_notice *notice);
sennit_status sennit_plan_get_with(sennit_plan plan, void *destination, sennit_peer_block source,
                                   size_t offset, size_t bytes, const sennit_notice *notice);

/* Record a box or a list of pieces (notify.h): one operation with one event. The description is
 * copied. `notice` may be NULL. Where load and store reach both, buffer and block must not
 * overlap. Errors: those of sennit_plan_put_with, and ARG (elements of the destination overlap). */
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

/* End the recording. Run k = 0, 1, 2, ... counts in epoch first_epoch + k * epoch_step of its
 * signals. epoch_step is 1 for a plan that runs in every epoch, 2 for each of two plans that run in
 * turn. SENNIT_EPOCH_CURRENT with step 0: the owner's epoch when the event is counted. Errors:
 * STATE (committed), ARG (SENNIT_EPOCH_NEXT; SENNIT_EPOCH_CURRENT with another step; more
 * operations with one signal than it expects in an epoch), UNSUPPORTED (a signal of a notice cannot
 * be reached). */
sennit_status sennit_plan_commit(sennit_plan plan, uint64_t first_epoch, uint64_t epoch_step);

/* Start the next run. The buffers are in use until sennit_plan_wait has returned.
 *
 * A put to another node that is sent in one message with its event is copied. The run does not wait
 * for its arrival; a flush reports its failure. If an owner there is known to be at most one epoch
 * behind, the start does not ask for its epoch. Then a flush of its rank reports SIGNAL_OVERFLOW or
 * NOT_REGISTERED of a signal, and data may have moved.
 *
 * Errors that leave nothing moved; the same run may be started again: STATE (not committed; the run
 * before was not waited for), ARG (a block that was detached, a local signal that was destroyed, no
 * epochs left), NOT_REGISTERED, SIGNAL_EARLY (an owner is more than one epoch behind), PEER_LOST
 * (as SIGNAL_EARLY, and the owner has died or left), SIGNAL_OVERFLOW (the epoch of the run is over
 * at an owner; a local signal has fired).
 *
 * After other errors of put and get, and after SIGNAL_OVERFLOW because of surplus messages, a part
 * of the run is done, and the next start begins the next run. The buffers may be reused, unless
 * SENNIT_TIMEOUT ended the call: then wait for the run as if it had been started. */
SENNIT_HOT_CALL sennit_status sennit_plan_start(sennit_plan plan);

/* Wait until the run is over: the buffers may be reused and gets have their data. Puts and their
 * events are complete where load and store reach the owner; on another node when the signal has
 * counted, or after a flush of its rank. After TIMEOUT the run goes on. Errors: STATE (no run was
 * started), and those of put and get for a run that is over. */
SENNIT_HOT_CALL sennit_status sennit_plan_wait(sennit_plan plan, int64_t timeout_ns);

/* End a plan; its blocks stay attached. Errors: STATE (a run was not waited for). */
sennit_status sennit_plan_destroy(sennit_plan plan);

#ifdef __cplusplus
}
#endif

#endif
