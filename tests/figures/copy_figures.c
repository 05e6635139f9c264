/* The time of gets from 1 KiB to a whole segment, by the offset of the destination in its page,
 * beside memcpy() between the same buffers: the figures of docs/design/copies.md. Run by `sennit
 * run -n 2`; rank 0 gets from rank 1 and prints. The argument is the number of rounds; gets and
 * memcpy() alternate. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MOST = 1 << 20, MOST_ROUNDS = 101 };

static void must(sennit_status status) {
    if (status == SENNIT_OK) return;
    fprintf(stderr, "%s: %s\n", sennit_last_error()->operation, sennit_last_error()->text);
    exit(1);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int count) {
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    return seconds[count / 2];
}

/* Not inlined, so that the compiler does not know the size. */
__attribute__((noinline)) static void copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}

int main(int argc, char **argv) {
    const int wanted = argc > 1 ? atoi(argv[1]) : 21;
    const int rounds = wanted < 1 ? 1 : wanted > MOST_ROUNDS ? MOST_ROUNDS : wanted;
    sennit_gptr segment;
    must(sennit_init(NULL));
    must(sennit_alloc(SENNIT_TEAM_WORLD, MOST, 0, 0, &segment));
    memset(sennit_ptr(segment), 1, MOST);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    if (sennit_rank() == 0) {
        const sennit_gptr there = sennit_gptr_at(segment, sennit_size() - 1);
        const char *source = sennit_ptr(there);
        char *memory = aligned_alloc(PAGE, MOST + PAGE);
        if (source == NULL || memory == NULL) return 1;
        memset(memory, 2, MOST + PAGE);
        printf("%8s %8s %12s %12s\n", "bytes", "behind", "memcpy ns", "get ns");
        for (size_t bytes = 1024; bytes <= MOST; bytes *= 4) {
            for (int behind = 0; behind <= 32; behind += 16) {
                double by_hand[MOST_ROUNDS];
                double by_get[MOST_ROUNDS];
                const int calls = bytes >= 65536 ? 10 : 100;
                for (int round = 0; round < rounds; ++round) {
                    double start = sennit_wtime();
                    for (int i = 0; i < calls; ++i)
                        copy(memory + behind, source, bytes);
                    by_hand[round] = sennit_wtime() - start;
                    start = sennit_wtime();
                    for (int i = 0; i < calls; ++i)
                        must(sennit_get(memory + behind, there, bytes));
                    by_get[round] = sennit_wtime() - start;
                }
                printf("%8zu %8d %12.1f %12.1f\n", bytes, behind,
                       median(by_hand, rounds) / calls * 1e9, median(by_get, rounds) / calls * 1e9);
            }
        }
        free(memory);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_free(segment));
    must(sennit_finalize());
    return 0;
}
