/* Runs the steps named on the command line, one after the other, on every rank: the orders in which
 * a program may start and leave Sennit and MPI. Linked once with each MPI (orders_mpi.c) and once
 * without (orders_no_mpi.c).
 *
 *     orders RANKS step...
 *
 * Broken by a launcher that ends the job or hangs because Sennit sent it a message too many or too
 * few, a wrong rank number, or ranks that do not find each other. RANKS is the number of ranks in
 * the launcher's command; every sennit_init must find the same number.
 */
#include "orders.h"

#include <sennit/sennit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int expected_size;
static int last_rank = -1;

void require(int is_true, const char *step, const char *what) {
    if (is_true) return;
    const sennit_error *error = sennit_last_error();
    fprintf(stderr, "orders: step %s: %s (last error %s: %s)\n", step, what,
            sennit_status_string(error->status), error->text);
    exit(3);
}

void require_ok(sennit_status status, const char *step) {
    require(status == SENNIT_OK, step, sennit_status_string(status));
}

void check_rank(const char *step, int size) {
    require(sennit_initialized() == 1, step, "no rank after init");
    require(sennit_size() == size, step, "the size is not what the launcher was asked for");
    require(sennit_rank() >= 0 && sennit_rank() < size, step, "the rank is outside of the world");
    if (size == expected_size) {
        require(last_rank < 0 || last_rank == sennit_rank(), step, "the rank has changed");
        last_rank = sennit_rank();
    }
    require_ok(sennit_barrier(SENNIT_TEAM_WORLD, 20000000000), step);
}

/* The next check accepts another rank number. */
void forget_rank(void) {
    last_rank = -1;
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

/* A child's exit runs the exit handlers, but must not end the rank. */
static void step_fork(const char *step) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) exit(sennit_finalize() == SENNIT_OK || sennit_init(NULL) == SENNIT_OK ? 1 : 0);
    require(child > 0 && waitpid(child, &status, 0) == child, step, "no child");
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, step, "Sennit serves the child");
}

/* Rank 0 exits without finalizing; the launcher must end the others, which would sleep for long. */
static void step_leave_first(const char *step) {
    (void)step;
    if (sennit_rank() == 0) exit(0);
    sleep(30);
}

/* Rank 0 is killed; the others notice it, and the launcher must end them. */
static void step_die(const char *step) {
    if (sennit_rank() == 0) raise(SIGKILL);
    require(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_ERR_PEER_LOST, step,
            "the barrier missed a dead rank");
    sleep(30);
}

/* Rank 0 (in the launcher's numbering) never calls sennit_init; the others time out. */
static void step_missing(const char *step) {
    const char *names[] = {"PMIX_RANK", "PMI_RANK"};
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
    require(!sennit_initialized(), step, "there is a rank after an error");
    printf("timed out\n");
    fflush(stdout);
    exit(0);
}

/* The last rank (in the launcher's numbering) starts after the launcher's limit for a request. */
static void step_late(const char *step) {
    const char *rank = getenv("PMIX_RANK");
    require(rank != NULL, step, "no PMIx launcher");
    if (atoi(rank) == expected_size - 1) sleep(3);
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

static const struct step steps[] = {
    {"init", step_init},
    {"finalize", step_finalize},
    {"barrier", step_barrier},
    {"late", step_late},
    {"exit", step_exit},
    {"fork", step_fork},
    {"leave-first", step_leave_first},
    {"die", step_die},
    {"missing", step_missing},
    {"refused", step_refused},
    {"alone", step_alone},
    {NULL, NULL},
};

static const struct step *find_step(const struct step *table, const char *name) {
    for (; table->name != NULL; ++table)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    expected_size = atoi(argv[1]);
    for (int i = 2; i < argc; ++i) {
        const struct step *step = find_step(steps, argv[i]);
        if (step == NULL) step = find_step(mpi_steps, argv[i]);
        if (step == NULL) {
            fprintf(stderr, "orders: no step is called %s\n", argv[i]);
            return 2;
        }
        step->run(argv[i]);
    }
    printf("orders-done\n");
    return 0;
}
