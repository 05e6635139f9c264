"""The measurements of the transpose kernel; bench/study/kernels.py has the method."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench", "study"))
import kernels  # noqa: E402  pylint: disable=wrong-import-position

CHANNELS = ("transpose/channels.h", "transpose/transpose_sennit.cpp")
KERNEL = kernels.Kernel(
    name="transpose",
    title="The transpose kernel",
    about="""Each step adds Aᵀ to B, then 1 to A. Each rank owns some columns of both. With Sennit and in a shared window a rank adds its block to B in the peer's memory.
With send and receive a rank packs the block, and the receiver adds it ([programs](../../../../apps/transpose/README.md)).""",
    size_option="--order",
    size_word="order",
    rate_key="median_rate_mb_per_s",
    rate_unit="MB/s",
    sizes=(50, 100, 200, 400, 700, 1000, 2000),
    sizes_by_ranks=(200, 1000),
    ranks=(1, 2, 4, 8),
    files={
        "transpose": ("transpose/channels.c", *CHANNELS),
        "transpose-fortran": ("transpose/channels.f90", *CHANNELS),
        "transpose-MPI": ("transpose/transpose_mpi.cpp", "common/mpi_window.hpp"),
        "transpose-shared-MPI": ("transpose/transpose_shared.cpp", "common/mpi_window.hpp", "common/counter.hpp"),
        "transpose-openmp": ("transpose/transpose_openmp.cpp",),
        "transpose-serial": ("transpose/transpose_serial.cpp",),
    })
