/* Shared by speed.c and teams.c: the buffers, and the function that measures a case. */
#ifndef SENNIT_BENCH_OPENSHMEM_SPEED_H
#define SENNIT_BENCH_OPENSHMEM_SPEED_H

#include <stddef.h>
#include <stdint.h>

extern int me, pes;
extern char *there, *here; /* symmetric: 1 MiB for each PE, at least 4 MiB */
extern size_t bytes;       /* of the measured case */
extern long rounds;        /* of exchanges, in all batches */
extern uint64_t *signal_word;

/* The PEs that make calls: PE 0 only, both halves of an exchange, or all. */
enum who { kFirst, kPair, kAll };

void measure(const char *name, enum who who, void (*call)(void));

/* The cases of OpenSHMEM 1.5. The first and the last one use `bytes`. */
void measure_signals(void);
void measure_team_sync(void);
void measure_teams(void);

#endif
