/* Teams: ordered sets of ranks. So far there is one, the world; a rank's number in it is its world
 * rank, the number that global pointers carry. */
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

#ifdef __cplusplus
#define SENNIT_TEAM_WORLD (sennit_team{1u})
#else
#define SENNIT_TEAM_WORLD ((sennit_team){1u})
#endif

#ifdef __cplusplus
}
#endif

#endif
