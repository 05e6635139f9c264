"""The measurements of the stencil kernel; bench/study/kernels.py has the method."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench", "study"))
import kernels  # noqa: E402  pylint: disable=wrong-import-position

CHANNELS = ("stencil/channels.h", "stencil/stencil_sennit.cpp")
KERNEL = kernels.Kernel(
    name="stencil",
    title="The stencil kernel",
    about="""Each iteration adds a weighted star of 9 points of the input grid to the output grid, then 1 to each input cell. Each rank has a block of the grid. With
Sennit and in a shared window a rank copies its neighbours' rows into its ghost rows; with MPI's send and receive the neighbour sends them ([programs](../../../../apps/stencil/README.md)).""",
    size_option="--size",
    size_word="cells along an axis",
    rate_key="median_rate_mflops",
    rate_unit="MFlop/s",
    sizes=(50, 100, 200, 400, 700, 1000, 2000),
    sizes_by_ranks=(200, 1000),
    ranks=(1, 2, 4, 8),
    files={
        "stencil": ("stencil/channels.c", *CHANNELS),
        "stencil-fortran": ("stencil/channels.f90", *CHANNELS),
        "stencil-MPI": ("stencil/stencil_mpi.cpp", "common/mpi_window.hpp"),
        "stencil-shared-MPI": ("stencil/stencil_shared.cpp", "common/mpi_window.hpp", "common/counter.hpp"),
        "stencil-openmp": ("stencil/stencil_openmp.cpp",),
        "stencil-serial": ("stencil/stencil_serial.cpp",),
    })
