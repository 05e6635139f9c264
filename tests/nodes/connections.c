/* The number of connections that start-up makes between nodes. `connections MOST` fails if all
 * ranks together have more than MOST ends of connections after sennit_init, or none. Then each
 * rank uses every other rank for the first time. Broken by ranks that connect to all ranks of
 * other nodes, and by nodes that connect to all other nodes where there are many. */
#include <sennit/sennit.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "must.h"

static int is_connected(int file) {
    int domain = 0;
    socklen_t bytes = sizeof domain;
    struct sockaddr_storage name;
    socklen_t name_bytes = sizeof name;
    return getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_INET &&
           getpeername(file, (struct sockaddr *)&name, &name_bytes) == 0;
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    int64_t own = 0;
    for (int file = 0; file < 1024; ++file)
        own += is_connected(file);
    /* The barrier uses the existing connections: no rank makes more before all have counted. */
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    int64_t all = 0;
    must(sennit_allreduce(SENNIT_TEAM_WORLD, &own, &all,
                          sennit_reduction_of(1, SENNIT_INT64, SENNIT_SUM), SENNIT_FOREVER));
    if (sennit_rank() == 0) printf("%lld ends of connections\n", (long long)all);
    fflush(stdout);
    must(sennit_finalize());
    return argc > 1 && (all > atoll(argv[1]) || all == 0);
}
