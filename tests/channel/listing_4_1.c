/* The published example of ZCom (listing 4.1) with the same calls in the same order. Added: rank 1,
 * which reads. As in the listing, rank 0 writes only if its first ZCom_can_write_c allows it. Run
 * by each MPI. Broken by a call with another name, argument order or type; a header that needs
 * other includes; a channel whose writer does not own the buffer at the start; a cleanup that fails
 * with an unread message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "ZCom_comm.h"

#include <sched.h>
#include <string.h>

#define SHARE_SIZE 1024

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "%s\n", what);
}

/* The reading side, which the listing leaves out. */
static void read_from(int target, const int *targets, int count, void **attached, const int *ids) {
    int err = 0;
    for (int i = 0; i < count; ++i) {
        if (targets[i] != target) continue;
        while (!ZCom_can_read_c(ids[i], &err) && err == 0)
            sched_yield();
        expect(err == 0, "ZCom_can_read_c");
        expect(*(int *)attached[i] == target * 100, "the number that rank 0 has written");
        expect(ZCom_have_read_c(ids[i], &err) == 1 && err == 0, "ZCom_have_read_c");
    }
}

static int write_to(int target, int rank, const int *targets, int count, int **buffers,
                    const int *ids) {
    int err = 0;
    int written = 0;
    for (int i = 0; i < count; ++i) {
        if (targets[i] == target && ZCom_can_write_c(ids[i], &err)) {
            *buffers[i] = rank * 100;
            written += ZCom_have_written_c(ids[i], &err);
        }
        expect(err == 0, "the calls of the writer");
    }
    return written;
}

int main(int argc, char *argv[]) {
    int err, rank, size, *ids, **buffers;
    int all = 0;
    size_t *sizes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = size - 1, *targets = malloc((size_t)count * sizeof(int));
    buffers = malloc((size_t)count * sizeof(int *));
    sizes = malloc((size_t)count * sizeof(size_t));
    for (int i = 0, j = 0; i < size; i++) {
        if (i != rank) {
            targets[j] = i;
            buffers[j] = malloc(SHARE_SIZE);
            memset(buffers[j], 0x55, SHARE_SIZE); /* not 0, the number that rank 0 sends */
            sizes[j] = SHARE_SIZE;
            j++;
        }
    }
    void **attached = malloc((size_t)count * sizeof(void *));
    ids = malloc((size_t)count * sizeof(int));
    ZCom_init_c((void **)buffers, sizes, MPI_COMM_WORLD, targets, count, attached, ids, &err);
    expect(err == 0, "ZCom_init_c");
    if (rank == 0) {
        const int written = write_to(1, rank, targets, count, buffers, ids);
        expect(size == 1 || written == 1, "the writer owns the buffer at the start");
    }
    if (rank == 1) read_from(0, targets, count, attached, ids);
    ZCom_cleanup_c(ids, count, MPI_COMM_WORLD, &err);
    expect(err == 0, "ZCom_cleanup_c");
    for (int i = 0; i < count; i++)
        free(buffers[i]);
    free(buffers);
    free(sizes);
    free(targets);
    free(ids);
    free(attached);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
