/* The first use of a rank of another node that start-up did not try. Four ranks on two nodes, with
 * SENNIT_PEER_TIMEOUT=1. Rank 1 is the first to use rank 3, which
 *   - shut: takes no connections, as behind a firewall. The put fails with FABRIC until it does.
 *   - deaf: takes connections, but no byte arrives by them. The put fails too.
 *   - stopped: is stopped for longer than the timeout. The put waits.
 *   - left: has left and never communicated with rank 1. The put fails with PEER_LOST.
 * Broken by a first use that waits forever or reports a stopped rank, and by a rank that announces
 * its leaving only to the ranks that it knows. */
#include <sennit/sennit.h>

#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void must(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s: %s\n", sennit_rank(), what, sennit_last_error()->text);
    exit(1);
}

static void meet(void) {
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
}

/* Checks that a used rail to the peer has this reason. */
static void must_say(int peer, const char *reason) {
    sennit_rail rail;
    int is_said = 0;
    for (int i = 0; sennit_peer_rail(peer, i, &rail) == SENNIT_OK; ++i)
        is_said |= rail.is_used != 0 && strstr(rail.reason, reason) != NULL;
    must(is_said, reason);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_ms(long ms) {
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

enum filter { NONE, SHUT, DEAF };

/* From now on connections to this process get no answer (SHUT), or are taken but lose all bytes
 * that the peer sends (DEAF). NONE: undoes that. */
static void filter_connections(enum filter filter) {
    struct sock_filter nothing[] = {{BPF_RET | BPF_K, 0, 0, 0}};
    struct sock_filter no_bytes[] = {
        {BPF_LD | BPF_B | BPF_ABS, 0, 0, 12}, /* the length of the TCP header in words, times 16 */
        {BPF_ALU | BPF_RSH | BPF_K, 0, 0, 2}, {BPF_ALU | BPF_AND | BPF_K, 0, 0, 60},
        {BPF_MISC | BPF_TAX, 0, 0, 0},        {BPF_LD | BPF_W | BPF_LEN, 0, 0, 0},
        {BPF_JMP | BPF_JGT | BPF_X, 0, 1, 0}, {BPF_RET | BPF_K, 0, 0, 0},
        {BPF_RET | BPF_K, 0, 0, UINT32_MAX},
    };
    const struct sock_fprog shut = {1, nothing};
    const struct sock_fprog deaf = {8, no_bytes};
    const struct sock_fprog *const program = filter == SHUT ? &shut : &deaf;
    int count = 0;
    for (int file = 0; file < 1024; ++file) {
        int listens = 0;
        int domain = 0;
        socklen_t bytes = sizeof listens;
        if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || !listens)
            continue;
        if (getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) != 0 || domain != AF_INET)
            continue;
        const int done = filter != NONE ? setsockopt(file, SOL_SOCKET, SO_ATTACH_FILTER, program,
                                                     (socklen_t)sizeof *program)
                                        : setsockopt(file, SOL_SOCKET, SO_DETACH_FILTER, &count,
                                                     (socklen_t)sizeof count);
        must(done == 0, "the filter of a socket");
        ++count;
    }
    must(count > 0, "a socket that listens");
}

static void shut(sennit_gptr there, int64_t *word, enum filter filter) {
    const int64_t value = 7;
    if (sennit_rank() == 3) filter_connections(filter);
    meet();
    if (sennit_rank() == 1) {
        const double begin = now_s();
        must(sennit_put(there, &value, sizeof value) == SENNIT_ERR_FABRIC, "the first put");
        const double length = now_s() - begin;
        must(strstr(sennit_last_error()->text, "it has not answered since it was first used") !=
                 NULL,
             "the reason");
        must(length > 0.9 && length < 12, "the time of the first put");
        int64_t old = 0;
        must(sennit_atomic_fetch_inc_i64(there, &old) == SENNIT_ERR_FABRIC, "a task");
        must(now_s() - begin < length + 1, "the time of the second operation");
    }
    meet();
    if (sennit_rank() == 3) filter_connections(NONE);
    meet();
    const double limit = now_s() + 20;
    sennit_status status = SENNIT_ERR_FABRIC;
    while (sennit_rank() == 1 && status == SENNIT_ERR_FABRIC && now_s() < limit) {
        sleep_ms(20);
        status = sennit_put(there, &value, sizeof value);
    }
    must(sennit_rank() != 1 || status == SENNIT_OK, "the put that goes through");
    meet();
    must(sennit_rank() != 3 || *word == value, "the value");
}

static void stopped(sennit_gptr there, int64_t *word) {
    const int64_t value = 7;
    if (sennit_rank() == 3) *word = getpid();
    meet();
    if (sennit_rank() == 3) raise(SIGSTOP);
    if (sennit_rank() == 2) {
        int64_t process = 0;
        must(sennit_get(&process, there, sizeof process) == SENNIT_OK, "get");
        sleep_ms(3500);
        must(kill((pid_t)process, SIGCONT) == 0, "kill");
    }
    if (sennit_rank() == 1) {
        must_say(3, "was not used yet");
        sleep_ms(300);
        const double begin = now_s();
        must(sennit_put(there, &value, sizeof value) == SENNIT_OK, "the put to a stopped rank");
        must(now_s() - begin > 2, "the put waits for the stopped rank");
        must_say(3, "the peer has answered by it");
    }
    meet();
    must(sennit_rank() != 3 || *word == value, "the value");
}

/* Only rank 3 finalizes. */
static void left(sennit_gptr there) {
    const int64_t value = 7;
    meet();
    if (sennit_rank() == 3) {
        (void)sennit_finalize(); /* ends at SENNIT_FINALIZE_TIMEOUT */
        sleep_ms(4000);
        exit(0);
    }
    sleep_ms(2500);
    if (sennit_rank() == 1) {
        const double begin = now_s();
        must(sennit_put(there, &value, sizeof value) == SENNIT_ERR_PEER_LOST, "the put");
        must(now_s() - begin < 1, "the time of the put");
    }
    printf("rank %d is through\n", sennit_rank());
    fflush(stdout);
    sleep_ms(1500);
    _exit(0);
}

int main(int argc, char **argv) {
    const char *const scene = argc > 1 ? argv[1] : "";
    must(sennit_init(NULL) == SENNIT_OK, "init");
    sennit_gptr own;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int64_t), 0, 0, &own) == SENNIT_OK, "alloc");
    int64_t *const word = sennit_ptr(own);
    must(word != NULL, "this rank's word");
    const sennit_gptr there = sennit_gptr_at(own, 3);
    if (strcmp(scene, "shut") == 0)
        shut(there, word, SHUT);
    else if (strcmp(scene, "deaf") == 0)
        shut(there, word, DEAF);
    else if (strcmp(scene, "stopped") == 0)
        stopped(there, word);
    else
        left(there);
    printf("rank %d is through\n", sennit_rank());
    fflush(stdout);
    must(sennit_finalize() == SENNIT_OK, "finalize");
    return 0;
}
