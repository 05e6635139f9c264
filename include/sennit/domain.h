/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's node as a tree of domains: machine, packages, NUMA domains, cores, processors, and
 * the ranks bound to each. Read with hwloc at the first call. Errors of all calls: UNSUPPORTED
 * (hwloc is not installed, or another version), NOMEM, OS, PEER_LOST. */
#ifndef SENNIT_DOMAIN_H
#define SENNIT_DOMAIN_H

#include <sennit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of domains, from the outside in. */
typedef enum sennit_domain_kind {
    SENNIT_DOMAIN_MACHINE = 0,
    SENNIT_DOMAIN_PACKAGE = 1,
    SENNIT_DOMAIN_NUMA = 2,
    SENNIT_DOMAIN_CORE = 3,
    SENNIT_DOMAIN_PROCESSOR = 4 /* a hardware thread */
} sennit_domain_kind;

/* A domain. Numbers begin with 0, the machine; those inside domain i are i + 1 to i + inside. */
typedef struct sennit_domain {
    sennit_domain_kind kind;
    int os_number;  /* as the operating system counts domains of this kind, -1 if it does not */
    int parent;     /* number of the domain around it, -1 for the machine */
    int depth;      /* 0 for the machine */
    int inside;     /* domains inside it, at all depths */
    int processors; /* hardware threads in it */
    int ranks;      /* ranks of the node that were allowed to run nowhere else at sennit_init */
} sennit_domain;

/* How many domains the caller's node has. */
sennit_status sennit_domain_count(int *count);

/* Describe domain `index`: 0 (the machine) to sennit_domain_count - 1.
 * Errors: RANGE (another index). */
sennit_status sennit_domain_get(int index, sennit_domain *domain);

/* World ranks, ascending, that were allowed to run nowhere else than in domain `index`: the first
 * `capacity` in `ranks` (NULL if 0), their number in `count`. */
sennit_status sennit_domain_ranks(int index, size_t capacity, int ranks[], size_t *count);

#ifdef __cplusplus
}
#endif

#endif
