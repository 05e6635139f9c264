"""The texts of page.py: the measurement, its method, and the reasons for missed targets."""

CROWD_PES = 8

INTRODUCTION = """# OpenSHMEM: what calls cost beside other libraries

`bench/openshmem/speed.c` and `teams.c` (OpenSHMEM 1.5) run with Sennit's [front end](../../openshmem.md), Open MPI's OSHMEM, and Sandia OpenSHMEM (SOS) on
UCX. `bench/openshmem/compare.py` starts them in turn, `bench/openshmem/page.py` writes this page. The `.jsonl` files have all
jobs, cases, sizes and commands."""

RATIOS = """A ratio is the time of the faster other library (by its median) divided by Sennit's time. A round is one job of each library; the table has the median ratio of the
rounds. *Exchanges* (round trips between 2 PEs) vary by a factor of 2 to 3 with the distance of the processors, so they have more rounds."""

HOW = """PE 0 transfers to PE 1, which waits in a barrier. Memory is on the symmetric heap; `static` cases use variables of the program. A value is the median of
15 batches of about 1 ms (4 ms on shared processors).

| case | one call |
|---|---|
| put_quiet | `shmem_putmem`, `shmem_quiet` |
| put_burst | one of 256 `shmem_putmem_nbi` before a `shmem_quiet`; its inverse is the message rate |
| put_flag_wait | half a round trip: `shmem_putmem`, `shmem_fence`, `shmem_long_p` of a flag; the partner: `shmem_long_wait_until` |
| put_signal_wait | the same by `shmem_putmem_signal`, `shmem_signal_wait_until` |
| p_wait | the same by `shmem_long_p`, `shmem_long_wait_until` |
| p, g, fetch_add, … | the call for a `long` |
| bare_store, bare_fetch_add | a store, a `lock xadd` through `shmem_ptr` |
| broadcast, fcollect, alltoall, sum, max | the call with an active set, and a `shmem_barrier_all`; the size is that of one PE's part |
| team_… | the same with `SHMEM_TEAM_WORLD` |

Other libraries:

- Open MPI crashes at exit with its memory hooks, so they are off (`memory ^patcher`). The targets use
  the faster of its two collective components at each size. It has no signals and no team calls.
- SOS maps a peer's memory only by XPMEM. XPMEM is missing here, so `shmem_ptr` returns no pointer. Up to 16 KiB UCX's messages are faster than copies by the kernel
  (2 µs each). `sync_all` after the transfers hung in 7 of 7 jobs, so collective calls have their own job. With
  8 PEs a barrier takes 16 to 40 ms, because SOS's waits do not yield the processor; these jobs were ended after 15 s.
- SOS's program is built by `oshcc -O2 -std=gnu11 bench/openshmem/speed.c bench/openshmem/teams.c -o build/sennit-bench-shmem-sos`."""

WHY = """- p_wait transfers two cache lines in each direction. In both libraries half a round trip takes about 80 ns between near processors, otherwise 280 ns, so 2 × is impossible.
- put_flag_wait of a few bytes transfers one more line. Open MPI adds 70 to 100 ns, about the time of the transfers between near processors.
- From 64 KiB on, a put is the C library's copy in both libraries.
- The target of `shmem_long_p` is barely met: the run before had 3.12 ns.
- A median depends on the number of jobs with near processors; the ratio of the fastest jobs does not."""
