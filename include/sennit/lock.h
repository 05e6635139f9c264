/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: mutual exclusion of the ranks of a team, first come, first served (docs/design/locks.md).
 *
 * A rank holds a lock, not a thread: while one thread of the rank holds the lock or waits for it,
 * acquire and try in the rank's other threads return STATE. The next holder sees all that the last
 * one did before its release: stores through pointers, puts, atomic operations, also with _nbi.
 *
 * If the holder dies or leaves, the next rank gets the lock with status SENNIT_ERR_OWNER_DIED,
 * once. It must release the lock; protected data may be half written. A rank that dies while it
 * waits is skipped. The memory of the lock belongs to the first rank of the team. After that rank
 * has left, the lock is lost: calls return PEER_LOST. The same holds after it has died, if its
 * memory is reached by messages. */
#ifndef SENNIT_LOCK_H
#define SENNIT_LOCK_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle, the same on all ranks of the team. */
typedef struct sennit_lock {
    uint32_t segment;
    uint32_t team;
} sennit_lock;

#ifdef __cplusplus
#define SENNIT_LOCK_NULL (sennit_lock{0u, 0u})
#else
#define SENNIT_LOCK_NULL ((sennit_lock){0u, 0u})
#endif

/* Make a lock that nobody holds. Collective over the team. Errors: UNSUPPORTED (some rank reaches
 * the first rank's memory only by the kernel's copies). */
sennit_status sennit_lock_create(sennit_team team, sennit_lock *lock);

/* Wait for the lock, which is held after OK and OWNER_DIED. After TIMEOUT this rank neither holds
 * it nor waits. Errors: STATE (this rank holds it, or another of its threads is in a call of this
 * lock). */
sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns);

/* *acquired is 1 if this rank holds the lock now (OK or OWNER_DIED), 0 if another one does. Never
 * waits. Errors: STATE (as sennit_lock_acquire). */
sennit_status sennit_lock_try(sennit_lock lock, int *acquired);

/* Complete this rank's operations with _nbi and release the lock to the rank that has waited
 * longest. Errors: STATE (this rank does not hold it), and those of failed operations with _nbi;
 * after these, except TIMEOUT, the lock is released all the same. */
sennit_status sennit_lock_release(sennit_lock lock);

/* End a lock that nobody holds or waits for. Collective over the team. Errors: STATE (this rank
 * holds it). */
sennit_status sennit_lock_destroy(sennit_lock lock);

#ifdef __cplusplus
}
#endif

#endif
