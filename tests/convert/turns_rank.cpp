// Plans that run in turn, errors of strict plans when a receiver is not ready, and many plans on
// one communicator. Broken by a twin with messages in the wrong memory, a put that waits although
// the rule of pre-synchronisation holds, a plan that receives an earlier plan's data, and
// duplicates of a communicator for each plan.
#include <mpi.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "end_mpi.hpp"
#include "nodes.h"
#include "rank.hpp"

namespace {

int duplicates = 0;         // made by this process
bool has_few_tags = false;  // MPI_TAG_UB is the least that MPI allows

}  // namespace

// Replace the functions that the headers call.
extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    ++duplicates;
    return PMPI_Comm_dup(comm, made);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *is_there) {
    static int few_tags = 32767;
    const int code = PMPI_Comm_get_attr(comm, key, value, is_there);
    if (has_few_tags && key == MPI_TAG_UB && *is_there != 0)
        *static_cast<int **>(value) = &few_tags;
    return code;
}

}  // extern "C"

namespace {

// A field with a halo column on both sides, and the exchange of these columns.
constexpr int kRows = 6, kColumns = 5;

int at(int row, int column) {
    return row * kColumns + column;
}

void add_halo(sennit_message_plan *plan, int *field, MPI_Datatype column) {
    const int upper = (rank + 1) % size, lower = (rank + size - 1) % size;
    ok(sennit_plan_sendrecv(plan, field + at(0, kColumns - 2), 1, column, upper, 0,
                            field + at(0, 0), 1, column, lower, 0, kWorld, kNone, kNone));
    ok(sennit_plan_sendrecv(plan, field + at(0, 1), 1, column, lower, 1,
                            field + at(0, kColumns - 1), 1, column, upper, 1, kWorld, kNone,
                            kNone));
}

int value_of(int of, int run, int row, int column) {
    return 10000 * run + 1000 * of + at(row, column);
}

void fill(int *field, int run) {
    for (int row = 0; row < kRows; ++row)
        for (int column = 1; column < kColumns - 1; ++column)
            field[at(row, column)] = value_of(rank, run, row, column);
}

void check_halo(const int *field, int run) {
    const int upper = (rank + 1) % size, lower = (rank + size - 1) % size;
    for (int row = 0; row < kRows; ++row) {
        need(field[at(row, 0)] == value_of(lower, run, row, kColumns - 2), "lower column differs");
        need(field[at(row, kColumns - 1)] == value_of(upper, run, row, 1), "upper column differs");
    }
}

// Random delays, so that neighbours get ahead.
void dawdle(std::mt19937 &random) {
    const double end = sennit_wtime() + (random() % 4 == 0 ? 2e-4 : 0.0);
    while (sennit_wtime() < end)
        continue;
}

// Each rank opens the other plan before it starts one, so every receiver is ready.
void two_buffers_in_turn_need_no_other_trip() {
    std::vector<int> fields(2 * kRows * kColumns);
    int *const halves[] = {fields.data(), fields.data() + kRows * kColumns};
    const std::size_t bytes = sizeof(int) * kRows * kColumns;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(kRows, 1, kColumns, MPI_INT, &column);
    sennit_message_plan *plans[2] = {};
    ok(sennit_message_plan_create(kWorld, &plans[0]));
    add_halo(plans[0], halves[0], column);
    MPI_Type_free(&column);
    refused(sennit_message_plan_twin(plans[0], halves[0] + 1, halves[1], bytes, &plans[1]),
            SENNIT_ERR_ARG, "only a part of its memory");
    refused(sennit_message_plan_twin(plans[0], halves[0], nullptr, bytes, &plans[1]),
            SENNIT_ERR_ARG, "second is null");
    need(std::strcmp(sennit_last_error()->operation, "sennit_message_plan_twin") == 0, "bad name");
    ok(sennit_message_plan_twin(plans[0], halves[0], halves[1], bytes, &plans[1]));
    for (sennit_message_plan *const plan : plans) {
        ok(sennit_message_plan_be_strict(plan));
        refused(sennit_message_plan_open(plan), SENNIT_ERR_STATE, "not committed");
        ok(sennit_message_plan_commit(plan, kTimeNs));
    }
    ok(sennit_message_plan_open(plans[0]));
    MPI_Barrier(kWorld);
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int run = 0; run < 300; ++run) {
        int *const field = halves[run % 2];
        fill(field, run);
        dawdle(random);
        ok(sennit_message_plan_open(plans[(run + 1) % 2]));
        ok(sennit_message_plan_start(plans[run % 2]));
        dawdle(random);
        ok(sennit_message_plan_wait(plans[run % 2], kTimeNs));
        dawdle(random);
        check_halo(field, run);
    }
    MPI_Barrier(kWorld);
    for (sennit_message_plan *const plan : plans)
        ok(sennit_message_plan_destroy(plan));
}

// In every second run the receiver opens too late, as with two exchanges into one buffer: the error
// names the message, which arrives all the same.
void one_buffer_where_there_should_be_two_is_found() {
    std::vector<int> field(kRows * kColumns);
    int word = 0;
    const Plan plan(kWorld);
    if (rank == 0)
        ok(sennit_plan_isend(plan.get(), field.data(), 3, MPI_INT, 1, 7, kWorld, kNone, nullptr));
    if (rank == 1)
        ok(sennit_plan_irecv(plan.get(), field.data(), 3, MPI_INT, 0, 7, kWorld, kNone, nullptr));
    plan.commit();
    ok(sennit_message_plan_be_strict(plan.get()));
    for (int run = 0; run < 4 && rank < 2; ++run) {
        const bool is_told = run % 2 == 1;  // the receiver opens in time
        field[0] = rank == 0 ? run : -1;
        if (rank == 1 && is_told) ok(sennit_message_plan_open(plan.get()));
        if (is_told)
            MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, kWorld,
                                 MPI_STATUS_IGNORE);
        if (rank == 1 && !is_told) MPI_Recv(&word, 1, MPI_INT, 0, 0, kWorld, MPI_STATUS_IGNORE);
        const sennit_status status = sennit_message_plan_start(plan.get());
        if (rank == 0 && !is_told) {
            refused(status, SENNIT_ERR_SIGNAL_EARLY,
                    "sennit_plan_isend to rank 1 of the communicator, tag 7");
            MPI_Send(&word, 1, MPI_INT, 1, 0, kWorld);
        } else {
            ok(status);
        }
        ok(sennit_message_plan_wait(plan.get(), kTimeNs));
        need(field[0] == run, "the message has not arrived");
    }
}

// The receiver has not reset its own signal after the previous message.
void a_message_too_early_for_a_signal_of_the_callers_is_named(bool is_one_node) {
    int number = 0;
    sennit_signal arrived;
    ok(sennit_signal_create(1, 2, SENNIT_SIGNAL_STRICT, &arrived));
    {
        const Plan plan(kWorld);
        if (rank == 0)
            ok(sennit_plan_isend(plan.get(), &number, 1, MPI_INT, 1, 4, kWorld, kNone, nullptr));
        if (rank == 1)
            ok(sennit_plan_irecv(plan.get(), &number, 1, MPI_INT, 0, 4, kWorld, arrived, nullptr));
        plan.commit();
        plan.run();
        if (rank == 1) ok(sennit_signal_wait(arrived, kTimeNs));
        MPI_Barrier(kWorld);
        if (rank == 0 && is_one_node)
            refused(sennit_message_plan_start(plan.get()), SENNIT_ERR_SIGNAL_OVERFLOW,
                    "sennit_plan_isend to rank 1 of the communicator, tag 4");
        MPI_Barrier(kWorld);
        if (rank == 1 && is_one_node)
            need(sennit_signal_reset(arrived) == SENNIT_ERR_SIGNAL_OVERFLOW, "no error from reset");
    }
    ok(sennit_signal_destroy(arrived));
}

// The sender has not reset its own signal. Broken by an error that blames the receiver, or that
// names a message without such a signal. The last rank sends to rank 0, or to itself if `is_self`.
void a_signal_of_the_sender_that_was_not_reset_is_named(bool is_self) {
    int out[2] = {}, in[2] = {};
    const int from = size - 1, to = is_self ? from : 0;
    sennit_signal sent;
    ok(sennit_signal_create(1, 1, 0, &sent));
    {
        const Plan plan(kWorld);
        for (int i = 0; i < 2 && rank == from; ++i)
            ok(sennit_plan_isend(plan.get(), &out[i], 1, MPI_INT, to, 5 + i, kWorld,
                                 i == 1 ? sent : kNone, nullptr));
        for (int i = 0; i < 2 && rank == to; ++i)
            ok(sennit_plan_irecv(plan.get(), &in[i], 1, MPI_INT, from, 5 + i, kWorld, kNone,
                                 nullptr));
        plan.commit();
        plan.run();
        MPI_Barrier(kWorld);
        if (rank == to && !is_self) ok(sennit_message_plan_open(plan.get()));
        MPI_Barrier(kWorld);
        if (rank == from) {
            ok(sennit_signal_wait(sent, kTimeNs));
            const std::string message =
                "sennit_plan_isend to rank " + std::to_string(to) + " of the communicator, tag 6";
            refused(sennit_message_plan_start(plan.get()), SENNIT_ERR_SIGNAL_OVERFLOW,
                    message.c_str());
            refused(SENNIT_ERR_SIGNAL_OVERFLOW, SENNIT_ERR_SIGNAL_OVERFLOW,
                    "`sent` has not been reset");
        }
    }
    ok(sennit_signal_destroy(sent));
}

// As many plans as a program may have for its stages: all at once, each with its own data.
void two_thousand_plans_live_at_once() {
    const int count = 2000;
    std::vector<int> out(count), in(count, -1);
    std::vector<sennit_message_plan *> plans(count);
    for (int i = 0; i < count; ++i) {
        ok(sennit_message_plan_create(kWorld, &plans[i]));
        ok(sennit_plan_sendrecv(plans[i], &out[i], 1, MPI_INT, (rank + 1) % size, 0, &in[i], 1,
                                MPI_INT, (rank + size - 1) % size, 0, kWorld, kNone, kNone));
        ok(sennit_message_plan_commit(plans[i], kTimeNs));
    }
    for (int i = 0; i < count; ++i) {
        out[i] = 10000 * rank + i;
        ok(sennit_message_plan_start(plans[i]));
    }
    for (int i = 0; i < count; ++i) {
        ok(sennit_message_plan_wait(plans[i], kTimeNs));
        need(in[i] == 10000 * ((rank + size - 1) % size) + i, "the number of another plan");
    }
    MPI_Barrier(kWorld);
    for (sennit_message_plan *const plan : plans)
        ok(sennit_message_plan_destroy(plan));
}

// Plans that are recorded at the same time, in a different order on each rank.
void plans_that_are_recorded_at_once_stay_apart() {
    int out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1};
    const Plan first(kWorld), second(kWorld);
    const Plan *const plans[] = {&first, &second};
    for (const int i : {rank % 2, 1 - rank % 2})
        ok(sennit_plan_isend(plans[i]->get(), &out[i], 1, MPI_INT, (rank + 1) % size, 0, kWorld,
                             kNone, nullptr));
    for (const int i : {1 - rank % 2, rank % 2})
        ok(sennit_plan_irecv(plans[i]->get(), &in[i], 1, MPI_INT, (rank + size - 1) % size, 0,
                             kWorld, kNone, nullptr));
    first.commit();
    second.commit();
    first.run();
    second.run();
    const int before = (rank + size - 1) % size;
    need(in[0] == 10 * before && in[1] == 10 * before + 1, "plans are mixed up");
}

// A receive without a send, and a send without a receive, do not affect later messages.
void mistakes_do_not_reach_the_next_plan() {
    int wrong = 0, out = 40 + rank, in = -1;
    {
        const Plan plan(kWorld);
        if (rank == 1)
            ok(sennit_plan_irecv(plan.get(), &wrong, 1, MPI_INT, 0, 3, kWorld, kNone, nullptr));
        plan.commit();
    }
    {
        const Plan begun(kWorld);  // never committed
        if (rank == 1)
            ok(sennit_plan_irecv(begun.get(), &wrong, 1, MPI_INT, 0, 5, kWorld, kNone, nullptr));
    }
    if (rank < 2)
        MPI_Sendrecv_replace(&wrong, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, kWorld,
                             MPI_STATUS_IGNORE);
    {
        const Plan plan(kWorld);  // an old description would complete its requests
        MPI_Request requests[2];
        ok(sennit_plan_irecv(plan.get(), &in, 1, MPI_INT, (rank + size - 1) % size, 5, kWorld,
                             kNone, &requests[0]));
        ok(sennit_plan_isend(plan.get(), &out, 1, MPI_INT, (rank + 1) % size, 5, kWorld, kNone,
                             &requests[1]));
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        plan.commit();
        plan.run();
        need(in == 40 + (rank + size - 1) % size && wrong == 0, "data at the wrong place");
    }
    for (int round = 0; round < 3; ++round) {
        {
            const Plan plan(kWorld);
            in = -1;
            ok(sennit_plan_sendrecv(plan.get(), &out, 1, MPI_INT, (rank + 1) % size, 3, &in, 1,
                                    MPI_INT, (rank + size - 1) % size, 3, kWorld, kNone, kNone));
            plan.commit();
            plan.run();
            need(in == 40 + (rank + size - 1) % size && wrong == 0, "data at the wrong place");
        }
        const Plan alone(kWorld);
        if (rank == 0) {
            ok(sennit_plan_isend(alone.get(), &out, 1, MPI_INT, 1, 3, kWorld, kNone, nullptr));
            refused(sennit_message_plan_commit(alone.get(), 50'000'000), SENNIT_ERR_TIMEOUT,
                    "sennit_plan_isend to rank 1 of the communicator, tag 3");
        }
    }
}

// Broken by a description of an earlier plan's receive that moves the following ones to the wrong
// sends. `stale`: receives without a send. `has_request`: the second send has a request, which the
// program completes.
void sends_of_a_tag_keep_their_receives(int stale, bool has_request) {
    int wrong[4] = {}, out[3] = {10, 20, 30}, in[3] = {};
    {
        const Plan plan(kWorld);
        for (int i = 0; i < stale && rank == 1; ++i)
            ok(sennit_plan_irecv(plan.get(), &wrong[i], 1, MPI_INT, 0, 3, kWorld, kNone, nullptr));
        plan.commit();
    }
    const Plan plan(kWorld);
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; ++i) {
        if (rank == 0)
            ok(sennit_plan_isend(plan.get(), &out[i], 1, MPI_INT, 1, 3, kWorld, kNone,
                                 has_request && i == 1 ? &request : nullptr));
        if (rank == 0 && i == 1)
            ok(sennit_plan_isend(plan.get(), &out[i], 0, MPI_INT, 1, 4, kWorld, kNone, nullptr));
    }
    if (rank == 0 && !has_request)
        refused(sennit_message_plan_commit(plan.get(), 0), SENNIT_ERR_TIMEOUT, "tag 3");
    MPI_Barrier(kWorld);
    for (int i = 0; i < 3 && rank == 1; ++i)
        ok(sennit_plan_irecv(plan.get(), &in[i], 1, MPI_INT, 0, 3, kWorld, kNone, nullptr));
    if (rank == 1)
        ok(sennit_plan_irecv(plan.get(), &in[0], 0, MPI_INT, 0, 4, kWorld, kNone, nullptr));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    plan.commit();
    plan.run();
    for (int i = 0; i < 3 && rank == 1; ++i)
        need(in[i] == out[i], "send " + std::to_string(i) + " reaches another receive");
}

// In Open MPI the communicator has no MPI_TAG_UB. Broken by a set of duplicates for each plan, and
// by a tag that MPI accepts but a plan refuses.
void plans_of_a_split_communicator_share_its_duplicates(int tag) {
    int out = rank, in = -1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(kWorld, 0, rank, &comm);
    duplicates = 0;
    for (int i = 0; i < 50; ++i) {
        const Plan plan(comm);
        ok(sennit_plan_sendrecv(plan.get(), &out, 1, MPI_INT, (rank + 1) % size, tag, &in, 1,
                                MPI_INT, (rank + size - 1) % size, tag, comm, kNone, kNone));
        plan.commit();
    }
    need(duplicates == 3, std::to_string(duplicates) + " duplicates");
    MPI_Comm_free(&comm);
}

// A plan that is given up before it has messages, as in a library that falls back to MPI. Broken by
// a set of duplicates for each such plan.
void plans_without_messages_leave_their_duplicates() {
    int value = 0;
    duplicates = 0;
    for (int i = 0; i < 20; ++i) {
        const Plan plan(kWorld);
        if (i % 2 == 1)
            refused(sennit_plan_isend(plan.get(), &value, 1, MPI_DATATYPE_NULL, 0, 0, kWorld, kNone,
                                      nullptr),
                    SENNIT_ERR_ARG, "MPI_DATATYPE_NULL");
    }
    need(duplicates <= 3, std::to_string(duplicates) + " duplicates");
}

// A communicator that is freed before its plans.
void communicators_may_end_first() {
    int out = rank, in = -1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(kWorld, &comm);
    sennit_message_plan *whole = nullptr, *begun = nullptr;
    ok(sennit_message_plan_create(comm, &whole));
    ok(sennit_plan_sendrecv(whole, &out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT,
                            (rank + size - 1) % size, 0, comm, kNone, kNone));
    ok(sennit_message_plan_commit(whole, kTimeNs));
    ok(sennit_message_plan_create(comm, &begun));
    refused(sennit_plan_isend(begun, &out, 1, MPI_DATATYPE_NULL, 0, 0, comm, kNone, nullptr),
            SENNIT_ERR_ARG, "MPI_DATATYPE_NULL");
    MPI_Comm_free(&comm);
    ok(sennit_message_plan_start(whole));
    ok(sennit_message_plan_wait(whole, kTimeNs));
    need(in == (rank + size - 1) % size, "a wrong number");
    MPI_Barrier(kWorld);
    ok(sennit_message_plan_destroy(whole));
    ok(sennit_message_plan_destroy(begun));
}

}  // namespace

int main(int argc, char **argv) {
    begin_mpi(&argc, &argv);
    use_nodes(argc, argv);
    const bool is_one_node = argc == 1;
    sennit_message_plan *none = nullptr;
    refused(sennit_message_plan_create(kWorld, &none), SENNIT_ERR_STATE, "sennit_init_mpi");
    ok(sennit_init_mpi(kWorld, nullptr));
    two_buffers_in_turn_need_no_other_trip();
    one_buffer_where_there_should_be_two_is_found();
    a_message_too_early_for_a_signal_of_the_callers_is_named(is_one_node);
    a_signal_of_the_sender_that_was_not_reset_is_named(false);
    a_signal_of_the_sender_that_was_not_reset_is_named(true);
    two_thousand_plans_live_at_once();
    plans_that_are_recorded_at_once_stay_apart();
    mistakes_do_not_reach_the_next_plan();
    sends_of_a_tag_keep_their_receives(1, false);
    sends_of_a_tag_keep_their_receives(2, false);
    sends_of_a_tag_keep_their_receives(4, false);
    sends_of_a_tag_keep_their_receives(1, true);
    plans_of_a_split_communicator_share_its_duplicates(40000);
    has_few_tags = true;
    plans_of_a_split_communicator_share_its_duplicates(32767);
    has_few_tags = false;
    plans_without_messages_leave_their_duplicates();
    communicators_may_end_first();
    ok(sennit_finalize());
    end_mpi();
    return 0;
}
