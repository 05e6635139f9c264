/* Teams: ordered sets of ranks. In the world a rank's number is its world rank, the number that
 * global pointers carry. */
#ifndef SENNIT_TEAM_H
#define SENNIT_TEAM_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle by value. The same team has the same handle on all its ranks. */
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

#ifdef __cplusplus
}
#endif

#endif
