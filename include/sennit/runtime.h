/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end, and identity of ranks.
 *
 * A rank is one unit of execution: a process, or a thread that was started as a rank. sennit_init
 * makes a rank of the calling thread, and of all threads of a process that has one rank. */
#ifndef SENNIT_RUNTIME_H
#define SENNIT_RUNTIME_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A wait without limit. */
#define SENNIT_FOREVER INT64_MAX

/* How a launcher or library plugs in. All ranks of the job call allgather and barrier in the same
 * order, from the thread in sennit_init, sennit_finalize or, between nodes without a path, a
 * collective call. Both return 0, a code of the launcher or the result of sennit_error_report,
 * within `timeout_ns`. After a failure they need not work again. */
typedef struct sennit_bootstrap {
    size_t struct_bytes; /* sizeof(sennit_bootstrap), so that the struct may grow */
    const char *name;    /* for messages, such as "mpi"; must outlive the rank */
    void *context;       /* handed to the functions below */
    int rank;            /* 0 .. size-1 */
    int size;
    /* Every rank gives `bytes` bytes and receives size*bytes, ordered by rank. */
    int (*allgather)(void *context, const void *mine, void *all, size_t bytes, int64_t timeout_ns);
    int (*barrier)(void *context, int64_t timeout_ns);
    /* Called once when Sennit needs the bootstrap no more; may be NULL. */
    void (*release)(void *context);
} sennit_bootstrap;

/* Which threads of a rank call Sennit. */
typedef enum sennit_thread_level {
    SENNIT_THREAD_SINGLE = 0,     /* the rank has one thread */
    SENNIT_THREAD_FUNNELED = 1,   /* only the thread that called init calls Sennit */
    SENNIT_THREAD_SERIALIZED = 2, /* any thread, one at a time */
    SENNIT_THREAD_MULTIPLE = 3    /* any thread at any time */
} sennit_thread_level;

/* Options of sennit_init: start from SENNIT_OPTIONS_INIT. */
typedef struct sennit_options {
    size_t struct_bytes; /* sizeof(sennit_options), set by SENNIT_OPTIONS_INIT */
    sennit_thread_level thread_level;
    const sennit_bootstrap *bootstrap; /* NULL: find the launcher; copied by sennit_init */
    const char *paths;  /* paths that may be taken, as SENNIT_PATHS; NULL: the knob */
    int64_t timeout_ns; /* limit of sennit_init; 0: the knob SENNIT_INIT_TIMEOUT */
} sennit_options;

#ifdef __cplusplus
#define SENNIT_OPTIONS_INIT \
    (sennit_options{sizeof(sennit_options), SENNIT_THREAD_SINGLE, nullptr, nullptr, 0})
#else
#define SENNIT_OPTIONS_INIT \
    ((sennit_options){sizeof(sennit_options), SENNIT_THREAD_SINGLE, NULL, NULL, 0})
#endif

/* Become a rank. Collective over all ranks of the job. `options` may be NULL.
 *
 * - Launcher: the first of the bootstrap in `options`, PMIx, PMI-1, `sennit run`; without one the
 *   rank is alone (size 1).
 * - Each further call in the same rank returns OK and needs its own sennit_finalize.
 * - MPI_Init may be called before or after.
 * - With a bootstrap, a thread that is no rank becomes a further rank of this process.
 * - The call waits while the other ranks live, with a warning after 10 s. options.timeout_ns or
 *   SENNIT_INIT_TIMEOUT limits it.
 *
 * Errors: ARG (malformed options), BOOTSTRAP (the launcher failed; ranks differ in size or in
 * Sennit's version; many ranks were started and each sees only itself), PEER_LOST (a rank ended
 * before it was ready). */
sennit_status sennit_init(const sennit_options *options);

/* Leave. Collective. The last counted call completes outstanding operations, waits for the other
 * ranks and frees everything, also when it returns an error. It waits while the other ranks live,
 * with a warning after 10 s; SENNIT_FINALIZE_TIMEOUT limits it. MPI_Finalize may be called before
 * or after, and sennit_init again.
 *
 * Errors: TIMEOUT (ranks that are threads of this process may still use its segments, which keep
 * their addresses and lose their content). */
sennit_status sennit_finalize(void);

/* 1 if the calling thread belongs to a rank, else 0. Any time. */
int sennit_initialized(void);

/* The caller's world rank, and the number of ranks; -1 if the caller is no rank. Any time. */
int sennit_rank(void);
int sennit_size(void);

/* The thread level that was asked for; -1 if the caller is no rank. Any time. */
int sennit_thread_level_granted(void);

/* Make the calling thread, rank or not, a thread of `rank` of this process; -1 detaches. Needed
 * only in a process with several ranks. Errors: RANGE (no rank of this process). */
sennit_status sennit_thread_attach(int rank);

/* How near a peer is. */
typedef enum sennit_locality_level {
    SENNIT_LOCALITY_SELF = 0,    /* it is the caller */
    SENNIT_LOCALITY_PROCESS = 1, /* same address space */
    SENNIT_LOCALITY_NUMA = 2,    /* same node, started on the same NUMA domain */
    SENNIT_LOCALITY_NODE = 3,    /* same node */
    SENNIT_LOCALITY_NETWORK = 4  /* elsewhere */
} sennit_locality_level;

/* How near `rank` is. */
sennit_status sennit_locality(int rank, sennit_locality_level *level);

/* Where `rank` is, in one line for people, cut to `bytes`: locality, and NUMA domain, process and
 * processors at sennit_init. Errors: ARG (0 bytes). */
sennit_status sennit_locality_string(int rank, char *text, size_t bytes);

/* Seconds of the node's CLOCK_MONOTONIC. Any time. */
double sennit_wtime(void);

/* Fill `bootstraps` for `size` ranks (1 to 64) that are threads of this process. Thread i calls
 * sennit_init with options.bootstrap = &bootstraps[i]. Any time. Errors: RANGE (size). */
sennit_status sennit_bootstrap_inproc_create(int size, sennit_bootstrap bootstraps[]);

/* Free what sennit_bootstrap_inproc_create made, after its ranks have finalized. Any time. Errors:
 * STATE (a rank still uses one; nothing is freed). */
sennit_status sennit_bootstrap_inproc_destroy(int size, sennit_bootstrap bootstraps[]);

#ifdef __cplusplus
}
#endif

#endif
