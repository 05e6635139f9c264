/* Stage 3: plans exchange everything; the columns use the datatype that they had for MPI.
 *     mpirun -n 4 3_all
 */
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include "../must.h"
#include "field.h"

int main(int argc, char **argv) {
    field f;
    MPI_Init(&argc, &argv);
    must(sennit_init_mpi(MPI_COMM_WORLD, NULL));
    make_field(&f);
    /* snippet: record */
    sennit_message_plan *plans[2] = {NULL, NULL};
    const sennit_signal none = SENNIT_SIGNAL_NULL;
    double *u = f.u[0];
    must(sennit_message_plan_create(f.comm, &plans[0]));
    must(sennit_plan_sendrecv(plans[0], &u[at(&f, f.rows, 1)], f.columns, MPI_DOUBLE, f.down, 0,
                              &u[at(&f, 0, 1)], f.columns, MPI_DOUBLE, f.up, 0, f.comm, none,
                              none));
    must(sennit_plan_sendrecv(plans[0], &u[at(&f, 1, 1)], f.columns, MPI_DOUBLE, f.up, 1,
                              &u[at(&f, f.rows + 1, 1)], f.columns, MPI_DOUBLE, f.down, 1, f.comm,
                              none, none));
    must(sennit_plan_sendrecv(plans[0], &u[at(&f, 1, f.columns)], 1, f.column, f.right, 2,
                              &u[at(&f, 1, 0)], 1, f.column, f.left, 2, f.comm, none, none));
    must(sennit_plan_sendrecv(plans[0], &u[at(&f, 1, 1)], 1, f.column, f.left, 3,
                              &u[at(&f, 1, f.columns + 1)], 1, f.column, f.right, 3, f.comm, none,
                              none));
    /* The same for the other state, which lies elsewhere. */
    must(sennit_message_plan_twin(plans[0], f.u[0], f.u[1], f.bytes, &plans[1]));
    for (int i = 0; i < 2; ++i)
        must(sennit_message_plan_commit(plans[i], SENNIT_FOREVER));
    /* end of snippet */
    for (int step = 0; step < STEPS; ++step) {
        /* snippet: exchange */
        must(sennit_message_plan_start(plans[step % 2]));
        must(sennit_message_plan_wait(plans[step % 2], SENNIT_FOREVER));
        /* end of snippet */
        compute(&f, f.u[step % 2], f.u[(step + 1) % 2]);
    }
    MPI_Barrier(f.comm);
    for (int i = 0; i < 2; ++i)
        must(sennit_message_plan_destroy(plans[i]));
    check_and_free(&f);
    must(sennit_finalize());
    MPI_Finalize();
    return 0;
}
