/* Collective calls. Every rank of the team calls them, one thread of each rank at a time. */
#ifndef SENNIT_COLL_H
#define SENNIT_COLL_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return when all ranks of the team have come. Whatever a rank did before (stores through pointers,
 * put, operations with _nbi) is complete and seen by all ranks after. Requests stay to be waited
 * for. After TIMEOUT the barrier is still under way: the next call goes on waiting in the same one,
 * and until it has returned OK the other collective calls (alloc, free) give STATE. Not so where no
 * path joins all ranks: on the world the launcher's barrier stands in, which is not resumed (and
 * gives BOOTSTRAP when it fails); on other teams the call gives OTHER_NODE. All ranks make
 * the same collective calls in the same order; a barrier may return OK against a peer that is in
 * another one, which then gets ARG. Errors: STATE (no rank, or another thread of the rank is in a
 * collective call of the team), ARG (team, negative timeout), TIMEOUT, PEER_LOST, and what an
 * operation with _nbi failed with. */
sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
