"""The texts of the pages of results. Called by results.py. Numbers of this machine are in the tables, which results.py makes."""

TITLES = {"kernels": "Four kernels: the measurements of Johnson's thesis", "map": "Bandwidth between cores: the measurements of \"To Share or Not to Share\"",
          "daxpy": "DAXPY", "cannon": "Cannon's matrix product", "summa": "SUMMA", "sort": "Integer Sort"}

KERNELS = """Alex Johnson, *Performance and Productivity Evaluation of HPC Communication Libraries and Programming Models* (2021), runs four kernels with MPI, MPI RMA
and OpenSHMEM on up to 320 nodes of Cori (Cray Aries, Cray MPICH, Cray OpenSHMEMX) and Bridges-2 (InfiniBand, Open MPI). The [kernels](../../../apps/kernels/README.md)
here have the same data, checks and clock, and Sennit's versions too.

Different from the paper:

- One machine with two processors. *2 hosts* are its namespaces (`tools/cluster`), joined by a bridge, over TCP.
- At most one rank a processor. Cannon needs a square number, so its 4 ranks share 2 processors.
- Open MPI 4.1.4 and MPICH 4.0.2 of Debian 12. Open MPI's OpenSHMEM has no teams.
- 2²⁰ keys a rank, not 2²⁸. As in the paper: 10⁶ elements a rank (DAXPY), 160 000 (matrices); 5 runs to warm up, 50 timed.
- A claim compares with the *fastest* version of an interface among both MPIs.

Tables: median of the jobs' mean latencies (range); bold: the fastest version of the column; –: missing, or longer than `--limit` seconds. Ratios of
throughput (equation 5.1) are those of latency, inverted. The paper's figures are from its text; its plots have no numbers (+16 % on Bridges-2: "MPI RMA 14 % lower", inverted).

`tools/productivity --table 1 --table 2 --table figures` gives its tables 1 and 2 and figures 7, 12, 17 and 22 ([counting](../../manual/productivity.md)).
`bench/report/results.py kernels` writes this page; `--measure all` measures. The `.jsonl` files begin with their commands."""

MAP = """Adam et al., *To Share or Not to Share: a case for MPI in Shared-Memory* (2024), measure the bandwidth between cores of NVIDIA Grace and Intel Sapphire Rapids: one
pair at a time (figure 1), many transfers at once by shared memory and by CMA (figure 2), and the ratio of both (table 1).
[`sennit map`](../../manual/commands/map.md) measures the same on any machine ([how](../../design/map.md)).

Here two cores of one socket share an L3 cache: one distance, at most two transfers at once, no counterpart of the paper's columns *inter*.
`bench/report/results.py map` writes this page; `--measure all` measures."""

INTRODUCTION = {"kernels": KERNELS, "map": MAP}
FOUND_KERNELS = """- DAXPY: the claim holds. Sennit's pipelined versions are the fastest in both places, ahead of MPI and MPI RMA by more than the paper's 30 and 15 %. Open MPI's
  OpenSHMEM is as fast on a node, and the slowest between hosts. MPI RMA is ahead of MPI between the paper's nodes, behind it between these hosts.
- Cannon: OpenSHMEM is the fastest, as on Cori. MPI RMA is nowhere 38 % ahead of MPI, as on Bridges-2. Sennit's own version is behind its OpenSHMEM.
- SUMMA: on a node OpenSHMEM and Sennit are the fastest, as on Bridges-2. Between hosts Sennit has the lowest median, within the spread of both MPIs.
- Integer Sort: on a node MPI, MPI RMA and Sennit are within the paper's 5 %. Between hosts MPI is ahead of Sennit by 6 to 10 %; MPI RMA and Open MPI's
  OpenSHMEM are a third behind.
- Between hosts jobs differ by up to a factor of two, because hosts and network are the same two processors."""

FOUND_MAP = """- Shared memory is ahead of CMA at every size, as in the paper. At 1 MiB the lead is larger than the paper's within a socket: both buffers lie in the shared
  cache, and CMA has the kernel's work on each page. At 200 MiB both wait for memory; the ratio is rough, as two transfers varied by a factor of four.
- Adopted memory (private memory registered with Sennit) and threads of one process are as fast as mapped memory or faster.
- Fresh buffers of 1 MiB, which no cache holds, have a third of mapped memory's rate or less. The paper does not measure that."""

FOUND = {"kernels": FOUND_KERNELS, "map": FOUND_MAP}
