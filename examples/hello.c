/* Who am I, how was I started, and by which path do I reach the others?
 *     sennit run -n 4 hello
 */
#include "must.h"

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    must_be(rank >= 0 && rank < size, "a rank lies between 0 and size - 1");
    printf("rank %d of %d, started by %s\n", rank, size, sennit_bootstrap_used());
    for (int peer = 0; peer < size; ++peer) {
        sennit_path path;
        must(sennit_peer_path(peer, &path));
        must_be((path == SENNIT_PATH_SELF) == (peer == rank), "self leads to the caller alone");
        if (peer != rank) printf("rank %d reaches %d by %s\n", rank, peer, sennit_path_name(path));
    }
    must(sennit_finalize());
    return 0;
}
