"""The texts of the pages of results. Called by results.py. Numbers of this machine are in the tables, which results.py makes."""

TITLES = {"kernels": "Four kernels: the measurements of Johnson's thesis", "map": "Bandwidth between cores: the measurements of \"To Share or Not to Share\"",
          "daxpy": "DAXPY", "cannon": "Cannon's matrix product", "summa": "SUMMA", "sort": "Integer Sort"}

KERNELS = """Alex Johnson, *Performance and Productivity Evaluation of HPC Communication Libraries and Programming Models* (2021), runs four kernels with MPI, MPI RMA
and OpenSHMEM on up to 320 nodes of two systems: Cori (Cray Aries, Cray MPICH, Cray OpenSHMEMX) and Bridges-2 (InfiniBand, Open MPI). Its plots have no
numbers, so the numbers below are those of its text. The [kernels](../../../apps/kernels/README.md) here are written again, each with the same data, checks and clock, and with
Sennit too.

What differs from the paper:

- One machine with two processors. *On 2 hosts* means two hosts of namespaces of this machine (`tools/cluster`), joined by a bridge; the network is TCP.
- At most one rank a processor, except for Cannon: it needs a square number of ranks, so its 4 ranks share 2 processors.
- MPI is Open MPI 4.1.4 and MPICH 4.0.2 of Debian 12. Open MPI's OpenSHMEM has no teams.
- 2²⁰ keys a rank, not 2²⁸. The other sizes are the paper's: 10⁶ elements a rank (DAXPY), 160 000 (matrices). 5 runs to warm up, 50 timed.

A job's figure is the mean latency of its timed runs. A table has the median of the jobs (`--rounds` in the command), the least and the most, and the ratio to the fastest version of that place;
– is a version that is not there, or with a job that did not end within `--limit` seconds.
Throughput (equation 5.1) is the same number of bytes over the latency, so its ratios are the inverse ones. A claim compares Sennit's versions with the *fastest* version of that
interface among both MPIs, which is harder than the paper's comparison. OpenSHMEM's +16 % on Bridges-2 is the paper's "MPI RMA 14 % lower", turned round.

Lines of code and calls (tables 1 and 2, figures 7, 12, 17 and 22): `tools/productivity --table 1 --table 2 --table figures` counts them beside the paper's
([counting](../../manual/productivity.md)). `bench/report/results.py kernels` writes this page from the files of JSON beside it; `--measure all` measures them again."""

MAP = """Adam et al., *To Share or Not to Share: a case for MPI in Shared-Memory* (2024), measure on NVIDIA Grace and Intel Sapphire Rapids how fast data moves between cores: one
pair at a time (figure 1), many transfers at once by shared memory and by CMA (figure 2), and the ratio of both at the most transfers (table 1).
[`sennit map`](../../manual/commands/map.md) measures the same on any machine ([how](../../design/map.md)).

This machine has two cores of one socket that share an L3 cache. So there is one distance, at most two transfers at once, and no second socket: the paper's columns *inter* have no
figure here. `bench/report/results.py map` writes this page from the file of JSON beside it; `--measure all` measures it again."""

INTRODUCTION = {"kernels": KERNELS, "map": MAP}
FOUND_KERNELS = """- DAXPY: the claim holds. Sennit's pipelined versions are the fastest in both places, and ahead of MPI and of MPI RMA by more than the paper's 30 and 15 %. Open MPI's OpenSHMEM is
  as fast on a node, and the slowest between hosts.
  On a node pipelining pays more than in the paper; its chunks of 64 KiB fit a cache. The paper's MPI RMA is ahead of MPI between nodes; here both MPIs' RMA is behind it between hosts.
- Cannon: OpenSHMEM is the fastest, as on Cori. MPI RMA is nowhere 38 % ahead of MPI, as on Bridges-2. Sennit's own version is behind its OpenSHMEM.
- SUMMA: on a node OpenSHMEM and Sennit are the fastest, as on Bridges-2. Between hosts Sennit has the lowest
  median, within the spread of both MPIs.
- Integer Sort: on a node MPI, MPI RMA and Sennit are within the paper's 5 %, with 2²⁰ keys a rank in place of 2²⁸. Between hosts MPI is ahead of
  Sennit by 6 to 10 %, and MPI RMA and Open MPI's OpenSHMEM are a third behind.
- Between hosts jobs differ from run to run by up to a factor of two: both hosts and the network are the same two processors."""

FOUND_MAP = """- Shared memory is ahead of CMA at every size, as in the paper; at 1 MiB by more than on Grace and Sapphire Rapids within a socket: both buffers lie in the shared cache,
  and CMA has the kernel's work on each page beside the copy. At 200 MiB both wait for memory, and the ratio is nearer to Grace's.
  Two transfers of 200 MiB at once varied by a factor of four here, so their ratios are rough.
- Adopted memory (private memory registered with Sennit) and threads of one process are as fast as mapped memory or faster.
- At 1 MiB with fresh buffers, where no cache helps, the rates of mapped memory are a third or less. The paper does not measure that case."""

FOUND = {"kernels": FOUND_KERNELS, "map": FOUND_MAP}
