/* Pages of a region that its owner unmapped without sennit_deregister: puts to them fail for good,
 * and puts beside them at the same time arrive. Two ranks on two nodes; argument: number of such
 * pages. Broken by a path that counts failures against neighbours: they fail with the connection
 * each time. */
#include <sennit/sennit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PIECE = 1 << 20, PIECES = 11, FIRST_HOLE = 1 };
/* Far into the piece: the provider copies the start of a message itself and would crash there. */
enum { HOLE = 700 * 1024 };

static int holes;

static int has_hole(int piece) {
    return piece >= FIRST_HOLE && piece < FIRST_HOLE + holes;
}

static void must(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, sennit_last_error()->text);
    exit(1);
}

int main(int count, char **words) {
    holes = count > 1 ? atoi(words[1]) : 1;
    must(sennit_init(NULL) == SENNIT_OK, "init");
    const int self = sennit_rank();
    char *memory =
        mmap(NULL, PIECES * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED, "mmap");
    memset(memory, 1, PIECES * PIECE);
    sennit_region region;
    must(sennit_register(memory, PIECES * PIECE, 0, &region) == SENNIT_OK, "register");
    must(
        sennit_broadcast(SENNIT_TEAM_WORLD, 1, &region, sizeof region, SENNIT_FOREVER) == SENNIT_OK,
        "broadcast");
    for (int i = 0; self == 1 && i < PIECES; ++i)
        must(!has_hole(i) || munmap(memory + i * PIECE + HOLE, PAGE) == 0, "munmap");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    if (self == 0) {
        static char data[PIECE];
        static sennit_request requests[PIECES];
        memset(data, 7, sizeof data);
        for (int i = 0; i < PIECES; ++i) {
            sennit_gptr there = region.gptr;
            there.offset += (uint64_t)i * PIECE;
            must(sennit_put_nb(there, data, PIECE, &requests[i]) == SENNIT_OK, "put_nb");
        }
        for (int i = 0; i < PIECES; ++i) {
            const sennit_status status = sennit_wait(&requests[i], SENNIT_FOREVER);
            const sennit_status wanted = has_hole(i) ? SENNIT_ERR_FABRIC : SENNIT_OK;
            if (status != wanted) {
                fprintf(stderr, "piece %d: %s\n", i, sennit_status_string(status));
                exit(1);
            }
        }
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    for (int i = 0; self == 1 && i < PIECES; ++i)
        must(has_hole(i) || (memory[i * PIECE] == 7 && memory[(i + 1) * PIECE - 1] == 7),
             "the data is there");
    printf("rank %d has what was put beside the holes\n", self);
    fflush(stdout);
    must(sennit_finalize() == SENNIT_OK, "finalize");
    return 0;
}
