/* The messages of the library about mistakes, and the end of a job: errors.c CASE. */
#include <limits.h>
#include <locale.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long word, other_word, work[SHMEM_SYNC_SIZE];
static uint64_t signal_word;
static long free_lock, lock_of_0;
static int me;
static long *private_word;
/* Contexts of two PEs in reverse order, and of a destroyed team. */
static shmem_ctx_t backwards, destroyed;

/* Each row is a call by PE 1. */
#define MISTAKES(USE)                                                                      \
    USE(no_such_pe, shmem_long_p(&word, 1, 77))                                            \
    USE(not_symmetric, shmem_long_p(private_word, 1, 0))                                   \
    USE(past_the_end, shmem_putmem(&word, private_word, (size_t)1 << 40, 0))               \
    USE(get_source, shmem_getmem(&word, private_word, 8, 0))                               \
    USE(atomic_pe, (void)shmem_long_atomic_fetch_add(&word, 1, -1))                        \
    USE(atomic_source, (void)shmem_long_atomic_fetch(private_word, 0))                     \
    USE(atomic_dest, shmem_ctx_long_atomic_set(backwards, private_word, 1, 0))             \
    USE(signal_address,                                                                    \
        shmem_long_put_signal(&word, &word, 0, private_signal(), 1, SHMEM_SIGNAL_SET, 0))  \
    USE(signal_operator, shmem_long_put_signal(&word, &word, 0, &signal_word, 1, 9, 0))    \
    USE(strides, shmem_long_iput(&word, &other_word, 0, 1, 2, 0))                          \
    USE(lock, shmem_set_lock(private_word))                                                \
    USE(ctx_pe, shmem_ctx_long_p(backwards, &word, 1, 2))                                  \
    USE(ctx_not_symmetric, shmem_ctx_long_p(backwards, private_word, 1, 1))                \
    USE(invalid_put, shmem_ctx_long_put(SHMEM_CTX_INVALID, &word, private_word, 1, 0))     \
    USE(invalid_get, shmem_ctx_getmem(SHMEM_CTX_INVALID, private_word, &word, 1, 0))       \
    USE(invalid_iput, shmem_ctx_iput64(SHMEM_CTX_INVALID, &word, &other_word, 1, 1, 1, 0)) \
    USE(invalid_g, (void)shmem_ctx_long_g(SHMEM_CTX_INVALID, &word, 0))                    \
    USE(invalid_atomic, shmem_ctx_long_atomic_inc(SHMEM_CTX_INVALID, &word, 0))            \
    USE(invalid_signal, shmem_ctx_signal_add(SHMEM_CTX_INVALID, &signal_word, 1, 0))       \
    USE(destroyed_put, shmem_ctx_long_p(destroyed, &word, 1, 0))                           \
    USE(destroyed_again, shmem_ctx_destroy(destroyed))                                     \
    USE(destroyed_default, shmem_ctx_destroy(SHMEM_CTX_DEFAULT))                           \
    USE(destroyed_world, shmem_team_destroy(SHMEM_TEAM_WORLD))                             \
    USE(team_sync, (void)shmem_team_sync(SHMEM_TEAM_INVALID))                              \
    USE(team_sum, (void)shmem_long_sum_reduce(SHMEM_TEAM_INVALID, &word, &word, 1))        \
    USE(team_root, (void)shmem_broadcastmem(SHMEM_TEAM_WORLD, &word, &word, 1, 5))         \
    USE(team_strides, (void)shmem_alltoallsmem(SHMEM_TEAM_WORLD, &word, &word, 0, 1, 1))   \
    USE(set_too_large, shmem_barrier(1, 30, INT_MAX, work))                                \
    USE(set_by_32, shmem_barrier(1, 32, 1, work))                                          \
    USE(set_without_me, shmem_sync(0, 0, 1, work))                                         \
    USE(set_root, shmem_broadcast32(&word, &word, 1, 7, 1, 0, 1, work))                    \
    USE(set_dest, shmem_fcollect32(private_word, &word, 1, 1, 0, 1, work))                 \
    USE(set_strided_dest, shmem_alltoalls64(private_word, &word, 1, 1, 1, 1, 0, 1, work))  \
    USE(set_source, shmem_long_sum_to_all(&word, private_word, 1, 1, 0, 1, work, work))    \
    USE(set_count, shmem_long_sum_to_all(&word, &word, -1, 1, 0, 1, work, work))           \
    COMPARISONS(USE)
/* The same wrong comparison in each wait and test. */
#define COMPARISONS(USE)                                                          \
    USE(cmp_1, shmem_long_wait_until(&word, 9, 1))                                \
    USE(cmp_2, (void)shmem_long_test(&word, 9, 1))                                \
    USE(cmp_3, shmem_long_wait_until_all(&word, 1, NULL, 9, 1))                   \
    USE(cmp_4, (void)shmem_long_wait_until_any(&word, 1, NULL, 9, 1))             \
    USE(cmp_5, (void)shmem_long_wait_until_some(&word, 1, indices, NULL, 9, 1))   \
    USE(cmp_6, (void)shmem_long_test_all(&word, 1, NULL, 9, 1))                   \
    USE(cmp_7, (void)shmem_long_test_any(&word, 1, NULL, 9, 1))                   \
    USE(cmp_8, (void)shmem_long_test_some(&word, 1, indices, NULL, 9, 1))         \
    USE(cmp_9, shmem_long_wait_until_all_vector(&word, 1, NULL, 9, &other_word))  \
    USE(cmp_10, (void)shmem_long_test_any_vector(&word, 1, NULL, 9, &other_word)) \
    USE(cmp_11, (void)shmem_signal_wait_until(&signal_word, 9, 1))                \
    USE(cmp_12, (void)shmem_ushort_test(&short_word, 9, 1))                       \
    USE(cmp_13, (shmem_wait_until)(&word, 9, 1))

static unsigned short short_word;
static size_t indices[1];
static uint64_t *private_signal(void) {
    return (uint64_t *)private_word;
}

#define MISTAKE_BODY(NAME, ...)        \
    static void mistake_##NAME(void) { \
        __VA_ARGS__;                   \
    }
MISTAKES(MISTAKE_BODY)
static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
#define MISTAKE_ROW(NAME, ...) {#NAME, mistake_##NAME},
    MISTAKES(MISTAKE_ROW)};

/* Each mistake ends a child of PE 1, and no other process. */
static int make_in_children(void) {
    for (size_t i = 0; me == 1 && i < sizeof mistakes / sizeof *mistakes; ++i) {
        fprintf(stderr, "%s:\n", mistakes[i].name);
        const pid_t child = fork();
        if (child == 0) {
            mistakes[i].make();
            exit(9);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
            fprintf(stderr, "its child ended with %#x\n", (unsigned)status);
    }
    return 0;
}

/* By PE 1 itself: a child has no memory of other PEs. PE 0 holds lock_of_0. */
static void clear_not_held(const char *what) {
    if (strcmp(what, "clear-free") == 0 && me == 1) shmem_clear_lock(&free_lock);
    if (strcmp(what, "clear-of-other") == 0 && me == 1) shmem_clear_lock(&lock_of_0);
}

/* With checks off the mistakes have no effect, and no call waits. */
static int make_all(void) {
    for (size_t i = 0; me == 1 && i < sizeof mistakes / sizeof *mistakes; ++i)
        mistakes[i].make();
    clear_not_held("clear-free");
    clear_not_held("clear-of-other");
    if (me == 1 && (shmem_test_lock(&free_lock) != 0 || shmem_test_lock(&lock_of_0) == 0)) return 6;
    return word == 0 && *private_word == 0 && signal_word == 0 ? 0 : 7;
}

/* A signal means that its data has arrived, so data that went nowhere has no signal. */
static int signal_without_data(void) {
    long data = 5;
    shmem_long_put_signal(private_word, &data, 1, &signal_word, 7, SHMEM_SIGNAL_SET, 1 - me);
    shmem_ctx_long_put_signal_nbi(backwards, private_word, &data, 1, &signal_word, 7,
                                  SHMEM_SIGNAL_ADD, me);
    shmem_barrier_all();
    const uint64_t seen = signal_word;
    shmem_barrier_all();
    if (seen != 0) return 4;
    shmem_long_put_signal(&word, &data, 0, &signal_word, 7, SHMEM_SIGNAL_SET, 1 - me);
    shmem_barrier_all();
    return signal_word == 7 && word == 0 ? 0 : 5;
}

/* After finalize and a second init, variables keep their values and are symmetric again. */
static int begin_again(void) {
    shmem_ctx_destroy(backwards);
    for (long round = 1; round < 4; ++round) {
        long *heap = shmem_calloc(4, sizeof *heap);
        shmem_long_p(&word, round, 1 - me);
        shmem_long_p(&heap[1], round, 1 - me);
        shmem_barrier_all();
        if (heap[1] != round || word != round) return 4;
        shmem_finalize();
        if (word != round) return 5;
        shmem_init();
        if (word != round || shmem_my_pe() != me) return 6;
        shmem_barrier_all();
    }
    return 0;
}

static int run(const char *what) {
    if (strcmp(what, "mistakes") == 0) return make_in_children();
    if (strcmp(what, "no-such-pe") == 0 && me == 1) mistake_no_such_pe();
    if (strcmp(what, "not-symmetric") == 0 && me == 1) mistake_not_symmetric();
    if (strcmp(what, "variable") == 0 && me == 1) shmem_long_p(&word, 1, 0);
    clear_not_held(what);
    if (strcmp(what, "free") == 0) shmem_free(&word);
    if (strcmp(what, "unchecked-signal") == 0) return signal_without_data();
    if (strcmp(what, "again") == 0) return begin_again();
    if (strcmp(what, "different") == 0 && me == 1)
        (void)shmem_broadcastmem(SHMEM_TEAM_WORLD, &private_word, &private_word, 8, 0);
    if (strcmp(what, "exit-0") == 0 && me == 1) shmem_global_exit(0);
    if (strcmp(what, "exit-7") == 0 && me == 1) shmem_global_exit(7);
    if (strncmp(what, "exit", 4) == 0) {
        for (;;) { /* computes forever */
        }
    }
    if (strcmp(what, "unchecked") == 0) return make_all();
    for (int i = 0; i < 2 && strcmp(what, "too-large") == 0; ++i)
        if (shmem_malloc(1 << 20) != NULL) return 3;
    if (strcmp(what, "uneven") == 0) shmem_free(shmem_malloc(me == 0 ? 16 : 8));
    if (strcmp(what, "operators") == 0)
        (void)(me == 0 ? shmem_long_max_reduce : shmem_long_sum_reduce)(SHMEM_TEAM_WORLD,
                                                                        &other_word, &word, 1);
    shmem_barrier_all();
    if (strcmp(what, "dies") == 0 && me == 1) abort();
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long on_the_stack = 0;
    private_word = &on_the_stack;
    if (strcmp(what, "before-init") == 0) shmem_long_p(&word, 1, 0);
    if (strcmp(what, "locale") == 0 && setlocale(LC_ALL, "") == NULL) return 8;
    shmem_init();
    me = shmem_my_pe();
    if (me == 0 && (strcmp(what, "clear-of-other") == 0 || strcmp(what, "unchecked") == 0))
        shmem_set_lock(&lock_of_0);
    shmem_team_t two, gone;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, -1, 2, NULL, 0, &two) != 0 ||
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &gone) != 0)
        return 2;
    shmem_team_create_ctx(two, 0, &backwards);
    shmem_team_create_ctx(gone, SHMEM_CTX_SERIALIZED, &destroyed);
    shmem_team_destroy(gone);
    const int result = run(what);
    if (result != 0) return result;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
