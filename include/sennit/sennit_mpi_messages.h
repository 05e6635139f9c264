/* SPDX-License-Identifier: BSD-3-Clause */
/* The machinery of sennit_mpi_plan.h: messages of a plan, and the descriptions that their two sides
 * exchange. docs/design/conversion.md.
 */
#ifndef SENNIT_SENNIT_MPI_MESSAGES_H
#define SENNIT_SENNIT_MPI_MESSAGES_H

#include <limits.h>
#include <mpi.h>
#include <sennit/sennit_mpi_pieces.h>
#include <sennit/sennit_mpi_ways.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The description of a receive, which the receiver sends to the sender. */
typedef struct sennit_mpi_head {
    uint64_t magic; /* 0: not yet received */
    uint64_t use;   /* sennit_mpi_ways.use of the plan that made the receive */
    sennit_block block;
    int64_t base; /* offset of the block from the buffer's address */
    int64_t extent;
    uint64_t elements;
    uint64_t count;
    uint64_t runs;
    uint64_t kinds;
    int32_t body_tag;
    int32_t is_own; /* the signal is the plan's */
} sennit_mpi_head;
#define SENNIT_MPI_MAGIC 0x53656e6e6974504cu

/* A communicator of the program, and the duplicates that a plan uses for it. */
typedef struct sennit_mpi_comm {
    MPI_Comm comm;
    sennit_mpi_ways *ways; /* until the plan is committed */
} sennit_mpi_comm;

/* The kinds of messages. */
#define SENNIT_MPI_RECEIVE 0
#define SENNIT_MPI_SEND 1
#define SENNIT_MPI_JOINT 2 /* a part of an all-to-all */

/* A message. */
typedef struct sennit_mpi_message {
    const char *call;
    MPI_Comm comm; /* the program's */
    sennit_mpi_ways *ways;
    int how;
    int partner;
    int tag;
    int is_send;
    int is_users;    /* the program has the request for the head */
    int is_recorded; /* a send whose operation is in the plan */
    const void *buffer;
    sennit_mpi_layout layout;
    sennit_signal signal; /* the caller's; for a receive without one the plan's own */
    int owns_signal;
    sennit_region region;
    int is_registered;
    MPI_Request head_request;
    MPI_Request body_request;
    sennit_mpi_head *head; /* the buffer of head_request */
    void *body;
    sennit_peer_block there; /* the receiver's block, for a send */
    int is_attached;
    int is_traced; /* as in the plan */
} sennit_mpi_message;

/* The puts to one rank whose events count in the signals of its plan (is_own), or in signals that
 * its program gave. */
typedef struct sennit_mpi_target {
    int rank;
    int is_own;
    const sennit_mpi_message *first; /* first of its messages, for error texts */
    const sennit_mpi_message *first_with_sent;
    sennit_plan puts;
    int has_put; /* in this run */
    int is_over;
} sennit_mpi_target;

typedef struct sennit_mpi_plan_state {
    sennit_mpi_list comms;    /* of sennit_mpi_comm */
    sennit_mpi_list messages; /* of sennit_mpi_message pointers */
    sennit_mpi_list targets;  /* of sennit_mpi_target */
    int *target_of;           /* in commit: 1 + index of a target, two entries for each rank */
    int is_committed;
    int is_running;
    int is_open; /* for the run that is started next */
    int is_strict;
    int is_traced;  /* SENNIT_TRACE is set */
    int is_broken;  /* after an error: it can only be destroyed */
    size_t arrived; /* the first `arrived` messages of this run have been waited for */
} sennit_mpi_plan_state;

static inline sennit_status sennit_mpi_fail(sennit_status status, const char *call,
                                            const char *text, const sennit_mpi_message *message,
                                            int64_t code) {
    char whole[400]; /* the error keeps 255 bytes */
    if (message == NULL) return sennit_error_report(status, call, text, code);
    (void)snprintf(whole, sizeof whole, "%s %s rank %d of the communicator, tag %d: %s",
                   message->call, message->is_send ? "to" : "from", message->partner, message->tag,
                   text);
    return sennit_error_report(status, call, whole, code);
}

/* The last error as one of `call`, with the message before its text. */
static inline sennit_status sennit_mpi_fail_as(sennit_status status, const char *call,
                                               const sennit_mpi_message *message) {
    const sennit_error first = *sennit_last_error();
    return sennit_mpi_fail(status, call, first.text, message, first.provider_code);
}

/* Shows `call` and the message in `sennit trace where`, which by itself sees only calls of the
 * library and none of this header. */
static inline void sennit_mpi_note(const sennit_mpi_message *message, const char *call,
                                   const char *why) {
    char text[250];
    if (!message->is_traced) return;
    (void)snprintf(text, sizeof text, "in %s: %s %s rank %d of the communicator, tag %d: %s", call,
                   message->call, message->is_send ? "to" : "from", message->partner, message->tag,
                   why);
    (void)sennit_trace_note(text);
}

static inline void sennit_mpi_end_note(const sennit_mpi_message *message) {
    if (message->is_traced) (void)sennit_trace_note("");
}

static inline sennit_mpi_comm *sennit_mpi_find_comm(const sennit_mpi_plan_state *plan,
                                                    MPI_Comm comm) {
    size_t i;
    for (i = 0; plan != NULL && i < plan->comms.count; ++i) {
        sennit_mpi_comm *const use = (sennit_mpi_comm *)plan->comms.items + i;
        if (use->comm == comm) return use;
    }
    return NULL;
}

/* Why the plan takes no messages of a communicator, or null. `use` is null if it was not given. */
static inline const char *sennit_mpi_why_not_given(const sennit_mpi_plan_state *plan,
                                                   const sennit_mpi_comm *use) {
    if (plan == NULL) return "no plan";
    if (use != NULL) return NULL;
    return "the plan has another communicator; sennit_message_plan_use() adds one";
}

/* One side of a message, as a call of MPI names it. */
typedef struct sennit_mpi_side {
    const void *buffer;
    int count;
    MPI_Datatype type;
    int partner;
    int tag;
    sennit_signal signal;
} sennit_mpi_side;

static inline sennit_mpi_side sennit_mpi_side_of(const void *buffer, int count, MPI_Datatype type,
                                                 int partner, int tag, sennit_signal signal) {
    sennit_mpi_side side;
    side.buffer = buffer;
    side.count = count;
    side.type = type;
    side.partner = partner;
    side.tag = tag;
    side.signal = signal;
    return side;
}

#define SENNIT_MPI_TEXT_BYTES 80

/* Returns null if nothing is wrong, else a constant text or `text`. */
static inline const char *sennit_mpi_what_is_wrong(const sennit_mpi_plan_state *plan,
                                                   const sennit_mpi_comm *use,
                                                   const sennit_mpi_side *side,
                                                   char text[SENNIT_MPI_TEXT_BYTES]) {
    const char *const wrong = sennit_mpi_why_not_given(plan, use);
    int size = 0;
    int all = 0;
    if (wrong != NULL) return wrong;
    if (plan->is_committed) return "the plan is committed";
    if (side->type == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
    if (side->buffer == MPI_IN_PLACE && side->count != 0)
        return "MPI_IN_PLACE: a plan needs both buffers";
    if (side->count < 0) return "a count below 0";
    if (side->partner == MPI_PROC_NULL) return NULL;
    if (side->buffer == MPI_BOTTOM && side->count != 0) return "the buffer is null, or MPI_BOTTOM";
    if (use->ways->next_body_tag >= use->ways->last_tag)
        return "too many receives of one communicator";
    if (side->partner == MPI_ANY_SOURCE) return "MPI_ANY_SOURCE: a plan knows its partners";
    if (side->tag == MPI_ANY_TAG) return "MPI_ANY_TAG: a plan knows its messages";
    if (sennit_mpi_sizes(use->comm, &size, &all) != MPI_SUCCESS || side->partner < 0 ||
        side->partner >= size) {
        (void)snprintf(text, SENNIT_MPI_TEXT_BYTES,
                       "rank %d is outside 0 to %d of the communicator", side->partner, size - 1);
        return text;
    }
    if (side->tag < 0 || side->tag > use->ways->last_tag) {
        (void)snprintf(text, SENNIT_MPI_TEXT_BYTES, "tag %d is outside 0 to %d", side->tag,
                       use->ways->last_tag);
        return text;
    }
    return NULL;
}

static inline sennit_mpi_message *sennit_mpi_new_message(sennit_mpi_plan_state *plan) {
    sennit_mpi_message *const message = (sennit_mpi_message *)calloc(1, sizeof *message);
    sennit_mpi_head *const head = (sennit_mpi_head *)calloc(1, sizeof *head);
    sennit_mpi_message **const place =
        message == NULL || head == NULL
            ? NULL
            : (sennit_mpi_message **)sennit_mpi_append(&plan->messages, sizeof message);
    if (place == NULL) {
        free(head);
        free(message);
        return NULL;
    }
    message->head = head;
    message->head_request = message->body_request = MPI_REQUEST_NULL;
    message->is_traced = plan->is_traced;
    *place = message;
    return message;
}

/* 1: MPI may still use the request's memory, so it is never freed: a send without a receive never
 * completes. */
static inline int sennit_mpi_is_in_use(MPI_Request *request, int is_receive) {
    int is_over = 0;
    if (*request == MPI_REQUEST_NULL) return 0;
    if (is_receive && MPI_Cancel(request) == MPI_SUCCESS)
        return MPI_Wait(request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return MPI_Test(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || !is_over;
}

static inline void sennit_mpi_end_message(sennit_mpi_message *message) {
    const int head = sennit_mpi_is_in_use(&message->head_request, message->is_send);
    const int body = sennit_mpi_is_in_use(&message->body_request, message->is_send);
    if (message->is_attached) (void)sennit_block_detach(message->there);
    if (message->owns_signal) (void)sennit_signal_destroy(message->signal);
    if (message->is_registered) (void)sennit_deregister(message->region);
    sennit_mpi_free_layout(&message->layout);
    if (!head) free(message->head);
    if (!body) free(message->body);
    free(message);
}

/* Removes the message that was added last. Without `text` the text of the last error is kept. */
static inline sennit_status sennit_mpi_drop_message(sennit_mpi_plan_state *plan,
                                                    sennit_status status, const char *text) {
    sennit_mpi_message *const message =
        ((sennit_mpi_message **)plan->messages.items)[--plan->messages.count];
    status = text != NULL ? sennit_mpi_fail(status, message->call, text, message, 0)
                          : sennit_mpi_fail_as(status, message->call, message);
    sennit_mpi_end_message(message);
    return status;
}

static inline const char *sennit_mpi_why_unread(sennit_status status) {
    return status == SENNIT_ERR_NOMEM ? "no memory" : "a datatype that cannot be read";
}

/* Adds to the last error, of a registration, that the receive also needs the memory of its gaps. */
static inline sennit_status sennit_mpi_fail_between(sennit_status status) {
    const sennit_error first = *sennit_last_error();
    char text[400]; /* the error keeps 255 bytes */
    (void)snprintf(text, sizeof text, "it needs all memory from its first to its last byte: %s",
                   first.text);
    return sennit_error_report(status, first.operation, text, first.provider_code);
}

/* Makes memory, signal and block of a receive, and the description for its sender. */
static inline sennit_status sennit_mpi_expose(sennit_mpi_message *message, int body_tag) {
    const sennit_mpi_layout *const layout = &message->layout;
    const size_t run_bytes = layout->runs.count * sizeof(sennit_mpi_run);
    const size_t kind_bytes = layout->kinds.count * sizeof(sennit_mpi_kind);
    int64_t first, end;
    sennit_status status;
    sennit_mpi_range_of(layout, &first, &end);
    status = sennit_register((char *)message->buffer + first, (size_t)(end - first), 0,
                             &message->region);
    if (status != SENNIT_OK) {
        return (uint64_t)(end - first) == sennit_mpi_bytes_of(layout)
                   ? status
                   : sennit_mpi_fail_between(status);
    }
    message->is_registered = 1;
    if (message->signal.handle == 0) {
        status = sennit_signal_create(1, 1, SENNIT_SIGNAL_STRICT, &message->signal);
        if (status != SENNIT_OK) return status;
        message->owns_signal = 1;
        /* Run 0 is epoch 1: the start that allows run 0 resets epoch 0. The event names the current
         * epoch, not epoch 0: otherwise `sennit trace where` would list this rank as a sender. */
        status = sennit_signal_notify(message->signal, SENNIT_EPOCH_CURRENT);
        if (status != SENNIT_OK) return status;
    }
    status = sennit_block_init(message->region, 0, (size_t)(end - first), SENNIT_SIGNAL_NULL,
                               message->signal, &message->head->block);
    if (status != SENNIT_OK) return status;
    /* MPI counts in int. */
    if (run_bytes + kind_bytes <= INT_MAX) message->body = malloc(run_bytes + kind_bytes + 1);
    if (message->body == NULL) return SENNIT_ERR_NOMEM;
    if (run_bytes != 0) memcpy(message->body, layout->runs.items, run_bytes);
    if (kind_bytes != 0) memcpy((char *)message->body + run_bytes, layout->kinds.items, kind_bytes);
    message->head->magic = SENNIT_MPI_MAGIC;
    message->head->base = first;
    message->head->extent = layout->extent;
    message->head->elements = layout->elements;
    message->head->count = layout->count;
    message->head->runs = layout->runs.count;
    message->head->kinds = layout->kinds.count;
    message->head->body_tag = body_tag;
    message->head->is_own = message->owns_signal;
    return SENNIT_OK;
}

/* Starts to send the description of a receive, or to receive that for a send. */
static inline int sennit_mpi_exchange(sennit_mpi_message *message, MPI_Request *request) {
    sennit_mpi_ways *const ways = message->ways;
    const MPI_Comm heads = (message->how & SENNIT_MPI_JOINT) != 0 ? ways->joint_heads : ways->heads;
    int code;
    if (message->is_send)
        return MPI_Irecv(message->head, (int)sizeof *message->head, MPI_BYTE, message->partner,
                         message->tag, heads, request);
    message->head->use = ways->use;
    code = MPI_Isend(message->head, (int)sizeof *message->head, MPI_BYTE, message->partner,
                     message->tag, heads, request);
    if (code != MPI_SUCCESS) return code;
    return MPI_Isend(message->body,
                     (int)(message->layout.runs.count * sizeof(sennit_mpi_run) +
                           message->layout.kinds.count * sizeof(sennit_mpi_kind)),
                     MPI_BYTE, message->partner, message->head->body_tag, ways->bodies,
                     &message->body_request);
}

/* Starts the exchange for the last message of the plan, whose memory and layout are known. */
static inline sennit_status sennit_mpi_post(sennit_mpi_plan_state *plan,
                                            sennit_mpi_message *message, MPI_Request *exchange) {
    sennit_status status = SENNIT_OK;
    if (!message->is_send) status = sennit_mpi_expose(message, message->ways->next_body_tag);
    if (status != SENNIT_OK)
        return sennit_mpi_drop_message(plan, status,
                                       status == SENNIT_ERR_NOMEM ? "no memory" : NULL);
    if (!message->is_send) ++message->ways->next_body_tag;
    message->is_users = exchange != NULL;
    if (sennit_mpi_exchange(message, exchange != NULL ? exchange : &message->head_request) ==
        MPI_SUCCESS)
        return SENNIT_OK;
    return sennit_mpi_drop_message(plan, SENNIT_ERR_FABRIC, "MPI's own call failed");
}

/* Reports what is wrong with a message. Names its rank and tag if they are valid, because an
 * all-to-all makes several messages. */
static inline sennit_status sennit_mpi_refuse(const sennit_mpi_plan_state *plan, const char *call,
                                              int how, const sennit_mpi_side *side,
                                              const char *wrong) {
    sennit_mpi_message message;
    if (plan != NULL && plan->is_committed)
        return sennit_mpi_fail(SENNIT_ERR_STATE, call, wrong, NULL, 0);
    memset(&message, 0, sizeof message);
    message.call = call;
    message.is_send = how & SENNIT_MPI_SEND;
    message.partner = side->partner;
    message.tag = side->tag;
    return sennit_mpi_fail(SENNIT_ERR_ARG, call, wrong,
                           side->partner < 0 || side->tag < 0 ? NULL : &message, 0);
}

static inline sennit_status sennit_mpi_add(sennit_mpi_plan_state *plan, const char *call, int how,
                                           MPI_Comm comm, sennit_mpi_side side,
                                           MPI_Request *exchange) {
    sennit_mpi_comm *const use = sennit_mpi_find_comm(plan, comm);
    char text[SENNIT_MPI_TEXT_BYTES];
    const char *const wrong = sennit_mpi_what_is_wrong(plan, use, &side, text);
    sennit_mpi_message *message;
    sennit_status status;
    if (exchange != NULL) *exchange = MPI_REQUEST_NULL;
    if (wrong != NULL) return sennit_mpi_refuse(plan, call, how, &side, wrong);
    if (side.partner == MPI_PROC_NULL) return SENNIT_OK;
    message = sennit_mpi_new_message(plan);
    if (message == NULL) return sennit_mpi_fail(SENNIT_ERR_NOMEM, call, "no memory", NULL, 0);
    message->call = call;
    message->comm = comm;
    message->ways = use->ways;
    message->how = how;
    message->is_send = how & SENNIT_MPI_SEND;
    message->partner = side.partner;
    message->tag = side.tag;
    message->buffer = side.buffer;
    message->signal = side.signal;
    status = sennit_mpi_read_layout(side.type, side.count, &message->layout);
    if (status != SENNIT_OK)
        return sennit_mpi_drop_message(plan, status, sennit_mpi_why_unread(status));
    return sennit_mpi_post(plan, message, exchange);
}

/* The distance from a message's buffer to that of its twin: by_bytes if its memory lies in the
 * `bytes` from `first` on, 0 if none of it does. */
static inline sennit_status sennit_mpi_move_of(const sennit_mpi_message *message, const char *first,
                                               size_t bytes, int64_t by_bytes, int64_t *move) {
    int64_t low, high;
    const int64_t place = (int64_t)((uintptr_t)message->buffer - (uintptr_t)first);
    sennit_mpi_range_of(&message->layout, &low, &high);
    low += place;
    high += place;
    *move = 0;
    if (low == high || high <= 0 || low >= (int64_t)bytes) return SENNIT_OK;
    if (low < 0 || high > (int64_t)bytes)
        return sennit_mpi_fail(SENNIT_ERR_ARG, "sennit_message_plan_twin",
                               "only a part of its memory lies in the first buffer", message, 0);
    *move = by_bytes;
    return SENNIT_OK;
}

/* Adds the same message with another buffer to another plan, which has the same communicators. */
static inline sennit_status sennit_mpi_add_twin(sennit_mpi_plan_state *plan,
                                                const sennit_mpi_message *model, int64_t move) {
    const sennit_mpi_comm *const use = sennit_mpi_find_comm(plan, model->comm);
    sennit_mpi_message *const message = use == NULL ? NULL : sennit_mpi_new_message(plan);
    sennit_status status;
    if (message == NULL)
        return sennit_mpi_fail(SENNIT_ERR_NOMEM, "sennit_message_plan_twin", "no memory", model, 0);
    message->call = model->call;
    message->comm = model->comm;
    message->ways = use->ways;
    message->how = model->how;
    message->is_send = model->is_send;
    message->partner = model->partner;
    message->tag = model->tag;
    message->buffer = (const char *)model->buffer + move;
    if (!model->owns_signal) message->signal = model->signal;
    status = sennit_mpi_copy_layout(&model->layout, &message->layout);
    if (status != SENNIT_OK) return sennit_mpi_drop_message(plan, status, "no memory");
    return sennit_mpi_post(plan, message, NULL);
}

/* The neighbours of a topology. If a rank is a neighbour twice, MPI pairs the edges of a grid by
 * direction, and those of a graph in their order. */
typedef struct sennit_mpi_neighbors {
    int sources, targets;
    int *source, *target;
    int is_grid;
} sennit_mpi_neighbors;

static inline const char *sennit_mpi_find_neighbors(MPI_Comm comm, sennit_mpi_neighbors *out) {
    int kind = MPI_UNDEFINED;
    int weighted = 0;
    int dimensions = 0;
    int rank = 0;
    int i;
    memset(out, 0, sizeof *out);
    if (MPI_Topo_test(comm, &kind) != MPI_SUCCESS || MPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return "MPI's own call failed";
    if (kind == MPI_CART) {
        out->is_grid = 1;
        if (MPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return "MPI's own call failed";
        out->sources = out->targets = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        if (MPI_Graph_neighbors_count(comm, rank, &out->sources) != MPI_SUCCESS)
            return "MPI's own call failed";
        out->targets = out->sources;
    } else if (kind == MPI_DIST_GRAPH) {
        if (MPI_Dist_graph_neighbors_count(comm, &out->sources, &out->targets, &weighted) !=
            MPI_SUCCESS)
            return "MPI's own call failed";
    } else {
        return "the communicator has no topology";
    }
    out->source = (int *)malloc(sizeof(int) * ((size_t)out->sources + 1));
    out->target = (int *)malloc(sizeof(int) * ((size_t)out->targets + 1));
    if (out->source == NULL || out->target == NULL) return "no memory";
    if (kind == MPI_CART) {
        for (i = 0; i < dimensions; ++i)
            if (MPI_Cart_shift(comm, i, 1, &out->source[2 * i], &out->source[2 * i + 1]) !=
                MPI_SUCCESS)
                return "MPI's own call failed";
        memcpy(out->target, out->source, sizeof(int) * (size_t)out->targets);
    } else if (kind == MPI_GRAPH) {
        if (MPI_Graph_neighbors(comm, rank, out->sources, out->source) != MPI_SUCCESS)
            return "MPI's own call failed";
        memcpy(out->target, out->source, sizeof(int) * (size_t)out->targets);
    } else {
        int *const weights =
            (int *)malloc(sizeof(int) * ((size_t)out->sources + 1 + (size_t)out->targets + 1));
        const int code =
            weights == NULL
                ? MPI_ERR_NO_MEM
                : MPI_Dist_graph_neighbors(comm, out->sources, out->source, weights, out->targets,
                                           out->target, weights + out->sources + 1);
        free(weights);
        if (code != MPI_SUCCESS) return "MPI's own call failed";
    }
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
