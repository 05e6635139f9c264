/* Stage 2: a plan exchanges the rows; MPI still exchanges the columns.
 *     mpirun -n 4 2_rows
 */
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include "../must.h"
#include "field.h"

int main(int argc, char **argv) {
    field f;
    MPI_Init(&argc, &argv);
    /* snippet: begin */
    must(sennit_init_mpi(MPI_COMM_WORLD, NULL));
    /* end of snippet */
    make_field(&f);
    /* snippet: record */
    sennit_message_plan *plans[2] = {NULL, NULL}; /* one for each of the two states */
    const sennit_signal none = SENNIT_SIGNAL_NULL;
    for (int i = 0; i < 2; ++i) {
        double *u = f.u[i];
        must(sennit_message_plan_create(f.comm, &plans[i]));
        must(sennit_plan_irecv(plans[i], &u[at(&f, 0, 1)], f.columns, MPI_DOUBLE, f.up, 0, f.comm,
                               none, NULL));
        must(sennit_plan_isend(plans[i], &u[at(&f, f.rows, 1)], f.columns, MPI_DOUBLE, f.down, 0,
                               f.comm, none, NULL));
        must(sennit_plan_irecv(plans[i], &u[at(&f, f.rows + 1, 1)], f.columns, MPI_DOUBLE, f.down,
                               1, f.comm, none, NULL));
        must(sennit_plan_isend(plans[i], &u[at(&f, 1, 1)], f.columns, MPI_DOUBLE, f.up, 1, f.comm,
                               none, NULL));
        must(sennit_message_plan_commit(plans[i], SENNIT_FOREVER));
    }
    /* end of snippet */
    for (int step = 0; step < STEPS; ++step) {
        double *u = f.u[step % 2];
        /* snippet: exchange */
        MPI_Request all[4];
        must(sennit_message_plan_start(plans[step % 2]));
        MPI_Irecv(&u[at(&f, 1, 0)], 1, f.column, f.left, 2, f.comm, &all[0]);
        MPI_Isend(&u[at(&f, 1, f.columns)], 1, f.column, f.right, 2, f.comm, &all[1]);
        MPI_Irecv(&u[at(&f, 1, f.columns + 1)], 1, f.column, f.right, 3, f.comm, &all[2]);
        MPI_Isend(&u[at(&f, 1, 1)], 1, f.column, f.left, 3, f.comm, &all[3]);
        must(sennit_message_plan_wait(plans[step % 2], SENNIT_FOREVER));
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        /* end of snippet */
        compute(&f, u, f.u[(step + 1) % 2]);
    }
    /* snippet: end */
    MPI_Barrier(f.comm); /* all have waited for their last run */
    for (int i = 0; i < 2; ++i)
        must(sennit_message_plan_destroy(plans[i]));
    /* end of snippet */
    check_and_free(&f);
    must(sennit_finalize());
    MPI_Finalize();
    return 0;
}
