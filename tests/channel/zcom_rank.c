/* What the calls of ZCom say when something is wrong, and that a start is as good as the first
 * after it. Run by each MPI with two ranks or more. Would break: an error that is not in *err, a
 * start that is not taken back, an id that is taken for another's. */
#include <mpi.h>
#include <sched.h>
#include <sennit/sennit_zcom.h>
#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "%s: %s\n", what, sennit_last_error()->text);
}

/* Every rank names a target that is none, so nobody waits. */
static void targets_that_do_not_exist(int size) {
    int target = size;
    int id = 55;
    int err = 0;
    int word = 0;
    void *buffer = &word;
    void *theirs = &word;
    size_t bytes = sizeof word;
    ZCom_init_c(&buffer, &bytes, MPI_COMM_WORLD, &target, 1, &theirs, &id, &err);
    expect(err == (int)SENNIT_ERR_RANGE, "a target that does not exist");
    expect(id == 55 && theirs == (void *)&word, "nothing is written");
    expect(!sennit_initialized(), "Sennit was ended again");
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

/* A ring in a communicator whose ranks are counted backwards. */
static void a_ring_of_another_communicator(int rank, int size) {
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
        expect(*(int *)theirs[back] == 1000 + targets[1], "the number of the one before");
        expect(ZCom_have_read_c(ids[back], &err) == 1 && err == 0, "have_read");
        ZCom_cleanup_c(ids, 2, backwards, &err);
        expect(err == 0, "cleanup");
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
    targets_that_do_not_exist(size);
    for (int i = 0; i < 3; ++i) {
        /* Where Sennit runs on MPI_COMM_WORLD already, its ranks are not the communicator's. */
        const int runs_already = i == 2;
        if (runs_already) expect(sennit_init_mpi(MPI_COMM_WORLD, NULL) == SENNIT_OK, "init_mpi");
        a_ring_of_another_communicator(rank, size);
        expect(sennit_initialized() == runs_already,
               "Sennit has ended, if it was started for ZCom");
        if (runs_already) expect(sennit_finalize() == SENNIT_OK, "finalize");
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
