"""The texts of the pages of results. Called by results.py. Numbers of this machine are in the tables, which results.py makes."""

TITLES = {"kernels": "Four kernels: the measurements of Johnson's thesis", "map": "Bandwidth between cores: the measurements of \"To Share or Not to Share\"",
          "daxpy": "DAXPY", "cannon": "Cannon's matrix product", "summa": "SUMMA", "sort": "Integer Sort"}

KERNELS = """Alex Johnson, *Performance and Productivity Evaluation of HPC Communication Libraries and Programming Models* (2021), runs four kernels with MPI, MPI RMA
and OpenSHMEM on up to 320 nodes of Cori (Cray Aries) and Bridges-2 (InfiniBand). The [kernels](../../../apps/kernels/README.md)
here have the same data, checks and clock, and versions for Sennit.

Different from the paper:

- One machine with two processors. *2 hosts* are two of its namespaces (`tools/cluster`) over TCP.
- At most one rank for each processor, except in Cannon: it needs a square number of ranks, so 4 ranks share 2 processors.
- Open MPI 4.1.4 and MPICH 4.0.2 of Debian 12. Open MPI's OpenSHMEM has no teams.
- 2²⁰ keys for each rank, not 2²⁸. As in the paper, a rank has 10⁶ elements (DAXPY) or 160 000 (matrices), 5 runs warm up, and 50 are timed.
- Claims about an interface are checked with its *fastest* version, with either MPI.

The tables have the median of the jobs' mean latencies (range). Bold: the fastest version of the column. –: missing, or longer than 30 s. Ratios of throughput
(equation 5.1) are inverted ratios of latency. The paper's numbers are from its text, because its plots have none. Its "MPI RMA 14 % lower" on Bridges-2 is +16 % here,
because the ratio is inverted.

`tools/productivity --table 1 --table 2 --table figures` gives the paper's tables 1, 2 and figures 7, 12, 17, 22 ([counting](../../manual/productivity.md)).
`bench/report/results.py kernels` writes this page; `--measure all` measures. The `.jsonl` files begin with their commands."""

MAP = """Adam et al., *To Share or Not to Share: a case for MPI in Shared-Memory* (2024), measure the bandwidth between cores of NVIDIA Grace and Intel Sapphire Rapids: one
pair at a time (figure 1), many transfers at once by shared memory and by CMA (figure 2), and the ratio of both (table 1).
[`sennit map`](../../manual/commands/map.md) measures the same on any machine ([how](../../design/map.md)).

The machine of this page has two cores of one socket, which share an L3 cache. So there is one distance, at most two transfers run at once, and the paper's columns
*inter* have no counterpart. `bench/report/results.py map` writes this page; `--measure all` measures."""

INTRODUCTION = {"kernels": KERNELS, "map": MAP}
FOUND_KERNELS = """- DAXPY: on a node the pipelined versions of Sennit and of both OpenSHMEMs are the fastest. They are ahead of MPI and MPI RMA by more than the paper's 30 and 15 %.
  Sennit's plain version takes less than half of MPI's time, but more than RMA's. Between hosts MPI is the fastest, 8 % ahead of Sennit, which is within the
  spread. MPI RMA is slower there, unlike in the paper.
- Cannon: Sennit is the fastest on a node and between hosts, a quarter or more ahead of MPI. MPI RMA is at best as fast as MPI; on Bridges-2
  it was 38 % faster.
- SUMMA: on a node both OpenSHMEMs and Sennit are the fastest, as on Bridges-2. Between hosts (TCP with BBR) Sennit is the fastest, a quarter ahead of both MPIs.
- Integer Sort: on a node all interfaces are within the paper's 5 %. Between hosts MPI is the fastest, 6 % ahead of Sennit and 10 % ahead of its OpenSHMEM."""

FOUND_MAP = """- Shared memory is faster than CMA at every size, as in the paper. At 1 MiB the difference is larger than within a socket in the paper: both buffers are in the shared
  cache, and with CMA the kernel has work for each page. At 200 MiB memory limits both. This ratio is uncertain, because the rate of two transfers varied by a factor of
  four.
- Adopted memory (private memory registered with Sennit) is as fast as mapped memory. Threads of one process are as fast or faster for 1 MiB in a cache. At 200 MiB
  they are up to 27 % slower.
- New buffers of 1 MiB, which are in no cache, reach at most a third of the rate of reused mapped memory."""

FOUND = {"kernels": FOUND_KERNELS, "map": FOUND_MAP}
