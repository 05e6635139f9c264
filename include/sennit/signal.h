/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals: counters of events. Other ranks notify events; the owner waits.
 *
 * A signal expects a number of events in each epoch and fires when all are counted. The owner's
 * reset begins the next epoch. Epochs count from 0, and each event names its own.
 *
 *     owner                                     ranks that send
 *     sennit_signal_create(2, 2, 0, &signal)    get the handle by any means
 *     loop over epochs 0, 1, 2, ...             loop over epochs 0, 1, 2, ...
 *         sennit_signal_wait(signal, ...)           sennit_signal_notify(signal, epoch)
 *         ... use the data ...
 *         sennit_signal_reset(signal)
 *
 * sennit_signal_notify counts an event; so do notified puts and gets (notify.h) once their data is
 * in place. An owner that sees the signal fired sees the data. The sender counts the event itself
 * if load and store reach the owner. Otherwise the owner counts it, in its progress thread or in
 * calls that wait, test or flush. Design: docs/design/signals.md.
 *
 * For a signal without flags:
 *
 * - An event of the owner's epoch or the next one is counted in that epoch. So senders may be one
 *   epoch ahead (notify.h describes the effect on buffers).
 * - An event of a later epoch is refused: the sender gets SIGNAL_EARLY and may repeat the call, or
 *   PEER_LOST if the owner has died or left.
 * - An event of an earlier epoch is not counted, nor is a surplus event: one more than the epoch
 *   expects. The sender gets SIGNAL_OVERFLOW. The event's data may have overwritten other data. For
 *   a surplus event the owner gets SIGNAL_OVERFLOW too: from the next reset, test or wait for a
 *   set, or from a wait that finds the signal not fired.
 *
 * Any rank may call sennit_signal_notify. The other calls for a signal are for its owner only, in
 * any thread. While one thread destroys a signal, no other thread may use it; while one thread
 * resets a signal, no other thread may test it or wait for it. */
#ifndef SENNIT_SIGNAL_H
#define SENNIT_SIGNAL_H

#include <sennit/rma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A signal: plain data of 8 bytes. Send it by any means; every rank of the job may use it. A rank
 * has at most 8388608. */
typedef struct sennit_signal {
    int32_t rank;    /* world rank of the owner */
    uint32_t handle; /* opaque; 0 is no signal */
} sennit_signal;

#ifdef __cplusplus
#define SENNIT_SIGNAL_NULL (sennit_signal{-1, 0u})
#else
#define SENNIT_SIGNAL_NULL ((sennit_signal){-1, 0u})
#endif

/* Flags of sennit_signal_create.
 *
 * SENNIT_SIGNAL_STRICT: for buffers with room for one message. A sender that is one epoch ahead
 * would overwrite unread data. So it gets SIGNAL_EARLY and nothing moves; with wait_ns of a notice
 * (notify.h) the call first waits for the reset. With SENNIT_SIGNAL_UNCHECKED too, an event of the
 * next epoch is counted, and the owner gets SIGNAL_EARLY once: from the reset, or from a wait or
 * test that finds the signal not fired. Events to another node may take one trip more. */
#define SENNIT_SIGNAL_STRICT 0x1u
/* Senders do not check the owner's epoch: the program itself keeps epochs apart, by answers in each
 * epoch or by a barrier. An event of another epoch than the owner's or the next one is not counted,
 * and its data may have moved. For the last such event the owner gets SIGNAL_EARLY or
 * SIGNAL_OVERFLOW, from the same calls as for a surplus event. A flush by the sender may report the
 * error too. Events of SENNIT_EPOCH_CURRENT cannot be early or late. */
#define SENNIT_SIGNAL_UNCHECKED 0x2u

/* Make a signal in epoch 0 that fires after `events` events of an epoch, 1 to max_events. Usually
 * `max_events` equals `events`. More surplus events than max_events may go undetected. Errors: ARG
 * (0 events, or more than max_events). */
sennit_status sennit_signal_create(uint32_t events, uint32_t max_events, unsigned flags,
                                   sennit_signal *signal);

/* End a signal and remove it from its set. No rank may notify it at the same time; later events get
 * NOT_REGISTERED. */
sennit_status sennit_signal_destroy(sennit_signal signal);

/* *done is 1 if the signal has fired in its epoch, else 0. Never waits. Errors: SIGNAL_OVERFLOW
 * (surplus events), SIGNAL_EARLY (an event was too early for the signal's flags). */
sennit_status sennit_signal_test(sennit_signal signal, int *done);

/* Wait until the signal has fired. It stays fired until reset. All that a sender did before its
 * event is visible on return. Errors: those of sennit_signal_test, PEER_LOST (a rank of the job
 * has died and the signal has not fired). */
SENNIT_HOT_CALL sennit_status sennit_signal_wait(sennit_signal signal, int64_t timeout_ns);

/* Begin the next epoch. If several threads reset at the same time, one succeeds and the others get
 * STATE.
 *
 * A sender that knows of the reset sees all that the caller did before it. If an event, put or get
 * of epoch r + 1 is accepted, its sender knows of the reset that ended epoch r - 1. This does not
 * hold with SENNIT_SIGNAL_UNCHECKED.
 *
 * Errors: STATE (the signal has not fired), SIGNAL_OVERFLOW, SIGNAL_EARLY (an event was too early
 * for the signal's flags; once). */
SENNIT_HOT_CALL sennit_status sennit_signal_reset(sennit_signal signal);

/* How many events of its epoch are missing. Errors: SIGNAL_OVERFLOW (surplus events). */
sennit_status sennit_signal_remaining(sennit_signal signal, uint32_t *events);

/* The signal's epoch. */
sennit_status sennit_signal_epoch(sennit_signal signal, uint64_t *epoch);

/* Count one event of `epoch`, or of the owner's epoch (SENNIT_EPOCH_CURRENT of notify.h). Any
 * rank. The owner of the fired signal sees what the caller completed before: stores, blocking
 * puts, flushed operations. Where load and store reach the owner the event is counted on return.
 * To another node it may be under way; the next flush of the owner's rank reports its failure.
 *
 * Errors that have counted nothing: SIGNAL_EARLY, SIGNAL_OVERFLOW, UNSUPPORTED (only the kernel's
 * copies reach the owner's memory), and those of error.h. But after PEER_LOST, FABRIC and TIMEOUT
 * on a path that sends messages, the event may be counted. */
sennit_status sennit_signal_notify(sennit_signal signal, uint64_t epoch);

/* Waitsets: wait for any, some or all of many signals. The cost depends on the number of fired
 * signals, not on the size of the set. A signal is in one set at most. Each wait reports a fired
 * signal until it is reset; signals that were not reported yet have precedence. */
typedef struct sennit_waitset {
    uint32_t handle;
} sennit_waitset;

#ifdef __cplusplus
#define SENNIT_WAITSET_NULL (sennit_waitset{0u})
#else
#define SENNIT_WAITSET_NULL ((sennit_waitset){0u})
#endif

/* Make an empty set. A rank has at most 4095. Errors: NOMEM (memory, too many sets). */
sennit_status sennit_waitset_create(sennit_waitset *set);

/* End a set; its signals live on. */
sennit_status sennit_waitset_destroy(sennit_waitset set);

/* Add a signal to a set, or remove it. The waits return `cookie`, any value of the program's.
 * Errors: STATE (the signal is in a set already), ARG (the signal is not in this set). */
sennit_status sennit_waitset_add(sennit_waitset set, sennit_signal signal, uint64_t cookie);
sennit_status sennit_waitset_remove(sennit_waitset set, sennit_signal signal);

/* A signal of a set that has fired. */
typedef struct sennit_fired {
    sennit_signal signal;
    uint64_t cookie; /* as given to sennit_waitset_add */
} sennit_fired;

/* Wait until a signal of the set has fired, or all of them. *fired gets one; fired[] gets up to
 * `most` (at least 1) and *count their number. Visibility as by sennit_signal_wait. Errors: STATE
 * (an empty set, except for wait_all), PEER_LOST (a rank of the job has died and the signals have
 * not fired), SIGNAL_OVERFLOW and SIGNAL_EARLY (of one of the signals). */
sennit_status sennit_waitset_wait_any(sennit_waitset set, int64_t timeout_ns, sennit_fired *fired);
sennit_status sennit_waitset_wait_some(sennit_waitset set, int64_t timeout_ns, size_t most,
                                       sennit_fired fired[], size_t *count);
sennit_status sennit_waitset_wait_all(sennit_waitset set, int64_t timeout_ns);

/* Comparisons of a word that other ranks change by puts of a word, atomic operations or pointers
 * of sennit_ptr. */
typedef enum sennit_comparison {
    SENNIT_EQUAL = 0,
    SENNIT_NOT_EQUAL = 1,
    SENNIT_GREATER = 2,
    SENNIT_GREATER_EQUAL = 3,
    SENNIT_LESS = 4,
    SENNIT_LESS_EQUAL = 5,
    SENNIT_COMPARISON_END = 6
} sennit_comparison;

/* Wait until `*word COMPARISON value` holds, unsigned, for an aligned word of 8 bytes. The wait is
 * an acquire: everything that was ordered before the change is visible. A change does not wake the
 * caller: after about half a millisecond the wait polls once in 1 to 16 ms. It polls all the time
 * if a path of messages is in use. Errors: ARG (a word that is not aligned), PEER_LOST (a rank of
 * the job has died). */
sennit_status sennit_signal_wait_word(const uint64_t *word, sennit_comparison comparison,
                                      uint64_t value, int64_t timeout_ns);

/* A condition of the program: not 0 when it holds. The waiting thread calls it often. It must use
 * acquire loads for words that other ranks change, and make no call of Sennit but
 * sennit_trace_note. */
typedef int (*sennit_condition)(void *context);

/* Wait until `condition(context)` holds, as sennit_signal_wait_word: for words of other sizes, or
 * for several words. The condition is checked at least once. Errors: PEER_LOST (a rank of the job
 * has died and the condition does not hold). */
sennit_status sennit_wait_until(sennit_condition condition, void *context, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
