/* What a program does that only starts and ends: with nothing at all, with Sennit, or with an MPI.
 * One of launch_none.c, launch_sennit.c and launch_mpi.c is linked. Plain C, so that nobody is
 * charged for the C++ library but who needs it. Each returns 0 on success. */
#ifndef SENNIT_BENCH_LAUNCH_H
#define SENNIT_BENCH_LAUNCH_H

int launch_begin(int *argc, char ***argv);
int launch_meet(void); /* all ranks */
int launch_end(void);

#endif
