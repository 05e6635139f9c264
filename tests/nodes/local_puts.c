/* Puts of an OpenSHMEM program to a PE of another node that makes no progress at all: it computes,
 * and SENNIT_PROGRESS=off gives it no thread. PE 1 returns from a thousand puts and then makes a
 * file; PE 0 computes until the file exists. Broken by a put that waits for its answer.
 *
 * Argument: the name of a file that does not exist.
 */
#include <shmem.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { kWords = 1000, kBlock = 50000 };

static long words[kWords];
static int spread[3 * kWords];
static char block[kBlock];

static int wait_for(const char *name, int seconds) {
    const time_t end = time(NULL) + seconds;
    while (access(name, F_OK) != 0)
        if (time(NULL) > end) return 0;
    return 1;
}

int main(int count, char **arguments) {
    int failures = 0;
    if (count != 2) return 2;
    shmem_init();
    if (shmem_my_pe() == 1) {
        char mine[kBlock];
        /* The first use of another PE asks it for the address of its memory. */
        shmem_long_p(words, -1, 0);
        shmem_quiet();
        shmem_barrier_all();
        for (int i = 0; i < kWords; ++i)
            shmem_long_p(&words[i], 3L * i, 0);
        for (int i = 0; i < kBlock; ++i)
            mine[i] = (char)(i % 101);
        shmem_putmem(block, mine, sizeof mine, 0);
        for (int i = 0; i < kBlock; ++i)
            mine[i] = 0;
        int every_second[2 * kWords];
        for (int i = 0; i < 2 * kWords; ++i)
            every_second[i] = i;
        shmem_int_iput(spread, every_second, 3, 2, kWords, 0);
        for (int i = 0; i < 2 * kWords; ++i)
            every_second[i] = -1;
        FILE *const file = fopen(arguments[1], "w");
        if (file != NULL) fclose(file);
    } else {
        shmem_barrier_all();
        if (!wait_for(arguments[1], 20)) {
            fprintf(stderr, "the puts wait for a PE that computes\n");
            failures = 1;
        }
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < kWords; ++i)
            failures += words[i] != 3L * i;
        for (int i = 0; i < kBlock; ++i)
            failures += block[i] != i % 101;
        for (int i = 0; i < 3 * kWords; ++i)
            failures += spread[i] != (i % 3 == 0 ? i / 3 * 2 : 0);
        if (failures != 0) fprintf(stderr, "%d differences\n", failures);
    }
    shmem_finalize();
    return failures != 0;
}
