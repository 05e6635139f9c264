/* SPDX-License-Identifier: BSD-3-Clause */
/* Start Sennit on a communicator of any MPI. Header-only, like the other sennit_mpi headers: the
 * program's MPI compiler compiles it. Include it after or instead of <mpi.h>. Names with
 * sennit_mpi_ are internal. */
#ifndef SENNIT_SENNIT_MPI_H
#define SENNIT_SENNIT_MPI_H

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <sennit/info.h>
#include <sennit/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of the functions below after MPI_Finalize: no MPI has a negative code. */
#define SENNIT_MPI_IS_OVER (-1)

/* Owned by the rank from a successful sennit_init_mpi to its release. */
typedef struct sennit_mpi_context {
    MPI_Comm duplicate; /* of the user's communicator: its messages match none of the program's */
    int is_being_built; /* sennit_init has not returned: sennit_init_mpi frees this struct */
    int is_released;
    int is_broken; /* a call timed out: it may use the duplicate for ever */
} sennit_mpi_context;

/* MPI may be called: after MPI_Init and before MPI_Finalize. */
static inline int sennit_mpi_is_running(void) {
    int started = 0;
    int over = 0;
    if (MPI_Initialized(&started) != MPI_SUCCESS || MPI_Finalized(&over) != MPI_SUCCESS) return 0;
    return started && !over;
}

/* The knob `name`; `knob->value` is "" if there is none of this name. */
static inline void sennit_mpi_knob(const char *name, sennit_knob *knob) {
    int i;
    for (i = 0; sennit_knob_get(i, knob) == SENNIT_OK; ++i)
        if (strcmp(knob->name, name) == 0) return;
    knob->value[0] = '\0';
}

/* Prints a warning unless SENNIT_LOG excludes warnings. */
static inline void sennit_mpi_warn(const char *text) {
    sennit_knob log;
    sennit_mpi_knob("SENNIT_LOG", &log);
    if (strcmp(log.value, "none") == 0 || strcmp(log.value, "error") == 0) return;
    (void)fprintf(stderr, "sennit: %s\n", text);
}

/* The warning names no rank, because MPI does not tell which one is late. */
static inline void sennit_mpi_warn_of_late(double seconds) {
    char text[200];
    (void)snprintf(
        text, sizeof text,
        "warning: this rank has waited %.0f s for ranks that have not arrived at the call "
        "of the communicator, such as sennit_init_mpi; SENNIT_INIT_TIMEOUT sets a limit",
        seconds);
    sennit_mpi_warn(text);
}

/* Waits for a collective call of MPI, which cannot be cancelled. */
static inline int sennit_mpi_wait(sennit_mpi_context *mpi, MPI_Request *request,
                                  int64_t timeout_ns) {
    const double start = sennit_wtime();
    double next = 10; /* seconds to the next warning */
    for (;;) {
        int is_over = 0;
        const int code = MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
        const double waited = sennit_wtime() - start;
        if (code != MPI_SUCCESS || is_over) return code;
        if (waited * 1e9 >= (double)timeout_ns) break;
        if (waited >= next) {
            sennit_mpi_warn_of_late(waited);
            next *= 3;
        }
        (void)sched_yield();
    }
    mpi->is_broken = 1;
    return (int)sennit_error_report(SENNIT_ERR_TIMEOUT, "MPI_Test",
                                    "some rank has not arrived at the call of the communicator", 0);
}

static inline int sennit_mpi_allgather(void *context, const void *mine, void *all, size_t bytes,
                                       int64_t timeout_ns) {
    sennit_mpi_context *mpi = (sennit_mpi_context *)context;
    MPI_Request request;
    char *copy;
    int size;
    int code;
    if (!sennit_mpi_is_running()) return SENNIT_MPI_IS_OVER;
    if (mpi->is_broken) return MPI_ERR_COMM;
    code = MPI_Comm_size(mpi->duplicate, &size);
    if (code != MPI_SUCCESS) return code;
    if (bytes > (size_t)INT_MAX) return MPI_ERR_COUNT;
    /* A buffer of its own, because MPI may still use it after a timeout. */
    copy = (char *)malloc(bytes * ((size_t)size + 1) + 1);
    if (copy == NULL) return MPI_ERR_NO_MEM;
    if (bytes != 0) memcpy(copy, mine, bytes);
    code = MPI_Iallgather(copy, (int)bytes, MPI_BYTE, copy + bytes, (int)bytes, MPI_BYTE,
                          mpi->duplicate, &request);
    if (code == MPI_SUCCESS) code = sennit_mpi_wait(mpi, &request, timeout_ns);
    if (code == MPI_SUCCESS && bytes != 0) memcpy(all, copy + bytes, bytes * (size_t)size);
    if (!mpi->is_broken) free(copy);
    return code;
}

static inline int sennit_mpi_barrier(void *context, int64_t timeout_ns) {
    sennit_mpi_context *mpi = (sennit_mpi_context *)context;
    MPI_Request request;
    int code;
    if (!sennit_mpi_is_running()) return SENNIT_MPI_IS_OVER;
    if (mpi->is_broken) return MPI_ERR_COMM;
    code = MPI_Ibarrier(mpi->duplicate, &request);
    return code == MPI_SUCCESS ? sennit_mpi_wait(mpi, &request, timeout_ns) : code;
}

static inline void sennit_mpi_release(void *context) {
    sennit_mpi_context *mpi = (sennit_mpi_context *)context;
    if (!mpi->is_released && !mpi->is_broken && sennit_mpi_is_running())
        (void)MPI_Comm_free(&mpi->duplicate);
    mpi->is_released = 1;
    if (!mpi->is_being_built) free(mpi);
}

/* The limit of sennit_init, which also limits the duplication of the communicator. */
static inline int64_t sennit_mpi_limit(const sennit_options *options) {
    sennit_knob knob;
    double seconds;
    if (options->timeout_ns > 0) return options->timeout_ns;
    sennit_mpi_knob("SENNIT_INIT_TIMEOUT", &knob);
    seconds = strtod(knob.value, NULL);
    return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) : SENNIT_FOREVER;
}

/* Fills `bootstrap` from a duplicate of `comm`. `code` gets MPI's error code. It does not call
 * MPI_Comm_dup, which blocks without a limit until all ranks call it. */
static inline sennit_status sennit_mpi_bootstrap_make(MPI_Comm comm, int64_t timeout_ns,
                                                      sennit_bootstrap *bootstrap, int *code) {
    sennit_mpi_context *mpi = (sennit_mpi_context *)malloc(sizeof *mpi);
    MPI_Request request;
    *code = MPI_SUCCESS;
    if (mpi == NULL) return SENNIT_ERR_NOMEM;
    memset(mpi, 0, sizeof *mpi);
    *code = MPI_Comm_idup(comm, &mpi->duplicate, &request);
    if (*code == MPI_SUCCESS) *code = sennit_mpi_wait(mpi, &request, timeout_ns);
    if (mpi->is_broken) return SENNIT_ERR_TIMEOUT; /* MPI may still write into *mpi */
    if (*code != MPI_SUCCESS) {
        free(mpi);
        return SENNIT_ERR_BOOTSTRAP;
    }
    memset(bootstrap, 0, sizeof *bootstrap);
    bootstrap->struct_bytes = sizeof *bootstrap;
    bootstrap->name = "mpi";
    bootstrap->context = mpi;
    bootstrap->allgather = sennit_mpi_allgather;
    bootstrap->barrier = sennit_mpi_barrier;
    bootstrap->release = sennit_mpi_release;
    /* The program's communicator may abort on errors; the duplicate reports them to Sennit. */
    *code = MPI_Comm_set_errhandler(mpi->duplicate, MPI_ERRORS_RETURN);
    if (*code == MPI_SUCCESS) *code = MPI_Comm_rank(mpi->duplicate, &bootstrap->rank);
    if (*code == MPI_SUCCESS) *code = MPI_Comm_size(mpi->duplicate, &bootstrap->size);
    if (*code == MPI_SUCCESS) return SENNIT_OK;
    sennit_mpi_release(mpi);
    return SENNIT_ERR_BOOTSTRAP;
}

/* sennit_init with the ranks of `comm`: its rank i becomes world rank i. Collective over `comm`,
 * from a thread that may call MPI. `options` may be NULL; its bootstrap must be NULL.
 *
 * - The communicator is duplicated; sennit_finalize frees the duplicate. MPI_Finalize may be called
 *   before or after sennit_finalize, but in the same order on all ranks.
 * - Further calls in the same rank are counted, as those of sennit_init.
 * - With MPI_COMM_SELF each process is a job of its own.
 * - After TIMEOUT the duplication of the communicator is still under way, and MPI_Finalize may wait
 *   for it.
 *
 * Errors: ARG (MPI_COMM_NULL, an intercommunicator, a bootstrap in `options`), STATE (before
 * MPI_Init or after MPI_Finalize), BOOTSTRAP (MPI failed, with its code in provider_code; `sennit
 * run` started ranks that MPI does not join), those of sennit_init. */
static inline sennit_status sennit_init_mpi(MPI_Comm comm, const sennit_options *options) {
    static const char operation[] = "sennit_init_mpi";
    sennit_options mine = SENNIT_OPTIONS_INIT;
    sennit_bootstrap bootstrap;
    sennit_mpi_context *mpi;
    sennit_status status;
    int is_inter = 0;
    int code;
    if (!sennit_mpi_is_running())
        return sennit_error_report(SENNIT_ERR_STATE, operation, "MPI is not running", 0);
    if (comm == MPI_COMM_NULL)
        return sennit_error_report(SENNIT_ERR_ARG, operation, "comm is MPI_COMM_NULL", 0);
    code = MPI_Comm_test_inter(comm, &is_inter);
    if (code != MPI_SUCCESS || is_inter)
        return sennit_error_report(SENNIT_ERR_ARG, operation, "comm is no intracommunicator", code);
    if (options != NULL && options->struct_bytes != sizeof mine)
        return sennit_error_report(SENNIT_ERR_ARG, operation, "options lack SENNIT_OPTIONS_INIT",
                                   0);
    if (options != NULL) mine = *options;
    if (mine.bootstrap != NULL)
        return sennit_error_report(SENNIT_ERR_ARG, operation, "options have a bootstrap already",
                                   0);
    if (sennit_initialized()) return sennit_init(options);
    status = sennit_mpi_bootstrap_make(comm, sennit_mpi_limit(&mine), &bootstrap, &code);
    if (status == SENNIT_ERR_TIMEOUT)
        return sennit_error_report(status, operation,
                                   "some rank did not call sennit_init_mpi in time; the limit is "
                                   "SENNIT_INIT_TIMEOUT or options.timeout_ns",
                                   0);
    if (status != SENNIT_OK)
        return sennit_error_report(status, operation, "the communicator cannot be duplicated",
                                   code);
    mpi = (sennit_mpi_context *)bootstrap.context;
    mpi->is_being_built = 1;
    mine.bootstrap = &bootstrap;
    status = sennit_init(&mine);
    mpi->is_being_built = 0;
    if (status != SENNIT_OK) sennit_mpi_release(mpi);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
