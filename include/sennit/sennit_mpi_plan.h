/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of MPI's messages: they take the arguments of MPI calls, exchange addresses once, and then
 * move the data by notified puts. They support every kind of communicator, tags and derived
 * datatypes. In an intercommunicator, ranks are those of the remote group, as in MPI. Header-only,
 * like sennit_mpi.h. Guide: docs/manual/hot-loop.md; design: docs/design/conversion.md.
 *
 *     sennit_message_plan_create(comm, &plan)
 *     sennit_plan_irecv(plan, to, n, type, left, tag, comm, ...)    was MPI_Irecv in the loop
 *     sennit_plan_isend(plan, from, n, type, right, tag, ...)       was MPI_Isend
 *     sennit_message_plan_commit(plan, SENNIT_FOREVER)
 *     loop
 *         sennit_message_plan_start(plan)
 *         ... anything that leaves the buffers alone ...
 *         sennit_message_plan_wait(plan, SENNIT_FOREVER)            was MPI_Waitall
 *
 * Between wait and start the program may use the buffers, as with persistent requests of MPI: a run
 * writes only to a rank that has started it too, except into receives with a signal (see
 * sennit_plan_irecv). Several messages or plans may write a buffer if they never run at the same
 * time. Receive buffers are registered as by sennit_register. */
#ifndef SENNIT_SENNIT_MPI_PLAN_H
#define SENNIT_SENNIT_MPI_PLAN_H

#include <sennit/sennit_mpi_runs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plan of the rank that made it, for one thread at a time. Plans of one communicator are
 * created, committed and destroyed by one thread at a time. */
typedef sennit_mpi_plan_state sennit_message_plan;

/* Make an empty plan for messages of `comm`. Collective over `comm`, which Sennit duplicates.
 * Errors: ARG (MPI_COMM_NULL; on all ranks, if a process is no rank of this job, such as one that
 * MPI_Comm_spawn started), FABRIC (MPI failed; its code is in the last error). */
static inline sennit_status sennit_message_plan_create(MPI_Comm comm, sennit_message_plan **plan);

/* Let the plan have messages of another communicator, too. Collective over this communicator.
 * Errors: those of sennit_message_plan_create, STATE (committed). */
static inline sennit_status sennit_message_plan_use(sennit_message_plan *plan, MPI_Comm comm);

/* Record what MPI_Isend and MPI_Irecv would move. Not collective; does not wait.
 *
 * - Between two ranks the n-th send with a tag of a communicator matches the n-th receive with this
 *   tag. Datatypes may differ as MPI allows, and may be freed after the call. MPI_PROC_NULL moves
 *   nothing and counts no event.
 * - A receive registers all memory from its first to its last byte, including that between the
 *   parts of its datatype, and may take one of the rank's segments (memory.h). Record one message
 *   for each allocation: one receive must not span several.
 * - `arrived` and `sent` are the caller's signals or SENNIT_SIGNAL_NULL. `arrived` counts an event
 *   when the message is there, `sent` when the buffer may be written again. The caller waits for
 *   these signals and resets them.
 * - sennit_message_plan_wait does not wait for a message with `arrived`, and its sender does not
 *   wait for the receiver. So the program must delay the sender's next start until the buffer may
 *   be written and the signal is reset: an earlier start gets SIGNAL_OVERFLOW, but may have
 *   overwritten the buffer. If start cannot send a put yet, test or wait of the plan sends it, and
 *   `sent` fires after that.
 * - `exchange`: a request for the exchange of this message. The caller completes it before commit
 *   and destroy. If it is NULL, commit completes the exchange.
 *
 * Errors: STATE (committed), ARG (a communicator that the plan was not given, a negative count, a
 * rank or tag that MPI refuses, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BOTTOM, MPI_DATATYPE_NULL, a
 * signal of another rank, more receives of a communicator than it has tags), UNSUPPORTED (a
 * datatype that cannot be read), those of sennit_register (memory that is not mapped). The error
 * names the call, and rank and tag if they are valid. */
static inline sennit_status sennit_plan_isend(sennit_message_plan *plan, const void *buffer,
                                              int count, MPI_Datatype type, int dest, int tag,
                                              MPI_Comm comm, sennit_signal sent,
                                              MPI_Request *exchange);
static inline sennit_status sennit_plan_irecv(sennit_message_plan *plan, void *buffer, int count,
                                              MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                              sennit_signal arrived, MPI_Request *exchange);

/* The messages of MPI_Sendrecv, MPI_Alltoall, MPI_Alltoallv and MPI_Neighbor_alltoallv: a send and
 * a receive for each partner, each with its event. The last needs a communicator with a topology.
 * Like these calls of MPI, they have no request: sennit_message_plan_commit completes or tests
 * their exchange. Errors: those of sennit_plan_isend, ARG (MPI_IN_PLACE). After an error the plan
 * may have some of the messages: destroy it. */
static inline sennit_status sennit_plan_sendrecv(sennit_message_plan *plan, const void *send_buffer,
                                                 int send_count, MPI_Datatype send_type, int dest,
                                                 int send_tag, void *receive_buffer,
                                                 int receive_count, MPI_Datatype receive_type,
                                                 int source, int receive_tag, MPI_Comm comm,
                                                 sennit_signal sent, sennit_signal arrived);
static inline sennit_status sennit_plan_alltoall(sennit_message_plan *plan, const void *send_buffer,
                                                 int send_count, MPI_Datatype send_type,
                                                 void *receive_buffer, int receive_count,
                                                 MPI_Datatype receive_type, MPI_Comm comm,
                                                 sennit_signal sent, sennit_signal arrived);
static inline sennit_status sennit_plan_alltoallv(sennit_message_plan *plan,
                                                  const void *send_buffer, const int send_counts[],
                                                  const int send_places[], MPI_Datatype send_type,
                                                  void *receive_buffer, const int receive_counts[],
                                                  const int receive_places[],
                                                  MPI_Datatype receive_type, MPI_Comm comm,
                                                  sennit_signal sent, sennit_signal arrived);
static inline sennit_status sennit_plan_neighbor_alltoallv(
    sennit_message_plan *plan, const void *send_buffer, const int send_counts[],
    const int send_places[], MPI_Datatype send_type, void *receive_buffer,
    const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
    MPI_Comm comm, sennit_signal sent, sennit_signal arrived);

/* Make a second plan with the same messages for a second buffer, to run in turn with the first
 * plan. Memory in the `bytes` from `first` on is replaced by that at the same offset from `second`.
 * Each message must lie entirely inside or entirely outside these bytes. Other memory and the
 * caller's signals are the same in both plans. Collective over the plan's communicators, which must
 * still exist. The plan may be committed, the twin is not. Errors: ARG (a message partly in the
 * first buffer), those of sennit_message_plan_create and sennit_plan_irecv. */
static inline sennit_status sennit_message_plan_twin(const sennit_message_plan *plan,
                                                     const void *first, const void *second,
                                                     size_t bytes, sennit_message_plan **twin);

/* End the recording: wait until the descriptions of all messages are there. After TIMEOUT the
 * exchange goes on: call it again. So the plan is the request for the exchange of all its messages,
 * and a commit with timeout 0 tests it. After another error the plan can only be destroyed. The
 * error, and a warning after 10 s, name call, rank and tag. Errors: STATE (committed; a request for
 * an exchange is not complete), ARG (sizes or datatypes that do not match; the caller's request for
 * a send took the description of a receive that an earlier plan left without a send), TIMEOUT (the
 * partner of a send has not made its call; sennit_message_plan_wait finds a receive without a
 * send), those of sennit_block_attach and sennit_plan_commit. */
static inline sennit_status sennit_message_plan_commit(sennit_message_plan *plan,
                                                       int64_t timeout_ns);

/* Start the next run. Does not wait: messages to a rank that has neither started nor opened the
 * run are sent in test or wait. Errors: STATE (not committed; the run before was not waited for),
 * those of sennit_plan_start but SIGNAL_EARLY, those of sennit_signal_reset. SIGNAL_OVERFLOW: the
 * receiver of a message has not reset its `arrived`, or this rank has not reset a `sent`. It names
 * call, rank and tag of the first message to the same rank, or of the first one with `sent`. */
static inline sennit_status sennit_message_plan_start(sennit_message_plan *plan);

/* Let others write the plan's receive buffers for the next run, before it is started: for plans
 * that run in turn, each with its own memory. Open one plan before a run of the other. A rank that
 * has received the message of this run then knows that the next buffer is free, so its next put
 * does not wait. This holds if each rank that sends to another rank in one plan receives from it in
 * the other plan. Otherwise puts wait, or with sennit_message_plan_be_strict are reported.
 *
 *     sennit_message_plan_open(first)
 *     MPI_Barrier(comm)
 *     loop
 *         sennit_message_plan_open(second)
 *         sennit_message_plan_start(first)      sennit_message_plan_wait(first, ...)
 *         sennit_message_plan_open(first)
 *         sennit_message_plan_start(second)     sennit_message_plan_wait(second, ...)
 *
 * Not collective, does not wait, called once for a run. Errors: those of sennit_message_plan_start
 * but SIGNAL_OVERFLOW. */
static inline sennit_status sennit_message_plan_open(sennit_message_plan *plan);

/* From now on start returns SIGNAL_EARLY if a put finds that its receiver has neither started nor
 * opened the run. The error names call, rank and tag of the first message to this rank. The run is
 * started all the same, and must be waited for. Messages whose receivers gave `arrived` are not
 * checked. */
static inline sennit_status sennit_message_plan_be_strict(sennit_message_plan *plan);

/* Wait until the run is over: the program may use all buffers again, and the data is received.
 * After TIMEOUT the run goes on. sennit_message_plan_test is the same without a wait. Errors: STATE
 * (no run was started), TIMEOUT (this, and a warning after 10 s, name call, rank and tag of a
 * message that is missing), those of sennit_plan_wait and sennit_signal_wait. */
static inline sennit_status sennit_message_plan_wait(sennit_message_plan *plan, int64_t timeout_ns);
static inline sennit_status sennit_message_plan_test(sennit_message_plan *plan, int *is_over);

/* End the plan, its blocks and registrations. All its ranks call it after the last wait and a
 * barrier; if the plan is not committed, at any time outside a commit. Requests for exchanges must
 * be complete before. A plan that has messages but is not committed, or whose commit failed, keeps
 * three duplicates of each of its communicators until this communicator is freed. Errors: STATE (a
 * run was not waited for). */
static inline sennit_status sennit_message_plan_destroy(sennit_message_plan *plan);

/* sennit_message_plan_use() by `call`. */
static inline sennit_status sennit_mpi_use(sennit_message_plan *plan, const char *call,
                                           MPI_Comm comm) {
    sennit_knob trace;
    sennit_mpi_comm *use;
    int partners = 0;
    int all = 0;
    int code;
    if (plan == NULL || comm == MPI_COMM_NULL)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan, or MPI_COMM_NULL", NULL, 0);
    if (plan->is_committed)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, "the plan is committed", NULL, 0);
    code = sennit_mpi_sizes(comm, &partners, &all);
    if (code != MPI_SUCCESS)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "comm is no communicator", NULL, code);
    use = (sennit_mpi_comm *)sennit_mpi_append(&plan->comms, sizeof *use);
    if (use == NULL) return sennit_mpi_fail(SENNIT_ERR_NOMEM, call, "no memory", NULL, 0);
    use->comm = comm;
    /* A process that is no rank takes part in the collective call, so that no rank waits for it. */
    use->ways = sennit_mpi_take_ways(comm, !sennit_initialized() || all > sennit_size(), &code);
    if (use->ways != NULL) {
        sennit_mpi_knob("SENNIT_TRACE", &trace);
        plan->is_traced = trace.value[0] != '\0';
        return SENNIT_OK;
    }
    --plan->comms.count;
    if (!sennit_initialized())
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, "no rank: sennit_init_mpi() comes first",
                               NULL, 0);
    if (code == SENNIT_MPI_FOREIGN)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call,
                               "a process of the communicator is no rank of this job, which "
                               "sennit_init or sennit_init_mpi started",
                               NULL, 0);
    return sennit_mpi_fail(SENNIT_ERR_FABRIC, call, "the communicator cannot be duplicated", NULL,
                           code);
}

static inline sennit_status sennit_message_plan_use(sennit_message_plan *plan, MPI_Comm comm) {
    return sennit_mpi_use(plan, "sennit_message_plan_use", comm);
}

static inline sennit_status sennit_message_plan_create(MPI_Comm comm, sennit_message_plan **plan) {
    static const char *const call = "sennit_message_plan_create";
    sennit_message_plan *made;
    sennit_status status;
    if (plan == NULL) return sennit_mpi_fail(SENNIT_ERR_ARG, call, "plan is null", NULL, 0);
    made = (sennit_message_plan *)calloc(1, sizeof *made);
    if (made == NULL) return sennit_mpi_fail(SENNIT_ERR_NOMEM, call, "no memory", NULL, 0);
    status = sennit_mpi_use(made, call, comm);
    if (status != SENNIT_OK) {
        (void)sennit_message_plan_destroy(made);
        return status;
    }
    *plan = made;
    return SENNIT_OK;
}

static inline sennit_status sennit_message_plan_twin(const sennit_message_plan *plan,
                                                     const void *first, const void *second,
                                                     size_t bytes, sennit_message_plan **twin) {
    static const char *const call = "sennit_message_plan_twin";
    const int64_t by_bytes = (int64_t)((uintptr_t)second - (uintptr_t)first);
    sennit_message_plan *made;
    sennit_status status = SENNIT_OK;
    size_t i;
    if (plan == NULL || twin == NULL)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan, or twin is null", NULL, 0);
    if (bytes != 0 && (first == NULL || second == NULL))
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "first or second is null", NULL, 0);
    made = (sennit_message_plan *)calloc(1, sizeof *made);
    if (made == NULL) return sennit_mpi_fail(SENNIT_ERR_NOMEM, call, "no memory", NULL, 0);
    for (i = 0; i < plan->comms.count && status == SENNIT_OK; ++i)
        status = sennit_mpi_use(made, call, ((sennit_mpi_comm *)plan->comms.items)[i].comm);
    for (i = 0; i < plan->messages.count && status == SENNIT_OK; ++i) {
        const sennit_mpi_message *const model = ((sennit_mpi_message **)plan->messages.items)[i];
        int64_t move = 0;
        status = sennit_mpi_move_of(model, (const char *)first, bytes, by_bytes, &move);
        if (status == SENNIT_OK) status = sennit_mpi_add_twin(made, model, move);
    }
    if (status == SENNIT_OK) {
        *twin = made;
        return SENNIT_OK;
    }
    (void)sennit_message_plan_destroy(made);
    return status;
}

static inline sennit_status sennit_plan_isend(sennit_message_plan *plan, const void *buffer,
                                              int count, MPI_Datatype type, int dest, int tag,
                                              MPI_Comm comm, sennit_signal sent,
                                              MPI_Request *exchange) {
    return sennit_mpi_add(plan, "sennit_plan_isend", SENNIT_MPI_SEND, comm,
                          sennit_mpi_side_of(buffer, count, type, dest, tag, sent), exchange);
}

static inline sennit_status sennit_plan_irecv(sennit_message_plan *plan, void *buffer, int count,
                                              MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                              sennit_signal arrived, MPI_Request *exchange) {
    return sennit_mpi_add(plan, "sennit_plan_irecv", SENNIT_MPI_RECEIVE, comm,
                          sennit_mpi_side_of(buffer, count, type, source, tag, arrived), exchange);
}

/* A receive, and the send that the call makes with it. */
static inline sennit_status sennit_mpi_add_both(sennit_message_plan *plan, const char *call,
                                                int how, MPI_Comm comm, sennit_mpi_side receive,
                                                sennit_mpi_side send) {
    const sennit_status status =
        sennit_mpi_add(plan, call, how | SENNIT_MPI_RECEIVE, comm, receive, NULL);
    if (status != SENNIT_OK) return status;
    return sennit_mpi_add(plan, call, how | SENNIT_MPI_SEND, comm, send, NULL);
}

static inline sennit_status sennit_plan_sendrecv(sennit_message_plan *plan, const void *send_buffer,
                                                 int send_count, MPI_Datatype send_type, int dest,
                                                 int send_tag, void *receive_buffer,
                                                 int receive_count, MPI_Datatype receive_type,
                                                 int source, int receive_tag, MPI_Comm comm,
                                                 sennit_signal sent, sennit_signal arrived) {
    return sennit_mpi_add_both(
        plan, "sennit_plan_sendrecv", 0, comm,
        sennit_mpi_side_of(receive_buffer, receive_count, receive_type, source, receive_tag,
                           arrived),
        sennit_mpi_side_of(send_buffer, send_count, send_type, dest, send_tag, sent));
}

/* One side of an all-to-all: the elements that begin `place` elements after the buffer's start. */
static inline sennit_mpi_side sennit_mpi_side_behind(const void *buffer, int64_t place, int count,
                                                     MPI_Datatype type, int partner,
                                                     sennit_signal signal) {
    int64_t extent = 0; /* stays 0 for a type that cannot be read; the next call reports it */
    if (type != MPI_DATATYPE_NULL) (void)sennit_mpi_extent_of(type, &extent);
    return sennit_mpi_side_of((const char *)buffer + place * extent, count, type, partner, 0,
                              signal);
}

/* Ranks with which an all-to-all exchanges, or an error. */
static inline sennit_status sennit_mpi_size_of(sennit_message_plan *plan, const char *call,
                                               MPI_Comm comm, const void *send_buffer, int *size) {
    const char *wrong = sennit_mpi_why_not_given(plan, sennit_mpi_find_comm(plan, comm));
    int all = 0;
    if (wrong == NULL && send_buffer == MPI_IN_PLACE)
        wrong = "MPI_IN_PLACE: a plan needs both buffers";
    if (wrong == NULL && sennit_mpi_sizes(comm, size, &all) != MPI_SUCCESS)
        wrong = "MPI's own call failed";
    return wrong == NULL ? SENNIT_OK : sennit_mpi_fail(SENNIT_ERR_ARG, call, wrong, NULL, 0);
}

static inline sennit_status sennit_plan_alltoallv(sennit_message_plan *plan,
                                                  const void *send_buffer, const int send_counts[],
                                                  const int send_places[], MPI_Datatype send_type,
                                                  void *receive_buffer, const int receive_counts[],
                                                  const int receive_places[],
                                                  MPI_Datatype receive_type, MPI_Comm comm,
                                                  sennit_signal sent, sennit_signal arrived) {
    static const char *const call = "sennit_plan_alltoallv";
    int size = 0;
    int i;
    sennit_status status = sennit_mpi_size_of(plan, call, comm, send_buffer, &size);
    for (i = 0; i < size && status == SENNIT_OK; ++i)
        status =
            sennit_mpi_add_both(plan, call, SENNIT_MPI_JOINT, comm,
                                sennit_mpi_side_behind(receive_buffer, receive_places[i],
                                                       receive_counts[i], receive_type, i, arrived),
                                sennit_mpi_side_behind(send_buffer, send_places[i], send_counts[i],
                                                       send_type, i, sent));
    return status;
}

static inline sennit_status sennit_plan_alltoall(sennit_message_plan *plan, const void *send_buffer,
                                                 int send_count, MPI_Datatype send_type,
                                                 void *receive_buffer, int receive_count,
                                                 MPI_Datatype receive_type, MPI_Comm comm,
                                                 sennit_signal sent, sennit_signal arrived) {
    static const char *const call = "sennit_plan_alltoall";
    int size = 0;
    int i;
    sennit_status status = sennit_mpi_size_of(plan, call, comm, send_buffer, &size);
    for (i = 0; i < size && status == SENNIT_OK; ++i)
        status =
            sennit_mpi_add_both(plan, call, SENNIT_MPI_JOINT, comm,
                                sennit_mpi_side_behind(receive_buffer, (int64_t)i * receive_count,
                                                       receive_count, receive_type, i, arrived),
                                sennit_mpi_side_behind(send_buffer, (int64_t)i * send_count,
                                                       send_count, send_type, i, sent));
    return status;
}

static inline sennit_status sennit_plan_neighbor_alltoallv(
    sennit_message_plan *plan, const void *send_buffer, const int send_counts[],
    const int send_places[], MPI_Datatype send_type, void *receive_buffer,
    const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
    MPI_Comm comm, sennit_signal sent, sennit_signal arrived) {
    static const char *const call = "sennit_plan_neighbor_alltoallv";
    sennit_mpi_neighbors all;
    const char *wrong = sennit_mpi_why_not_given(plan, sennit_mpi_find_comm(plan, comm));
    sennit_status status = SENNIT_OK;
    int i;
    memset(&all, 0, sizeof all);
    if (wrong == NULL) wrong = sennit_mpi_find_neighbors(comm, &all);
    if (wrong != NULL) status = sennit_mpi_fail(SENNIT_ERR_ARG, call, wrong, NULL, 0);
    /* In a grid the tag is the sender's number of the direction: 2 d is down in dimension d, and
     * 2 d + 1 is up. A message from the lower neighbour was sent up. */
    for (i = 0; i < all.sources && status == SENNIT_OK; ++i) {
        sennit_mpi_side side =
            sennit_mpi_side_behind(receive_buffer, receive_places[i], receive_counts[i],
                                   receive_type, all.source[i], arrived);
        if (all.is_grid) side.tag = i ^ 1;
        status =
            sennit_mpi_add(plan, call, SENNIT_MPI_JOINT | SENNIT_MPI_RECEIVE, comm, side, NULL);
    }
    for (i = 0; i < all.targets && status == SENNIT_OK; ++i) {
        sennit_mpi_side side = sennit_mpi_side_behind(send_buffer, send_places[i], send_counts[i],
                                                      send_type, all.target[i], sent);
        if (all.is_grid) side.tag = i;
        status = sennit_mpi_add(plan, call, SENNIT_MPI_JOINT | SENNIT_MPI_SEND, comm, side, NULL);
    }
    free(all.source);
    free(all.target);
    return status;
}

static inline sennit_status sennit_message_plan_commit(sennit_message_plan *plan,
                                                       int64_t timeout_ns) {
    static const char *const call = "sennit_message_plan_commit";
    const int has_end = timeout_ns < SENNIT_FOREVER;
    const double end = sennit_wtime() + (has_end ? (double)timeout_ns * 1e-9 : 0.0);
    sennit_status status;
    if (plan == NULL || timeout_ns < 0)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan, or a negative timeout", NULL, 0);
    if (plan->is_committed)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, "the plan is committed", NULL, 0);
    if (plan->target_of == NULL)
        plan->target_of = (int *)calloc(2 * (size_t)sennit_size() + 1, sizeof(int));
    status = plan->target_of == NULL ? sennit_mpi_fail(SENNIT_ERR_NOMEM, call, "no memory", NULL, 0)
                                     : sennit_mpi_record_all(plan, end, has_end);
    if (status == SENNIT_ERR_TIMEOUT) return status;
    plan->is_committed = 1;
    free(plan->target_of);
    plan->target_of = NULL;
    plan->is_broken = status != SENNIT_OK;
    if (!plan->is_broken) sennit_mpi_leave_comms(plan, 0);
    return status;
}

static inline sennit_status sennit_message_plan_open(sennit_message_plan *plan) {
    static const char *const call = "sennit_message_plan_open";
    sennit_status status;
    if (plan == NULL) return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan", NULL, 0);
    if (!plan->is_committed || plan->is_broken || plan->is_running)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, sennit_mpi_why_no_start(plan), NULL, 0);
    status = sennit_mpi_open(plan);
    return status == SENNIT_OK ? SENNIT_OK : sennit_mpi_break(plan, call, status);
}

static inline sennit_status sennit_message_plan_be_strict(sennit_message_plan *plan) {
    if (plan == NULL)
        return sennit_mpi_fail(SENNIT_ERR_ARG, "sennit_message_plan_be_strict", "no plan", NULL, 0);
    plan->is_strict = 1;
    return SENNIT_OK;
}

static inline sennit_status sennit_message_plan_start(sennit_message_plan *plan) {
    static const char *const call = "sennit_message_plan_start";
    const sennit_mpi_target *held = NULL;
    sennit_status status;
    size_t i;
    if (plan == NULL) return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan", NULL, 0);
    if (!plan->is_committed || plan->is_broken || plan->is_running)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, sennit_mpi_why_no_start(plan), NULL, 0);
    plan->is_running = 1;
    plan->arrived = 0;
    for (i = 0; i < plan->targets.count; ++i) {
        sennit_mpi_target *const target = (sennit_mpi_target *)plan->targets.items + i;
        target->has_put = target->is_over = 0;
    }
    status = sennit_mpi_open(plan);
    plan->is_open = 0;
    if (status == SENNIT_OK) status = sennit_mpi_try_to_put(plan, &held);
    if (status != SENNIT_OK) return sennit_mpi_break(plan, call, status);
    if (held == NULL || !plan->is_strict) return SENNIT_OK;
    return sennit_mpi_fail(SENNIT_ERR_SIGNAL_EARLY, call,
                           "its receiver has neither started nor opened the run", held->first, 0);
}

static inline sennit_status sennit_message_plan_wait(sennit_message_plan *plan,
                                                     int64_t timeout_ns) {
    static const char *const call = "sennit_message_plan_wait";
    static const char *const not_started = "the rank that is sent to has not started its run";
    const double start = sennit_wtime();
    const sennit_mpi_target *held = NULL;
    const sennit_mpi_target *noted = NULL;
    int has_warned = 0;
    sennit_status status = SENNIT_OK;
    if (plan == NULL || timeout_ns < 0)
        return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan, or a negative timeout", NULL, 0);
    if (!plan->is_running)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, "no run was started", NULL, 0);
    for (;;) {
        status = sennit_mpi_try_to_put(plan, &held);
        if (status != SENNIT_OK || held == NULL) break;
        if (sennit_mpi_left(start, timeout_ns) == 0) {
            if (noted != NULL) sennit_mpi_end_note(noted->first);
            return sennit_mpi_fail(SENNIT_ERR_TIMEOUT, call, not_started, held->first, 0);
        }
        if (noted != held) sennit_mpi_note(held->first, call, not_started);
        noted = held;
        if (!has_warned && sennit_wtime() - start >= 10) {
            sennit_mpi_warn_of_message(sennit_wtime() - start, held->first, not_started);
            has_warned = 1;
        }
        (void)sched_yield();
    }
    if (noted != NULL) sennit_mpi_end_note(noted->first);
    if (status == SENNIT_OK) status = sennit_mpi_await_arrivals(plan, start, timeout_ns);
    if (status == SENNIT_OK) status = sennit_mpi_await_puts(plan, start, timeout_ns);
    if (status == SENNIT_ERR_TIMEOUT) return status;
    if (status != SENNIT_OK) return sennit_mpi_break(plan, call, status);
    plan->is_running = 0;
    return SENNIT_OK;
}

static inline sennit_status sennit_message_plan_test(sennit_message_plan *plan, int *is_over) {
    sennit_status status;
    if (is_over == NULL)
        return sennit_mpi_fail(SENNIT_ERR_ARG, "sennit_message_plan_test", "is_over is null", NULL,
                               0);
    status = sennit_message_plan_wait(plan, 0);
    *is_over = status == SENNIT_OK;
    return status == SENNIT_ERR_TIMEOUT ? SENNIT_OK : status;
}

static inline sennit_status sennit_message_plan_destroy(sennit_message_plan *plan) {
    static const char *const call = "sennit_message_plan_destroy";
    sennit_status status = SENNIT_OK;
    size_t i;
    if (plan == NULL) return sennit_mpi_fail(SENNIT_ERR_ARG, call, "no plan", NULL, 0);
    if (plan->is_running)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, "a run was not waited for", NULL, 0);
    for (i = 0; i < plan->targets.count; ++i) {
        const sennit_status ended =
            sennit_plan_destroy(((sennit_mpi_target *)plan->targets.items)[i].puts);
        if (status == SENNIT_OK) status = ended;
    }
    for (i = 0; i < plan->messages.count; ++i)
        sennit_mpi_end_message(((sennit_mpi_message **)plan->messages.items)[i]);
    sennit_mpi_leave_comms(plan, plan->messages.count != 0); /* if it was not committed */
    free(plan->messages.items);
    free(plan->comms.items);
    free(plan->targets.items);
    free(plan->target_of);
    free(plan);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
