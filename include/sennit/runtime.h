/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end, and identity of ranks.
 *
 * A rank is one unit of execution: a process, or a thread that was started as a rank. sennit_init
 * makes the calling thread a rank. In a process with one rank, all its threads belong to this
 * rank. */
#ifndef SENNIT_RUNTIME_H
#define SENNIT_RUNTIME_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A wait without limit. */
#define SENNIT_FOREVER INT64_MAX

/* The functions that a launcher or library gives to Sennit. All ranks of the job call allgather and
 * barrier in the same order. The caller is a thread in sennit_init, in sennit_finalize or, if no
 * path joins the nodes, in a collective call. Both functions return within `timeout_ns`: 0, an
 * error code of the launcher or the result of sennit_error_report. After a failure they need not
 * work again. */
typedef struct sennit_bootstrap {
    size_t struct_bytes; /* sizeof(sennit_bootstrap), so that the struct may grow */
    const char *name;    /* for messages, such as "mpi"; must outlive the rank */
    void *context;       /* passed to the functions below */
    int rank;            /* 0 .. size-1 */
    int size;
    /* Every rank gives `bytes` bytes and receives size*bytes, ordered by rank. */
    int (*allgather)(void *context, const void *mine, void *all, size_t bytes, int64_t timeout_ns);
    int (*barrier)(void *context, int64_t timeout_ns);
    /* May be NULL. Called at most once: when the rank is finalized, or by a sennit_init that fails
     * after it has begun to use the bootstrap. */
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
 * - The first launcher that is present is used: the bootstrap in `options`, PMIx, PMI-1, `sennit
 *   run`. Without one the rank is alone (size 1).
 * - Each further call in the same rank returns OK and needs its own sennit_finalize.
 * - MPI_Init may be called before or after.
 * - With a bootstrap in `options`, a caller that is no rank becomes one more rank of this process.
 * - The call waits as long as the other ranks live, and warns after 10 s. options.timeout_ns or
 *   SENNIT_INIT_TIMEOUT limits the wait.
 *
 * Errors: ARG (malformed options), BOOTSTRAP (the launcher failed; ranks differ in size or in
 * Sennit's version; many ranks were started and each sees only itself), PEER_LOST (a rank ended
 * before it was ready). */
sennit_status sennit_init(const sennit_options *options);

/* Leave. Collective. After n calls of sennit_init only the n-th sennit_finalize has an effect. It
 * completes outstanding operations, waits for the other ranks and frees everything, also when it
 * returns an error. It waits as long as the other ranks live, and warns after 10 s;
 * SENNIT_FINALIZE_TIMEOUT limits the wait. MPI_Finalize may be called before or after. Afterwards
 * sennit_init may be called again.
 *
 * Errors: TIMEOUT (if this process has other ranks, the allocated memory of this rank stays mapped
 * for them, but loses its content). */
sennit_status sennit_finalize(void);

/* 1 if the calling thread belongs to a rank, else 0. Any time. */
int sennit_initialized(void);

/* The caller's world rank, and the number of ranks; -1 if the caller is no rank. Any time. */
int sennit_rank(void);
int sennit_size(void);

/* The thread level that was asked for; -1 if the caller is no rank. Any time. */
int sennit_thread_level_granted(void);

/* Make the calling thread a thread of `rank` of this process, even if it is a rank itself; -1
 * detaches it. Needed only in a process with several ranks. Errors: RANGE (no rank of this
 * process). */
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
