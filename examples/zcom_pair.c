/* The calls of ZCom with their own names: rank 0 hands a number to every other rank without a copy,
 * and gets one back.
 *     mpirun -n 4 zcom_pair
 */
#include <mpi.h>
#include <sched.h>
#include <sennit/sennit_zcom.h>

#include "must.h"

enum { kBytes = 1024 };

static void must_be_well(int err) {
    if (err != 0) must((sennit_status)err);
}

int main(int argc, char **argv) {
    int rank;
    int size;
    int err = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* All ranks except the caller. One element more, so that the arrays are not empty with one
     * rank. */
    const int count = size - 1;
    int *targets = malloc((size_t)size * sizeof *targets);
    int **own = malloc((size_t)size * sizeof *own);
    size_t *sizes = malloc((size_t)size * sizeof *sizes);
    void **theirs = malloc((size_t)size * sizeof *theirs);
    int *ids = malloc((size_t)size * sizeof *ids);
    for (int i = 0; i < count; ++i) {
        targets[i] = i < rank ? i : i + 1;
        sizes[i] = kBytes;
        own[i] = malloc(kBytes);
    }
    ZCom_init_c((void **)own, sizes, MPI_COMM_WORLD, targets, count, theirs, ids, &err);
    must_be_well(err);

    for (int i = 0; i < count; ++i) {
        /* Rank 0 writes first and reads the answer; the others answer rank 0. */
        const int starts = rank == 0;
        if (!starts && targets[i] != 0) continue;
        for (int step = 0; step < 2; ++step) {
            if (starts == (step == 0)) {
                while (!ZCom_can_write_c(ids[i], &err)) {
                    must_be_well(err);
                    sched_yield();
                }
                own[i][0] = 100 * rank + targets[i] + 1;
                ZCom_have_written_c(ids[i], &err);
            } else {
                while (!ZCom_can_read_c(ids[i], &err)) {
                    must_be_well(err);
                    sched_yield();
                }
                must_be(*(int *)theirs[i] == 100 * targets[i] + rank + 1,
                        "the number of the other");
                ZCom_have_read_c(ids[i], &err);
            }
            must_be_well(err);
        }
    }

    ZCom_cleanup_c(ids, count, MPI_COMM_WORLD, &err);
    must_be_well(err);
    if (rank == 0) printf("%d numbers handed over and answered\n", count);
    for (int i = 0; i < count; ++i)
        free(own[i]);
    free(ids);
    free(theirs);
    free(sizes);
    free(own);
    free(targets);
    MPI_Finalize();
    return 0;
}
