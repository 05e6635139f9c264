/* One mistake that the library tells, or an end: errors.c CASE. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long word;

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long private_word = 0;
    if (strcmp(what, "before-init") == 0) shmem_long_p(&word, 1, 0);
    shmem_init();
    const int me = shmem_my_pe();
    if (strcmp(what, "no-such-pe") == 0 && me == 1) shmem_long_p(&word, 1, 77);
    if (strcmp(what, "not-symmetric") == 0 && me == 1) shmem_long_p(&private_word, 1, 0);
    if (strcmp(what, "atomic-pe") == 0 && me == 1) (void)shmem_long_atomic_fetch_add(&word, 1, -1);
    if (strcmp(what, "free") == 0) shmem_free(&word);
    if (strcmp(what, "comparison") == 0) shmem_long_wait_until(&word, 9, 1);
    if (strcmp(what, "again") == 0) {
        /* Ended and begun anew: variables keep their values and are symmetric again. */
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
    }
    if (strcmp(what, "exit-0") == 0 && me == 1) shmem_global_exit(0);
    if (strcmp(what, "exit-7") == 0 && me == 1) shmem_global_exit(7);
    if (strncmp(what, "exit", 4) == 0) {
        for (;;) { /* computes for ever */
        }
    }
    if (strcmp(what, "unchecked") == 0) shmem_long_p(&private_word, 1, 77);
    if (strcmp(what, "too-large") == 0 && shmem_malloc(1 << 20) != NULL) return 3;
    shmem_barrier_all();
    if (strcmp(what, "dies") == 0 && me == 1) abort();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
