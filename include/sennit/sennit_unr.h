/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of UNR on Sennit's blocks, signals and plans, for programs that include unr.h. (Feng et
 * al., "UNR: Unified Notifiable RMA Library for HPC", 2024.) New programs use notify.h and plan.h,
 * which have epochs, timeouts and errors. Header-only, like sennit_mpi.h; sennit_unr_calls.h needs
 * no MPI. A program that includes <unr.h>, but no internal header of UNR, compiles unchanged if it
 * finds a file unr.h with the line `#include <sennit/sennit_unr.h>`.
 *
 * As in UNR:
 *
 * - A block is registered memory with a signal for sending and one for receiving. Send it as
 *   sizeof(unr_blk_h) bytes.
 * - A put counts an event in the remote block's signal for receiving when the data is there, and
 *   one in the local block's signal for sending when that block may be written again. A get counts
 *   the other way round.
 * - An event for a fired signal before its reset is surplus: the sender, and the owner's next wait,
 *   check or reset report it. The program must tell senders when they may send again.
 * - A call that fails writes to stderr and ends the program by exit. If the int
 *   sennit_unr_returns_errors is 1, it returns URU_EVENT_OVERFLOW for a surplus event, else
 *   URU_STATUS_ERROR; sennit_last_error() has the details. Outputs are unchanged, or null for
 *   calls that return what they make.
 *
 * Different from UNR:
 *
 * - A single operation returns when its buffers may be reused. A run of a plan continues after its
 *   start; its local events are counted when all data has moved. A failed operation counts no
 *   event; the call, or the next start or the end of the plan, reports it.
 * - A thread caches up to 512 attached blocks for single operations.
 * - Surplus events are detected by counting, not by an overflow bit. */
#ifndef SENNIT_SENNIT_UNR_H
#define SENNIT_SENNIT_UNR_H

#include <sennit/sennit_mpi.h>
#include <sennit/sennit_unr_calls.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Valid from unr_init to unr_finalize. */
__attribute__((weak, visibility("default"))) MPI_Datatype MPI_UNR_MEM_H;
__attribute__((weak, visibility("default"))) MPI_Datatype MPI_UNR_BLK_H;
__attribute__((weak, visibility("default"))) MPI_Datatype MPI_UNR_SIG_H;
__attribute__((weak, visibility("default"))) int sennit_unr_runs;

/* Start Sennit with the processes of MPI_COMM_WORLD, for any number of threads. Collective, after
 * MPI_Init. A second call does nothing. Errors: those of sennit_init_mpi. */
static inline uru_status_t unr_init(void) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    if (sennit_unr_runs) return URU_STATUS_OK;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    const sennit_status status = sennit_init_mpi(MPI_COMM_WORLD, &options);
    if (status != SENNIT_OK) return sennit_unr_end(status, "unr_init");
    (void)MPI_Type_contiguous((int)sizeof(unr_mem_h), MPI_BYTE, &MPI_UNR_MEM_H);
    (void)MPI_Type_commit(&MPI_UNR_MEM_H);
    (void)MPI_Type_contiguous((int)sizeof(unr_blk_h), MPI_BYTE, &MPI_UNR_BLK_H);
    (void)MPI_Type_commit(&MPI_UNR_BLK_H);
    (void)MPI_Type_contiguous((int)sizeof(unr_sig_h), MPI_BYTE, &MPI_UNR_SIG_H);
    (void)MPI_Type_commit(&MPI_UNR_SIG_H);
    sennit_unr_runs = 1;
    return URU_STATUS_OK;
}

/* End Sennit, with signals, registrations, plans and pools. Collective, before MPI_Finalize. */
static inline uru_status_t unr_finalize(void) {
    const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    if (status != SENNIT_OK) return sennit_unr_end(status, "unr_finalize");
    (void)MPI_Type_free(&MPI_UNR_MEM_H);
    (void)MPI_Type_free(&MPI_UNR_BLK_H);
    (void)MPI_Type_free(&MPI_UNR_SIG_H);
    sennit_unr_runs = 0;
    return sennit_unr_end(sennit_finalize(), "unr_finalize");
}

/* The names in the paper about UNR. */
#define UNR_Init unr_init
#define UNR_Finalize unr_finalize

#ifdef __cplusplus
}
#endif

#endif
