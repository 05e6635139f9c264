/* SPDX-License-Identifier: BSD-3-Clause */
/* The machinery of sennit_mpi_plan.h: duplicates of communicators, by which the two sides of a
 * message communicate (docs/design/conversion.md).
 *
 * A communicator stores sets of duplicates. A plan takes a set, and returns it at commit, when all
 * its descriptions have arrived. So plans that are recorded one after the other need one set. The
 * ranks compare the numbers of their sets; if the numbers differ, they make a new set. */
#ifndef SENNIT_SENNIT_MPI_WAYS_H
#define SENNIT_SENNIT_MPI_WAYS_H

#include <mpi.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sennit_mpi_ways {
    MPI_Comm heads;       /* of point-to-point calls */
    MPI_Comm joint_heads; /* of all-to-alls */
    MPI_Comm bodies;
    int next_body_tag; /* each is used once */
    int last_tag;
    uint64_t number; /* the same on all ranks, and different for each set */
    uint64_t use;    /* how many plans have taken it, the same on all ranks */
    int is_taken;
    int is_spoiled;  /* by a plan that was not committed: something may still be under way */
    int is_orphaned; /* its communicator was freed */
    struct sennit_mpi_ways *next;
} sennit_mpi_ways;

/* All sets of a communicator, stored as an attribute of it. */
typedef struct sennit_mpi_all_ways {
    sennit_mpi_ways *first;
} sennit_mpi_all_ways;

static inline void sennit_mpi_free_ways(sennit_mpi_ways *ways) {
    if (ways->heads != MPI_COMM_NULL) (void)MPI_Comm_free(&ways->heads);
    if (ways->joint_heads != MPI_COMM_NULL) (void)MPI_Comm_free(&ways->joint_heads);
    if (ways->bodies != MPI_COMM_NULL) (void)MPI_Comm_free(&ways->bodies);
    free(ways);
}

/* Called when the communicator is freed. */
static inline int sennit_mpi_forget_ways(MPI_Comm comm, int key, void *attribute, void *extra) {
    sennit_mpi_all_ways *const all = (sennit_mpi_all_ways *)attribute;
    (void)comm, (void)key, (void)extra;
    while (all->first != NULL) {
        sennit_mpi_ways *const ways = all->first;
        all->first = ways->next;
        ways->is_orphaned = 1;
        if (!ways->is_taken) sennit_mpi_free_ways(ways);
    }
    free(all);
    return MPI_SUCCESS;
}

/* The sets of a communicator. Null: *code has MPI's error or MPI_ERR_NO_MEM. */
static inline sennit_mpi_all_ways *sennit_mpi_ways_of(MPI_Comm comm, int *code) {
    static int key = MPI_KEYVAL_INVALID;
    sennit_mpi_all_ways *all = NULL;
    int has_any = 0;
    *code = MPI_SUCCESS;
    if (key == MPI_KEYVAL_INVALID)
        *code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sennit_mpi_forget_ways, &key, NULL);
    if (*code == MPI_SUCCESS) *code = MPI_Comm_get_attr(comm, key, (void *)&all, &has_any);
    if (*code != MPI_SUCCESS) return NULL;
    if (has_any) return all;
    all = (sennit_mpi_all_ways *)calloc(1, sizeof *all);
    *code = all == NULL ? MPI_ERR_NO_MEM : MPI_Comm_set_attr(comm, key, all);
    if (*code == MPI_SUCCESS) return all;
    free(all);
    return NULL;
}

/* A set that this rank can take, or null. Other ranks may find another one. The tags that are left
 * suffice for as many receives as a rank has segments. */
static inline sennit_mpi_ways *sennit_mpi_free_one_of(const sennit_mpi_all_ways *all) {
    sennit_mpi_ways *ways;
    for (ways = all->first; ways != NULL; ways = ways->next)
        if (!ways->is_taken && !ways->is_spoiled && ways->next_body_tag <= ways->last_tag / 2)
            return ways;
    return NULL;
}

/* The partner may wait for this rank in Sennit. */
static inline void sennit_mpi_make_progress(void) {
    sennit_request none = SENNIT_REQUEST_NULL;
    int is_over;
    (void)sennit_test(&none, &is_over);
}

/* Called between two calls of MPI_Test. Yields, because other ranks may need the processor. MPI's
 * own wait would not yield. */
static inline void sennit_mpi_let_others(unsigned *rounds) {
    if (++*rounds % 16 == 0) sennit_mpi_make_progress();
    (void)sched_yield();
}

static inline int sennit_mpi_finish(MPI_Request *request) {
    unsigned rounds = 0;
    int is_over = 0;
    for (;;) {
        const int code = MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || is_over) return code;
        sennit_mpi_let_others(&rounds);
    }
}

/* `partners`: the ranks that a call of the communicator can name, those of the remote group if it
 * is an intercommunicator. `all`: its processes, those of both groups. */
static inline int sennit_mpi_sizes(MPI_Comm comm, int *partners, int *all) {
    int is_inter = 0;
    int code = MPI_Comm_test_inter(comm, &is_inter);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(comm, partners);
    *all = *partners;
    if (code == MPI_SUCCESS && is_inter) code = MPI_Comm_remote_size(comm, partners);
    if (is_inter) *all += *partners;
    return code;
}

#define SENNIT_MPI_AGREED 4

/* Replaces each value by the largest one of all ranks. Collective. */
static inline int sennit_mpi_find_most(MPI_Comm comm, uint64_t values[SENNIT_MPI_AGREED]) {
    uint64_t theirs[SENNIT_MPI_AGREED] = {0};
    int is_inter = 0;
    int code = MPI_Comm_test_inter(comm, &is_inter);
    int step;
    int i;
    /* In an intercommunicator each group gets the values of the other one, then its own. */
    for (step = 0; step <= is_inter && code == MPI_SUCCESS; ++step) {
        MPI_Request request;
        uint64_t given[SENNIT_MPI_AGREED];
        memcpy(given, step == 0 ? values : theirs, sizeof given);
        code =
            MPI_Iallreduce(given, theirs, SENNIT_MPI_AGREED, MPI_UINT64_T, MPI_MAX, comm, &request);
        if (code == MPI_SUCCESS) code = sennit_mpi_finish(&request);
        for (i = 0; i < SENNIT_MPI_AGREED && code == MPI_SUCCESS; ++i)
            if (theirs[i] > values[i]) values[i] = theirs[i];
    }
    return code;
}

/* Beside MPI's error codes: a process of the communicator is no rank of this job. */
#define SENNIT_MPI_FOREIGN (-2)

/* Checks that each rank of the intracommunicator can read the memory of the next one by Sennit.
 * Otherwise the communicator has ranks of another job, with the same rank numbers and segments:
 * SENNIT_MPI_FOREIGN. `number`: the same on all ranks. Collective; the result is the same on all
 * ranks. */
static inline int sennit_mpi_check_ranks(MPI_Comm comm, uint64_t number) {
    sennit_gptr mine = SENNIT_GPTR_NULL;
    sennit_gptr next = SENNIT_GPTR_NULL;
    uint64_t word = 0;
    uint64_t seen = 0;
    int is_wrong = 1;
    int is_any_wrong = 1;
    int rank = 0;
    int size = 1;
    MPI_Request request;
    int code = MPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(comm, &size);
    if (code != MPI_SUCCESS) return code;
    if (sennit_alloc_local(sizeof word, 0, 0, &mine) == SENNIT_OK) {
        word = number + (uint64_t)rank;
        memcpy(sennit_ptr(mine), &word, sizeof word);
    }
    code = MPI_Sendrecv(&mine, (int)sizeof mine, MPI_BYTE, (rank + size - 1) % size, 0, &next,
                        (int)sizeof next, MPI_BYTE, (rank + 1) % size, 0, comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        is_wrong = sennit_get(&seen, next, sizeof seen) != SENNIT_OK ||
                   seen != number + (uint64_t)((rank + 1) % size);
    if (code == MPI_SUCCESS)
        code = MPI_Iallreduce(&is_wrong, &is_any_wrong, 1, MPI_INT, MPI_MAX, comm, &request);
    if (code == MPI_SUCCESS) code = sennit_mpi_finish(&request);
    if (!sennit_gptr_is_null(mine)) (void)sennit_free(mine);
    return code == MPI_SUCCESS && is_any_wrong ? SENNIT_MPI_FOREIGN : code;
}

/* The same for any communicator. */
static inline int sennit_mpi_check_job(MPI_Comm comm, uint64_t number) {
    MPI_Comm merged = MPI_COMM_NULL;
    int is_inter = 0;
    int code = MPI_Comm_test_inter(comm, &is_inter);
    if (code != MPI_SUCCESS) return code;
    if (!is_inter) return sennit_mpi_check_ranks(comm, number);
    code = MPI_Intercomm_merge(comm, 0, &merged);
    if (code != MPI_SUCCESS) return code;
    code = sennit_mpi_check_ranks(merged, number);
    (void)MPI_Comm_free(&merged);
    return code;
}

/* A new set of the communicator. Collective over it. */
static inline int sennit_mpi_make_ways(MPI_Comm comm, uint64_t number, sennit_mpi_ways *ways) {
    const int *most = NULL;
    int has_most = 0;
    int code;
    ways->heads = ways->joint_heads = ways->bodies = MPI_COMM_NULL;
    ways->last_tag = 32767; /* the tags that every MPI has */
    ways->number = number;
    code = MPI_Comm_dup(comm, &ways->heads);
    if (code == MPI_SUCCESS) code = sennit_mpi_check_job(ways->heads, ways->number);
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(comm, &ways->joint_heads);
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(comm, &ways->bodies);
    /* Not the duplicate's: Open MPI gives the attribute to few communicators. */
    if (code == MPI_SUCCESS)
        code = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&most, &has_most);
    if (code == MPI_SUCCESS && has_most) ways->last_tag = *most;
    return code;
}

/* Takes a set, the same on all ranks of the communicator. Collective over it. `is_foreign`: the
 * caller is no rank, or its job has fewer ranks than the communicator. After an error on any rank
 * all get NULL, and *code is MPI's error, MPI_ERR_NO_MEM or SENNIT_MPI_FOREIGN. */
static inline sennit_mpi_ways *sennit_mpi_take_ways(MPI_Comm comm, int is_foreign, int *code) {
    sennit_mpi_all_ways *const all = sennit_mpi_ways_of(comm, code);
    sennit_mpi_ways *ways = all == NULL ? NULL : sennit_mpi_free_one_of(all);
    sennit_mpi_ways *made = (sennit_mpi_ways *)calloc(1, sizeof *made);
    uint64_t most[SENNIT_MPI_AGREED];
    most[0] = ways == NULL ? 0 : ways->number;
    most[1] = ~most[0];
    most[2] = is_foreign ? 2 : all == NULL || made == NULL;
    /* The number of a new set: an address, which no other set of the process has at this time. */
    most[3] = ((uint64_t)(sennit_wtime() * 1e9) ^ ((uint64_t)(uintptr_t)made << 16)) | (uint64_t)1;
    *code = sennit_mpi_find_most(comm, most);
    if (*code == MPI_SUCCESS && most[2] != 0)
        *code = most[2] == 2 ? SENNIT_MPI_FOREIGN : MPI_ERR_NO_MEM;
    if (*code == MPI_SUCCESS && (most[0] == 0 || most[0] != ~most[1])) {
        *code = sennit_mpi_make_ways(comm, most[3], made);
        made->next = all->first;
        made->is_spoiled = *code != MPI_SUCCESS;
        all->first = ways = made;
        made = NULL;
    }
    free(made);
    if (*code != MPI_SUCCESS) return NULL;
    ways->is_taken = 1;
    ++ways->use;
    return ways;
}

/* Returns a set. is_spoiled: messages may still be under way by it. */
static inline void sennit_mpi_leave_ways(sennit_mpi_ways *ways, int is_spoiled) {
    ways->is_taken = 0;
    ways->is_spoiled |= is_spoiled;
    if (ways->is_orphaned) sennit_mpi_free_ways(ways);
}

#ifdef __cplusplus
}
#endif

#endif
