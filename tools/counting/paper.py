"""The counts of Johnson, Performance and Productivity Evaluation of HPC Communication Libraries and Programming Models (2021).

The numbers are from its text and tables. Figures 7, 12, 17 and 22 are bars without numbers; KINDS has the text's statements about
them. Names of calls follow the standards (the paper: MPI_send_recv_replace, MPI_All_to_all).
"""
from .categories import ALLOCATION, COMMUNICATION, MPI, RANK_QUERY, RMA, SHMEM, SYNCHRONISATION

# The kernels, by the names of their sources: name and figure. Table 1 has the calls of all of them.
KERNELS = {"daxpy": ("DAXPY", 7), "cannon": ("Cannon's MatMult", 12), "summa": ("SUMMA", 17), "sort": ("Integer Sort", 22)}

TABLE_1 = {
    MPI: {
        SYNCHRONISATION: "MPI_Barrier",
        COMMUNICATION: "MPI_Scatter MPI_Gather MPI_Sendrecv_replace MPI_Alltoall MPI_Alltoallv",
        RANK_QUERY: "MPI_Comm_size MPI_Comm_rank MPI_Cart_create MPI_Cart_shift MPI_Comm_split",
    },
    RMA: {
        SYNCHRONISATION: "MPI_Barrier MPI_Win_fence",
        COMMUNICATION: "MPI_Put MPI_Get MPI_Accumulate",
        ALLOCATION: "MPI_Alloc_mem MPI_Win_create MPI_Free_mem MPI_Win_free",
        RANK_QUERY: "MPI_Comm_size MPI_Comm_rank MPI_Cart_create MPI_Cart_shift",
    },
    SHMEM: {
        SYNCHRONISATION: "shmem_barrier_all shmem_quiet",
        COMMUNICATION: "shmem_put shmem_put_nbi shmem_get shmem_collect shmem_broadcast",
        ALLOCATION: "shmem_malloc shmem_free",
        RANK_QUERY: "shmem_n_pes shmem_my_pe",
    },
}

# Table 2: lines of code and calls of a kernel's version.
TABLE_2 = {
    ("daxpy", "MPI"): (259, 7),
    ("daxpy", "MPI-RMA"): (282, 22),
    ("daxpy", "OpenSHMEM"): (262, 12),
    ("daxpy", "OpenSHMEM async"): (269, 14),
    ("cannon", "MPI"): (405, 12),
    ("cannon", "MPI-RMA"): (453, 40),
    ("cannon", "OpenSHMEM"): (559, 28),
    ("summa", "MPI"): (353, 15),
    ("summa", "MPI-RMA"): (392, 44),
    ("summa", "OpenSHMEM"): (602, 28),
    ("sort", "MPI"): (1045, 8),
    ("sort", "MPI-RMA"): (1215, 16),
    ("sort", "OpenSHMEM"): (1029, 11),
}

# Calls of one category, if section 6.1 gives a number.
KINDS = {
    ("daxpy", "MPI", ALLOCATION): 0,
    ("daxpy", "MPI-RMA", ALLOCATION): 10,
    ("daxpy", "OpenSHMEM", ALLOCATION): 6,
    ("daxpy", "OpenSHMEM async", ALLOCATION): 6,
}
