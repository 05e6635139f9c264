"""What page.py says in words: what is measured, how, and why something is below its target."""

CROWD_PES = 8

INTRODUCTION = """# OpenSHMEM: what calls cost beside other libraries

`bench/openshmem/speed.c` and `teams.c` (calls of OpenSHMEM 1.5) are compiled with each library and started in turns by
`bench/openshmem/compare.py`: Sennit's [front end](../../openshmem.md), Open MPI's OSHMEM, and Sandia OpenSHMEM (SOS) on UCX.
`bench/openshmem/page.py` writes this page from the `.jsonl` files beside it, which have every value of every job, more sizes, and the whole commands."""

RATIOS = """A ratio is the time of the better other library (the lower median) to Sennit's: the median over the rounds for each case and size. A round is one job of
each library, in turn. The distance between the virtual machine's two processors varies between jobs, by a factor of 2 to 3 in every exchange, so cases
that go there and back have more rounds."""

HOW = """PE 0 transfers to PE 1, which waits in a barrier. Buffers and words are on the symmetric heap, those of `static` cases are variables of the program. A
value is the median of 15 batches of about 1 ms (4 ms on shared processors).

| case | one call |
|---|---|
| put, get, put_nbi | `shmem_putmem`, `shmem_getmem`, `shmem_putmem_nbi` |
| put_quiet | `shmem_putmem`, `shmem_quiet` |
| put_burst | one of 256 × `shmem_putmem_nbi` side by side and a `shmem_quiet`; its inverse is the message rate |
| put_flag_wait | half of there and back: `shmem_putmem`, `shmem_fence`, `shmem_long_p` of a flag; the partner: `shmem_long_wait_until` |
| put_signal_wait | the same by `shmem_putmem_signal`, `shmem_signal_wait_until` |
| p_wait | the same by `shmem_long_p`, `shmem_long_wait_until` alone |
| p, g, fetch_add, add, inc, fetch, set, swap, compare_swap | of a `long` |
| bare_store, bare_fetch_add | a store, a `lock xadd` through `shmem_ptr` |
| broadcast, fcollect, alltoall, sum, max | active sets (`shmem_broadcast64`, …, `shmem_double_sum_to_all`) and the `shmem_barrier_all` that keeps calls apart; bytes of one PE's part |
| team_… | `shmem_broadcastmem`, …, `shmem_double_sum_reduce` of `SHMEM_TEAM_WORLD` and a `shmem_barrier_all` |

`make build` compiles Sennit's and Open MPI's program (`build/bin/sennit-bench-shmem`, `build/bin/sennit-bench-shmem-openmpi`); SOS's:
`oshcc -O2 -std=gnu11 bench/openshmem/speed.c bench/openshmem/teams.c -o build/sennit-bench-shmem-sos`.

Settings of the others:

- Open MPI crashes at exit with its memory hooks, hence `memory ^patcher`; `atomic basic` crashes. Its defaults are fastest for puts, gets and words (tried:
  `sshmem` mmap, sysv, ucx; `memheap` ptmalloc; UCX with posix, sysv, cma). Collective calls: the component `basic` is slower than the
  default `mpi` with short parts and faster with long ones; the better one counts at each size. It has no signals and no calls of teams.
- SOS maps a peer's memory by XPMEM only, which is missing here. Data goes by the kernel's copies (2 µs each) or by UCX's messages. The messages
  (`SHMEM_CMA_PUT_MAX` and `_GET_MAX` 0, no progress thread) are faster to 16 KiB, at most half slower from 64 to 256 KiB.
  `shmem_ptr` gives no pointer. `sync_all` after the transfers hung in 7 of 7 jobs, so collective calls have their own job.
  With 8 PEs a barrier takes 16 to 40 ms, since its waits keep the processor; the values are those of the first 15 s."""

WHY = """- p_wait is two cache lines that go there and back: half takes about 80 ns in jobs with near processors and 280 ns in others, with both
  libraries. 2 × is impossible.
- put_flag_wait of a few bytes is one line more. Open MPI adds 70 to 100 ns: about as much as the lines between near processors.
- From 64 KiB a put is the C library's copy in both libraries; a burst of 1 KiB puts is mostly copying.
- Runs differ: the run before had `shmem_long_p` at 3.12 ns over a bare store, so that target is met barely; with 7 rounds in place of
  21 ten exchanges were below 2 ×.
- A median says how many jobs were near and far; the fastest jobs do not depend on that."""
