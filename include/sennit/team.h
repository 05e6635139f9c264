/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: ordered sets of ranks that make collective calls together. In a team of n ranks they are
 * numbered 0 to n-1; in the world a rank's number is its world rank, the number that global
 * pointers carry.
 *
 * A rank may be in many teams, which may overlap and need not contain each other; each allocates
 * and meets on its own. A rank can be in 1021 teams at once besides the world and its node. Teams
 * that are destroyed cost nothing: any number can be made one after the other.
 *
 * What makes a team is collective over its parent: all ranks of the parent call it, also those that
 * will not be members. On an error of any rank all get an error and no team is made. A rank with
 * several threads may make teams from several parents at once. Errors common to these calls: STATE
 * (no rank, or another thread is in a collective call of the parent), ARG (parent, a null pointer,
 * arguments that must be alike and differ), NOMEM (memory, or the teams of a rank), OTHER_NODE (no
 * path joins the members), TIMEOUT, PEER_LOST. After TIMEOUT (of SENNIT_TIMEOUT) the parent's
 * members have not met: sennit_barrier of the parent goes on waiting, and ranks that come to the
 * creation then get ARG. If the errors of other calls say that a call that makes a team is under
 * way, it goes on when it is called again with the same arguments. */
#ifndef SENNIT_TEAM_H
#define SENNIT_TEAM_H

#include <sennit/error.h>
#include <sennit/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value. The same team has the same handle on all its ranks. Teams that share no rank
 * may have the same handle. */
typedef struct sennit_team {
    uint32_t handle;
} sennit_team;

/* No team; all ranks; the ranks of the caller's node, in the order of the world. */
#ifdef __cplusplus
#define SENNIT_TEAM_NULL (sennit_team{0u})
#define SENNIT_TEAM_WORLD (sennit_team{1u})
#define SENNIT_TEAM_NODE (sennit_team{2u})
#else
#define SENNIT_TEAM_NULL ((sennit_team){0u})
#define SENNIT_TEAM_WORLD ((sennit_team){1u})
#define SENNIT_TEAM_NODE ((sennit_team){2u})
#endif

/* The color of a rank that joins no team, as any negative one. */
#define SENNIT_COLOR_NONE (-1)

/* No rank: not a member, or beyond the open edge of a grid. */
#define SENNIT_RANK_NONE (-1)

/* A team of `count` ranks of the parent, in the order of `ranks`, which must be the same everywhere
 * (0 ranks are legal; sennit_team_create_group in sennit/group.h takes a group). The others get
 * SENNIT_TEAM_NULL. Errors: RANGE (no rank of the parent), ARG (a rank twice). */
sennit_status sennit_team_create(sennit_team parent, size_t count, const int ranks[],
                                 sennit_team *team);

/* One team for each color that some rank gives. Its ranks are ordered by `key`, and by their order
 * in the parent where keys are equal. A negative color joins none: SENNIT_TEAM_NULL. */
sennit_status sennit_team_split(sennit_team parent, int color, int key, sennit_team *team);

/* The ranks start, start + stride, ... of the parent, `count` of them, the same on all ranks. The
 * stride may be negative. Errors: RANGE (they leave the parent), ARG (stride 0 with more than one
 * rank). */
sennit_status sennit_team_split_strided(sennit_team parent, int start, int stride, int count,
                                        sennit_team *team);

/* The ranks of the parent that are as near to the caller as `level` says (runtime.h): of its
 * process, of the NUMA domain of its node, of its node. SENNIT_LOCALITY_SELF gives every rank a
 * team of its own, SENNIT_LOCALITY_NETWORK a copy of the parent. Ranks whose NUMA domain is not
 * known count as one domain of their node. Errors: ARG (no such level; levels that differ). */
sennit_status sennit_team_split_locality(sennit_team parent, sennit_locality_level level,
                                         sennit_team *team);

/* Number of the caller in the team, and how many ranks it has. Errors: STATE, ARG. */
sennit_status sennit_team_rank(sennit_team team, int *rank);
sennit_status sennit_team_size(sennit_team team, int *size);

/* World rank of member `rank`. Errors: STATE, ARG, RANGE. */
sennit_status sennit_team_world_rank(sennit_team team, int rank, int *world_rank);

/* The number in `to` of the rank that has number `rank` in `from`, or SENNIT_RANK_NONE if it is no
 * member. Errors: STATE, ARG, RANGE. */
sennit_status sennit_team_translate(sennit_team from, int rank, sennit_team to, int *translated);

/* End a team. Collective over its ranks, which all must have freed its segments. Afterwards its
 * handle is refused with ARG; another team may get the same one after some 4 million. Teams that
 * were made from it stay. When a member has died, PEER_LOST is returned and this rank's part is
 * freed all the same. Errors: STATE (no rank; the team still has segments, or another thread is in
 * a collective call of it: nothing is destroyed), ARG (no team, or one of the constants; a rank in
 * another collective call: nothing is destroyed), PEER_LOST, and TIMEOUT if the knob SENNIT_TIMEOUT
 * bounds the call: it is still under way, and the same call made again goes on with it. */
sennit_status sennit_team_destroy(sennit_team team);

/* Grids: teams whose ranks have coordinates. The last coordinate changes fastest. */

/* Fill the entries of `dims` that are 0 so that the product of all is `ranks`, as balanced as can
 * be: the largest of them is as small as possible, then the next; they do not rise. Local, any
 * time. Errors: ARG (null, negative, no such product), RANGE (ranks below 1, dimensions not in 1 to
 * 64). */
sennit_status sennit_grid_balance(int ranks, int dimensions, int dims[]);

/* A team of the parent's first ranks, as many as the grid has places, in the parent's order;
 * the others get SENNIT_TEAM_NULL. Entries of `dims` that are 0 are filled as above so that the
 * grid has a place for every rank of the parent. `periodic[i]` is not 0 where the edges of a
 * dimension are joined; NULL: nowhere. Errors: RANGE (dimensions not in 1 to 64, more places than
 * ranks). */
sennit_status sennit_team_grid(sennit_team parent, int dimensions, const int dims[],
                               const int periodic[], sennit_team *team);

/* The shape of a grid. `dims` and `periodic` have room for `capacity` entries; what is not wanted
 * is NULL, and with capacity 0 neither is written. The following are local. Errors: STATE, ARG (the
 * team is no grid, `dimensions` is NULL), RANGE (capacity is below the number of dimensions and not
 * 0). */
sennit_status sennit_team_grid_shape(sennit_team team, int capacity, int *dimensions, int dims[],
                                     int periodic[]);

/* Coordinates of member `rank`, one for each dimension. Errors: STATE, ARG, RANGE. */
sennit_status sennit_team_grid_coords(sennit_team team, int rank, int coords[]);

/* The member at the coordinates; SENNIT_RANK_NONE beyond an open edge, wrapped at joined ones.
 * Errors: STATE, ARG. */
sennit_status sennit_team_grid_rank(sennit_team team, const int coords[], int *rank);

/* Who is `steps` before (`source`) and after (`destination`) the caller in a dimension, so that
 * what all send to their destination arrives from their source; SENNIT_RANK_NONE beyond an open
 * edge. Errors: STATE, ARG, RANGE (dimension). */
sennit_status sennit_team_grid_shift(sennit_team team, int dimension, int steps, int *source,
                                     int *destination);

#ifdef __cplusplus
}
#endif

#endif
