/* Runs the steps named on the command line, one after the other, on every rank: the orders in which
 * a program may start and leave Sennit and MPI. Compiled once with each MPI and once without.
 *
 *     orders RANKS step...
 *
 * What breaks it: a launcher that ends the job or hangs because Sennit said a word too many or too
 * few to it, a wrong rank number, ranks that do not meet. RANKS is how many the launcher was asked
 * for; every sennit_init must find as many.
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ORDERS_WITH_MPI
#include <sennit/sennit_mpi.h>
#endif

static int expected_size;
static int last_rank = -1;

static void require(int is_true, const char *step, const char *what) {
    if (is_true) return;
    const sennit_error *error = sennit_last_error();
    fprintf(stderr, "orders: step %s: %s (last error %s: %s)\n", step, what,
            sennit_status_string(error->status), error->text);
    exit(3);
}

static void require_ok(sennit_status status, const char *step) {
    require(status == SENNIT_OK, step, sennit_status_string(status));
}

static void check_rank(const char *step, int size) {
    require(sennit_initialized() == 1, step, "no rank after init");
    require(sennit_size() == size, step, "the size is not what the launcher was asked for");
    require(sennit_rank() >= 0 && sennit_rank() < size, step, "the rank is outside of the world");
    if (size == expected_size) {
        require(last_rank < 0 || last_rank == sennit_rank(), step, "the rank has changed");
        last_rank = sennit_rank();
    }
    require_ok(sennit_barrier(SENNIT_TEAM_WORLD, 20000000000), step);
}

static void step_init(const char *step) {
    require_ok(sennit_init(NULL), step);
    check_rank(step, expected_size);
}

static void step_finalize(const char *step) {
    require_ok(sennit_finalize(), step);
}

static void step_barrier(const char *step) {
    check_rank(step, expected_size);
}

static void step_exit(const char *step) {
    (void)step;
    exit(0);
}

/* A child that ends runs the exit handlers too, and must not take leave of the launcher. */
static void step_fork(const char *step) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) exit(sennit_finalize() == SENNIT_OK || sennit_init(NULL) == SENNIT_OK ? 1 : 0);
    require(child > 0 && waitpid(child, &status, 0) == child, step, "no child");
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, step, "the child may call Sennit");
}

/* One rank leaves without a word; the launcher must end the others, who would wait here for long.
 */
static void step_leave_first(const char *step) {
    (void)step;
    if (sennit_rank() == 0) exit(0);
    sleep(30);
}

/* Rank 0 (by the launcher's word) never comes; the others find out when their time is over. */
static void step_missing(const char *step) {
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    sennit_options options = SENNIT_OPTIONS_INIT;
    sennit_status status;
    double start = sennit_wtime();
    for (int i = 0; i < 2; ++i)
        if (getenv(names[i]) != NULL && atoi(getenv(names[i])) == 0) {
            sleep(8);
            exit(3);
        }
    options.timeout_ns = 1000000000;
    status = sennit_init(&options);
    require(status == SENNIT_ERR_TIMEOUT, step, "init did not time out");
    require(sennit_wtime() - start < 6.0, step, "the timeout was not kept");
    require(!sennit_initialized(), step, "an error has made a rank");
    printf("timed out\n");
    fflush(stdout);
    exit(0);
}

static void step_refused(const char *step) {
    sennit_status status = sennit_init(NULL);
    require(status == SENNIT_ERR_BOOTSTRAP, step, "init did not say that the launcher is wrong");
    printf("refused: %s\n", sennit_last_error()->text);
}

static void step_alone(const char *step) {
    require_ok(sennit_init(NULL), step);
    check_rank(step, 1);
    require(strcmp(sennit_bootstrap_used(), "alone") == 0, step, "not alone");
}

#ifdef ORDERS_WITH_MPI
static void step_mpi_init(const char *step) {
    int size = 0;
    require(MPI_Init(NULL, NULL) == MPI_SUCCESS, step, "MPI_Init failed");
    require(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS, step, "no size");
    require(size == expected_size, step, "MPI has another size");
}

/* Where MPI was started by a launcher that it does not know: N times one rank. */
static void step_mpi_init_singleton(const char *step) {
    int size = 0;
    require(MPI_Init(NULL, NULL) == MPI_SUCCESS, step, "MPI_Init failed");
    require(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS, step, "no size");
    require(size == 1, step, "MPI is no singleton");
}

static void step_mpi_finalize(const char *step) {
    require(MPI_Finalize() == MPI_SUCCESS, step, "MPI_Finalize failed");
}

/* MPI still works: every rank hears of every other. */
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
    last_rank = -1;
}

static void require_error(sennit_status found, sennit_status due, const char *step) {
    const sennit_error *error = sennit_last_error();
    require(found == due, step, "another status was due");
    require(error->status == due, step, "the last error has another status");
    require(strcmp(error->operation, "sennit_init_mpi") == 0, step, "another operation is named");
    require(!sennit_initialized(), step, "an error has made a rank");
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
#endif

struct step {
    const char *name;
    void (*run)(const char *name);
};

static const struct step steps[] = {
    {"init", step_init},
    {"finalize", step_finalize},
    {"barrier", step_barrier},
    {"exit", step_exit},
    {"fork", step_fork},
    {"leave-first", step_leave_first},
    {"missing", step_missing},
    {"refused", step_refused},
    {"alone", step_alone},
#ifdef ORDERS_WITH_MPI
    {"mpi-init", step_mpi_init},
    {"mpi-init-singleton", step_mpi_init_singleton},
    {"mpi-finalize", step_mpi_finalize},
    {"mpi-sum", step_mpi_sum},
    {"init-mpi", step_init_mpi},
    {"init-mpi-self", step_init_mpi_self},
    {"init-mpi-reversed", step_init_mpi_reversed},
    {"init-mpi-not-running", step_init_mpi_not_running},
    {"init-mpi-bad", step_init_mpi_bad},
#endif
};

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    expected_size = atoi(argv[1]);
    for (int i = 2; i < argc; ++i) {
        size_t found = 0;
        const size_t count = sizeof steps / sizeof steps[0];
        while (found < count && strcmp(steps[found].name, argv[i]) != 0)
            ++found;
        if (found == count) {
            fprintf(stderr, "orders: no step is called %s\n", argv[i]);
            return 2;
        }
        steps[found].run(argv[i]);
    }
    printf("orders-done\n");
    return 0;
}
