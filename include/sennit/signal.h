/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals: counters of events that other ranks count down, and that their owner waits for.
 *
 * A signal expects a number of events in each epoch. It fires when that many have come; its owner
 * then resets it, which begins the next epoch. An event is counted by sennit_signal_notify, and by
 * the notified put and get of notify.h once their data is where it belongs: whoever has seen the
 * signal fired sees all that was put. The one who sends does the counting, so the owner takes no
 * part where load and store reach it; elsewhere it is in a call of Sennit that waits, tests or
 * flushes.
 *
 *     owner                                     ranks that send
 *     sennit_signal_create(2, 2, 0, &signal)    get the handle by any means
 *     loop over epochs 0, 1, 2, ...             loop over epochs 0, 1, 2, ...
 *         sennit_signal_wait(signal, ...)           sennit_signal_notify(signal, epoch)
 *         ... use what came ...
 *         sennit_signal_reset(signal)
 *
 * Epochs are counted from 0 by the resets, and every event says to which it belongs. Events of the
 * owner's epoch and of the next one are counted, apart from each other, so senders may run ahead of
 * the owner by one epoch: notify.h says what that means for buffers, and how to wait. An event of a
 * later one is refused with SENNIT_ERR_SIGNAL_EARLY, and may be sent again when the owner has got
 * there, or with SENNIT_ERR_PEER_LOST where the owner is gone; one of an epoch that is over, and
 * one more than was expected, with SENNIT_ERR_SIGNAL_OVERFLOW. The error tells signal, expected and
 * seen. The owner hears of one more than was expected too, once, by SIGNAL_OVERFLOW of the next
 * reset, test, wait for a set, or wait that finds the signal not fired: its data may have come,
 * over what the owner had got before. Afterwards the signal goes on as if the event had not been
 * sent. Flags of sennit_signal_create change what is done with events that are not of the owner's
 * epoch.
 *
 * All calls but sennit_signal_notify are of the owner alone; its threads may make them at the same
 * time, except that a signal is destroyed while no other thread uses it, and reset while none tests
 * it or waits for it. */
#ifndef SENNIT_SIGNAL_H
#define SENNIT_SIGNAL_H

#include <sennit/rma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A signal, by value: plain data of 8 bytes that may be sent by any means and used by every rank of
 * the job. A rank has at most 8388608. */
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
 * SENNIT_SIGNAL_STRICT: for memory with room for one message. An event of epoch r + 1 that comes
 * before reset r would say that data was written over. Its sender gets SIGNAL_EARLY before anything
 * moves; a notice's wait_ns waits for the reset. If one comes all the same (from a sender that does
 * not look, see below), it is counted for its epoch, and the owner hears of it once, by
 * SIGNAL_EARLY of a wait or test that finds the signal not fired, or of the reset. To an owner on
 * another node it takes a trip more, unless a task of the owner's to the sender has come since the
 * reset, such as a notified put: so reset first, then answer. Nobody can see for how many messages
 * a block has room, so no signal is strict without the flag. */
#define SENNIT_SIGNAL_STRICT 0x1u
/* Senders neither look at the owner's epoch nor ask for it, and no call that sends an event is
 * refused for its epoch: the program keeps messages apart, by what owners send to senders in each
 * epoch, or by a barrier. The owner judges an event by the epoch that comes with it. If that is
 * neither the owner's nor the next one, it is not counted, its data may have moved, and the owner
 * hears of the last of them, once, by SIGNAL_EARLY or SIGNAL_OVERFLOW of a wait or test that finds
 * the signal not fired, or of the reset; a flush by the sender may tell it too. With
 * SENNIT_SIGNAL_STRICT an event of epoch r + 1 before reset r is counted and reported, and not
 * refused. For events of SENNIT_EPOCH_CURRENT it makes no difference. */
#define SENNIT_SIGNAL_UNCHECKED 0x2u

/* Make a signal of the caller's that fires after `events` events of an epoch, 1 to max_events. More
 * events than that are told from the right number as long as not more than max_events are too many.
 * Pass the same number twice, or the most that can come by a mistake of the program; 0 is not
 * `events`, and an error. It begins with epoch 0. `flags`: those above, or 0. By one rank alone.
 * Errors: STATE, ARG (null, no events, more than max_events, unknown flags), NOMEM (memory, 8388608
 * signals of a rank), OS. */
sennit_status sennit_signal_create(uint32_t events, uint32_t max_events, unsigned flags,
                                   sennit_signal *signal);

/* End it; it leaves its set. Nobody may be about to count an event of it: later attempts are
 * refused with NOT_REGISTERED. Errors: STATE, ARG (no signal of the caller's). */
sennit_status sennit_signal_destroy(sennit_signal signal);

/* *done is 1 if the signal has fired in its epoch, else 0. Never waits. Errors: STATE, ARG (null,
 * no signal of the caller's), SIGNAL_OVERFLOW (more events came than are expected), SIGNAL_EARLY
 * (an event came that is too early by the signal's flags, and the signal has not fired). */
sennit_status sennit_signal_test(sennit_signal signal, int *done);

/* Wait until it has fired, for at most timeout_ns. It stays fired until it is reset. What senders
 * did before their events happens before the return. Errors: as test, and ARG (a negative timeout),
 * TIMEOUT, PEER_LOST (a rank of the job has died and the signal has not fired). */
SENNIT_HOT_CALL sennit_status sennit_signal_wait(sennit_signal signal, int64_t timeout_ns);

/* Begin the next epoch. Of threads that reset it at the same time one does; the others get STATE,
 * as they would after it. What the caller did before happens before what a sender does that learns
 * of the reset, by any means. To have an event, or a put or get with one, accepted is such a means:
 * when one of epoch r + 1 is, the reset that ended epoch r - 1 happened before. Not so for a signal
 * with SENNIT_SIGNAL_UNCHECKED, of which no sender looks at the epoch. Errors: STATE (no
 * rank; the signal has not fired), ARG (no signal of the caller's), SIGNAL_OVERFLOW,
 * SIGNAL_EARLY (an event came that is too early by the signal's flags; told once). Nothing is
 * changed then. */
SENNIT_HOT_CALL sennit_status sennit_signal_reset(sennit_signal signal);

/* How many events of its epoch are still to come. Errors: as test. */
sennit_status sennit_signal_remaining(sennit_signal signal, uint32_t *events);

/* Its epoch. Errors: STATE, ARG (null, no signal of the caller's). */
sennit_status sennit_signal_epoch(sennit_signal signal, uint64_t *epoch);

/* Count one event of `epoch`, or of the epoch that the owner is in (SENNIT_EPOCH_CURRENT of
 * notify.h). Any rank, also the owner. What the caller has completed before (stores, blocking puts,
 * flushed ones) is seen by the owner when the signal has fired. Counted when it returns where load
 * and store lead to the owner; on another node it may be under way, and what the owner finds wrong
 * with it is then told by the next flush of its rank (notify.h). Errors, which have counted
 * nothing: STATE, RANGE (rank), NOT_REGISTERED (no such signal, or destroyed), SIGNAL_EARLY (from
 * an owner that lives), SIGNAL_OVERFLOW, OTHER_NODE, UNSUPPORTED (the owner's memory is reached by
 * copies of the kernel only), PEER_LOST, NOMEM, OS. After PEER_LOST, FABRIC and TIMEOUT (knob
 * SENNIT_TIMEOUT) of a path of messages the event may be counted or not. */
sennit_status sennit_signal_notify(sennit_signal signal, uint64_t epoch);

/* Waitsets: wait for any, some or all of many signals. The cost of a wait goes with the number of
 * signals that have fired, and not with the size of the set. A signal is in one set at most. A
 * signal that has fired is reported by each wait until it is reset; those that are reported go
 * behind the others, so that none is passed over for ever. */
typedef struct sennit_waitset {
    uint32_t handle;
} sennit_waitset;

#ifdef __cplusplus
#define SENNIT_WAITSET_NULL (sennit_waitset{0u})
#else
#define SENNIT_WAITSET_NULL ((sennit_waitset){0u})
#endif

/* Make an empty set. A rank has at most 4095. Errors: STATE, ARG (null), NOMEM. */
sennit_status sennit_waitset_create(sennit_waitset *set);

/* End it; the signals live on, in no set. Errors: STATE, ARG (no set). */
sennit_status sennit_waitset_destroy(sennit_waitset set);

/* Put a signal into a set, or take it out. `cookie` is any value of the program's own, an index or
 * an address: the waits give it back with the signal, and nothing else looks at it. It is forgotten
 * when the signal leaves the set. Errors: STATE (no rank; it is in a set already), ARG (no set, no
 * signal of the caller's, not in this set). */
sennit_status sennit_waitset_add(sennit_waitset set, sennit_signal signal, uint64_t cookie);
sennit_status sennit_waitset_remove(sennit_waitset set, sennit_signal signal);

/* A signal of a set that has fired. */
typedef struct sennit_fired {
    sennit_signal signal;
    uint64_t cookie; /* as given to sennit_waitset_add */
} sennit_fired;

/* Wait until a signal of the set has fired, or all of them, for at most timeout_ns. *fired gets
 * one; fired[] gets up to `most` (at least 1) of those that have, and *count their number. The same
 * order as by sennit_signal_wait. Errors: STATE (no rank; the set is empty, but for wait_all), ARG
 * (no set, null, 0 for most, a negative timeout), TIMEOUT, PEER_LOST (a rank of the job has died
 * and what is waited for has not come), and where one of its signals got more events than it
 * expects, or one of no epoch that it takes, the error of sennit_signal_wait for that signal:
 * SIGNAL_OVERFLOW, SIGNAL_EARLY. Waits tell of too many events until the signal leaves the set. */
sennit_status sennit_waitset_wait_any(sennit_waitset set, int64_t timeout_ns, sennit_fired *fired);
sennit_status sennit_waitset_wait_some(sennit_waitset set, int64_t timeout_ns, size_t most,
                                       sennit_fired fired[], size_t *count);
sennit_status sennit_waitset_wait_all(sennit_waitset set, int64_t timeout_ns);

/* A word of the program's own as a signal: any memory that other ranks change by puts of a word, by
 * atomic operations or through sennit_ptr. */
typedef enum sennit_comparison {
    SENNIT_EQUAL = 0,
    SENNIT_NOT_EQUAL = 1,
    SENNIT_GREATER = 2,
    SENNIT_GREATER_EQUAL = 3,
    SENNIT_LESS = 4,
    SENNIT_LESS_EQUAL = 5,
    SENNIT_COMPARISON_END = 6
} sennit_comparison;

/* Wait until `*word COMPARISON value` holds, unsigned, for at most timeout_ns. Any word of 8 bytes
 * that the caller may read, aligned. An acquire: what was ordered before the change is seen. A
 * change rings no bell, so a wait that has lasted half a millisecond looks once in 1 to 10
 * milliseconds; where there are paths of messages it polls. Errors: STATE, ARG (null, not aligned,
 * no such comparison, a negative timeout), TIMEOUT, PEER_LOST (a rank of the job has died). */
sennit_status sennit_signal_wait_word(const uint64_t *word, sennit_comparison comparison,
                                      uint64_t value, int64_t timeout_ns);

/* A condition of the program's own: not 0 when it holds. The thread that waits calls it often; it
 * loads with acquire what other ranks change, and calls no other function of Sennit. */
typedef int (*sennit_condition)(void *context);

/* Wait until `condition(context)` holds, for at most timeout_ns: for words of other sizes than 8
 * bytes, or for several. Waits as sennit_signal_wait_word does; the condition is looked at once
 * at least, and once where timeout_ns is 0. Errors: STATE, ARG (null, a negative timeout), TIMEOUT,
 * PEER_LOST (a rank of the job has died). */
sennit_status sennit_wait_until(sennit_condition condition, void *context, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
