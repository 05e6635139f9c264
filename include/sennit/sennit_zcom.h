/* SPDX-License-Identifier: BSD-3-Clause */
/* The six calls of ZCom (Imhoff 2024), zero-copy channels between the processes of an MPI program
 * on one node, on Sennit's channels. New programs use channel.h, which has timeouts and more
 * errors. Header-only, like sennit_mpi.h.
 *
 * Each process has a buffer for each target, and a pointer to the target's buffer for it. The
 * sender writes its own buffer, and the target reads through the pointer. If the memory cannot be
 * mapped, the pointer is the address of a copy, which is made when ZCom_can_read_c first returns 1.
 *
 * *err gets 0 or a sennit_status, with details in sennit_last_error(). err may be NULL. */
#ifndef SENNIT_SENNIT_ZCOM_H
#define SENNIT_SENNIT_ZCOM_H

#include <sennit/channel.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts starts of Sennit by ZCom_init_c, less its ends by ZCom_cleanup_c. Weak, so that all
 * sources of the program share it. */
__attribute__((weak)) int sennit_zcom_starts;

static inline int sennit_zcom_end(sennit_status status, int *err) {
    if (err != NULL) *err = (int)status;
    return status == SENNIT_OK;
}

static inline sennit_channel sennit_zcom_channel(int id) {
    sennit_channel channel = SENNIT_CHANNEL_NULL;
    if (id > 0) channel.handle = (uint32_t)id;
    return channel;
}

/* Checks one process's arguments, before any process waits for another. */
static inline sennit_status sennit_zcom_check(const sennit_channel_ends *ends, const int *ids,
                                              int size) {
    static const char operation[] = "ZCom_init_c";
    if (ends->count == 0) return SENNIT_OK;
    if (ends->buffers == NULL || ends->bytes == NULL || ends->targets == NULL || ids == NULL)
        return sennit_error_report(SENNIT_ERR_ARG, operation,
                                   "buffers, sizes, target_ranks or ids is null", 0);
    for (size_t i = 0; i < ends->count; ++i)
        if (ends->targets[i] < 0 || ends->targets[i] >= size)
            return sennit_error_report(SENNIT_ERR_RANGE, operation, "no such target in comm", 0);
    return SENNIT_OK;
}

/* worlds[i] gets Sennit's world rank of target i of `comm`. Collective over `comm`. If the `status`
 * of any process is not OK, all processes get an error. */
static inline sennit_status sennit_zcom_translate(MPI_Comm comm, const sennit_channel_ends *ends,
                                                  int *worlds, sennit_status status) {
    static const char operation[] = "ZCom_init_c";
    int self = 0, size = 0, failed, first = 0, code;
    int world = sennit_rank();
    int *all;
    (void)MPI_Comm_rank(comm, &self);
    (void)MPI_Comm_size(comm, &size);
    all = (int *)malloc(sizeof *all * (size_t)size);
    if (all == NULL && status == SENNIT_OK)
        status = sennit_error_report(SENNIT_ERR_NOMEM, operation, "no memory for the ranks", 0);
    /* The lowest process with an error tells the others which. */
    failed = status == SENNIT_OK ? size : self;
    code = MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code == MPI_SUCCESS && first < size) {
        int its = (int)status;
        char text[100];
        code = MPI_Bcast(&its, 1, MPI_INT, first, comm);
        (void)snprintf(text, sizeof text, "process %d of comm cannot open its channels", first);
        if (code == MPI_SUCCESS && status == SENNIT_OK)
            status = sennit_error_report((sennit_status)its, operation, text, 0);
    } else if (code == MPI_SUCCESS) {
        code = MPI_Allgather(&world, 1, MPI_INT, all, 1, MPI_INT, comm);
    }
    if (code != MPI_SUCCESS && status == SENNIT_OK)
        status = sennit_error_report(SENNIT_ERR_BOOTSTRAP, operation, "an MPI call failed", code);
    for (size_t i = 0; status == SENNIT_OK && i < ends->count; ++i)
        worlds[i] = all[ends->targets[i]];
    free(all);
    return status;
}

/* Ends Sennit, and restores the last error. */
static inline void sennit_zcom_leave(void) {
    const sennit_error error = *sennit_last_error();
    if (sennit_finalize() != SENNIT_OK)
        (void)sennit_error_report(error.status, error.operation, error.text, error.provider_code);
}

static inline sennit_status sennit_zcom_open(const sennit_channel_ends *ends, void **attached,
                                             int *ids) {
    sennit_channel *channels = (sennit_channel *)malloc(sizeof *channels * (ends->count + 1));
    sennit_status status;
    if (channels == NULL)
        return sennit_error_report(SENNIT_ERR_NOMEM, "ZCom_init_c", "no memory for the ids", 0);
    status =
        sennit_channel_open(SENNIT_TEAM_WORLD, ends, SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL,
                            SENNIT_FOREVER, attached, channels);
    for (size_t i = 0; status == SENNIT_OK && i < ends->count; ++i)
        ids[i] = (int)channels[i].handle;
    free(channels);
    return status;
}

/* Open a channel with each of `num_targets` ranks of `comm`: buffers[i] of sizes[i] bytes is this
 * process's buffer, attached[i] the target's (`attached` may be NULL) and ids[i] the number of the
 * channel. Collective over `comm`; starts Sennit with its ranks if it is not started. Waits without
 * limit for the targets. Errors: RANGE (a target; this error and ARG are returned to all
 * processes), those of sennit_init_mpi and sennit_channel_open. After an error no channel of the
 * call is open. If the call started Sennit, a process that waits for this one gets PEER_LOST at
 * once. */
static inline void ZCom_init_c(void **buffers, size_t *sizes, MPI_Comm comm, int *target_ranks,
                               int num_targets, void **attached, int *ids, int *err) {
    int *worlds = NULL;
    int size = 0;
    sennit_channel_ends ends;
    sennit_status status = sennit_init_mpi(comm, NULL);
    if (status != SENNIT_OK) {
        (void)sennit_zcom_end(status, err);
        return;
    }
    memset(&ends, 0, sizeof ends);
    ends.count = num_targets > 0 ? (size_t)num_targets : 0;
    ends.targets = target_ranks;
    ends.buffers = buffers;
    ends.bytes = sizes;
    (void)MPI_Comm_size(comm, &size);
    status = sennit_zcom_check(&ends, ids, size);
    worlds = (int *)malloc(sizeof *worlds * (ends.count + 1));
    if (worlds == NULL && status == SENNIT_OK)
        status = sennit_error_report(SENNIT_ERR_NOMEM, "ZCom_init_c", "no memory", 0);
    status = sennit_zcom_translate(comm, &ends, worlds, status);
    ends.targets = worlds;
    if (status == SENNIT_OK) status = sennit_zcom_open(&ends, attached, ids);
    free(worlds);
    if (status == SENNIT_OK)
        ++sennit_zcom_starts;
    else
        sennit_zcom_leave();
    (void)sennit_zcom_end(status, err);
}

/* 1 if the target has read the last message and the buffer may be written, else 0. */
static inline int ZCom_can_write_c(int id, int *err) {
    int can = 0;
    const sennit_status status = sennit_channel_can_write(sennit_zcom_channel(id), &can);
    return sennit_zcom_end(status, err) ? can : 0;
}

/* Hand the buffer over: 1, or 0 if the target has not read the last message. */
static inline int ZCom_have_written_c(int id, int *err) {
    return sennit_zcom_end(sennit_channel_have_written(sennit_zcom_channel(id)), err);
}

/* 1 if the target has written an unread message, else 0. */
static inline int ZCom_can_read_c(int id, int *err) {
    int can = 0;
    const sennit_status status = sennit_channel_can_read(sennit_zcom_channel(id), &can);
    return sennit_zcom_end(status, err) ? can : 0;
}

/* Return the message: 1, or 0 if there was none. */
static inline int ZCom_have_read_c(int id, int *err) {
    return sennit_zcom_end(sennit_channel_have_read(sennit_zcom_channel(id)), err);
}

/* Close the channels of one ZCom_init_c when the targets have read what this process wrote.
 * Collective over `comm`: afterwards nobody uses the buffers. */
static inline void ZCom_cleanup_c(int *ids, int num_targets, MPI_Comm comm, int *err) {
    const size_t count = num_targets > 0 ? (size_t)num_targets : 0;
    sennit_channel *channels = (sennit_channel *)malloc(sizeof *channels * (count + 1));
    sennit_status status = SENNIT_OK;
    if (count != 0 && ids == NULL) {
        status = sennit_error_report(SENNIT_ERR_ARG, "ZCom_cleanup_c", "ids is null", 0);
        free(channels);
    } else if (channels == NULL) {
        status = sennit_error_report(SENNIT_ERR_NOMEM, "ZCom_cleanup_c", "no memory", 0);
    } else {
        for (size_t i = 0; i < count; ++i)
            channels[i] = sennit_zcom_channel(ids[i]);
        status = sennit_channel_close(channels, count, SENNIT_FOREVER);
        free(channels);
    }
    if (MPI_Barrier(comm) != MPI_SUCCESS && status == SENNIT_OK)
        status = sennit_error_report(SENNIT_ERR_BOOTSTRAP, "ZCom_cleanup_c", "MPI_Barrier", 0);
    if (sennit_zcom_starts > 0) {
        const sennit_status ended = sennit_finalize();
        --sennit_zcom_starts;
        if (status == SENNIT_OK) status = ended;
    }
    (void)sennit_zcom_end(status, err);
}

#ifdef __cplusplus
}
#endif

#endif
