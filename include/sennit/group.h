/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: ordered sets of ranks that one rank keeps for itself, to compute who shall be in a team.
 *
 * Nothing here is collective: no other rank is told. A group holds world ranks, all different; a
 * rank's number in the group is its place in the order. It never changes once it is made, and is
 * freed by sennit_group_destroy, or with the rank. All functions may be called by any thread of the
 * rank. Errors common to all: STATE (no rank), ARG (a null pointer, a group that does not exist or
 * was destroyed), NOMEM. */
#ifndef SENNIT_GROUP_H
#define SENNIT_GROUP_H

#include <sennit/team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value, good in the rank that made it. */
typedef struct sennit_group {
    uint64_t handle;
} sennit_group;

#ifdef __cplusplus
#define SENNIT_GROUP_NULL (sennit_group{0u})
#else
#define SENNIT_GROUP_NULL ((sennit_group){0u})
#endif

/* The group of `count` world ranks, in that order. 0 ranks are legal: `ranks` may then be NULL.
 * Errors: RANGE (no world rank), ARG (a rank twice). */
sennit_status sennit_group_create(size_t count, const int ranks[], sennit_group *group);

/* The members of a team, in its order. Errors: ARG (team). */
sennit_status sennit_group_of_team(sennit_team team, sennit_group *group);

/* `first`, then those of `second` that are not in it. */
sennit_status sennit_group_union(sennit_group first, sennit_group second, sennit_group *result);

/* Those of `first` that are in `second`, in the order of `first`. */
sennit_status sennit_group_intersection(sennit_group first, sennit_group second,
                                        sennit_group *result);

/* Those of `first` that are not in `second`, in the order of `first`. */
sennit_status sennit_group_difference(sennit_group first, sennit_group second,
                                      sennit_group *result);

/* The `count` members of `group` with the numbers `ranks`, in the order of `ranks`.
 * Errors: RANGE (no rank of the group), ARG (a rank twice). */
sennit_status sennit_group_include(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result);

/* `group` without the `count` members with the numbers `ranks`. Errors: as above. */
sennit_status sennit_group_exclude(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result);

/* How many members it has. */
sennit_status sennit_group_size(sennit_group group, int *size);

/* The number of a world rank in the group, SENNIT_RANK_NONE if it is no member.
 * Errors: RANGE (no world rank). */
sennit_status sennit_group_rank(sennit_group group, int world_rank, int *rank);

/* The world rank of the member with number `rank`. Errors: RANGE (no rank of the group). */
sennit_status sennit_group_world_rank(sennit_group group, int rank, int *world_rank);

/* For each of `count` numbers in `from`, the number of the same rank in `to`, or SENNIT_RANK_NONE.
 * `translated` may be `ranks` itself. Errors: RANGE (no rank of `from`; nothing is written). */
sennit_status sennit_group_translate(sennit_group from, size_t count, const int ranks[],
                                     sennit_group to, int translated[]);

/* What two groups have in common. */
typedef enum sennit_group_relation {
    SENNIT_GROUP_IDENTICAL = 0, /* the same members in the same order */
    SENNIT_GROUP_SIMILAR = 1,   /* the same members in another order */
    SENNIT_GROUP_UNEQUAL = 2
} sennit_group_relation;

/* How the members of two groups and their orders compare. */
sennit_status sennit_group_compare(sennit_group first, sennit_group second,
                                   sennit_group_relation *relation);

/* A team of the group's members, in its order: sennit_team_create (team.h) with a group, of which
 * every rank of the parent gives one of its own with the same members in the same order. Errors
 * besides those: RANGE (a member that the parent lacks). */
sennit_status sennit_team_create_group(sennit_team parent, sennit_group group, sennit_team *team);

/* Free the group. Teams that were made of it are not concerned. */
sennit_status sennit_group_destroy(sennit_group group);

#ifdef __cplusplus
}
#endif

#endif
