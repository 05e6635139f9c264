/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: ordered sets of ranks that make collective calls together. A team of n ranks numbers them
 * 0 to n-1. Teams may overlap. A rank can be in 1021 teams at once besides the world and its node.
 *
 * Calls that make a team are collective over its parent, future members or not. If any rank has an
 * error all get one and no team is made. Threads of a rank may make teams from different parents
 * at once.
 *
 * Errors of these calls: STATE (another thread is in a collective call of the parent), ARG
 * (arguments that must be equal differ), TIMEOUT. After TIMEOUT, sennit_barrier of the parent
 * continues the wait, and ranks without TIMEOUT get ARG from the creation. But if an error says
 * that a creation is unfinished, repeat it with the same arguments. */
#ifndef SENNIT_TEAM_H
#define SENNIT_TEAM_H

#include <sennit/error.h>
#include <sennit/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle, the same on all ranks of the team. Teams that share no rank may have the same one. */
typedef struct sennit_team {
    uint32_t handle;
} sennit_team;

/* No team; all ranks; the ranks of the caller's node in the order of the world. */
#ifdef __cplusplus
#define SENNIT_TEAM_NULL (sennit_team{0u})
#define SENNIT_TEAM_WORLD (sennit_team{1u})
#define SENNIT_TEAM_NODE (sennit_team{2u})
#else
#define SENNIT_TEAM_NULL ((sennit_team){0u})
#define SENNIT_TEAM_WORLD ((sennit_team){1u})
#define SENNIT_TEAM_NODE ((sennit_team){2u})
#endif

/* The color of a rank that joins no team, like any negative one. */
#define SENNIT_COLOR_NONE (-1)

/* No rank: not a member, or beyond the open edge of a grid. */
#define SENNIT_RANK_NONE (-1)

/* A team of `count` ranks of the parent in the order of `ranks`, which is the same array on all
 * ranks. Ranks that are not in it get SENNIT_TEAM_NULL. Errors: RANGE (no rank of the parent), ARG
 * (a rank twice). */
sennit_status sennit_team_create(sennit_team parent, size_t count, const int ranks[],
                                 sennit_team *team);

/* One team for each color, ordered by `key` and then by rank in the parent. A rank with a negative
 * color gets SENNIT_TEAM_NULL. */
sennit_status sennit_team_split(sennit_team parent, int color, int key, sennit_team *team);

/* A team of the `count` ranks start, start + stride, ... of the parent; all ranks give the same
 * numbers. The stride may be negative. Errors: RANGE (they leave the parent), ARG (stride 0 with
 * more than one rank). */
sennit_status sennit_team_split_strided(sennit_team parent, int start, int stride, int count,
                                        sennit_team *team);

/* A team of the parent's ranks in the caller's process, NUMA domain or node, by `level`.
 * SENNIT_LOCALITY_SELF: each rank alone; SENNIT_LOCALITY_NETWORK: a copy of the parent. Ranks of
 * unknown NUMA domain form one domain of their node. */
sennit_status sennit_team_split_locality(sennit_team parent, sennit_locality_level level,
                                         sennit_team *team);

/* The caller's rank in the team, and the number of ranks. */
sennit_status sennit_team_rank(sennit_team team, int *rank);
sennit_status sennit_team_size(sennit_team team, int *size);

/* World rank of member `rank`. */
sennit_status sennit_team_world_rank(sennit_team team, int rank, int *world_rank);

/* The rank in `to` of rank `rank` of `from`; SENNIT_RANK_NONE if it is no member. */
sennit_status sennit_team_translate(sennit_team from, int rank, sennit_team to, int *translated);

/* End a team after its segments are freed. Collective over its ranks. Teams made from it stay.
 * Errors: STATE (segments are left, or another thread is in a collective call of the team), ARG (a
 * constant such as SENNIT_TEAM_WORLD; a rank in another collective call), PEER_LOST (a member has
 * died; this rank's part is freed all the same), TIMEOUT (repeat the call). */
sennit_status sennit_team_destroy(sennit_team team);

/* Grids: teams whose ranks have coordinates; the last coordinate changes fastest. */

/* Fill the entries of `dims` that are 0 so that the product of all entries is `ranks`. The new
 * entries are sorted from large to small: the largest is as small as possible, then the next one.
 * Any time. Errors: ARG (negative entries, no such product), RANGE (`ranks` below 1, `dimensions`
 * not 1 to 64). */
sennit_status sennit_grid_balance(int ranks, int dimensions, int dims[]);

/* A team of the parent's first ranks, in their order, one for each point of the grid; the others
 * get SENNIT_TEAM_NULL. Entries of `dims` that are 0 are filled as by sennit_grid_balance for all
 * ranks of the parent. If periodic[i] is not 0, dimension i wraps around; NULL: none does. Errors:
 * RANGE (`dimensions` not 1 to 64, more points than ranks). */
sennit_status sennit_team_grid(sennit_team parent, int dimensions, const int dims[],
                               const int periodic[], sennit_team *team);

/* The shape of a grid. `dims` and `periodic` have room for `capacity` entries; with capacity 0
 * neither is written. All three results may be NULL. Errors of this and the following calls: ARG
 * (no grid), RANGE (capacity below the number of dimensions and not 0). */
sennit_status sennit_team_grid_shape(sennit_team team, int capacity, int *dimensions, int dims[],
                                     int periodic[]);

/* Coordinates of member `rank`, one for each dimension. */
sennit_status sennit_team_grid_coords(sennit_team team, int rank, int coords[]);

/* The member at the coordinates, which wrap around in periodic dimensions; SENNIT_RANK_NONE beyond
 * an open edge. */
sennit_status sennit_team_grid_rank(sennit_team team, const int coords[], int *rank);

/* The ranks `steps` before (`source`) and after (`destination`) the caller in a dimension;
 * SENNIT_RANK_NONE beyond an open edge. Errors: RANGE (dimension). */
sennit_status sennit_team_grid_shift(sennit_team team, int dimension, int steps, int *source,
                                     int *destination);

#ifdef __cplusplus
}
#endif

#endif
