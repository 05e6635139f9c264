/* The steps of `orders` that need an MPI. */
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "orders.h"

static void step_mpi_init(const char *step) {
    int size = 0;
    require(MPI_Init(NULL, NULL) == MPI_SUCCESS, step, "MPI_Init failed");
    require(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS, step, "no size");
    require(size == expected_size, step, "MPI has another size");
}

/* An MPI under a launcher that it does not know: N separate jobs of one rank. */
static void step_mpi_init_singleton(const char *step) {
    int size = 0;
    require(MPI_Init(NULL, NULL) == MPI_SUCCESS, step, "MPI_Init failed");
    require(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS, step, "no size");
    require(size == 1, step, "MPI is no singleton");
}

static void step_mpi_finalize(const char *step) {
    require(MPI_Finalize() == MPI_SUCCESS, step, "MPI_Finalize failed");
}

/* MPI still works: every rank reaches every other one. */
static void step_mpi_sum(const char *step) {
    int one = 1;
    int sum = 0;
    require(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS, step,
            "MPI_Allreduce failed");
    require(sum == expected_size, step, "MPI_Allreduce counted wrong");
}

static void step_init_mpi(const char *step) {
    require_ok(sennit_init_mpi(MPI_COMM_WORLD, NULL), step);
    check_rank(step, expected_size);
    require(strcmp(sennit_bootstrap_used(), "mpi") == 0, step, "not started on the communicator");
}

static void require_error(sennit_status found, sennit_status due, const char *step) {
    const sennit_error *error = sennit_last_error();
    require(found == due, step, "another status was due");
    require(error->status == due, step, "the last error has another status");
    require(strcmp(error->operation, "sennit_init_mpi") == 0, step, "another operation is named");
    require(!sennit_initialized(), step, "there is a rank after an error");
}

/* Broken by a start of N jobs of one rank. */
static void step_init_mpi_refused(const char *step) {
    require(sennit_init_mpi(MPI_COMM_WORLD, NULL) == SENNIT_ERR_BOOTSTRAP, step, "not refused");
    printf("refused: %s\n", sennit_last_error()->text);
}

/* The last rank never comes: the others time out. MPI would wait for operations that it cannot
 * cancel, so they exit without MPI_Finalize. */
static void step_init_mpi_alone(const char *step) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == expected_size - 1) sleep(30);
    if (getenv("SENNIT_INIT_TIMEOUT") == NULL) options.timeout_ns = 1000000000;
    require_error(sennit_init_mpi(MPI_COMM_WORLD, &options), SENNIT_ERR_TIMEOUT, step);
    printf("timed out\n");
    fflush(stdout);
    exit(3);
}

static void step_init_mpi_self(const char *step) {
    require_ok(sennit_init_mpi(MPI_COMM_SELF, NULL), step);
    check_rank(step, 1);
}

/* The communicator in reverse order: Sennit's rank follows it. */
static void step_init_mpi_reversed(const char *step) {
    int rank = 0;
    MPI_Comm reversed;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    require_ok(sennit_init_mpi(reversed, NULL), step);
    MPI_Comm_free(&reversed);
    check_rank(step, expected_size);
    require(sennit_rank() == expected_size - 1 - rank, step, "the rank is not the communicator's");
    forget_rank();
}

static void step_init_mpi_not_running(const char *step) {
    require_error(sennit_init_mpi(MPI_COMM_WORLD, NULL), SENNIT_ERR_STATE, step);
}

static void step_init_mpi_bad(const char *step) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    sennit_bootstrap bootstrap;
    MPI_Comm half;
    MPI_Comm inter;
    int rank = 0;
    memset(&bootstrap, 0, sizeof bootstrap);
    require_error(sennit_init_mpi(MPI_COMM_NULL, NULL), SENNIT_ERR_ARG, step);
    options.bootstrap = &bootstrap;
    require_error(sennit_init_mpi(MPI_COMM_WORLD, &options), SENNIT_ERR_ARG, step);
    options.bootstrap = NULL;
    options.struct_bytes = 1;
    require_error(sennit_init_mpi(MPI_COMM_WORLD, &options), SENNIT_ERR_ARG, step);
    if (expected_size < 2) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    require_error(sennit_init_mpi(inter, NULL), SENNIT_ERR_ARG, step);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Long enough for a launcher to notice this process. */
static void step_pause(const char *step) {
    (void)step;
    sleep(1);
}

const struct step mpi_steps[] = {
    {"pause", step_pause},
    {"mpi-init", step_mpi_init},
    {"mpi-init-singleton", step_mpi_init_singleton},
    {"mpi-finalize", step_mpi_finalize},
    {"mpi-sum", step_mpi_sum},
    {"init-mpi", step_init_mpi},
    {"init-mpi-refused", step_init_mpi_refused},
    {"init-mpi-alone", step_init_mpi_alone},
    {"init-mpi-self", step_init_mpi_self},
    {"init-mpi-reversed", step_init_mpi_reversed},
    {"init-mpi-not-running", step_init_mpi_not_running},
    {"init-mpi-bad", step_init_mpi_bad},
    {NULL, NULL},
};
