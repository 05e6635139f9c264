/* MPI in a library that is loaded with RTLD_LOCAL, as Python loads an extension module. */
#include <mpi.h>
#include <stddef.h>

int hidden_mpi_start(void);
int hidden_mpi_stop(void);

int hidden_mpi_start(void) {
    return MPI_Init(NULL, NULL);
}

int hidden_mpi_stop(void) {
    return MPI_Finalize();
}
