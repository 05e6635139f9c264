/* Start, barrier and end of a program that does nothing else: without a library, with Sennit, or
 * with an MPI. One of launch_none.c, launch_sennit.c and launch_mpi.c is linked. Plain C, so that
 * only libraries that need the C++ library load it. Each function returns 0 on success. */
#ifndef SENNIT_BENCH_LAUNCH_H
#define SENNIT_BENCH_LAUNCH_H

int launch_begin(int *argc, char ***argv);
int launch_meet(void); /* a barrier of all ranks */
int launch_end(void);

#endif
