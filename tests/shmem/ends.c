/* The ways in which PEs end, one case each: ends.c CASE. OWN_BYTES is the size of each thread's
 * thread-local memory. */
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long word;
static __thread char own[OWN_BYTES];

static void handler(void) {
    const struct timespec moment = {0, 200000000};
    nanosleep(&moment, NULL);
    fprintf(stderr, "the handler of PE %d\n", shmem_my_pe());
    shmem_finalize();
}

/* PE 0 ends long before this handler does. */
static void linger(void) {
    sleep(1);
}

static void compute(void) {
    for (;;) {
        own[0] = (char)(own[0] + 1);
        __asm__ __volatile__("" ::: "memory");
    }
}

/* Reads for ever, and so keeps a stream in use. */
static void read_nothing(void) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    FILE *const stream = fdopen(ends[0], "r");
    (void)fgetc(stream);
}

static int run_child(void) {
    long on_the_stack = 0;
    const pid_t child = fork();
    if (child == 0) {
        shmem_long_p(&on_the_stack, 1, 0); /* a mistake */
        exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 1;
}

static void *add_for_long(void *context) {
    for (int i = 0; i < 1000000000; ++i)
        shmem_long_atomic_inc(&word, 0);
    return context;
}

static void die_in_turn(int me) {
    if (me == 1) {
        const struct timespec moment = {0, 100000000};
        pthread_t thread;
        pthread_create(&thread, NULL, add_for_long, NULL);
        nanosleep(&moment, NULL);
        raise(SIGKILL);
    }
    add_for_long(NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "handlers") == 0) atexit(handler);
    if (strcmp(what, "forgets-second") == 0) shmem_init();
    if (strncmp(what, "start", 5) == 0)
        start_pes(0);
    else
        shmem_init();
    const int me = shmem_my_pe();
    shmem_barrier_all();
    if (strcmp(what, "start-exit") == 0 && me == 0) shmem_global_exit(7);
    if (strcmp(what, "start-exit") == 0) compute();
    if (strcmp(what, "start-status") == 0 && me == 1) exit(3);
    if (strcmp(what, "start-child") == 0 && me == 0 && run_child() != 0) return 3;
    if (strcmp(what, "own-memory") == 0 && me == 1) shmem_global_exit(0);
    if (strcmp(what, "own-memory") == 0) compute();
    if (strcmp(what, "reads") == 0 && me == 0) read_nothing();
    if (strcmp(what, "reads") == 0) {
        sleep(1); /* meanwhile PE 0 reads */
        shmem_global_exit(0);
    }
    if (strcmp(what, "handlers") == 0) shmem_global_exit(5);
    if (strcmp(what, "slow-end") == 0 && me == 1) {
        atexit(linger);
        shmem_global_exit(6);
    }
    if (strcmp(what, "slow-end") == 0) compute();
    if (strcmp(what, "turn") == 0) die_in_turn(me);
    if (strcmp(what, "alignment") == 0) {
        if (shmem_align((size_t)1 << 30, 64) != NULL) return 4;
        char *const memory = shmem_align(1 << 20, 64);
        if (memory == NULL || (size_t)memory % (1 << 20) != 0) return 5;
    }
    if (strcmp(what, "forgets-alone") == 0 && me == 1) return 0;
    shmem_barrier_all();
    if (strcmp(what, "forgets-late") == 0) sleep(me == 1 ? 1 : 0);
    if (strcmp(what, "forgets-status") == 0) return 8;
    if (strcmp(what, "forgets-leaves") == 0) _exit(0);
    if (strcmp(what, "forgets-second") != 0 && strncmp(what, "forgets", 7) == 0) return 0;
    if (strncmp(what, "start", 5) != 0) shmem_finalize();
    return 0;
}
