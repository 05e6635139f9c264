/* Errors of the calls of ZCom, and a start that works after a failed one. Run by each MPI with two
 * ranks or more. Broken by an error that is not in *err, a failed start that leaves something
 * behind, an id mistaken for another. */
#include <mpi.h>
#include <sched.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocations of sennit_zcom.h that succeed before one fails; -1: all succeed. */
static int allocations_left = -1;

static void *scarce_malloc(size_t bytes) {
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) --allocations_left;
    return malloc(bytes);
}

#define malloc scarce_malloc
#include <sennit/sennit_zcom.h>
#undef malloc

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "%s: %s\n", what, sennit_last_error()->text);
}

static void try_init(const char *what, int *target, void **buffers, size_t *sizes, int *ids,
                     int wanted) {
    int err = 0;
    void *theirs = &err;
    ZCom_init_c(buffers, sizes, MPI_COMM_WORLD, target, 1, &theirs, ids, &err);
    expect(err == wanted, what);
    expect(theirs == (void *)&err && (ids == NULL || *ids == 55), "nothing is written");
    expect(sennit_last_error()->status == (sennit_status)wanted &&
               strcmp(sennit_last_error()->operation, "ZCom_init_c") == 0,
           "the last error is of this call, not of Sennit's end");
    expect(!sennit_initialized(), "Sennit was ended again");
}

/* First every process names an invalid target, then rank 0 alone passes a bad argument. Broken by
 * an error of one process that makes the others wait without end, or until it counts as lost. */
static void arguments_that_are_wrong(int rank, int size) {
    const int right = rank == 0 ? 1 : 0;
    const int is_wrong = rank == 0;
    const double begin = MPI_Wtime();
    int target = size;
    int id = 55;
    int word = 0;
    void *buffer = &word;
    size_t bytes = sizeof word;
    try_init("a target that does not exist", &target, &buffer, &bytes, &id, SENNIT_ERR_RANGE);
    target = is_wrong ? -1 : right;
    try_init("a target of rank 0", &target, &buffer, &bytes, &id, SENNIT_ERR_RANGE);
    target = right;
    try_init("null targets of rank 0", is_wrong ? NULL : &target, &buffer, &bytes, &id,
             SENNIT_ERR_ARG);
    try_init("null buffers of rank 0", &target, is_wrong ? NULL : &buffer, &bytes, &id,
             SENNIT_ERR_ARG);
    try_init("null sizes of rank 0", &target, &buffer, is_wrong ? NULL : &bytes, &id,
             SENNIT_ERR_ARG);
    try_init("null ids of rank 0", &target, &buffer, &bytes, is_wrong ? NULL : &id, SENNIT_ERR_ARG);
    /* A wait for a lost process takes ten seconds. */
    expect(MPI_Wtime() - begin < 40.0, "no wait lasts until a process counts as lost");
}

/* An error that only the opening of the channels finds. Broken by a deadlock: a process that has
 * given up waits for the others' end while they wait for it. */
static void a_buffer_that_is_not_mapped(int rank) {
    const int is_wrong = rank == 0;
    const double begin = MPI_Wtime();
    int word = 0;
    size_t bytes = sizeof word;
    for (int i = 0; i < 5; ++i) {
        void *buffer = is_wrong ? (void *)(uintptr_t)8 : &word;
        int target = rank == 0 ? 1 : 0;
        int err = 0;
        int id = 55;
        ZCom_init_c(&buffer, &bytes, MPI_COMM_WORLD, &target, 1, NULL, &id, &err);
        expect(err == (int)(is_wrong ? SENNIT_ERR_ARG : SENNIT_ERR_PEER_LOST) && id == 55,
               "a buffer that is not mapped");
        expect(is_wrong || sennit_last_error()->peer == 0, "the error names the rank that gave up");
    }
    /* A wait for a process takes ten seconds. */
    expect(MPI_Wtime() - begin < 40.0, "no wait lasts until a process counts as lost");
}

/* Each allocation of rank 0 fails in turn. Broken by a process that returns while the others wait
 * for it in a collective call. */
static void memory_that_is_missing(int rank) {
    const double begin = MPI_Wtime();
    int word = 0;
    size_t bytes = sizeof word;
    void *buffer = &word;
    for (int turn = 0; turn < 3; ++turn) {
        int target = rank == 0 ? 1 : 0;
        int err = 0;
        int id = 55;
        if (rank == 0) allocations_left = turn;
        ZCom_init_c(&buffer, &bytes, MPI_COMM_WORLD, &target, 1, NULL, &id, &err);
        expect(err != 0 && id == 55 && !sennit_initialized(), "memory that is missing");
        expect(rank != 0 || err == (int)SENNIT_ERR_NOMEM, "the error of rank 0");
    }
    allocations_left = -1;
    expect(MPI_Wtime() - begin < 40.0, "no wait lasts until a process counts as lost");
}

static void ids_that_do_not_exist(void) {
    const int ids[] = {0, -1, 1, 2147483647};
    for (int i = 0; i < 4; ++i) {
        int err = 0;
        expect(ZCom_can_write_c(ids[i], &err) == 0 && err == (int)SENNIT_ERR_ARG, "can_write");
        expect(ZCom_can_read_c(ids[i], &err) == 0 && err == (int)SENNIT_ERR_ARG, "can_read");
        expect(ZCom_have_written_c(ids[i], &err) == 0 && err == (int)SENNIT_ERR_ARG, "written");
        expect(ZCom_have_read_c(ids[i], NULL) == 0, "have_read");
    }
}

/* A ring in a communicator with the ranks in reverse order. */
static void a_ring_of_another_communicator(int rank, int size, int names_ids) {
    MPI_Comm backwards;
    int here;
    int err = -1;
    int *own[2] = {malloc(8), malloc(8)};
    size_t sizes[2] = {8, 8};
    void *theirs[2];
    int ids[2];
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &backwards);
    MPI_Comm_rank(backwards, &here);
    {
        int targets[2] = {(here + 1) % size, (here + size - 1) % size};
        const int back = size > 2 ? 1 : 0;
        ZCom_init_c((void **)own, sizes, backwards, targets, 2, theirs, ids, &err);
        expect(err == 0, "init");
        ids_that_do_not_exist();
        expect(ZCom_have_read_c(ids[0], &err) == 0 && err == (int)SENNIT_ERR_STATE, "no message");
        MPI_Barrier(MPI_COMM_WORLD);
        own[0][0] = 1000 + here;
        expect(ZCom_can_write_c(ids[0], &err) == 1 && err == 0, "can_write");
        expect(ZCom_have_written_c(ids[0], &err) == 1 && err == 0, "have_written");
        while (!ZCom_can_read_c(ids[back], &err) && err == 0)
            sched_yield();
        expect(err == 0, "can_read");
        expect(*(int *)theirs[back] == 1000 + targets[1], "the number of the rank before");
        expect(ZCom_have_read_c(ids[back], &err) == 1 && err == 0, "have_read");
        ZCom_cleanup_c(names_ids ? ids : NULL, 2, backwards, &err);
        expect(err == (names_ids ? 0 : (int)SENNIT_ERR_ARG), "cleanup");
    }
    MPI_Comm_free(&backwards);
    free(own[0]);
    free(own[1]);
}

int main(int argc, char **argv) {
    int rank;
    int size;
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    arguments_that_are_wrong(rank, size);
    a_buffer_that_is_not_mapped(rank);
    memory_that_is_missing(rank);
    for (int i = 0; i < 3; ++i) {
        /* If Sennit already runs on MPI_COMM_WORLD, its ranks differ from the communicator's. */
        const int runs_already = i == 2;
        if (runs_already) expect(sennit_init_mpi(MPI_COMM_WORLD, NULL) == SENNIT_OK, "init_mpi");
        a_ring_of_another_communicator(rank, size, i != 1);
        expect(sennit_initialized() == runs_already,
               "Sennit has ended, if it was started for ZCom");
        if (runs_already) expect(sennit_finalize() == SENNIT_OK, "finalize");
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
