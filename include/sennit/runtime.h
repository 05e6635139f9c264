/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end, and who is who.
 *
 * A rank is one unit of execution: a process, or a thread that was started as a rank. sennit_init
 * makes the calling thread (and, where the process has one rank only, all its threads) a rank.
 */
#ifndef SENNIT_RUNTIME_H
#define SENNIT_RUNTIME_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Waiting without end. All timeouts are nanoseconds from the call; 0 tries once, a negative one is
 * ARG. */
#define SENNIT_FOREVER INT64_MAX

/* How other launchers and libraries plug in: five things that every launcher can give. All ranks
 * of the job call allgather and barrier in the same order, from the thread that is in sennit_init,
 * sennit_finalize or, between nodes that no path joins, a collective call.
 *
 * Both return 0 on success and anything else on failure: a code of the launcher, or what
 * sennit_error_report returned. They return within `timeout_ns`, which may be SENNIT_FOREVER; one
 * that failed may fail for ever after, so between nodes that no path joins a barrier that timed out
 * can not be resumed.
 */
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

/* What sennit_init may be told. Begin with SENNIT_OPTIONS_INIT and change what shall differ. */
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
 * The launcher is found in this order: the bootstrap in `options`, PMIx, PMI-1, `sennit run`, and
 * else the rank is alone (size 1). Calls are counted: a second call in the same rank returns OK and
 * needs a second sennit_finalize. It may come before or after MPI_Init. A call with a bootstrap in
 * a thread that is no rank yet makes a further rank in this process (see
 * sennit_bootstrap_inproc_create). It waits as long as the other ranks live, and warns in the log
 * after 10 s, unless options.timeout_ns or SENNIT_INIT_TIMEOUT sets a limit.
 *
 * Errors: ARG (options malformed), BOOTSTRAP (launcher failed; ranks that differ in size or in
 * Sennit's version; a launcher that started many ranks of which each sees only itself), NOMEM, OS,
 * TIMEOUT, PEER_LOST (a rank ended before it was ready), STATE (in a forked child). After an error
 * the caller is no rank. */
sennit_status sennit_init(const sennit_options *options);

/* Leave. Collective; the last counted call completes what is outstanding, meets the other ranks,
 * and frees everything, in every case. It waits as long as the other ranks live, and warns in the
 * log after 10 s, unless SENNIT_FINALIZE_TIMEOUT sets a limit. MPI_Finalize may come before or
 * after. A later sennit_init starts anew. Errors: STATE (no rank), PEER_LOST or TIMEOUT (the others
 * did not come; all is freed anyway, but ranks that are threads of this process may still be at its
 * segments: those lose their content and keep their addresses). */
sennit_status sennit_finalize(void);

/* 1 if the calling thread belongs to a rank, else 0. */
int sennit_initialized(void);

/* World rank of the caller, and number of ranks in the world; -1 if the caller is no rank. */
int sennit_rank(void);
int sennit_size(void);

/* The thread level that holds: everything up to SENNIT_THREAD_MULTIPLE is granted as asked.
 * -1 if the caller is no rank. */
int sennit_thread_level_granted(void);

/* Make the calling thread a thread of world rank `rank`, which must be a rank of this process. Only
 * needed where a process has several ranks. -1 detaches. Errors: RANGE (no such rank in this
 * process), STATE (forked child). */
sennit_status sennit_thread_attach(int rank);

/* How near a peer is. */
typedef enum sennit_locality_level {
    SENNIT_LOCALITY_SELF = 0,    /* it is the caller */
    SENNIT_LOCALITY_PROCESS = 1, /* same address space */
    SENNIT_LOCALITY_NUMA = 2,    /* same node, started on the same NUMA domain */
    SENNIT_LOCALITY_NODE = 3,    /* same node */
    SENNIT_LOCALITY_NETWORK = 4  /* elsewhere */
} sennit_locality_level;

/* Locality of world rank `rank`. Errors: STATE, RANGE, ARG (null). */
sennit_status sennit_locality(int rank, sennit_locality_level *level);

/* Where world rank `rank` is, as one line for people in `text`, cut to `bytes`: how near, its NUMA
 * domain, process and processors as they were at sennit_init. Errors: STATE, RANGE, ARG (null, 0
 * bytes), PEER_LOST. */
sennit_status sennit_locality_string(int rank, char *text, size_t bytes);

/* A monotonic clock of this node, in seconds, with the resolution of CLOCK_MONOTONIC. */
double sennit_wtime(void);

/* Fill `bootstraps[0..size-1]` for `size` ranks (1 to 64) that are threads of this process: thread
 * i calls sennit_init with options.bootstrap = &bootstraps[i]. Errors: ARG, RANGE, NOMEM. */
sennit_status sennit_bootstrap_inproc_create(int size, sennit_bootstrap bootstraps[]);

/* Free what the call above made, after all its ranks have finalized. Errors: ARG, STATE (a rank is
 * still using it; nothing is freed). */
sennit_status sennit_bootstrap_inproc_destroy(int size, sennit_bootstrap bootstraps[]);

#ifdef __cplusplus
}
#endif

#endif
