/* What speed.c shares with teams.c: the buffers, and how a case is measured. */
#ifndef SENNIT_BENCH_OPENSHMEM_SPEED_H
#define SENNIT_BENCH_OPENSHMEM_SPEED_H

#include <stddef.h>
#include <stdint.h>

extern int me, pes;
extern char *there, *here; /* symmetric, of 1 MiB for each PE */
extern size_t bytes;       /* of the case that is measured */
extern long rounds;        /* of exchanges, in all batches */
extern uint64_t *signal_word;

/* Whose calls are counted, and what PE 1 does: nothing, its half of an exchange, the same. */
enum who { kFirst, kPair, kAll };

void measure(const char *name, enum who who, void (*call)(void));

/* The cases of OpenSHMEM 1.5; the last is with `bytes`, as is the first. */
void measure_signals(void);
void measure_team_sync(void);
void measure_teams(void);

#endif
