/* SPDX-License-Identifier: BSD-3-Clause */
/* The build, the choices at start, and their reasons: for people, tools and messages. */
#ifndef SENNIT_INFO_H
#define SENNIT_INFO_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ways to a peer's memory, best first. */
typedef enum sennit_path {
    SENNIT_PATH_NONE = 0,
    SENNIT_PATH_SELF = 1,   /* the caller itself */
    SENNIT_PATH_INPROC = 2, /* a rank of the same process: its own pointers */
    SENNIT_PATH_MAPPED = 3, /* same node: the peer's memory is mapped here */
    SENNIT_PATH_CMA = 4,    /* same node: copied by the kernel */
    SENNIT_PATH_FABRIC = 5, /* network, libfabric */
    SENNIT_PATH_MPI = 6,    /* network, MPI RMA */
    SENNIT_PATH_SIM = 7,    /* the seeded network in miniature, for tests */
    SENNIT_PATH_END = 8
} sennit_path;

/* "self", "inproc" and so on, or "unknown". Any time. */
const char *sennit_path_name(sennit_path path);

/* 1 if this build has the path. Any time. */
int sennit_path_built(sennit_path path);

/* The path to `rank`. */
sennit_status sennit_peer_path(int rank, sennit_path *path);

/* Why `candidate` was or was not taken to `rank`: one sentence in `text`, cut to `bytes`.
 * Errors: ARG (0 bytes, SENNIT_PATH_NONE). */
sennit_status sennit_peer_path_reason(int rank, sennit_path candidate, char *text, size_t bytes);

/* A rail: an interface of the caller's node that the path fabric uses, or could use, to reach other
 * nodes. */
typedef struct sennit_rail {
    char provider[32];       /* of libfabric: "tcp" */
    char interface_name[16]; /* "eth0"; of a card that has no IP address: "cxi0" */
    char address[48];        /* of the caller's node on this rail, or of the caller's endpoint */
    char peer_address[48];   /* the peer's; "" if the rail is not used */
    int is_used;             /* 1 if operations use the rail */
    int number;              /* of the rail in traces and statistics; -1 if it is not used */
    char reason[128];        /* why the rail is used or not, in one sentence */
    char bus[16];            /* PCI address of the card, "0000:c1:00.0"; "": not known */
    int speed_mbit;          /* of its link; 0: not known */
    int level;               /* as in sennit_provider, with the option events= of the path */
} sennit_rail;

/* The caller's rail number `index` to `rank`. Numbers begin with 0; RANGE is the end of the list.
 * The list is empty if all ranks share a node, or for the reason of sennit_peer_path_reason. */
sennit_status sennit_peer_rail(int rank, int index, sennit_rail *rail);

/* A provider of libfabric on this machine: a kind of network card. */
typedef struct sennit_provider {
    char name[64];    /* "tcp;ofi_rxm" */
    char version[16]; /* of libfabric: "1.17.0" */
    int is_taken;     /* 1 if ranks use it for other nodes, unless another one is named */
    char reason[192]; /* why it is taken or not, in one sentence */
    /* Bits of completion data that a program may set, at the caller (local) and at the owner
     * (remote), as the provider reports them; 0 without such an operation. */
    int put_local_bits;
    int put_remote_bits;
    int get_local_bits;
    int get_remote_bits;
    int level; /* best support of notified operations: 3 with 64 bits at the owner or more, 2 with
                * 32, 1 with 8, else 0 (by messages) */
} sennit_provider;

/* Provider number `index`. Numbers begin with 0, the one that is used; RANGE is the end of the
 * list. Any time. The first call loads libfabric, up to 0.1 s. Errors: UNSUPPORTED (libfabric
 * cannot be used). */
sennit_status sennit_provider_get(int index, sennit_provider *provider);

/* How this rank was started: "launcher", "pmix", "pmi1", "inproc", "alone", or the name of the
 * given bootstrap. NULL if the caller is no rank. Any time. */
const char *sennit_bootstrap_used(void);

/* The name of launcher number `index` of this build; numbers begin with 0, and NULL is the end of
 * the list. `text` gets one sentence on whether it is present. Any time. */
const char *sennit_bootstrap_describe(int index, char *text, size_t bytes);

/* A knob: a setting, from the environment or the file of SENNIT_CONFIG. The strings are constants.
 */
typedef struct sennit_knob {
    const char *name;          /* "SENNIT_..." */
    const char *type;          /* "bool", "integer", "seconds", "text" */
    const char *default_value; /* as text */
    const char *unit;          /* "" if none */
    const char *help;          /* one sentence */
    int is_set;                /* 1: by the environment, not empty; 2: by the file; 0: default */
    char value[512];           /* as text: in use; before sennit_init: to be used */
} sennit_knob;

/* Knob number `index`. Numbers begin with 0; RANGE is the end of the list. Any time. */
sennit_status sennit_knob_get(int index, sennit_knob *knob);

/* The operations of this rank with a peer over a path since sennit_init, counted if SENNIT_STATS is
 * set. Loads and stores through pointers are not counted. Each put and get of a batch or plan
 * counts for its own peer, and the call under SENNIT_STATS_SEVERAL. */
typedef struct sennit_counters {
    uint64_t operations; /* calls: puts, gets, atomic operations, flushes, ... */
    uint64_t bytes;      /* that they moved */
    uint64_t waits;      /* inside these calls */
    uint64_t wait_ns;    /* nanoseconds in those waits */
} sennit_counters;

/* In place of a rank: calls that concern several ranks or none, such as collective calls,
 * allocation, locks and waits for requests. Their path is SENNIT_PATH_NONE. */
#define SENNIT_STATS_SEVERAL (-1)

/* The calling rank's counters for `rank` or SENNIT_STATS_SEVERAL over `path`; SENNIT_PATH_NONE:
 * over all paths. With other threads in Sennit the four numbers may be of different instants.
 * Errors: UNSUPPORTED (SENNIT_STATS is not set). */
sennit_status sennit_stats_get(int rank, sennit_path path, sennit_counters *counters);

/* Log the calling rank's counters, a line for each peer and path that was used. Errors:
 * UNSUPPORTED (SENNIT_STATS is not set). */
sennit_status sennit_stats_print(void);

/* Note in one line, cut to 255 bytes, what the calling thread does or waits for. `sennit trace
 * where` shows the note until the next one; "" removes it. Inside a call of Sennit (by a condition
 * of sennit_wait_until) the note is the thread's and ends with the call. Outside of calls it is the
 * rank's. No effect without SENNIT_TRACE. */
sennit_status sennit_trace_note(const char *text);

/* "0.1.0"; one line on compiler, optional parts and options of the build. Any time. */
const char *sennit_version(void);
const char *sennit_build_description(void);

#ifdef __cplusplus
}
#endif

#endif
