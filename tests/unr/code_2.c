/* Code 2 of the paper about UNR, line by line: in each iteration a put replaces MPI_Send and
 * MPI_Recv. Run by each MPI with two ranks. Broken by a call with another name, order of arguments
 * or result, by a block that MPI does not transfer unchanged, by a signal at the wrong end, and by
 * a buffer that the sender may not reuse after its signal has fired. */
#include <mpi.h>
#include <stdio.h>
#include "unr.h"

#include "nodes.h"

#define BUF_SIZE 100000
#define SIZE ((size_t)30000)
#define ITERS 50

static char send_buf[BUF_SIZE];
static char recv_buf[BUF_SIZE];

static size_t f(size_t x) {
    return 1000 + x;
}
static size_t g(size_t y) {
    return 2000 + 8 * y;
}

int main(int argc, char **argv) {
    const int sender = 0;
    const int receiver = 1;
    int rank, failures = 0;
    unr_mem_h mr;
    unr_sig_h send_sig, recv_sig;
    unr_blk_h send_blk, recv_blk, rmt_blk;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use_nodes(argc, argv);
    UNR_Init();
    if (rank == sender) {
        mr = UNR_Mem_Reg(send_buf, BUF_SIZE);
        send_sig = UNR_Sig_Init(1);
        send_blk = UNR_Blk_Init(mr, f(3), SIZE, send_sig);
        MPI_Recv(&rmt_blk, sizeof rmt_blk, MPI_BYTE, receiver, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (rank == receiver) {
        mr = UNR_Mem_Reg(recv_buf, BUF_SIZE);
        recv_sig = UNR_Sig_Init(1);
        recv_blk = UNR_Blk_Init(mr, g(5), SIZE, recv_sig);
        MPI_Send(&recv_blk, sizeof recv_blk, MPI_BYTE, sender, 0, MPI_COMM_WORLD);
    }
    for (int iter = 0; iter < ITERS; ++iter) {
        if (rank == sender) memset(send_buf + f(3), iter + 1, SIZE);
        MPI_Barrier(MPI_COMM_WORLD); /* pre-synchronization */
        if (rank == sender) {
            UNR_Put(send_blk, rmt_blk);
            UNR_Sig_Wait(send_sig);
            UNR_Sig_Reset(send_sig);
        } else if (rank == receiver) {
            UNR_Sig_Wait(recv_sig);
            for (size_t i = 0; i < SIZE; ++i)
                failures += recv_buf[g(5) + i] != iter + 1;
            failures += recv_buf[g(5) - 1] != 0 || recv_buf[g(5) + SIZE] != 0;
            UNR_Sig_Reset(recv_sig);
        }
    }
    if (failures != 0) fprintf(stderr, "%d bytes are wrong\n", failures);
    UNR_Finalize();
    MPI_Finalize();
    return failures != 0;
}
