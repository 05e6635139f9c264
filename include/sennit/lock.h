/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: mutual exclusion of the ranks of a team, first come, first served (tickets,
 * docs/design/locks.md).
 *
 * A lock belongs to a rank: while one of its threads holds it or waits for it, the others get
 * STATE. The next holder sees what the last one did before its release: stores through pointers,
 * puts, atomic operations, also with _nbi.
 *
 * If the holder dies or leaves, the next rank gets the lock with status SENNIT_ERR_OWNER_DIED,
 * once: it holds the lock, must release it, and knows that protected data may be half done. Rarely
 * the dead rank had just been given the lock and had not begun. Ranks that die while they wait are
 * passed over. The first rank of the team holds the lock's memory: once it has left, or has died
 * and messages go to its memory, all calls give PEER_LOST. */
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

/* Make a lock that nobody holds. Collective over the team. Errors: NOMEM, UNSUPPORTED (some rank
 * reaches the first rank's memory only by the kernel's copies), TIMEOUT, PEER_LOST, OS. */
sennit_status sennit_lock_create(sennit_team team, sennit_lock *lock);

/* Wait for the lock; 0 as sennit_lock_try. The lock is held after OK and OWNER_DIED. After TIMEOUT
 * this rank neither holds it nor waits. Errors: STATE (this rank holds it, or another of its
 * threads is in a call of this lock), TIMEOUT, PEER_LOST (the team's first rank), FABRIC (memory
 * reached by messages). */
sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns);

/* *acquired is 1 if this rank holds the lock now (OK or OWNER_DIED), 0 if another one does. Never
 * waits. Errors: STATE (as sennit_lock_acquire), PEER_LOST, FABRIC. */
sennit_status sennit_lock_try(sennit_lock lock, int *acquired);

/* Complete this rank's operations with _nbi and release the lock: the rank that has waited longest
 * gets it. Errors: STATE (this rank does not hold it), PEER_LOST, FABRIC, and what an operation
 * with _nbi failed with; then the lock is released all the same. */
sennit_status sennit_lock_release(sennit_lock lock);

/* End a lock that nobody holds or waits for. Collective over the team. Errors: STATE (this rank
 * holds it), TIMEOUT, PEER_LOST. */
sennit_status sennit_lock_destroy(sennit_lock lock);

#ifdef __cplusplus
}
#endif

#endif
