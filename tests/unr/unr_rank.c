/* Programs in the style of UNR: a ping-pong by plans whose signals are exchanged separately from
 * the blocks, an all-to-all by batches, and a pool of signals. Run by each MPI with two or more
 * ranks. Broken by a name or order of arguments that differs from UNR's, by MPI datatypes that do
 * not transfer signals and blocks, and by a plan that keeps its owners' epochs from one run
 * to the next. */
#include <mpi.h>
#include <stdio.h>
#include <unr.h>

#include "nodes.h"

#define MOST 65536
#define ITERS 20

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "%s\n", what);
}

static void check(const char *buffer, size_t bytes, int value, const char *what) {
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i)
        wrong += buffer[i] != (char)value;
    expect(wrong == 0, what);
}

/* Ranks 0 and 1. Each resets its signal before it answers; no other synchronization is needed. */
static void ping_pong(int rank) {
    static char send_buf[MOST];
    static char recv_buf[MOST];
    unr_mem_h send_mem, recv_mem;
    unr_blk_h send_blk, recv_blk, rmt_blk;
    unr_sig_h recv_sig, rmt_sig;
    unr_plan_h plan = NULL;
    unr_sig_create(&recv_sig, 1);
    unr_mem_reg(send_buf, MOST, &send_mem);
    unr_mem_reg(recv_buf, MOST, &recv_mem);
    unr_mem_reg_sync();
    if (rank > 1) return;
    unr_blk_reg(send_mem, 0, MOST, UNR_NO_SIGNAL, UNR_NO_SIGNAL, &send_blk);
    unr_blk_reg(recv_mem, 0, MOST, UNR_NO_SIGNAL, UNR_NO_SIGNAL, &recv_blk);
    MPI_Sendrecv(&recv_blk, 1, MPI_UNR_BLK_H, 1 - rank, 0, &rmt_blk, 1, MPI_UNR_BLK_H, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&recv_sig, 1, MPI_UNR_SIG_H, 1 - rank, 1, &rmt_sig, 1, MPI_UNR_SIG_H, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t size = 1; size <= MOST; size *= 16) {
        unr_blk_part_rdma_plan(send_blk, UNR_NO_SIGNAL, 0, size, rmt_blk, rmt_sig, 0,
                               URU_TRANSFER_TYPE_DMA_PUT, &plan);
        for (int i = 0; i < ITERS; ++i) {
            /* A message shows that the one before it has arrived, so its buffer may be changed. */
            if (rank == 0) {
                memset(send_buf, 2 * i, size);
                unr_plan_start(plan);
            }
            unr_sig_wait(recv_sig);
            check(recv_buf, size, 2 * i + 1 - rank, "ping-pong");
            unr_sig_reset(recv_sig);
            if (rank == 1) {
                memset(send_buf, 2 * i + 1, size);
                unr_plan_start(plan);
            }
        }
        unr_plan_destroy(plan);
    }
}

/* Two exchanges in turn; each is the pre-synchronization of the other. */
static void all_to_all(int rank, int size) {
    const size_t bytes = 3000;
    char *send_buf[2], *recv_buf[2];
    unr_mem_h send_mem, recv_mem;
    unr_sig_h send_sig[2], recv_sig[2];
    unr_blk_h send_blk, recv_blk;
    unr_plan_h plan[2];
    unr_blk_h *send_arr = (unr_blk_h *)malloc((size_t)size * sizeof(unr_blk_h));
    unr_blk_h *recv_arr = (unr_blk_h *)malloc((size_t)size * sizeof(unr_blk_h));
    size_t *counts = (size_t *)malloc((size_t)size * sizeof(size_t));
    size_t *send_displs = (size_t *)malloc((size_t)size * sizeof(size_t));
    size_t *recv_displs = (size_t *)malloc((size_t)size * sizeof(size_t));
    for (int i = 0; i < size; ++i) {
        counts[i] = bytes;
        send_displs[i] = (size_t)i * bytes;
        recv_displs[i] = (size_t)rank * bytes;
    }
    for (int turn = 0; turn < 2; ++turn) {
        send_buf[turn] = (char *)calloc((size_t)size, bytes);
        recv_buf[turn] = (char *)calloc((size_t)size, bytes);
        unr_mem_reg(send_buf[turn], (size_t)size * bytes, &send_mem);
        unr_mem_reg(recv_buf[turn], (size_t)size * bytes, &recv_mem);
        unr_sig_create(&send_sig[turn], (uint64_t)size);
        unr_sig_create(&recv_sig[turn], (uint64_t)size);
        unr_blk_reg(send_mem, 0, (size_t)size * bytes, send_sig[turn], UNR_NO_SIGNAL, &send_blk);
        unr_blk_reg(recv_mem, 0, (size_t)size * bytes, UNR_NO_SIGNAL, recv_sig[turn], &recv_blk);
        MPI_Allgather(&recv_blk, 1, MPI_UNR_BLK_H, recv_arr, 1, MPI_UNR_BLK_H, MPI_COMM_WORLD);
        for (int i = 0; i < size; ++i)
            send_arr[i] = send_blk;
        unr_blk_part_rdma_batch_plan((size_t)size, send_arr, NULL, send_displs, counts, recv_arr,
                                     NULL, recv_displs, URU_TRANSFER_TYPE_DMA_PUT_ALL, &plan[turn]);
    }
    unr_mem_reg_sync();
    for (int i = 0; i < ITERS; ++i) {
        const int turn = i % 2;
        for (int to = 0; to < size; ++to)
            memset(send_buf[turn] + send_displs[to], 16 * rank + to + i, bytes);
        unr_plan_start(plan[turn]);
        unr_sig_wait(recv_sig[turn]);
        while (unr_sig_check(send_sig[turn]) != URU_SIGNAL_TRIGGERED) {
        }
        for (int from = 0; from < size; ++from)
            check(recv_buf[turn] + (size_t)from * bytes, bytes, 16 * from + rank + i, "all-to-all");
        unr_sig_reset(recv_sig[turn]);
        unr_sig_reset(send_sig[turn]);
    }
    for (int turn = 0; turn < 2; ++turn)
        unr_plan_destroy(plan[turn]);
    free(send_arr);
    free(recv_arr);
    free(counts);
    free(send_displs);
    free(recv_displs);
    /* The buffers stay registered until unr_finalize. */
}

/* The next rank gets from this one, and a pool reports which signals for the gets have fired. */
static void pool(int rank, int size) {
    static char buffer[3][8];
    static char got[8];
    unr_mem_h mem, got_mem;
    unr_sig_h read_sig[3];
    unr_blk_h own[3], theirs[3], here;
    unr_sig_pool_h pool_h = NULL;
    int found[3] = {0, 0, 0};
    unr_mem_reg(buffer, sizeof buffer, &mem);
    unr_mem_reg(got, sizeof got, &got_mem);
    unr_blk_reg(got_mem, 0, sizeof got, UNR_NO_SIGNAL, UNR_NO_SIGNAL, &here);
    for (int i = 0; i < 3; ++i) {
        memset(buffer[i], 10 * rank + i, sizeof buffer[i]);
        unr_sig_create(&read_sig[i], 1);
        unr_blk_reg(mem, 8 * (size_t)i, 8, read_sig[i], UNR_NO_SIGNAL, &own[i]);
    }
    unr_sig_pool_create(&pool_h, 3, read_sig);
    MPI_Sendrecv(own, 3, MPI_UNR_BLK_H, (rank + 1) % size, 2, theirs, 3, MPI_UNR_BLK_H,
                 (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) {
        unr_blk_rdma_start(here, UNR_NO_SIGNAL, theirs[i], UNR_NO_SIGNAL,
                           URU_TRANSFER_TYPE_DMA_GET);
        check(got, sizeof got, 10 * ((rank + size - 1) % size) + i, "the data of a get");
    }
    for (int left = 3; left > 0;) {
        int which = 7;
        unr_sig_pool_detect(pool_h, &which);
        if (which < 0) continue;
        ++found[which];
        --left;
    }
    expect(found[0] == 1 && found[1] == 1 && found[2] == 1, "the pool reports each signal once");
}

static void datatypes(void) {
    int bytes[3] = {0, 0, 0};
    MPI_Type_size(MPI_UNR_MEM_H, &bytes[0]);
    MPI_Type_size(MPI_UNR_SIG_H, &bytes[1]);
    MPI_Type_size(MPI_UNR_BLK_H, &bytes[2]);
    expect(bytes[0] == (int)sizeof(unr_mem_h) && bytes[1] == (int)sizeof(unr_sig_h) &&
               bytes[2] == (int)sizeof(unr_blk_h),
           "MPI's types have the sizes of UNR's");
}

int main(int argc, char **argv) {
    int rank, size, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use_nodes(argc, argv);
    unr_init();
    unr_init(); /* does nothing */
    datatypes();
    ping_pong(rank);
    all_to_all(rank, size);
    pool(rank, size);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    unr_finalize();
    expect(!sennit_initialized(), "Sennit has ended");
    MPI_Finalize();
    return all + failures != 0;
}
