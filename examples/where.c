/* Prints the path by which each rank reaches each other: a check before the first job on several
 * nodes.
 *     mpirun --host node1:2,node2:2 -n 4 where
 *     sennit run -n 4 --nodes 2 where
 */
#include "must.h"

static void tell_of(int peer) {
    sennit_path path;
    must(sennit_peer_path(peer, &path));
    printf("rank %d reaches rank %d by %s", sennit_rank(), peer, sennit_path_name(path));
    sennit_rail rail;
    for (int index = 0; sennit_peer_rail(peer, index, &rail) == SENNIT_OK; ++index)
        if (rail.is_used) printf(", %s (%s)", rail.interface_name, rail.provider);
    if (path == SENNIT_PATH_NONE) {
        char why[160];
        must(sennit_peer_path_reason(peer, SENNIT_PATH_FABRIC, why, sizeof why));
        printf(": %s", why);
    }
    printf("\n");
}

int main(void) {
    must(sennit_init(NULL));
    for (int peer = 0; peer < sennit_size(); ++peer)
        if (peer != sennit_rank()) tell_of(peer);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_finalize());
    return 0;
}
