/* Stage 1: a halo exchange by MPI only, as in a program without Sennit.
 *     mpirun -n 4 1_mpi
 */
#include "field.h"

int main(int argc, char **argv) {
    field f;
    MPI_Init(&argc, &argv);
    make_field(&f);
    for (int step = 0; step < STEPS; ++step) {
        double *u = f.u[step % 2];
        /* snippet: exchange */
        MPI_Request all[8];
        MPI_Irecv(&u[at(&f, 0, 1)], f.columns, MPI_DOUBLE, f.up, 0, f.comm, &all[0]);
        MPI_Isend(&u[at(&f, f.rows, 1)], f.columns, MPI_DOUBLE, f.down, 0, f.comm, &all[1]);
        MPI_Irecv(&u[at(&f, f.rows + 1, 1)], f.columns, MPI_DOUBLE, f.down, 1, f.comm, &all[2]);
        MPI_Isend(&u[at(&f, 1, 1)], f.columns, MPI_DOUBLE, f.up, 1, f.comm, &all[3]);
        MPI_Irecv(&u[at(&f, 1, 0)], 1, f.column, f.left, 2, f.comm, &all[4]);
        MPI_Isend(&u[at(&f, 1, f.columns)], 1, f.column, f.right, 2, f.comm, &all[5]);
        MPI_Irecv(&u[at(&f, 1, f.columns + 1)], 1, f.column, f.right, 3, f.comm, &all[6]);
        MPI_Isend(&u[at(&f, 1, 1)], 1, f.column, f.left, 3, f.comm, &all[7]);
        MPI_Waitall(8, all, MPI_STATUSES_IGNORE);
        /* end of snippet */
        compute(&f, u, f.u[(step + 1) % 2]);
    }
    check_and_free(&f);
    MPI_Finalize();
    return 0;
}
