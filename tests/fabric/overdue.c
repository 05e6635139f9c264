/* Transfers or messages that never complete, because the layer swallows them while the file named
 * in FABRIC_LAYER exists. Two ranks on two nodes; rank 0 makes the file and removes it.

       overdue SCENE FILE

   Broken by a wait for a lost transfer that never ends, by an error that comes while the data may
   still land, or by a wait that ends although the peer is only late. */
#include <sennit/sennit.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static const char *file;
static sennit_gptr there; /* BYTES of the other rank's memory */
static uint64_t *mine;    /* this rank's own memory */
static uint64_t *buffer;  /* BYTES of private memory */

static void must(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s: %s\n", sennit_rank(), what, sennit_last_error()->text);
    exit(1);
}

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void begin(void) {
    const int made = open(file, O_CREAT | O_WRONLY, 0600);
    must(made >= 0 && close(made) == 0, "the file");
}

static void end(void) {
    must(unlink(file) == 0, "unlink");
}

static void wait_for_word(uint64_t value) {
    must(sennit_signal_wait_word(mine, SENNIT_EQUAL, value, SENNIT_FOREVER) == SENNIT_OK, "word");
}

static void put_word(uint64_t value) {
    must(sennit_put(there, &value, sizeof value) == SENNIT_OK, "put");
}

/* Lost transfers are sent again by a new endpoint: all data arrives. */
static void pass(void) {
    if (sennit_rank() == 1) {
        wait_for_word(7);
        must(mine[BYTES / 8 - 1] == 5, "the end of the large put");
        return;
    }
    for (int i = 0; i < BYTES / 8; ++i)
        buffer[i] = 5;
    begin();
    sennit_request requests[3];
    static uint64_t got = 0;
    must(sennit_put_nb(sennit_gptr_add(there, 8), buffer + 1, BYTES - 8, &requests[0]) == SENNIT_OK,
         "put_nb");
    must(sennit_get_nb(&got, sennit_gptr_add(there, 8), 8, &requests[1]) == SENNIT_OK, "get_nb");
    must(sennit_put_nb(sennit_gptr_add(there, 8), buffer + 1, 8, &requests[2]) == SENNIT_OK,
         "put_nb");
    usleep(300000);
    end();
    const double start = now_s();
    for (int i = 0; i < 3; ++i)
        must(sennit_wait(&requests[i], SENNIT_FOREVER) == SENNIT_OK, "wait");
    printf("all has come after %.2f s\n", now_s() - start);
    must(got == 5 || got == 0, "the value of the get");
    put_word(7);
}

/* Messages arrive, transfers do not: transfers end with an error until the file is removed. */
static void stay(void) {
    if (sennit_rank() == 1) {
        wait_for_word(9);
        return;
    }
    uint64_t word = 8;
    begin();
    const double start = now_s();
    const sennit_status status = sennit_put(there, &word, sizeof word);
    const double took = now_s() - start;
    printf("%s after %.2f s: %s\n", sennit_status_string(status), took, sennit_last_error()->text);
    must(status == SENNIT_ERR_FABRIC && took < 15, "the put ends with an error");
    must(sennit_last_error()->peer == 1 && strstr(sennit_last_error()->text, "rail 0") != NULL,
         "the error names the peer and the rail");
    must(sennit_atomic_fetch_add_u64(sennit_gptr_add(there, 8), 1, &word) == SENNIT_OK, "atomic");
    must(sennit_get(&word, there, sizeof word) == SENNIT_ERR_FABRIC, "get");
    must(now_s() - start - took < 8, "another one ends soon");
    end();
    const double open_s = now_s();
    sennit_status again = SENNIT_ERR_FABRIC;
    word = 9;
    while (again == SENNIT_ERR_FABRIC && now_s() - open_s < 15) {
        usleep(10000);
        again = sennit_put(there, &word, sizeof word);
    }
    printf("it goes again after %.2f s\n", now_s() - open_s);
    must(again == SENNIT_OK, "a put when transfers go again");
}

/* Silence that is shorter than the timeout: no rank is lost. */
static void hush(void) {
    if (sennit_rank() == 1) {
        wait_for_word(3);
        return;
    }
    uint64_t word = 3;
    begin();
    sennit_request request;
    must(sennit_put_nb(there, &word, sizeof word, &request) == SENNIT_OK, "put_nb");
    usleep(1500000);
    end();
    must(sennit_wait(&request, SENNIT_FOREVER) == SENNIT_OK, "wait");
    must(sennit_atomic_fetch_add_u64(sennit_gptr_add(there, 8), 1, &word) == SENNIT_OK, "atomic");
}

static void expect_lost(sennit_status status, double start, const char *words) {
    const double took = now_s() - start;
    const double timeout = atof(getenv("SENNIT_PEER_TIMEOUT"));
    printf("rank %d: %s after %.2f s: %s\n", sennit_rank(), sennit_status_string(status), took,
           sennit_last_error()->text);
    must(0.5 * timeout < took && took < timeout + 2.5, "neither too soon nor too late");
    must(status == SENNIT_ERR_PEER_LOST, "the peer is lost");
    must(sennit_last_error()->peer == 1 - sennit_rank(), "the error names it");
    must(strstr(sennit_last_error()->text, words) != NULL, "the error says why");
}

/* Nothing arrives from either rank any more, while the watch still works: each rank counts as
 * lost for the other, even if the other only waits and never asked. */
static void mute(int by_put) {
    const double start = now_s();
    uint64_t word = 1;
    if (sennit_rank() == 1) {
        sennit_signal signal;
        must(sennit_signal_create(1, 1, 0, &signal) == SENNIT_OK, "signal_create");
        expect_lost(sennit_signal_wait(signal, SENNIT_FOREVER), start, "SENNIT_PEER_TIMEOUT");
        return;
    }
    begin();
    expect_lost(by_put ? sennit_put(there, &word, sizeof word)
                       : sennit_atomic_fetch_add_u64(there, 1, &word),
                start, "a firewall");
    usleep(2000000); /* a transfer that is still on its way would land now */
}

/* The other rank leaves (SENNIT_FINALIZE_TIMEOUT ends its wait) while a put to it is pending. */
static void leave(void) {
    if (sennit_rank() == 1) return;
    uint64_t word = 1;
    begin();
    const double start = now_s();
    sennit_request request;
    must(sennit_put_nb(there, &word, sizeof word, &request) == SENNIT_OK, "put_nb");
    int done = 0;
    sennit_status status = SENNIT_OK;
    while (!done && now_s() - start < 10)
        status = sennit_test(&request, &done);
    printf("%s after %.2f s\n", sennit_status_string(status), now_s() - start);
    must(done && status == SENNIT_ERR_PEER_LOST, "the put ends");
    end();
}

/* A put that must first ask for the key of its memory proceeds while its rank computes. */
static void first(void) {
    sennit_gptr fresh;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &fresh) == SENNIT_OK, "alloc");
    uint64_t word = 7;
    const double start = now_s();
    if (sennit_rank() == 1) {
        must(sennit_signal_wait_word(sennit_ptr(fresh), SENNIT_EQUAL, word, SENNIT_FOREVER) ==
                 SENNIT_OK,
             "word");
        printf("the word has come after %.2f s\n", now_s() - start);
        must(now_s() - start < 2, "it comes while the sender computes");
        return;
    }
    sennit_request request;
    must(sennit_put_nb(sennit_gptr_at(fresh, 1), &word, 8, &request) == SENNIT_OK, "put_nb");
    while (now_s() - start < 3) {
    }
    must(sennit_wait(&request, SENNIT_FOREVER) == SENNIT_OK, "wait");
}

int main(int argc, char **argv) {
    must(argc == 3, "two words");
    file = argv[2];
    must(sennit_init(NULL) == SENNIT_OK, "init");
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &memory) == SENNIT_OK, "alloc");
    there = sennit_gptr_at(memory, 1 - sennit_rank());
    mine = sennit_ptr(memory);
    buffer = malloc(BYTES);
    must(buffer != NULL, "memory");
    put_word(0);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    if (strcmp(argv[1], "pass") == 0) pass();
    if (strcmp(argv[1], "stay") == 0) stay();
    if (strcmp(argv[1], "hush") == 0) hush();
    if (strcmp(argv[1], "first") == 0) first();
    const int leaves = strcmp(argv[1], "leave") == 0;
    if (leaves) leave();
    const int is_mute = strncmp(argv[1], "mute", 4) == 0;
    if (is_mute) mute(strcmp(argv[1], "mute_put") == 0);
    free(buffer);
    if (is_mute) must(*mine == 0, "what was reported as lost has not landed");
    const sennit_status left = sennit_finalize();
    if (is_mute || leaves || left == SENNIT_OK) return 0;
    fprintf(stderr, "finalize: %s\n", sennit_last_error()->text);
    return 1;
}
