/* Measures how long after the death of a rank another rank, which waits for it in a barrier,
 * learns of it. Rank 1 notes the time and kills itself; rank 0 prints the nanoseconds until its
 * barrier returned PEER_LOST. Started by waiting.py under `sennit run -n 2 --keep-going`; the
 * argument is the time that rank 0 has been waiting by then, in milliseconds. */
#include <inttypes.h>
#include <sennit/sennit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int failed(void) {
    fprintf(stderr, "%s: %s\n", sennit_last_error()->operation, sennit_last_error()->text);
    return 1;
}

int main(int argc, char **argv) {
    const int delay_ms = argc > 1 ? atoi(argv[1]) : 50;
    sennit_gptr mine;
    if (sennit_init(NULL) != SENNIT_OK || sennit_size() != 2) return failed();
    if (sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int64_t), 0, 0, &mine) != SENNIT_OK) return failed();
    if (sennit_rank() == 1) {
        usleep((useconds_t)delay_ms * 1000);
        const int64_t now = now_ns();
        if (sennit_put(sennit_gptr_at(mine, 0), &now, sizeof now) != SENNIT_OK) return failed();
        raise(SIGKILL);
    }
    const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, 10 * INT64_C(1000000000));
    const int64_t seen = now_ns();
    int64_t died = 0;
    if (status != SENNIT_ERR_PEER_LOST) return failed();
    if (sennit_get(&died, mine, sizeof died) != SENNIT_OK || died == 0) return failed();
    printf("%" PRId64 "\n", seen - died);
    fflush(stdout);
    _exit(0);
}
