/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: mutual exclusion of the ranks of a team, first come first served.
 *
 * A lock belongs to a rank, not to a thread: while one thread of a rank holds it or waits for it,
 * other threads of the same rank get STATE. What a holder did before it released (stores through
 * pointers, puts, atomic operations, also those with _nbi) is seen by the next one.
 *
 * When the rank that holds a lock dies or leaves, the next rank gets the lock, and the status of
 * its call is SENNIT_ERR_OWNER_DIED: it holds the lock and must release it, and knows that what the
 * lock protects may be half done. The status comes once. It also comes, rarely, when the rank that
 * died had just been given the lock and had not begun. A rank that dies while it waits is passed
 * over. The first rank of the team keeps the lock's memory: once it has left, or has died and
 * messages lead to its memory, nobody gets the lock any more, and all calls give PEER_LOST. */
#ifndef SENNIT_LOCK_H
#define SENNIT_LOCK_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value, the same on all ranks of the team; it may be copied. {0, 0} is no lock. */
typedef struct sennit_lock {
    uint32_t segment;
    uint32_t team;
} sennit_lock;

#ifdef __cplusplus
#define SENNIT_LOCK_NULL (sennit_lock{0u, 0u})
#else
#define SENNIT_LOCK_NULL ((sennit_lock){0u, 0u})
#endif

/* Make a lock that nobody holds. Collective over the team. Errors: STATE, ARG (team, null), NOMEM,
 * UNSUPPORTED (some rank reaches memory of the first rank by copies through the kernel only),
 * TIMEOUT, PEER_LOST, OS. */
sennit_status sennit_lock_create(sennit_team team, sennit_lock *lock);

/* Wait for the lock, in the order of coming, for at most timeout_ns (0: as sennit_lock_try). After
 * TIMEOUT this rank does not hold the lock and does not wait for it. Returns OK or OWNER_DIED when
 * the lock is held. Errors: STATE (this rank holds it already, or another of its threads is in a
 * call of this lock), ARG (no lock of this rank, negative timeout), TIMEOUT, PEER_LOST (the first
 * rank of the team), and where the lock's memory is reached by messages FABRIC. */
sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns);

/* Never waits: *acquired is 1 if this rank holds the lock now, with status OK or OWNER_DIED, and 0
 * if another one has it. Errors: ARG (also null), STATE, PEER_LOST, FABRIC. */
sennit_status sennit_lock_try(sennit_lock lock, int *acquired);

/* Let go: the rank that waited longest has the lock then. Completes what this rank has under way
 * with _nbi first. Errors: STATE (this rank does not hold it), ARG, PEER_LOST, FABRIC, and what an
 * operation with _nbi failed with; in that last case the lock is released. */
sennit_status sennit_lock_release(sennit_lock lock);

/* Collective over the team. Nobody holds the lock or waits for it. Errors: ARG (no lock), STATE
 * (this rank holds it), TIMEOUT, PEER_LOST. */
sennit_status sennit_lock_destroy(sennit_lock lock);

#ifdef __cplusplus
}
#endif

#endif
