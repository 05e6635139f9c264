/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: ordered sets of different world ranks, local to one rank, to compute the members of a
 * team. A member's number is its place in the order. A group never changes; sennit_group_destroy
 * or the end of the rank frees it. Errors of all calls: NOMEM, and ARG for a rank given twice. */
#ifndef SENNIT_GROUP_H
#define SENNIT_GROUP_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle of the rank that made the group. */
typedef struct sennit_group {
    uint64_t handle;
} sennit_group;

#ifdef __cplusplus
#define SENNIT_GROUP_NULL (sennit_group{0u})
#else
#define SENNIT_GROUP_NULL ((sennit_group){0u})
#endif

/* The group of `count` world ranks in that order. */
sennit_status sennit_group_create(size_t count, const int ranks[], sennit_group *group);

/* The members of a team, in its order. */
sennit_status sennit_group_of_team(sennit_team team, sennit_group *group);

/* `first`, then the members of `second` that are not in it. */
sennit_status sennit_group_union(sennit_group first, sennit_group second, sennit_group *result);

/* Members of `first` that are in `second`, in the order of `first`. */
sennit_status sennit_group_intersection(sennit_group first, sennit_group second,
                                        sennit_group *result);

/* Members of `first` that are not in `second`, in the order of `first`. */
sennit_status sennit_group_difference(sennit_group first, sennit_group second,
                                      sennit_group *result);

/* The `count` members of `group` with the numbers `ranks`, in that order. */
sennit_status sennit_group_include(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result);

/* `group` without the `count` members with the numbers `ranks`. */
sennit_status sennit_group_exclude(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result);

/* How many members the group has. */
sennit_status sennit_group_size(sennit_group group, int *size);

/* The number of a world rank in the group; SENNIT_RANK_NONE if it is no member. */
sennit_status sennit_group_rank(sennit_group group, int world_rank, int *rank);

/* The world rank of the member with number `rank`. */
sennit_status sennit_group_world_rank(sennit_group group, int rank, int *world_rank);

/* For each of `count` numbers in `from` the number of the same rank in `to`, or SENNIT_RANK_NONE.
 * `translated` may be `ranks`. */
sennit_status sennit_group_translate(sennit_group from, size_t count, const int ranks[],
                                     sennit_group to, int translated[]);

/* How two groups compare. */
typedef enum sennit_group_relation {
    SENNIT_GROUP_IDENTICAL = 0, /* the same members in the same order */
    SENNIT_GROUP_SIMILAR = 1,   /* the same members in another order */
    SENNIT_GROUP_UNEQUAL = 2
} sennit_group_relation;

/* Compare two groups. */
sennit_status sennit_group_compare(sennit_group first, sennit_group second,
                                   sennit_group_relation *relation);

/* A team of the group's members in its order: sennit_team_create (team.h) with a group. Each rank
 * of the parent gives its own, all equal. Errors: RANGE (a member that the parent lacks). */
sennit_status sennit_team_create_group(sennit_team parent, sennit_group group, sennit_team *team);

/* Free the group. Teams made of it stay. */
sennit_status sennit_group_destroy(sennit_group group);

#ifdef __cplusplus
}
#endif

#endif
