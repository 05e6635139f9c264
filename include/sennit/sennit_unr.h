/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of UNR ("UNR: Unified Notifiable RMA Library for HPC", by Feng and others), a library
 * of puts and gets that signals count, on top of Sennit's blocks, signals and plans
 * (sennit/notify.h, sennit/plan.h). For programs that were written for UNR, which include it in
 * place of unr.h; new ones use Sennit's own calls, which have epochs, timeouts and say more.
 * Header-only, like sennit_mpi.h: it is compiled by the program's own MPI compiler. Without MPI:
 * sennit_unr_calls.h.
 *
 * From UNR: a block is a piece of registered memory with a signal for what is sent from it and
 * one for what it receives, and goes to other processes as sizeof(unr_blk_h) bytes. A put counts in
 * the signal for receiving of the remote block when the data is there, and in the signal for
 * sending of the local block when that may be written again; a get the other way round. A signal
 * has as many events as it was made with, then waits for its reset; something else tells the
 * senders when they may send again. An event that comes before the reset is one too many
 * (SENNIT_EPOCH_CURRENT of notify.h): the sender and the owner's next wait, check or reset report
 * it.
 *
 * What differs: a call that carries out operations by itself returns when their buffers are the
 * caller's again; a run of a plan goes on, and counts at its sender when all of it has moved. What
 * fails on its way counts nowhere; the call, or the next start or the end of the plan, reports it.
 * Each thread keeps some hundred blocks attached for its single operations, and 512 at most: with
 * more, operations pay for attaching, which plans do once. Events too many are found by their
 * number, and not by an overflow bit.
 *
 * As in UNR a call that fails says so on stderr and ends the program with exit, since programs do
 * not look at what it returns. With sennit_unr_returns_errors set to 1, an int that this header
 * has, it returns: URU_EVENT_OVERFLOW for an event too many, URU_STATUS_ERROR for all else;
 * sennit_last_error() has the details. Outputs are then unchanged, or null for calls that return
 * what they make. */
#ifndef SENNIT_SENNIT_UNR_H
#define SENNIT_SENNIT_UNR_H

#include <sennit/sennit_mpi.h>
#include <sennit/sennit_unr_calls.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From unr_init to unr_finalize. */
__attribute__((weak, visibility("default"))) MPI_Datatype MPI_UNR_BLK_H;
__attribute__((weak, visibility("default"))) MPI_Datatype MPI_UNR_SIG_H;
__attribute__((weak, visibility("default"))) int sennit_unr_runs;

/* Starts Sennit with the processes of MPI_COMM_WORLD, for any number of threads. Collective, after
 * MPI_Init. A second call does nothing. Errors: those of sennit_init_mpi. */
static inline uru_status_t unr_init(void) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    if (sennit_unr_runs) return URU_STATUS_OK;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    const sennit_status status = sennit_init_mpi(MPI_COMM_WORLD, &options);
    if (status != SENNIT_OK) return sennit_unr_end(status, "unr_init");
    (void)MPI_Type_contiguous((int)sizeof(unr_blk_h), MPI_BYTE, &MPI_UNR_BLK_H);
    (void)MPI_Type_commit(&MPI_UNR_BLK_H);
    (void)MPI_Type_contiguous((int)sizeof(unr_sig_h), MPI_BYTE, &MPI_UNR_SIG_H);
    (void)MPI_Type_commit(&MPI_UNR_SIG_H);
    sennit_unr_runs = 1;
    return URU_STATUS_OK;
}

/* Ends it, and with it signals, registrations, plans and pools, but not the few bytes that name a
 * plan or pool. Collective, before MPI_Finalize. */
static inline uru_status_t unr_finalize(void) {
    const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    if (status != SENNIT_OK) return sennit_unr_end(status, "unr_finalize");
    (void)MPI_Type_free(&MPI_UNR_BLK_H);
    (void)MPI_Type_free(&MPI_UNR_SIG_H);
    sennit_unr_runs = 0;
    return sennit_unr_end(sennit_finalize(), "unr_finalize");
}

/* As the paper about UNR writes them. */
#define UNR_Init unr_init
#define UNR_Finalize unr_finalize

#ifdef __cplusplus
}
#endif

#endif
