/* Ranks that use more ranks of other nodes than they have descriptors for. `descriptors` prints
 * the number of refused puts, after it has lowered its own limit so that only a few more
 * connections are possible; `descriptors as_it_is` keeps the limit. Broken by a put that hangs,
 * that ends with PEER_LOST, or whose error does not name the limit; and by a rank that cannot
 * leave any more. */
#include <sennit/sennit.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "must.h"

static rlim_t tighten(void) {
    struct rlimit limit;
    int file = 0;
    for (int unused = 0; unused < 6; ++file)
        if (fcntl(file, F_GETFD) < 0) ++unused;
    /* An eighth of the limit is reserved for other uses. */
    limit.rlim_cur = limit.rlim_max = (rlim_t)file * 8 / 7 + 1;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) exit(1);
    return limit.rlim_cur;
}

int main(int argc, char **argv) {
    sennit_gptr memory = SENNIT_GPTR_NULL;
    const int64_t word = 7;
    char value[32];
    int done = 0;
    int refused = 0;
    int unanswered = 0;
    (void)argv;
    must(sennit_init(NULL));
    must(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &memory));
    /* From here on the ranks with which this one communicates are connected. */
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    snprintf(value, sizeof value, " %llu ", argc > 1 ? 0ull : (unsigned long long)tighten());
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    for (int i = 1; i < sennit_size(); ++i) {
        const int peer = (sennit_rank() + i) % sennit_size();
        const sennit_status status = sennit_put(sennit_gptr_at(memory, peer), &word, sizeof word);
        const char *const text = sennit_last_error()->text;
        if (status == SENNIT_OK) {
            ++done;
            continue;
        }
        if (status != SENNIT_ERR_FABRIC) {
            fprintf(stderr, "rank %d: %s\n", sennit_rank(), text);
            return 1;
        }
        if (strstr(text, "RLIMIT_NOFILE") != NULL && strstr(text, value) != NULL)
            ++refused;
        else if (strstr(text, "has not answered") != NULL)
            ++unanswered; /* the peer is at its own limit */
        else {
            fprintf(stderr, "rank %d: %s\n", sennit_rank(), text);
            return 1;
        }
    }
    printf("rank %d: %d done, %d refused, %d unanswered\n", sennit_rank(), done, refused,
           unanswered);
    fflush(stdout);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_finalize());
    return 0;
}
