/* Rank 0 sends messages of 4 MiB to rank 1, which checks every word of each message before it takes
   the next one, and prints each wait of more than 200 ms.

       cut_messages FILE [runs|asleep]

   With `runs` the messages have 2 MiB, in runs of 256 bytes. With `asleep` the ranks sleep between
   tests for the end of a message, so the progress threads do the work. Ends when rank 0 finds FILE.
   Rank 1 writes the number of messages that it has taken into FILE.taken. A thread of it measures
   for how long the kernel does not run it although it is ready. A wait is printed with this time.
   A rail may be cut during any message: a lost event stops the run, and a doubled event makes the
   wait or the flush fail. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

enum { WORDS = 512 * 1024, RUN_WORDS = 32, RUN_BYTES = 8 * RUN_WORDS };

static const uint64_t long_ms = 200;
static atomic_uint_fast64_t not_run_ms;
static bool in_runs;
static bool is_asleep;

static uint64_t count(void) {
    return in_runs ? WORDS / 2 : WORDS;
}

/* Between two runs of the private buffer is a gap of one word. */
static uint64_t place(uint64_t i) {
    return in_runs ? i / RUN_WORDS * (RUN_WORDS + 1) + i % RUN_WORDS : i;
}

static uint64_t word_of(uint64_t epoch, uint64_t i) {
    return epoch << 32 | (i + 1);
}

static uint64_t now_ms(void) {
    return (uint64_t)(1000 * sennit_wtime());
}

static void nap(void) {
    const struct timespec two_ms = {0, 2000000};
    (void)nanosleep(&two_ms, NULL);
}

/* Sleeps 2 ms at a time. If a sleep takes more than 100 ms, the kernel has run other jobs instead,
   or the machine's host has paused the machine. */
static void *watch_kernel(void *nothing) {
    for (uint64_t before = now_ms();;) {
        nap();
        const uint64_t now = now_ms();
        if (now - before > 100) atomic_fetch_add(&not_run_ms, now - before);
        before = now;
    }
    return nothing;
}

/* Like sennit_put_notify_with, but the rank sleeps until the message has been sent. The owner may
   refuse the message after the call has returned. */
static void put_asleep(sennit_peer_block there, size_t place, const uint64_t *words,
                       uint64_t epoch) {
    const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
    sennit_status status = SENNIT_ERR_SIGNAL_EARLY;
    while (status == SENNIT_ERR_SIGNAL_EARLY) {
        sennit_request put = SENNIT_REQUEST_NULL;
        int done = 0;
        status = sennit_put_notify_nb(there, place, words, WORDS * sizeof *words, &notice, &put);
        if (status == SENNIT_OK) status = sennit_test(&put, &done);
        while (status == SENNIT_OK && !done) {
            nap();
            status = sennit_test(&put, &done);
        }
        if (status == SENNIT_ERR_SIGNAL_EARLY) nap();
    }
    must(status);
}

static void wait_asleep(sennit_signal arrived) {
    int done = 0;
    for (must(sennit_signal_test(arrived, &done)); !done; must(sennit_signal_test(arrived, &done)))
        nap();
}

static void send_all(sennit_peer_block there, const char *file) {
    uint64_t *words = malloc((place(count()) + 1) * sizeof *words);
    const sennit_box box =
        sennit_box_line(RUN_BYTES, count() / RUN_WORDS, RUN_BYTES, RUN_BYTES + sizeof *words);
    must_be(words != NULL, "memory");
    for (uint64_t epoch = 0, is_last = 0; !is_last; ++epoch) {
        is_last = access(file, F_OK) == 0;
        for (uint64_t i = 0; i < count(); ++i)
            words[place(i)] = word_of(epoch, i);
        words[0] = is_last;
        const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch,
                                      SENNIT_FOREVER};
        const size_t half = epoch % 2 * WORDS * sizeof *words;
        if (in_runs)
            must(sennit_put_notify_strided(there, half, words, &box, &notice));
        else if (is_asleep)
            put_asleep(there, half, words, epoch);
        else
            must(sennit_put_notify_with(there, half, words, WORDS * sizeof *words, &notice));
    }
    must(sennit_flush(1, SENNIT_FOREVER));
    free(words);
}

static void take_all(const uint64_t *memory, sennit_signal arrived, const char *file) {
    char name[4096], text[32];
    uint64_t epoch = 0;
    (void)snprintf(name, sizeof name, "%s.taken", file);
    const int taken = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    must_be(taken >= 0, "the file of the number");
    pthread_t watcher;
    must_be(pthread_create(&watcher, NULL, watch_kernel, NULL) == 0, "a thread");
    uint64_t last_ms = now_ms();
    uint64_t before_ms = atomic_load(&not_run_ms);
    for (uint64_t is_last = 0; !is_last; ++epoch) {
        if (is_asleep) wait_asleep(arrived);
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        const uint64_t waited_ms = now_ms() - last_ms;
        const uint64_t stopped_ms = atomic_load(&not_run_ms) - before_ms;
        if (waited_ms > long_ms)
            printf("waited %" PRIu64 " ms, was not run for %" PRIu64 " ms\n", waited_ms,
                   stopped_ms);
        const uint64_t *words = memory + epoch % 2 * WORDS;
        is_last = words[0];
        for (uint64_t i = 1; i < count(); ++i)
            must_be(words[i] == word_of(epoch, i), "a word of the message");
        must(sennit_signal_reset(arrived));
        const int length = snprintf(text, sizeof text, "%" PRIu64 "\n", epoch + 1);
        must_be(pwrite(taken, text, (size_t)length, 0) == length, "the number");
        if (epoch == 0) printf("messages come\n");
        (void)fflush(stdout);
        last_ms = now_ms();
        before_ms = atomic_load(&not_run_ms);
    }
    (void)close(taken);
    printf("took %" PRIu64 " messages\n", epoch);
}

int main(int argc, char **argv) {
    must_be(argc == 2 || argc == 3, "a file, and perhaps runs or asleep");
    in_runs = argc == 3 && strcmp(argv[2], "runs") == 0;
    is_asleep = argc == 3 && !in_runs;
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    must_be(sennit_size() == 2, "two ranks");
    const size_t bytes = 2 * WORDS * sizeof(uint64_t);
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &memory));
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_block block = SENNIT_BLOCK_NULL;
    if (rank == 1) {
        must(sennit_signal_create(1, 1, 0, &arrived));
        must(sennit_block_init((sennit_region){sennit_gptr_at(memory, 1), bytes}, 0, bytes,
                               SENNIT_SIGNAL_NULL, arrived, &block));
    }
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &block, sizeof block, SENNIT_FOREVER));
    if (rank == 0) {
        sennit_peer_block there;
        must(sennit_block_attach(&block, &there));
        send_all(there, argv[1]);
    } else {
        take_all(sennit_ptr(memory), arrived, argv[1]);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    if (rank == 1) {
        uint32_t left = 0;
        must(sennit_signal_remaining(arrived, &left));
        must_be(left == 1, "no event too many");
    }
    must(sennit_finalize());
    return 0;
}
