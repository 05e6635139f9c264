/* SPDX-License-Identifier: BSD-3-Clause */
/* The machinery of sennit_mpi_plan.h: makes operations from descriptions, and runs plans.
 * docs/design/conversion.md. */
#ifndef SENNIT_SENNIT_MPI_RUNS_H
#define SENNIT_SENNIT_MPI_RUNS_H

#include <mpi.h>
#include <sched.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_messages.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `wait`: the name of the call, and a noun for the thing that it waits for. */
static inline void sennit_mpi_warn_of_wait(double seconds, const char *const wait[2],
                                           const sennit_mpi_message *message, const char *why) {
    char text[300];
    (void)snprintf(text, sizeof text,
                   "rank %d: warning: %s has waited %.0f s for the %s of %s %s rank %d of the "
                   "communicator, tag %d: %s",
                   sennit_rank(), wait[0], seconds, wait[1], message->call,
                   message->is_send ? "to" : "from", message->partner, message->tag, why);
    sennit_mpi_warn(text);
}

static inline void sennit_mpi_warn_of_message(double seconds, const sennit_mpi_message *message,
                                              const char *why) {
    static const char *const wait[2] = {"sennit_message_plan_wait", "message"};
    sennit_mpi_warn_of_wait(seconds, wait, message, why);
}

/* Waits for a request of the message, and warns once after 10 s. 0: complete; 1: timeout; 2: MPI's
 * call failed. */
static inline int sennit_mpi_await(const sennit_mpi_message *message, MPI_Request *request,
                                   double end, int has_end) {
    static const char *const wait[2] = {"sennit_message_plan_commit", "partner"};
    const double start = sennit_wtime();
    int has_warned = 0;
    unsigned rounds = 0;
    int how = -1;
    for (;;) {
        int is_over = 0;
        double now;
        if (MPI_Test(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) how = 2;
        if (how < 0 && is_over) how = 0;
        now = sennit_wtime();
        if (how < 0 && has_end && now >= end) {
            how = 1;
            sennit_mpi_make_progress(); /* for a caller that polls with timeout 0 */
        }
        if (how >= 0) break;
        if (rounds == 0)
            sennit_mpi_note(message, wait[0], "that rank has not made a call that matches");
        if (!has_warned && now - start >= 10) {
            sennit_mpi_warn_of_wait(now - start, wait, message,
                                    "that rank has not made a call that matches; timeout_ns sets "
                                    "a limit");
            has_warned = 1;
        }
        sennit_mpi_let_others(&rounds);
    }
    sennit_mpi_end_note(message);
    return how;
}

static inline sennit_status sennit_mpi_fail_await(int how, const sennit_mpi_message *message) {
    return how == 1 ? sennit_mpi_fail(SENNIT_ERR_TIMEOUT, "sennit_message_plan_commit",
                                      "that rank has not made a matching call in time", message, 0)
                    : sennit_mpi_fail(SENNIT_ERR_FABRIC, "sennit_message_plan_commit",
                                      "MPI's own call failed", message, 0);
}

/* Finds or adds a target. Null: no memory. */
static inline sennit_mpi_target *sennit_mpi_find_target(sennit_mpi_plan_state *plan, int rank,
                                                        int is_own) {
    int *const index = &plan->target_of[2 * rank + is_own];
    sennit_mpi_target *target;
    if (*index != 0) return (sennit_mpi_target *)plan->targets.items + *index - 1;
    target = (sennit_mpi_target *)sennit_mpi_append(&plan->targets, sizeof *target);
    if (target == NULL) return NULL;
    memset(target, 0, sizeof *target);
    if (sennit_plan_create(&target->puts) != SENNIT_OK) {
        --plan->targets.count;
        return NULL;
    }
    target->rank = rank;
    target->is_own = is_own;
    *index = (int)plan->targets.count;
    return target;
}

/* Checks that the message fits the receive, whose layout is `there`. */
static inline sennit_status sennit_mpi_check_fit(const sennit_mpi_message *message,
                                                 const sennit_mpi_layout *there) {
    const unsigned long long sent = (unsigned long long)sennit_mpi_bytes_of(&message->layout);
    const unsigned long long room = (unsigned long long)sennit_mpi_bytes_of(there);
    char text[120] = "its elements are of other types than those of its receive";
    if (sent <= room && sennit_mpi_kinds_match(&message->layout, there)) return SENNIT_OK;
    if (sent > room)
        (void)snprintf(text, sizeof text,
                       "the message of %llu byte%s is longer than its receive of %llu byte%s", sent,
                       sent == 1 ? "" : "s", room, room == 1 ? "" : "s");
    return sennit_mpi_fail(SENNIT_ERR_ARG, "sennit_message_plan_commit", text, message, 0);
}

/* Records the operation of a send, whose description has been received. */
static inline sennit_status sennit_mpi_record(sennit_mpi_plan_state *plan,
                                              sennit_mpi_message *message) {
    static const char *const call = "sennit_message_plan_commit";
    const sennit_mpi_head *const head = message->head;
    sennit_mpi_layout there;
    sennit_mpi_list pieces;
    sennit_piece_list list;
    sennit_notice notice;
    sennit_block_info info;
    sennit_status status;
    sennit_mpi_target *target = NULL;
    memset(&there, 0, sizeof there);
    memset(&pieces, 0, sizeof pieces);
    memset(&notice, 0, sizeof notice);
    there.runs.items = message->body;
    there.runs.count = (size_t)head->runs;
    there.kinds.items = (char *)message->body + head->runs * sizeof(sennit_mpi_run);
    there.kinds.count = (size_t)head->kinds;
    there.extent = head->extent;
    there.elements = head->elements;
    there.count = head->count;
    status = sennit_mpi_check_fit(message, &there);
    if (status != SENNIT_OK) return status;
    status = sennit_block_attach(&head->block, &message->there);
    if (status != SENNIT_OK) return sennit_mpi_fail_as(status, call, message);
    message->is_attached = 1;
    status = sennit_block_query(&head->block, &info);
    if (status == SENNIT_OK)
        status = sennit_mpi_make_pieces(&message->layout, &there, head->base, &pieces);
    if (status == SENNIT_OK) {
        target = sennit_mpi_find_target(plan, info.gptr.rank, head->is_own);
        if (target == NULL) status = SENNIT_ERR_NOMEM;
        if (target != NULL && target->first == NULL) target->first = message;
        if (target != NULL && target->first_with_sent == NULL && message->signal.handle != 0)
            target->first_with_sent = message;
    }
    if (status == SENNIT_ERR_NOMEM) status = sennit_mpi_fail(status, call, "no memory", message, 0);
    if (status != SENNIT_OK) {
        free(pieces.items);
        return status;
    }
    notice.remote = info.on_recv;
    notice.local = message->signal;
    notice.epoch = SENNIT_EPOCH_NEXT;
    list.count = pieces.count;
    list.pieces = (const sennit_piece *)pieces.items;
    if (pieces.count <= 1) {
        const sennit_piece *const only = list.pieces;
        status = sennit_plan_put_with(
            target->puts, message->there, only == NULL ? 0 : (size_t)only->remote_offset,
            only == NULL ? NULL : (const char *)message->buffer + only->local_offset,
            only == NULL ? 0 : only->bytes, &notice);
    } else {
        status = sennit_plan_put_indexed(target->puts, message->there, 0, message->buffer, &list,
                                         &notice);
    }
    free(pieces.items);
    return status == SENNIT_OK ? SENNIT_OK : sennit_mpi_fail_as(status, call, message);
}

/* The plan's send `i` has received the head of an earlier plan. So each later send of its tag has
 * the head of the send before it: moves the heads back, and receives one for the last send. */
static inline int sennit_mpi_shift_heads(const sennit_mpi_plan_state *plan, size_t i) {
    sennit_mpi_message **const messages = (sennit_mpi_message **)plan->messages.items;
    sennit_mpi_message *last = messages[i];
    sennit_mpi_head *const unused = last->head;
    while (++i < plan->messages.count) {
        const sennit_mpi_message *const next = messages[i];
        if (next->ways != last->ways || next->how != last->how || next->partner != last->partner ||
            next->tag != last->tag)
            continue;
        last->head = next->head;
        last->head_request = next->head_request;
        last->is_users = next->is_users;
        last = messages[i];
    }
    last->head = unused;
    last->head_request = MPI_REQUEST_NULL;
    last->is_users = 0;
    return sennit_mpi_exchange(last, &last->head_request);
}

/* Waits for the head of the description for the plan's send `i`. An earlier description may arrive
 * first: that of another plan's receive whose send was never made. */
static inline sennit_status sennit_mpi_await_head(const sennit_mpi_plan_state *plan, size_t i,
                                                  double end, int has_end) {
    static const char *const call = "sennit_message_plan_commit";
    sennit_mpi_message *const message = ((sennit_mpi_message **)plan->messages.items)[i];
    int how;
    for (;;) {
        if (message->is_users && message->head->magic != SENNIT_MPI_MAGIC)
            return sennit_mpi_fail(SENNIT_ERR_STATE, call,
                                   "the request for the exchange was not completed", message, 0);
        how = sennit_mpi_await(message, &message->head_request, end, has_end);
        if (how != 0) return sennit_mpi_fail_await(how, message);
        if (message->head->use == message->ways->use) return SENNIT_OK;
        if (message->is_users)
            return sennit_mpi_fail(
                SENNIT_ERR_ARG, call,
                "it got the description of a receive of an earlier plan, which had no send",
                message, 0);
        if (sennit_mpi_shift_heads(plan, i) != MPI_SUCCESS)
            return sennit_mpi_fail_await(2, message);
    }
}

/* Waits for the description for the plan's send `i`. */
static inline sennit_status sennit_mpi_await_place(const sennit_mpi_plan_state *plan, size_t i,
                                                   double end, int has_end) {
    sennit_mpi_message *const message = ((sennit_mpi_message **)plan->messages.items)[i];
    int how;
    if (message->body == NULL) { /* else an earlier commit has posted this receive */
        const sennit_status status = sennit_mpi_await_head(plan, i, end, has_end);
        const sennit_mpi_head *const head = message->head;
        size_t bytes;
        if (status != SENNIT_OK) return status;
        bytes = (size_t)head->runs * sizeof(sennit_mpi_run) +
                (size_t)head->kinds * sizeof(sennit_mpi_kind);
        message->body = malloc(bytes + 1);
        if (message->body == NULL)
            return sennit_mpi_fail(SENNIT_ERR_NOMEM, "sennit_message_plan_commit", "no memory",
                                   message, 0);
        if (MPI_Irecv(message->body, (int)bytes, MPI_BYTE, message->partner, head->body_tag,
                      message->ways->bodies, &message->body_request) != MPI_SUCCESS)
            return sennit_mpi_fail_await(2, message);
    }
    how = sennit_mpi_await(message, &message->body_request, end, has_end);
    return how == 0 ? SENNIT_OK : sennit_mpi_fail_await(how, message);
}

/* Waits for all descriptions, and records an operation for each send. After TIMEOUT the next call
 * continues. */
static inline sennit_status sennit_mpi_record_all(sennit_mpi_plan_state *plan, double end,
                                                  int has_end) {
    sennit_mpi_message **const messages = (sennit_mpi_message **)plan->messages.items;
    sennit_status status = SENNIT_OK;
    size_t i;
    for (i = 0; i < plan->messages.count && status == SENNIT_OK; ++i) {
        if (!messages[i]->is_send || messages[i]->is_recorded) continue;
        status = sennit_mpi_await_place(plan, i, end, has_end);
        if (status == SENNIT_OK) status = sennit_mpi_record(plan, messages[i]);
        messages[i]->is_recorded = status == SENNIT_OK;
    }
    for (i = 0; i < plan->messages.count && status == SENNIT_OK; ++i) {
        int how;
        if (messages[i]->is_send) continue;
        how = sennit_mpi_await(messages[i], &messages[i]->head_request, end, has_end);
        if (how == 0) how = sennit_mpi_await(messages[i], &messages[i]->body_request, end, has_end);
        if (how != 0) status = sennit_mpi_fail_await(how, messages[i]);
    }
    for (i = 0; i < plan->targets.count && status == SENNIT_OK; ++i) {
        const sennit_mpi_target *const target = (sennit_mpi_target *)plan->targets.items + i;
        status = target->is_own ? sennit_plan_commit(target->puts, 1, 1)
                                : sennit_plan_commit(target->puts, SENNIT_EPOCH_CURRENT, 0);
        if (status != SENNIT_OK)
            status = sennit_mpi_fail_as(status, "sennit_message_plan_commit", target->first);
    }
    return status;
}

/* Returns the duplicates: the plan is committed, or broken by an error, and exchanges nothing any
 * more. */
static inline void sennit_mpi_leave_comms(sennit_mpi_plan_state *plan, int is_spoiled) {
    size_t i;
    for (i = 0; i < plan->comms.count; ++i) {
        sennit_mpi_comm *const use = (sennit_mpi_comm *)plan->comms.items + i;
        if (use->ways != NULL) sennit_mpi_leave_ways(use->ways, is_spoiled);
        use->ways = NULL;
    }
}

/* Lets the senders write the receive buffers: resets the signals of the plan for the next run. */
static inline sennit_status sennit_mpi_open(sennit_mpi_plan_state *plan) {
    sennit_status status = SENNIT_OK;
    size_t i;
    if (plan->is_open) return SENNIT_OK;
    for (i = 0; i < plan->messages.count && status == SENNIT_OK; ++i) {
        const sennit_mpi_message *const message = ((sennit_mpi_message **)plan->messages.items)[i];
        if (message->owns_signal) status = sennit_signal_reset(message->signal);
    }
    plan->is_open = status == SENNIT_OK;
    return status;
}

/* Adds call, rank and tag of one of the target's messages to SIGNAL_OVERFLOW of start. */
static inline sennit_status sennit_mpi_name(sennit_status status, const sennit_mpi_target *target) {
    const sennit_error first = *sennit_last_error();
    const int is_own_signal = first.peer == sennit_rank() && target->first_with_sent != NULL;
    if (status != SENNIT_ERR_SIGNAL_OVERFLOW) return status;
    return sennit_mpi_fail(
        status, "sennit_message_plan_start",
        !is_own_signal ? "its receiver has not reset the signal since the message before"
        : target->rank == sennit_rank() && !target->is_own
            ? "the signal `arrived` or `sent` has not been reset since the message before"
            : "the signal `sent` has not been reset since the message before",
        is_own_signal ? target->first_with_sent : target->first, first.provider_code);
}

/* Starts the puts to ranks that are ready. *held: the first target that is not ready, or null. */
static inline sennit_status sennit_mpi_try_to_put(sennit_mpi_plan_state *plan,
                                                  const sennit_mpi_target **held) {
    size_t i;
    *held = NULL;
    for (i = 0; i < plan->targets.count; ++i) {
        sennit_mpi_target *const target = (sennit_mpi_target *)plan->targets.items + i;
        sennit_status status;
        if (target->has_put) continue;
        status = sennit_plan_start(target->puts);
        target->has_put = status == SENNIT_OK;
        if (status == SENNIT_ERR_SIGNAL_EARLY) {
            if (*held == NULL) *held = target;
        } else if (status != SENNIT_OK) {
            return sennit_mpi_name(status, target);
        }
    }
    return SENNIT_OK;
}

/* After an error in `call`: waits until nothing is under way. The plan cannot run again. */
static inline sennit_status sennit_mpi_break(sennit_mpi_plan_state *plan, const char *call,
                                             sennit_status status) {
    const sennit_error first = *sennit_last_error();
    size_t i;
    plan->is_broken = 1;
    for (i = 0; i < plan->targets.count && plan->is_running; ++i) {
        sennit_mpi_target *const target = (sennit_mpi_target *)plan->targets.items + i;
        if (target->has_put && !target->is_over)
            (void)sennit_plan_wait(target->puts, SENNIT_FOREVER);
        target->is_over = 1;
    }
    plan->is_running = 0;
    return sennit_error_report(status, call, first.text, first.provider_code);
}

static inline const char *sennit_mpi_why_no_start(const sennit_mpi_plan_state *plan) {
    return plan->is_running     ? "the run before was not waited for"
           : plan->is_broken    ? "the plan has had an error: it can only be destroyed"
           : plan->is_committed ? "it can be started"
                                : "the plan is not committed";
}

/* The rest of timeout_ns. */
static inline int64_t sennit_mpi_left(double start, int64_t timeout_ns) {
    const double passed = (sennit_wtime() - start) * 1e9;
    if (timeout_ns == SENNIT_FOREVER) return SENNIT_FOREVER;
    return passed >= (double)timeout_ns ? 0 : timeout_ns - (int64_t)passed;
}

/* Waits for the message's event, and warns once after 10 s. */
static inline sennit_status sennit_mpi_await_arrival(const sennit_mpi_message *message,
                                                     double start, int64_t timeout_ns) {
    static const char *const why = "its sender has not started the run, or makes no such send";
    const int64_t patience_ns = 10 * (int64_t)1000000000;
    int64_t left_ns = sennit_mpi_left(start, timeout_ns);
    int has_warned = 0;
    sennit_status status;
    sennit_mpi_note(message, "sennit_message_plan_wait", why);
    for (;;) {
        status = sennit_signal_wait(message->signal, left_ns < patience_ns ? left_ns : patience_ns);
        left_ns = sennit_mpi_left(start, timeout_ns);
        if (status != SENNIT_ERR_TIMEOUT || left_ns == 0) break;
        if (!has_warned) sennit_mpi_warn_of_message(sennit_wtime() - start, message, why);
        has_warned = 1;
    }
    sennit_mpi_end_note(message);
    return status;
}

/* Waits for the messages of the run that have not been waited for, in their order. */
static inline sennit_status sennit_mpi_await_arrivals(sennit_mpi_plan_state *plan, double start,
                                                      int64_t timeout_ns) {
    for (; plan->arrived < plan->messages.count; ++plan->arrived) {
        const sennit_mpi_message *const message =
            ((sennit_mpi_message **)plan->messages.items)[plan->arrived];
        sennit_status status = SENNIT_OK;
        if (message->owns_signal) status = sennit_mpi_await_arrival(message, start, timeout_ns);
        if (status == SENNIT_ERR_TIMEOUT)
            return sennit_mpi_fail(status, "sennit_message_plan_wait",
                                   "its message has not arrived: its sender has not started the "
                                   "run, or makes no such send",
                                   message, 0);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

static inline sennit_status sennit_mpi_await_puts(sennit_mpi_plan_state *plan, double start,
                                                  int64_t timeout_ns) {
    size_t i;
    for (i = 0; i < plan->targets.count; ++i) {
        sennit_mpi_target *const target = (sennit_mpi_target *)plan->targets.items + i;
        sennit_status status;
        if (target->is_over) continue;
        status = sennit_plan_wait(target->puts, sennit_mpi_left(start, timeout_ns));
        if (status != SENNIT_OK) return status;
        target->is_over = 1;
    }
    return SENNIT_OK;
}

#ifdef __cplusplus
}
#endif

#endif
