"""What page.py says in words: what is measured, how, and why something is below its target."""

CROWD_PES = 8

INTRODUCTION = """# OpenSHMEM: what calls cost beside other libraries

One program, `bench/openshmem/speed.c` with `teams.c` (what OpenSHMEM has since 1.5), compiled with each library and started in turns by
`bench/openshmem/compare.py`: Sennit's [front end](../../openshmem.md), Open MPI's OSHMEM, and Sandia OpenSHMEM (SOS) on UCX. This page is
written by `bench/openshmem/page.py` from the files of lines of JSON beside it, which have every value of every job."""

RATIOS = """A ratio is the time of the better of the other libraries (the one whose median is lower) to Sennit's, at each case and size the
median over the rounds. A round is one job of each, one behind the other: the machine is a virtual one, whose two processors are at
times nearer to each other and at times further away, which changes everything that passes between them by a factor of 2 to 3. What goes
there and back is measured in more rounds, since most of its time is of that kind."""

HOW = """Transfers are from PE 0 to PE 1, which waits in a barrier; buffers and words are on the symmetric heap, but for the cases with
`static`, which are of a variable of the program. A line is the median of 15 batches of about a millisecond (4 ms where PEs share processors).

| case | one call |
|---|---|
| put, get, put_nbi | `shmem_putmem`, `shmem_getmem`, `shmem_putmem_nbi` alone |
| put_quiet | `shmem_putmem`, `shmem_quiet` |
| put_burst | 256 × `shmem_putmem_nbi` to places side by side, then `shmem_quiet`: the time of one put. 1 s divided by it is the message rate |
| put_flag_wait | `shmem_putmem`, `shmem_fence`, `shmem_long_p` of a flag; the partner waits by `shmem_long_wait_until` and does the same: half of there and back |
| put_signal_wait | the same by `shmem_putmem_signal` and `shmem_signal_wait_until` |
| p_wait | the same by `shmem_long_p` and `shmem_long_wait_until` alone |
| p, g, fetch_add, add, inc, fetch, set, swap, compare_swap | of a `long` |
| bare_store, bare_fetch_add | a store and a `lock xadd` through `shmem_ptr`, called as the others are |
| broadcast, fcollect, alltoall, sum, max | the calls of active sets (`shmem_broadcast64`, …, `shmem_double_sum_to_all`, `shmem_long_max_to_all`) and a `shmem_barrier_all`, since a program has to keep two calls apart; bytes are those of one PE's part |
| team_… | the calls of teams (`shmem_broadcastmem`, …, `shmem_double_sum_reduce`) of `SHMEM_TEAM_WORLD` and a `shmem_barrier_all` |

Sennit and Open MPI are compiled by `make build` (`build/bin/sennit-bench-shmem`, `build/bin/sennit-bench-shmem-openmpi`), SOS by its own
`oshcc -O2 -std=gnu11 bench/openshmem/speed.c bench/openshmem/teams.c -o build/sennit-bench-shmem-sos`.

What the others were given:

- Open MPI crashes at exit unless its memory hooks are off (`memory ^patcher`). Of its settings the defaults are the fastest for puts, gets and
  words (tried: `sshmem` mmap, sysv, ucx; `memheap` ptmalloc; UCX with posix, sysv, posix and cma; sysv and mmap make UCX send where posix lets it
  store). `atomic basic` crashes. For collective calls the component `basic` is slower with short and faster with long parts than the default `mpi`,
  so both were measured, and the better one counts at each size. OpenSHMEM 1.5 is missing: no signals, no calls of teams.
- SOS can not map a peer's memory without XPMEM, which this machine has not; its words and data go by the kernel's copies, 2 µs each, or by UCX's
  messages, and the latter (`SHMEM_CMA_PUT_MAX` and `_GET_MAX` 0, no thread for progress) are faster up to 16 KiB and by half at most slower from 64
  to 256 KiB. `shmem_ptr` gives no pointer, so there are no bare cases. Where `sync_all` followed the transfers in one job it hung in 7 of 7 jobs, so
  collective calls have a job of their own. With 8 PEs on 2 processors a barrier takes it 16 to 40 ms, since its waits do not give up the processor; only
  what it can do in 15 s is measured."""

WHY = """- p_wait is two lines of cache that pass from one processor to the other and back, and nothing else: half of there and back takes about 80 ns
  in jobs whose processors are near and about 280 ns in others, with Sennit and with Open MPI. Twice as fast is not to be had.
- put_flag_wait of a few bytes is the same with one line more. Open MPI adds some 70 to 100 ns of its own, which is about as much as the lines
  take in jobs whose processors are near, and less than what they take in others.
- From 64 KiB on a put is the C library's copy with Sennit and with Open MPI. Ratios there are near 1, to either side, and their least and most
  show how far jobs differ. A burst of 1 KiB puts is mostly copying too.
- Whole runs differ too. One before this had `shmem_long_p` at 3.12 ns over a bare store, with the bare case further away in the program than
  now, so that target is met at its edge; and exchanges in seven rounds instead of 21 had ten cases below 2 ×.
- A median of a case in which jobs fall into near and far says how many of each there were, so the ratio of the fastest jobs stands beside it."""
