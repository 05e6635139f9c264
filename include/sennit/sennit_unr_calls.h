/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of UNR except unr_init and unr_finalize, for programs without MPI, which call
 * sennit_init. Programs with MPI include sennit_unr.h. */
#ifndef SENNIT_SENNIT_UNR_CALLS_H
#define SENNIT_SENNIT_UNR_CALLS_H

#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results. These calls give OK, EVENT_OVERFLOW, ERROR, TRIGGERED and WAITING. */
typedef enum uru_status_t {
    URU_STATUS_OK = 0,
    URU_EVENT_OVERFLOW,
    URU_STATUS_FUNC_NOT_IMPLEMENTED,
    URU_STATUS_ERROR,
    URU_CHANNEL_OPENED,
    URU_SIGNAL_TRIGGERED,
    URU_SIGNAL_WAITING,
    URU_DATA_RECEIVED,
    URU_DATA_RECEIVING,
    URU_DATA_SENT,
    URU_DATA_SENDING,
    URU_ERROR_EXIT,
    URU_NOT_IMPLEMENT_EXIT,
    URU_ASSERT_EXIT,
    URU_MPI_CHANNEL_ERROR_EXIT,
    URU_GLEX_ERROR_EXIT,
    URU_VERBS_ERROR_EXIT,
    URU_STATUS_NUM
} uru_status_t;

/* The text of a result; never NULL. */
static inline const char *uru_status_string(uru_status_t status) {
    static const char *const texts[URU_STATUS_NUM] = {
        "success",
        "a surplus event",
        "the function is missing",
        "error",
        "the channel is open already",
        "the signal has fired",
        "the signal has not fired",
        "the data has arrived",
        "the data has not arrived",
        "the data was sent",
        "the data was not sent",
        "end by an error",
        "end by a missing function",
        "end by a failed check",
        "end by an error of the channel MPI",
        "end by an error of GLEX",
        "end by an error of verbs",
    };
    const int is_known = (int)status >= 0 && (int)status < (int)URU_STATUS_NUM;
    return is_known ? texts[(int)status] : "unknown result";
}

/* The direction of an operation. */
typedef enum uru_transfer_t {
    URU_TRANSFER_TYPE_UNKNOWN = 0,
    URU_TRANSFER_TYPE_DMA_PUT, /* from the local block to the remote one */
    URU_TRANSFER_TYPE_DMA_GET  /* from the remote block to the local one */
} uru_transfer_t;

/* Weak, here and below: all sources of the program share one object. */
__attribute__((weak, visibility("default"))) uru_transfer_t sennit_unr_all[2];
/* In place of an array of directions: all puts, or all gets. */
#define URU_TRANSFER_TYPE_DMA_PUT_ALL (&sennit_unr_all[0])
#define URU_TRANSFER_TYPE_DMA_GET_ALL (&sennit_unr_all[1])

/* Registered memory, a signal and a block: plain data. Send signals and blocks by any means, such
 * as MPI_UNR_SIG_H and MPI_UNR_BLK_H. */
typedef sennit_region unr_mem_h;
typedef sennit_signal unr_sig_h;
typedef sennit_block unr_blk_h;
/* Plans and pools: handles of the process that made them. */
typedef struct sennit_unr_plan *unr_plan_h;
typedef unr_plan_h unr_plan_t;
typedef struct sennit_unr_pool *unr_sig_pool_h;

/* No signal; in an operation, the block's own. */
#define UNR_NO_SIGNAL SENNIT_SIGNAL_NULL

struct sennit_unr_plan {
    sennit_plan plan;
    sennit_peer_block *blocks; /* attached for the plan */
    size_t count;
    int is_running; /* its last run has not been waited for */
};

struct sennit_unr_pool {
    sennit_waitset set;
};

/* Not 0: calls that fail return an error; 0: they end the program. */
__attribute__((weak, visibility("default"))) int sennit_unr_returns_errors;

static inline uru_status_t sennit_unr_end(sennit_status status, const char *operation) {
    const int is_overflow = status == SENNIT_ERR_SIGNAL_OVERFLOW;
    const uru_status_t code = is_overflow ? URU_EVENT_OVERFLOW : URU_STATUS_ERROR;
    if (status == SENNIT_OK) return URU_STATUS_OK;
    if (sennit_unr_returns_errors) return code;
    (void)fprintf(stderr, "sennit: %s failed on rank %d: %s: %s\n", operation, sennit_rank(),
                  sennit_status_string(status), sennit_last_error()->text);
    exit((int)code);
}

static inline int sennit_unr_is_same(const unr_blk_h *a, const unr_blk_h *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* A block that a thread has attached for its single operations, so that a loop attaches once. */
typedef struct sennit_unr_kept {
    unr_blk_h block;
    sennit_peer_block attached;
} sennit_unr_kept;

/* A place among the thread's 512: the block's own, else a free one, else that of another block,
 * which is removed. The block's last word, its check value, is the hash. */
static inline sennit_unr_kept *sennit_unr_place(const unr_blk_h *block) {
    static __thread sennit_unr_kept places[128][4];
    const uint64_t hash = block->words[7] >> 32;
    sennit_unr_kept *set = places[hash % 128];
    size_t i = 0;
    for (i = 0; i < 4; ++i)
        if (sennit_unr_is_same(&set[i].block, block)) return &set[i];
    for (i = 0; i < 4; ++i)
        if (sennit_block_is_null(&set[i].block)) return &set[i];
    return &set[hash >> 7 & 3];
}

/* Empties a place and detaches its block. A handle from before a new unr_init is not detached: it
 * may name another block now. */
static inline void sennit_unr_forget(sennit_unr_kept *kept) {
    sennit_block_info info;
    if (!sennit_block_is_null(&kept->block) && sennit_block_query(&kept->block, &info) == SENNIT_OK)
        (void)sennit_block_detach(kept->attached);
    memset(kept, 0, sizeof *kept);
}

static inline sennit_status sennit_unr_attach(const unr_blk_h *block, sennit_unr_kept *kept) {
    if (sennit_unr_is_same(&kept->block, block)) return SENNIT_OK;
    sennit_unr_forget(kept);
    sennit_status status = sennit_block_attach(block, &kept->attached);
    if (status == SENNIT_OK) kept->block = *block;
    return status;
}

/* Restores an error that later calls have overwritten. */
static inline sennit_status sennit_unr_again(sennit_error error) {
    return sennit_error_report(error.status, error.operation, error.text, error.provider_code);
}

/* Make `size` bytes at `addr` reachable until unr_finalize (sennit_register). */
static inline uru_status_t unr_mem_reg(void *addr, size_t size, unr_mem_h *mem_h) {
    return sennit_unr_end(sennit_register(addr, size, 0, mem_h), "unr_mem_reg");
}

/* A barrier. Collective. */
static inline uru_status_t unr_mem_reg_sync(void) {
    return sennit_unr_end(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "unr_mem_reg_sync");
}

/* Make a signal of `num_event` events, 1 to 2147483647. It is SENNIT_SIGNAL_UNCHECKED and not
 * strict: no sender waits for its reset, and an event for the fired signal is surplus. */
static inline uru_status_t unr_sig_create(unr_sig_h *sig_h, uint64_t num_event) {
    sennit_status status = SENNIT_OK;
    if (num_event == 0 || num_event > 2147483647u)
        status = sennit_error_report(SENNIT_ERR_ARG, "unr_sig_create",
                                     "a signal has 1 to 2147483647 events", 0);
    else
        status = sennit_signal_create((uint32_t)num_event, (uint32_t)num_event,
                                      SENNIT_SIGNAL_UNCHECKED, sig_h);
    return sennit_unr_end(status, "unr_sig_create");
}

/* URU_SIGNAL_TRIGGERED if the signal has fired, else URU_SIGNAL_WAITING. */
static inline uru_status_t unr_sig_check(unr_sig_h sig_h) {
    int done = 0;
    const sennit_status status = sennit_signal_test(sig_h, &done);
    if (status != SENNIT_OK) return sennit_unr_end(status, "unr_sig_check");
    return done ? URU_SIGNAL_TRIGGERED : URU_SIGNAL_WAITING;
}

/* Wait without limit until the signal has fired. Prints a line to stderr every 10 s. */
static inline uru_status_t unr_sig_wait(unr_sig_h sig_h) {
    sennit_status status = sennit_signal_wait(sig_h, 10 * (int64_t)1000000000);
    while (status == SENNIT_ERR_TIMEOUT) {
        uint32_t left = 0;
        (void)sennit_signal_remaining(sig_h, &left);
        (void)fprintf(stderr, "sennit: unr_sig_wait on rank %d: %u event%s not come\n",
                      sennit_rank(), (unsigned)left, left == 1 ? " has" : "s have");
        status = sennit_signal_wait(sig_h, 10 * (int64_t)1000000000);
    }
    return sennit_unr_end(status, "unr_sig_wait");
}

/* Reset a fired signal, when its memory may be written again. An error if it has not fired, or
 * after surplus events; in the latter case a second call resets it. */
static inline uru_status_t unr_sig_reset(unr_sig_h sig_h) {
    return sennit_unr_end(sennit_signal_reset(sig_h), "unr_sig_reset");
}

/* Make a pool of `num_sigs` signals of the caller's, each in one pool at most. unr_finalize ends
 * it. */
static inline uru_status_t unr_sig_pool_create(unr_sig_pool_h *sig_pool_h, int32_t num_sigs,
                                               unr_sig_h *sig_h_arr) {
    struct sennit_unr_pool *pool = (struct sennit_unr_pool *)malloc(sizeof *pool);
    sennit_status status = SENNIT_OK;
    if (pool == NULL)
        status = sennit_error_report(SENNIT_ERR_NOMEM, "unr_sig_pool_create", "no memory", 0);
    else if (num_sigs <= 0)
        status = sennit_error_report(SENNIT_ERR_ARG, "unr_sig_pool_create",
                                     "a pool has one signal at least", 0);
    if (status == SENNIT_OK) status = sennit_waitset_create(&pool->set);
    if (status != SENNIT_OK) {
        free(pool);
        return sennit_unr_end(status, "unr_sig_pool_create");
    }
    for (size_t i = 0; status == SENNIT_OK && i < (size_t)num_sigs; ++i)
        status = sennit_waitset_add(pool->set, sig_h_arr[i], i);
    if (status == SENNIT_OK) {
        *sig_pool_h = pool;
        return URU_STATUS_OK;
    }
    {
        const sennit_error error = *sennit_last_error();
        (void)sennit_waitset_destroy(pool->set);
        free(pool);
        (void)sennit_unr_again(error);
    }
    return sennit_unr_end(status, "unr_sig_pool_create");
}

/* *sig_id gets the number of a fired signal of the pool, which is reset, or -1. Does not wait. */
static inline uru_status_t unr_sig_pool_detect(unr_sig_pool_h sig_pool_h, int32_t *sig_id) {
    sennit_fired fired;
    sennit_status status = sennit_waitset_wait_any(sig_pool_h->set, 0, &fired);
    const int is_none = status == SENNIT_ERR_TIMEOUT;
    if (status == SENNIT_OK) status = sennit_signal_reset(fired.signal);
    if (is_none || status == SENNIT_OK) *sig_id = is_none ? -1 : (int32_t)fired.cookie;
    return is_none ? URU_STATUS_OK : sennit_unr_end(status, "unr_sig_pool_detect");
}

/* Describe `size` bytes at `offset` of the caller's registered memory. `send_sig_h` counts the
 * messages that the block sends, `recv_sig_h` those that it receives. Both are the caller's signals
 * or UNR_NO_SIGNAL. */
static inline uru_status_t unr_blk_reg(unr_mem_h mem_h, size_t offset, size_t size,
                                       unr_sig_h send_sig_h, unr_sig_h recv_sig_h,
                                       unr_blk_h *blk_h) {
    return sennit_unr_end(sennit_block_init(mem_h, offset, size, send_sig_h, recv_sig_h, blk_h),
                          "unr_blk_reg");
}

/* Operations in the form of the calls below. */
typedef struct sennit_unr_list {
    size_t count;
    const unr_blk_h *local;
    const unr_sig_h *local_signals; /* NULL or UNR_NO_SIGNAL: the block's own */
    const size_t *local_offsets;    /* in the blocks; NULL: 0 */
    const size_t *bytes;            /* NULL: whole blocks, of the same size at both ends */
    const unr_blk_h *remote;
    const unr_sig_h *remote_signals;
    const size_t *remote_offsets;
    const uru_transfer_t *types;
} sennit_unr_list;

/* One operation in Sennit's form. */
typedef struct sennit_unr_operation {
    int is_put;
    void *buffer;
    size_t offset; /* in the remote block */
    size_t bytes;
    sennit_notice notice;
} sennit_unr_operation;

static inline int sennit_unr_is_put(const sennit_unr_list *list, size_t i) {
    if (list->types == URU_TRANSFER_TYPE_DMA_GET_ALL) return 0;
    return list->types == URU_TRANSFER_TYPE_DMA_PUT_ALL ||
           list->types[i] == URU_TRANSFER_TYPE_DMA_PUT;
}

static inline sennit_status sennit_unr_resolve(const sennit_unr_list *list, size_t i,
                                               sennit_unr_operation *operation) {
    const size_t at = list->local_offsets == NULL ? 0 : list->local_offsets[i];
    sennit_block_info local;
    sennit_block_info remote;
    sennit_status status = sennit_block_query(&list->local[i], &local);
    memset(&remote, 0, sizeof remote);
    if (status == SENNIT_OK && list->bytes == NULL)
        status = sennit_block_query(&list->remote[i], &remote);
    if (status != SENNIT_OK) return status;
    if (local.gptr.rank != sennit_rank())
        return sennit_error_report(SENNIT_ERR_ARG, "unr", "the local block is another rank's", 0);
    if (list->types != URU_TRANSFER_TYPE_DMA_PUT_ALL &&
        list->types != URU_TRANSFER_TYPE_DMA_GET_ALL &&
        list->types[i] != URU_TRANSFER_TYPE_DMA_PUT && list->types[i] != URU_TRANSFER_TYPE_DMA_GET)
        return sennit_error_report(SENNIT_ERR_ARG, "unr", "an operation is a put or a get", 0);
    operation->is_put = sennit_unr_is_put(list, i);
    if (list->bytes == NULL && local.bytes != remote.bytes)
        return sennit_error_report(SENNIT_ERR_ARG, "unr", "the blocks differ in size", 0);
    operation->bytes = list->bytes == NULL ? (size_t)local.bytes : list->bytes[i];
    operation->offset = list->remote_offsets == NULL ? 0 : list->remote_offsets[i];
    if (at > local.bytes || operation->bytes > local.bytes - at)
        return sennit_error_report(SENNIT_ERR_RANGE, "unr", "it leaves the local block", 0);
    operation->buffer = sennit_ptr(sennit_gptr_add(local.gptr, (int64_t)at));
    if (operation->buffer == NULL) return sennit_last_error()->status;
    memset(&operation->notice, 0, sizeof operation->notice);
    operation->notice.remote =
        list->remote_signals == NULL ? UNR_NO_SIGNAL : list->remote_signals[i];
    operation->notice.local = list->local_signals == NULL ? UNR_NO_SIGNAL : list->local_signals[i];
    if (operation->notice.local.handle == 0)
        operation->notice.local = operation->is_put ? local.on_send : local.on_recv;
    return SENNIT_OK;
}

/* Waits for the last run of the plan, if that was not waited for. */
static inline sennit_status sennit_unr_plan_wait(unr_plan_h plan) {
    sennit_status status = SENNIT_OK;
    if (plan->is_running) status = sennit_plan_wait(plan->plan, SENNIT_FOREVER);
    plan->is_running = status == SENNIT_ERR_TIMEOUT;
    return status == SENNIT_ERR_STATE ? SENNIT_OK : status;
}

/* Ends the plan and detaches its blocks. Returns the first error, which is also the thread's last
 * error then. */
static inline sennit_status sennit_unr_plan_end(unr_plan_h plan, sennit_status status) {
    sennit_error error = *sennit_last_error();
    const sennit_status waited = sennit_unr_plan_wait(plan);
    sennit_status ended = SENNIT_OK;
    if (status == SENNIT_OK) {
        error = *sennit_last_error();
        status = waited;
    }
    ended = plan->is_running ? waited : sennit_plan_destroy(plan->plan);
    if (ended == SENNIT_OK) {
        for (size_t i = 0; i < plan->count; ++i)
            (void)sennit_block_detach(plan->blocks[i]);
        free(plan->blocks);
        free(plan);
    } else if (status == SENNIT_OK) {
        return ended;
    }
    return status == SENNIT_OK ? status : sennit_unr_again(error);
}

/* An operation of 0 bytes is ignored, and counts no event, as in UNR. */
static inline sennit_status sennit_unr_record(unr_plan_h plan, const sennit_unr_list *list,
                                              size_t i, size_t *last) {
    sennit_unr_operation it;
    sennit_status status = sennit_unr_resolve(list, i, &it);
    if (status != SENNIT_OK || it.bytes == 0) return status;
    if (plan->count == 0 || !sennit_unr_is_same(&list->remote[*last], &list->remote[i])) {
        status = sennit_block_attach(&list->remote[i], &plan->blocks[plan->count]);
        if (status != SENNIT_OK) return status;
        ++plan->count;
        *last = i;
    }
    it.notice.epoch = SENNIT_EPOCH_NEXT;
    return it.is_put ? sennit_plan_put_with(plan->plan, plan->blocks[plan->count - 1], it.offset,
                                            it.buffer, it.bytes, &it.notice)
                     : sennit_plan_get_with(plan->plan, it.buffer, plan->blocks[plan->count - 1],
                                            it.offset, it.bytes, &it.notice);
}

static inline sennit_status sennit_unr_plan_make(const sennit_unr_list *list, unr_plan_h *plan_h) {
    unr_plan_h plan = (unr_plan_h)calloc(1, sizeof *plan);
    sennit_status status = SENNIT_OK;
    size_t last = 0;
    if (plan != NULL)
        plan->blocks = (sennit_peer_block *)calloc(list->count + 1, sizeof *plan->blocks);
    if (plan == NULL || plan->blocks == NULL)
        status = sennit_error_report(SENNIT_ERR_NOMEM, "unr", "no memory for a plan", 0);
    if (status == SENNIT_OK) status = sennit_plan_create(&plan->plan);
    if (status != SENNIT_OK) {
        if (plan != NULL) free(plan->blocks);
        free(plan);
        return status;
    }
    for (size_t i = 0; status == SENNIT_OK && i < list->count; ++i)
        status = sennit_unr_record(plan, list, i, &last);
    if (status == SENNIT_OK) status = sennit_plan_commit(plan->plan, SENNIT_EPOCH_CURRENT, 0);
    if (status != SENNIT_OK) return sennit_unr_plan_end(plan, status);
    *plan_h = plan;
    return SENNIT_OK;
}

static inline sennit_status sennit_unr_plan_run(unr_plan_h plan) {
    sennit_status status = sennit_unr_plan_wait(plan);
    if (status != SENNIT_OK) return status;
    /* Even a start that fails may have left data under way. */
    plan->is_running = 1;
    return sennit_plan_start(plan->plan);
}

static inline sennit_status sennit_unr_run_list(const sennit_unr_list *list) {
    unr_plan_h plan = NULL;
    const sennit_status status = sennit_unr_plan_make(list, &plan);
    if (status != SENNIT_OK) return status;
    const sennit_status started = sennit_unr_plan_run(plan);
    const sennit_status waited = started == SENNIT_OK ? sennit_unr_plan_wait(plan) : started;
    return sennit_unr_plan_end(plan, waited);
}

static inline sennit_status sennit_unr_run_one(const sennit_unr_list *list) {
    sennit_unr_operation it;
    sennit_unr_kept *kept = sennit_unr_place(list->remote);
    sennit_status status = sennit_unr_resolve(list, 0, &it);
    if (status != SENNIT_OK || it.bytes == 0) return status;
    status = sennit_unr_attach(list->remote, kept);
    if (status != SENNIT_OK) return status;
    it.notice.epoch = SENNIT_EPOCH_CURRENT;
    status =
        it.is_put
            ? sennit_put_notify_with(kept->attached, it.offset, it.buffer, it.bytes, &it.notice)
            : sennit_get_notify_with(it.buffer, kept->attached, it.offset, it.bytes, &it.notice);
    if (status != SENNIT_OK) {
        const sennit_error error = *sennit_last_error();
        sennit_unr_forget(kept);
        (void)sennit_unr_again(error);
    }
    return status;
}

/* Start a run of a plan; its signals fire when it is over. The next start and the end of the plan
 * wait for it and report its error. */
static inline uru_status_t unr_plan_start(unr_plan_h plan_h) {
    return sennit_unr_end(sennit_unr_plan_run(plan_h), "unr_plan_start");
}

static inline uru_status_t unr_plan_destroy(unr_plan_h plan_h) {
    return sennit_unr_end(sennit_unr_plan_end(plan_h, SENNIT_OK), "unr_plan_destroy");
}

/* Put the local block into the remote one, or get the remote block: at once, or recorded in a plan.
 * Both blocks have the same size. Signals other than UNR_NO_SIGNAL replace those of the blocks. */
static inline uru_status_t unr_blk_rdma_start(unr_blk_h loc_blk_h, unr_sig_h loc_sig_h,
                                              unr_blk_h rmt_blk_h, unr_sig_h rmt_sig_h,
                                              uru_transfer_t dma_type) {
    const sennit_unr_list one = {1,          &loc_blk_h, &loc_sig_h, NULL,     NULL,
                                 &rmt_blk_h, &rmt_sig_h, NULL,       &dma_type};
    return sennit_unr_end(sennit_unr_run_one(&one), "unr_blk_rdma_start");
}
static inline uru_status_t unr_blk_rdma_plan(unr_blk_h loc_blk_h, unr_sig_h loc_sig_h,
                                             unr_blk_h rmt_blk_h, unr_sig_h rmt_sig_h,
                                             uru_transfer_t dma_type, unr_plan_h *plan_h) {
    const sennit_unr_list one = {1,          &loc_blk_h, &loc_sig_h, NULL,     NULL,
                                 &rmt_blk_h, &rmt_sig_h, NULL,       &dma_type};
    return sennit_unr_end(sennit_unr_plan_make(&one, plan_h), "unr_blk_rdma_plan");
}

/* The same with parts: `size` bytes from an offset in each block. 0 bytes count no event. */
static inline uru_status_t unr_blk_part_rdma_start(unr_blk_h loc_blk_h, unr_sig_h loc_sig_h,
                                                   size_t loc_offset, size_t size,
                                                   unr_blk_h rmt_blk_h, unr_sig_h rmt_sig_h,
                                                   size_t rmt_offset, uru_transfer_t dma_type) {
    const sennit_unr_list one = {1,          &loc_blk_h, &loc_sig_h,  &loc_offset, &size,
                                 &rmt_blk_h, &rmt_sig_h, &rmt_offset, &dma_type};
    return sennit_unr_end(sennit_unr_run_one(&one), "unr_blk_part_rdma_start");
}
static inline uru_status_t unr_blk_part_rdma_plan(unr_blk_h loc_blk_h, unr_sig_h loc_sig_h,
                                                  size_t loc_offset, size_t size,
                                                  unr_blk_h rmt_blk_h, unr_sig_h rmt_sig_h,
                                                  size_t rmt_offset, uru_transfer_t dma_type,
                                                  unr_plan_h *plan_h) {
    const sennit_unr_list one = {1,          &loc_blk_h, &loc_sig_h,  &loc_offset, &size,
                                 &rmt_blk_h, &rmt_sig_h, &rmt_offset, &dma_type};
    return sennit_unr_end(sennit_unr_plan_make(&one, plan_h), "unr_blk_part_rdma_plan");
}

/* `num_sends` such operations, given by arrays. A NULL array of signals: the blocks' own. */
static inline uru_status_t unr_blk_rdma_batch_start(size_t num_sends,
                                                    const unr_blk_h *loc_blk_h_arr,
                                                    const unr_sig_h *loc_sig_h_arr,
                                                    const unr_blk_h *rmt_blk_h_arr,
                                                    const unr_sig_h *rmt_sig_h_arr,
                                                    const uru_transfer_t *dma_type_arr) {
    const sennit_unr_list list = {num_sends,     loc_blk_h_arr, loc_sig_h_arr, NULL,        NULL,
                                  rmt_blk_h_arr, rmt_sig_h_arr, NULL,          dma_type_arr};
    return sennit_unr_end(sennit_unr_run_list(&list), "unr_blk_rdma_batch_start");
}
static inline uru_status_t unr_blk_rdma_batch_plan(size_t num_sends, const unr_blk_h *loc_blk_h_arr,
                                                   const unr_sig_h *loc_sig_h_arr,
                                                   const unr_blk_h *rmt_blk_h_arr,
                                                   const unr_sig_h *rmt_sig_h_arr,
                                                   const uru_transfer_t *dma_type_arr,
                                                   unr_plan_h *plan_h) {
    const sennit_unr_list list = {num_sends,     loc_blk_h_arr, loc_sig_h_arr, NULL,        NULL,
                                  rmt_blk_h_arr, rmt_sig_h_arr, NULL,          dma_type_arr};
    return sennit_unr_end(sennit_unr_plan_make(&list, plan_h), "unr_blk_rdma_batch_plan");
}
static inline uru_status_t unr_blk_part_rdma_batch_start(
    size_t num_sends, const unr_blk_h *loc_blk_h_arr, const unr_sig_h *loc_sig_h_arr,
    const size_t *loc_offset, const size_t *size, const unr_blk_h *rmt_blk_h_arr,
    const unr_sig_h *rmt_sig_h_arr, const size_t *rmt_offset, const uru_transfer_t *dma_type_arr) {
    const sennit_unr_list list = {num_sends,     loc_blk_h_arr, loc_sig_h_arr, loc_offset,  size,
                                  rmt_blk_h_arr, rmt_sig_h_arr, rmt_offset,    dma_type_arr};
    return sennit_unr_end(sennit_unr_run_list(&list), "unr_blk_part_rdma_batch_start");
}
static inline uru_status_t unr_blk_part_rdma_batch_plan(
    size_t num_sends, const unr_blk_h *loc_blk_h_arr, const unr_sig_h *loc_sig_h_arr,
    const size_t *loc_offset, const size_t *size, const unr_blk_h *rmt_blk_h_arr,
    const unr_sig_h *rmt_sig_h_arr, const size_t *rmt_offset, const uru_transfer_t *dma_type_arr,
    unr_plan_h *plan_h) {
    const sennit_unr_list list = {num_sends,     loc_blk_h_arr, loc_sig_h_arr, loc_offset,  size,
                                  rmt_blk_h_arr, rmt_sig_h_arr, rmt_offset,    dma_type_arr};
    return sennit_unr_end(sennit_unr_plan_make(&list, plan_h), "unr_blk_part_rdma_batch_plan");
}

/* Puts by UNR's older names: unr_blk_send_start, unr_blk_send_plan, unr_blk_send_batch_start,
 * unr_blk_send_batch_plan, and of parts unr_blk_part_send_... */
#define unr_blk_send_start(local, local_signal, remote, remote_signal) \
    unr_blk_rdma_start(local, local_signal, remote, remote_signal, URU_TRANSFER_TYPE_DMA_PUT)
#define unr_blk_send_plan(local, local_signal, remote, remote_signal, plan) \
    unr_blk_rdma_plan(local, local_signal, remote, remote_signal, URU_TRANSFER_TYPE_DMA_PUT, plan)
#define unr_blk_part_send_start(local, local_signal, at, size, remote, remote_signal, there) \
    unr_blk_part_rdma_start(local, local_signal, at, size, remote, remote_signal, there,     \
                            URU_TRANSFER_TYPE_DMA_PUT)
#define unr_blk_part_send_plan(local, local_signal, at, size, remote, remote_signal, there, plan) \
    unr_blk_part_rdma_plan(local, local_signal, at, size, remote, remote_signal, there,           \
                           URU_TRANSFER_TYPE_DMA_PUT, plan)
#define unr_blk_send_batch_start(count, locals, local_signals, remotes, remote_signals) \
    unr_blk_rdma_batch_start(count, locals, local_signals, remotes, remote_signals,     \
                             URU_TRANSFER_TYPE_DMA_PUT_ALL)
#define unr_blk_send_batch_plan(count, locals, local_signals, remotes, remote_signals, plan) \
    unr_blk_rdma_batch_plan(count, locals, local_signals, remotes, remote_signals,           \
                            URU_TRANSFER_TYPE_DMA_PUT_ALL, plan)
#define unr_blk_part_send_batch_start(count, locals, local_signals, ats, sizes, remotes, \
                                      remote_signals, theres)                            \
    unr_blk_part_rdma_batch_start(count, locals, local_signals, ats, sizes, remotes,     \
                                  remote_signals, theres, URU_TRANSFER_TYPE_DMA_PUT_ALL)
#define unr_blk_part_send_batch_plan(count, locals, local_signals, ats, sizes, remotes, \
                                     remote_signals, theres, plan)                      \
    unr_blk_part_rdma_batch_plan(count, locals, local_signals, ats, sizes, remotes,     \
                                 remote_signals, theres, URU_TRANSFER_TYPE_DMA_PUT_ALL, plan)

/* The names of UNR's paper. These calls return the object that they make. */
#define UNR_Mem_Reg_Sync unr_mem_reg_sync
#define UNR_Sig_Wait unr_sig_wait
#define UNR_Sig_Reset unr_sig_reset
#define UNR_Plan_Start unr_plan_start

static inline unr_mem_h UNR_Mem_Reg(void *buffer, size_t bytes) {
    unr_mem_h made = SENNIT_REGION_NULL;
    (void)unr_mem_reg(buffer, bytes, &made);
    return made;
}

static inline unr_sig_h UNR_Sig_Init(uint64_t events) {
    unr_sig_h made = UNR_NO_SIGNAL;
    (void)unr_sig_create(&made, events);
    return made;
}

/* `signal` counts the messages that the block sends and those that it receives. */
static inline unr_blk_h UNR_Blk_Init(unr_mem_h memory, size_t offset, size_t bytes,
                                     unr_sig_h signal) {
    unr_blk_h made = SENNIT_BLOCK_NULL;
    (void)unr_blk_reg(memory, offset, bytes, signal, signal, &made);
    return made;
}

/* Put or get a whole block with the blocks' signals. */
static inline uru_status_t UNR_Put(unr_blk_h local, unr_blk_h remote) {
    return unr_blk_rdma_start(local, UNR_NO_SIGNAL, remote, UNR_NO_SIGNAL,
                              URU_TRANSFER_TYPE_DMA_PUT);
}

static inline uru_status_t UNR_Get(unr_blk_h local, unr_blk_h remote) {
    return unr_blk_rdma_start(local, UNR_NO_SIGNAL, remote, UNR_NO_SIGNAL,
                              URU_TRANSFER_TYPE_DMA_GET);
}

/* `count` puts and gets between blocks of one size, with the blocks' signals. */
static inline unr_plan_h UNR_RMA_Plan(size_t count, const unr_blk_h *locals,
                                      const unr_blk_h *remotes, const uru_transfer_t *types) {
    unr_plan_h made = NULL;
    (void)unr_blk_rdma_batch_plan(count, locals, NULL, remotes, NULL, types, &made);
    return made;
}

#ifdef __cplusplus
}
#endif

#endif
