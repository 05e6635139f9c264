/* A rank of Sennit, without an MPI. */
#include <sennit/sennit.h>

#include "launch.h"

int launch_begin(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return sennit_init(NULL);
}

int launch_meet(void) {
    return sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
}

int launch_end(void) {
    return sennit_finalize();
}
