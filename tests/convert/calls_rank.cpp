// Each call of sennit_mpi_plan.h compared with the call of MPI that has the same arguments, and the
// errors of wrong calls. Broken by edges of a grid that are paired only by rank, a run that writes
// to a buffer between wait and start, and an endless wait for a partner.
#include <mpi.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "end_mpi.hpp"
#include "nodes.h"
#include "rank.hpp"
#include "which_mpi.hpp"

namespace {

// The number of elements that rank `from` sends to rank `to` in an all-to-all.
int count_of(int from, int to) {
    return (3 * from + 5 * to) % 4;
}

void all_to_all() {
    std::vector<int> sends, receives, send_places, receive_places;
    int sent = 0, received = 0;
    for (int other = 0; other < size; ++other) {
        sends.push_back(count_of(rank, other));
        receives.push_back(count_of(other, rank));
        send_places.push_back(sent);
        receive_places.push_back(received);
        sent += sends.back() + 1;
        received += receives.back() + 1;
    }
    const std::vector<int> out = numbers(static_cast<std::size_t>(sent), 1000 * rank);
    std::vector<int> by_mpi(static_cast<std::size_t>(received), -1), by_plan = by_mpi;
    MPI_Alltoallv(out.data(), sends.data(), send_places.data(), MPI_INT, by_mpi.data(),
                  receives.data(), receive_places.data(), MPI_INT, kWorld);
    std::vector<int> equal_out = numbers(static_cast<std::size_t>(2 * size), 5000 * rank);
    std::vector<int> equal_mpi(static_cast<std::size_t>(2 * size), -1), equal_plan = equal_mpi;
    MPI_Alltoall(equal_out.data(), 2, MPI_INT, equal_mpi.data(), 2, MPI_INT, kWorld);
    const Plan plan(kWorld);
    ok(sennit_plan_alltoallv(plan.get(), out.data(), sends.data(), send_places.data(), MPI_INT,
                             by_plan.data(), receives.data(), receive_places.data(), MPI_INT,
                             kWorld, kNone, kNone));
    ok(sennit_plan_alltoall(plan.get(), equal_out.data(), 2, MPI_INT, equal_plan.data(), 2, MPI_INT,
                            kWorld, kNone, kNone));
    plan.commit();
    for (int run = 0; run < 3; ++run) {
        plan.run();
        need(by_mpi == by_plan && equal_mpi == equal_plan, "an all-to-all differs from MPI's");
    }
}

// Sets `comm` to an intercommunicator of the even and the odd ranks of `all`.
void join(MPI_Comm all, MPI_Comm *comm) {
    MPI_Comm half = MPI_COMM_NULL;
    int self = 0;
    MPI_Comm_rank(all, &self);
    MPI_Comm_split(all, self % 2, 0, &half);
    MPI_Intercomm_create(half, 0, all, 1 - self % 2, 0, comm);
    MPI_Comm_free(&half);
}

// The calls for several partners, between the two groups of an intercommunicator; with 3 ranks the
// groups differ in size. Broken by a call that uses the size of its own group, and by duplicates
// that only one group uses.
void across() {
    MPI_Comm comm = MPI_COMM_NULL;
    int self = 0, others = 0;
    join(kWorld, &comm);
    MPI_Comm_rank(comm, &self);
    MPI_Comm_remote_size(comm, &others);
    const int sent_to = self < others ? self : MPI_PROC_NULL;
    std::vector<int> sends, receives, places;
    for (int other = 0; other < others; ++other) {
        const int world = 2 * other + 1 - rank % 2;
        sends.push_back(count_of(rank, world));
        receives.push_back(count_of(world, rank));
        places.push_back(4 * (others - 1 - other));
    }
    const auto room = static_cast<std::size_t>(4 * others);
    std::vector<int> by_mpi[3], by_plan[3];
    for (int i = 0; i < 3; ++i)
        by_mpi[i] = by_plan[i] = std::vector<int>(room, -1);
    std::vector<int> out = numbers(room, 1000 * rank);
    MPI_Alltoall(out.data(), 2, MPI_INT, by_mpi[0].data(), 2, MPI_INT, comm);
    MPI_Alltoallv(out.data(), sends.data(), places.data(), MPI_INT, by_mpi[1].data(),
                  receives.data(), places.data(), MPI_INT, comm);
    MPI_Sendrecv(out.data(), 4, MPI_INT, sent_to, 1, by_mpi[2].data(), 4, MPI_INT, sent_to, 1, comm,
                 MPI_STATUS_IGNORE);
    // The second plan reuses the duplicates that the first one made of the communicator.
    for (int again = 0; again < 2; ++again) {
        const Plan plan(comm);
        for (std::vector<int> &values : by_plan)
            std::fill(values.begin(), values.end(), -1);
        ok(sennit_plan_alltoall(plan.get(), out.data(), 2, MPI_INT, by_plan[0].data(), 2, MPI_INT,
                                comm, kNone, kNone));
        ok(sennit_plan_alltoallv(plan.get(), out.data(), sends.data(), places.data(), MPI_INT,
                                 by_plan[1].data(), receives.data(), places.data(), MPI_INT, comm,
                                 kNone, kNone));
        ok(sennit_plan_sendrecv(plan.get(), out.data(), 4, MPI_INT, sent_to, 1, by_plan[2].data(),
                                4, MPI_INT, sent_to, 1, comm, kNone, kNone));
        refused(
            sennit_plan_isend(plan.get(), out.data(), 1, MPI_INT, others, 0, comm, kNone, nullptr),
            SENNIT_ERR_ARG, "is outside 0 to ");
        refused(sennit_plan_neighbor_alltoallv(plan.get(), out.data(), sends.data(), places.data(),
                                               MPI_INT, by_plan[1].data(), receives.data(),
                                               places.data(), MPI_INT, comm, kNone, kNone),
                SENNIT_ERR_ARG, "no topology");
        plan.commit();
        plan.run();
        for (int i = 0; i < 3; ++i)
            need(by_mpi[i] == by_plan[i], "the other group's numbers differ from MPI's");
    }
    MPI_Comm_free(&comm);
}

// A two-dimensional grid; with 2 ranks a dimension may be a ring whose two neighbours are one rank.
void neighbors(bool is_ring) {
    MPI_Comm grid = MPI_COMM_NULL;
    const int sizes[] = {size, 1};
    // MPICH 4.0 pairs two edges to the same rank in their order, contrary to MPI 4.1.
    const int rings[] = {is_mpi("MPICH") ? is_ring && size > 2 : is_ring, !is_mpi("MPICH")};
    MPI_Cart_create(kWorld, 2, sizes, rings, 0, &grid);
    const int counts[] = {1, 2, 1, 3};
    const int back_counts[] = {2, 1, 3, 1};
    const int places[] = {0, 4, 8, 12};
    const std::vector<int> out = numbers(16, 100 * rank);
    std::vector<int> by_mpi(16, -1), by_plan(16, -1);
    {
        const Plan plan(grid);
        MPI_Neighbor_alltoallv(out.data(), counts, places, MPI_INT, by_mpi.data(), back_counts,
                               places, MPI_INT, grid);
        ok(sennit_plan_neighbor_alltoallv(plan.get(), out.data(), counts, places, MPI_INT,
                                          by_plan.data(), back_counts, places, MPI_INT, grid, kNone,
                                          kNone));
        plan.commit();
        plan.run();
    }
    need(by_mpi == by_plan, "the neighbours' numbers differ from MPI's");
    MPI_Comm_free(&grid);
}

void graph() {
    MPI_Comm comm = MPI_COMM_NULL;
    const int to[] = {(rank + 1) % size, (rank + 1) % size};  // two edges
    const int from[] = {(rank + size - 1) % size, (rank + size - 1) % size};
    MPI_Dist_graph_create_adjacent(kWorld, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    const int counts[] = {1, 2};
    const int places[] = {0, 4};
    const std::vector<int> out = numbers(8, 100 * rank);
    std::vector<int> by_mpi(8, -1), by_plan(8, -1);
    {
        const Plan plan(comm);
        MPI_Neighbor_alltoallv(out.data(), counts, places, MPI_INT, by_mpi.data(), counts, places,
                               MPI_INT, comm);
        ok(sennit_plan_neighbor_alltoallv(plan.get(), out.data(), counts, places, MPI_INT,
                                          by_plan.data(), counts, places, MPI_INT, comm, kNone,
                                          kNone));
        plan.commit();
        plan.run();
    }
    need(by_mpi == by_plan, "the numbers in a graph differ from MPI's");
    MPI_Comm_free(&comm);
}

// A ring in MPI's older kind of graph; with 2 ranks each rank has one edge.
void ring_of_a_graph() {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> ends, edges;
    for (int of = 0; of < size; ++of) {
        edges.push_back((of + 1) % size);
        if (size > 2) edges.push_back((of + size - 1) % size);
        ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Graph_create(kWorld, size, ends.data(), edges.data(), 0, &comm);
    const int counts[] = {1, 2};
    const int back_counts[] = {size > 2 ? 2 : 1, 1};
    const int places[] = {4, 0};
    const std::vector<int> out = numbers(8, 100 * rank);
    std::vector<int> by_mpi(8, -1), by_plan(8, -1);
    {
        const Plan plan(comm);
        MPI_Neighbor_alltoallv(out.data(), counts, places, MPI_INT, by_mpi.data(), back_counts,
                               places, MPI_INT, comm);
        ok(sennit_plan_neighbor_alltoallv(plan.get(), out.data(), counts, places, MPI_INT,
                                          by_plan.data(), back_counts, places, MPI_INT, comm, kNone,
                                          kNone));
        plan.commit();
        plan.run();
    }
    need(by_mpi == by_plan, "the numbers in a ring differ from MPI's");
    MPI_Comm_free(&comm);
}

// A line of ranks with MPI_PROC_NULL at its ends, on a communicator with the ranks in reverse
// order.
void line() {
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(kWorld, 0, size - rank, &turned);
    int self = 0;
    MPI_Comm_rank(turned, &self);
    const int upper = self + 1 < size ? self + 1 : MPI_PROC_NULL;
    const int lower = self > 0 ? self - 1 : MPI_PROC_NULL;
    std::vector<int> out = numbers(5, 10 * self);
    std::vector<int> in(5, -1);
    {
        const Plan plan(kWorld);
        refused(
            sennit_plan_isend(plan.get(), out.data(), 5, MPI_INT, lower, 0, turned, kNone, nullptr),
            SENNIT_ERR_ARG, "sennit_message_plan_use");
        ok(sennit_message_plan_use(plan.get(), turned));
        // As in MPI, no memory is needed.
        ok(sennit_plan_isend(plan.get(), nullptr, 5, MPI_INT, MPI_PROC_NULL, 0, turned, kNone,
                             nullptr));
        ok(sennit_plan_sendrecv(plan.get(), out.data(), 5, MPI_INT, upper, 3, in.data(), 5, MPI_INT,
                                lower, 3, turned, kNone, kNone));
        plan.commit();
        for (int run = 0; run < 100; ++run) {
            std::iota(out.begin(), out.end(), 10 * self + 1000 * run);
            plan.run();
            const std::vector<int> wanted = lower == MPI_PROC_NULL
                                                ? std::vector<int>(5, -1)
                                                : numbers(5, 10 * lower + 1000 * run);
            need(in == wanted, "wrong numbers in a line");
        }
    }
    MPI_Comm_free(&turned);
}

// A rank's buffer is not written before its start. Also the caller's requests and signals.
void waits_for_the_start() {
    const int other = (rank + 1) % size;
    const int before = (rank + size - 1) % size;
    int out = 0, in = -1;
    sennit_signal sent, arrived;
    ok(sennit_signal_create(1, 1, 0, &sent));
    ok(sennit_signal_create(1, 1, 0, &arrived));
    {
        const Plan plan(kWorld);
        const Plan told(kWorld);
        int far = -1;
        MPI_Request requests[2];
        ok(sennit_plan_irecv(plan.get(), &in, 1, MPI_INT, before, 0, kWorld, kNone, &requests[0]));
        ok(sennit_plan_isend(plan.get(), &out, 1, MPI_INT, other, 0, kWorld, sent, &requests[1]));
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        plan.commit();
        ok(sennit_plan_irecv(told.get(), &far, 1, MPI_INT, before, 0, kWorld, arrived, nullptr));
        ok(sennit_plan_isend(told.get(), &out, 1, MPI_INT, other, 0, kWorld, kNone, nullptr));
        told.commit();
        for (int run = 0; run < 20; ++run) {
            out = 100 * run + rank;
            if (rank == 0) { /* late: the others have started */
                const double end = sennit_wtime() + 2e-3;
                while (sennit_wtime() < end)
                    need(in == (run == 0 ? -1 : 100 * (run - 1) + before), "written too early");
            }
            plan.run();
            need(in == 100 * run + before, "a wrong number");
            ok(sennit_signal_wait(sent, kTimeNs));
            ok(sennit_signal_reset(sent));
        }
        int is_over = 0;
        ok(sennit_message_plan_start(told.get()));
        while (!is_over)
            ok(sennit_message_plan_test(told.get(), &is_over));
        ok(sennit_signal_wait(arrived, kTimeNs));
        need(far == 100 * 19 + before, "a signal fires before its message");
    }
    ok(sennit_signal_destroy(sent));
    ok(sennit_signal_destroy(arrived));
}

// Rank 2 starts after rank 1 has received; rank 0 sends to both.
void starts_that_hang_on_another_wait() {
    if (size < 3) return;
    int out = 5, in = 0;
    const Plan plan(kWorld);
    if (rank == 0)
        for (const int to : {2, 1})
            ok(sennit_plan_isend(plan.get(), &out, 1, MPI_INT, to, 0, kWorld, kNone, nullptr));
    if (rank == 1 || rank == 2)
        ok(sennit_plan_irecv(plan.get(), &in, 1, MPI_INT, 0, 0, kWorld, kNone, nullptr));
    plan.commit();
    int word = 0;
    for (int run = 0; run < 10; ++run) {
        if (rank == 2) MPI_Recv(&word, 1, MPI_INT, 1, 0, kWorld, MPI_STATUS_IGNORE);
        plan.run();
        if (rank == 1) MPI_Send(&word, 1, MPI_INT, 2, 0, kWorld);
    }
}

void a_wait_that_was_too_short_goes_on() {
    int out = 7, in = 0;
    const Plan plan(kWorld);
    if (rank == 0)
        ok(sennit_plan_isend(plan.get(), &out, 1, MPI_INT, 1, 0, kWorld, kNone, nullptr));
    if (rank == 1) ok(sennit_plan_irecv(plan.get(), &in, 1, MPI_INT, 0, 0, kWorld, kNone, nullptr));
    plan.commit();
    for (const int late : {0, 1}) {
        if (rank == late) MPI_Barrier(kWorld);
        ok(sennit_message_plan_start(plan.get()));
        if (rank == 1 - late)
            refused(sennit_message_plan_wait(plan.get(), 20'000'000), SENNIT_ERR_TIMEOUT,
                    rank == 0 ? "sennit_plan_isend to rank 1" : "sennit_plan_irecv from rank 0");
        if (rank != late) MPI_Barrier(kWorld);
        ok(sennit_message_plan_wait(plan.get(), kTimeNs));
        need(rank != 1 || in == 7, "a wrong number");
        in = 0;
    }
}

// One rank's part of a mismatched message between ranks 0 and 1.
void mismatch(int sent, MPI_Datatype send_type, int received, MPI_Datatype receive_type,
              const char *word) {
    double memory[8] = {};
    const Plan plan(kWorld);
    if (rank == 0)
        ok(sennit_plan_isend(plan.get(), memory, sent, send_type, 1, 7, kWorld, kNone, nullptr));
    if (rank == 1)
        ok(sennit_plan_irecv(plan.get(), memory, received, receive_type, 0, 7, kWorld, kNone,
                             nullptr));
    if (rank != 0) return plan.commit();
    const sennit_status status = sennit_message_plan_commit(plan.get(), kTimeNs);
    refused(status, SENNIT_ERR_ARG, word);
    refused(status, SENNIT_ERR_ARG, "sennit_plan_isend to rank 1 of the communicator, tag 7");
}

// MPI_DOUBLE_INT and a struct of its two parts have the same signature.
void pairs() {
    struct {
        double value;
        int place;
    } out = {1.5, 3}, in = {0, 0};
    const int ones[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, ones, places, parts, &both);
    const Plan plan(kWorld);
    ok(sennit_plan_sendrecv(plan.get(), &out, 1, MPI_DOUBLE_INT, (rank + 1) % size, 0, &in, 1, both,
                            (rank + size - 1) % size, 0, kWorld, kNone, kNone));
    MPI_Type_free(&both);
    plan.commit();
    plan.run();
    need(in.value == 1.5 && in.place == 3, "the pair has wrong values");
}

// Each rank is its own job, or has none. Broken by an error on one rank for which others wait.
void more_ranks_than_the_job() {
    sennit_message_plan *plan = nullptr;
    ok(sennit_init_mpi(MPI_COMM_SELF, nullptr));
    MPI_Comm inter = MPI_COMM_NULL;
    refused(sennit_message_plan_create(kWorld, &plan), SENNIT_ERR_ARG, "is no rank of this job");
    join(kWorld, &inter);
    refused(sennit_message_plan_create(inter, &plan), SENNIT_ERR_ARG, "is no rank of this job");
    MPI_Comm_free(&inter);
    if (rank == 0) ok(sennit_finalize());
    if (rank == 0)
        refused(sennit_message_plan_create(kWorld, &plan), SENNIT_ERR_STATE, "no rank");
    else
        refused(sennit_message_plan_create(kWorld, &plan), SENNIT_ERR_ARG,
                "is no rank of this job");
    if (rank != 0) ok(sennit_finalize());
}

// Ranks 0 and 1 are a job, and ranks 2 and 3 are another. Broken by a check of sizes only: a plan
// of ranks 0 and 2 would wait for ever or move data of other ranks.
void ranks_of_two_jobs() {
    MPI_Comm job = MPI_COMM_NULL;
    MPI_Comm mixed = MPI_COMM_NULL;
    sennit_message_plan *plan = nullptr;
    MPI_Comm_split(kWorld, rank / 2, 0, &job);
    MPI_Comm_split(kWorld,
                   size == 3 && rank == 0 ? MPI_UNDEFINED
                   : size == 3            ? 0
                                          : rank % 2,
                   0, &mixed);
    ok(sennit_init_mpi(job, nullptr));
    if (size >= 3 && mixed != MPI_COMM_NULL)
        refused(sennit_message_plan_create(mixed, &plan), SENNIT_ERR_ARG, "is no rank of this job");
    if (size == 4) { /* each group of the intercommunicator has one rank, of its own job */
        MPI_Comm inter = MPI_COMM_NULL;
        join(mixed, &inter);
        refused(sennit_message_plan_create(inter, &plan), SENNIT_ERR_ARG, "is no rank of this job");
        MPI_Comm_free(&inter);
    }
    MPI_Barrier(kWorld);
    ok(sennit_finalize());
    MPI_Comm_free(&job);
    if (mixed != MPI_COMM_NULL) MPI_Comm_free(&mixed);
}

// The commit does not wait for senders, and the wait names the receive.
void a_receive_without_a_send_is_named() {
    int in[2] = {-1, -1}, out = rank;
    sennit_message_plan *plan = nullptr;
    ok(sennit_message_plan_create(kWorld, &plan));
    ok(sennit_plan_sendrecv(plan, &out, 1, MPI_INT, (rank + 1) % size, 6, &in[0], 1, MPI_INT,
                            (rank + size - 1) % size, 6, kWorld, kNone, kNone));
    if (rank == 1) ok(sennit_plan_irecv(plan, &in[1], 1, MPI_INT, 0, 7, kWorld, kNone, nullptr));
    ok(sennit_message_plan_commit(plan, kTimeNs));
    ok(sennit_message_plan_start(plan));
    if (rank != 1) {
        ok(sennit_message_plan_wait(plan, kTimeNs));
        MPI_Barrier(kWorld);
        ok(sennit_message_plan_destroy(plan));
        return;
    }
    refused(sennit_message_plan_wait(plan, 50'000'000), SENNIT_ERR_TIMEOUT,
            "sennit_plan_irecv from rank 0 of the communicator, tag 7: its message has not");
    need(std::strcmp(sennit_last_error()->operation, "sennit_message_plan_wait") == 0,
         "another call is named");
    int is_over = 1;
    ok(sennit_message_plan_test(plan, &is_over));
    need(!is_over, "the run has ended without its message");
    MPI_Barrier(kWorld);
    refused(sennit_message_plan_destroy(plan), SENNIT_ERR_STATE, "a run was not waited for");
}

// One wrong message of an all-to-all; the plan is not committed.
void the_wrong_message_of_several_is_named() {
    double memory = 0;
    const std::vector<int> none(static_cast<std::size_t>(size), 0);
    std::vector<int> wrong = none;
    wrong[1] = -1;
    const Plan plan(kWorld);
    refused(
        sennit_plan_alltoallv(plan.get(), &memory, wrong.data(), none.data(), MPI_DOUBLE, &memory,
                              none.data(), none.data(), MPI_DOUBLE, kWorld, kNone, kNone),
        SENNIT_ERR_ARG,
        "sennit_plan_alltoallv to rank 1 of the communicator, tag 0: a count below 0");
}

// A receive of two arrays with unmapped memory between them. Broken by an error that calls the
// arrays' own memory unmapped. The same datatype can be sent.
void an_error_names_the_memory_between_two_arrays() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto *const first = static_cast<char *>(
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    need(first != MAP_FAILED && munmap(first + page, page) == 0, "no memory");
    const int counts[] = {2, 2};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(2 * page)};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, counts, places, MPI_DOUBLE, &both);
    double in[4] = {};
    {
        const Plan plan(kWorld);
        refused(
            sennit_plan_irecv(plan.get(), first, 1, both, 0, 5, kWorld, kNone, nullptr),
            SENNIT_ERR_ARG,
            "sennit_plan_irecv from rank 0 of the communicator, tag 5: it needs all memory from "
            "its first to its last byte: ");
        refused(SENNIT_ERR_ARG, SENNIT_ERR_ARG, " are not all mapped");
        ok(sennit_plan_sendrecv(plan.get(), first, 1, both, (rank + 1) % size, 5, in, 4, MPI_DOUBLE,
                                (rank + size - 1) % size, 5, kWorld, kNone, kNone));
        plan.commit();
        plan.run();
    }
    MPI_Type_free(&both);
    (void)munmap(first, page);
    (void)munmap(first + 2 * page, page);
}

void mistakes() {
    double memory[8] = {};
    mismatch(3, MPI_DOUBLE, 2, MPI_DOUBLE,
             "message of 24 bytes is longer than its receive of 16 bytes");
    mismatch(2, MPI_DOUBLE, 4, MPI_LONG, "other types");
    pairs();
    {
        const Plan plan(kWorld);
        refused(sennit_plan_irecv(plan.get(), memory, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, kWorld,
                                  kNone, nullptr),
                SENNIT_ERR_ARG, "MPI_ANY_SOURCE");
        refused(
            sennit_plan_irecv(plan.get(), memory, 1, MPI_DOUBLE, size, 0, kWorld, kNone, nullptr),
            SENNIT_ERR_ARG,
            ("rank " + std::to_string(size) + " is outside 0 to " + std::to_string(size - 1))
                .c_str());
        refused(sennit_plan_irecv(plan.get(), nullptr, 1, MPI_DOUBLE, 0, 0, kWorld, kNone, nullptr),
                SENNIT_ERR_ARG, "the buffer is null");
        refused(sennit_plan_irecv(plan.get(), memory, 1, MPI_DOUBLE, 0, -7, kWorld, kNone, nullptr),
                SENNIT_ERR_ARG, "tag -7 is outside 0 to ");
        refused(sennit_plan_irecv(plan.get(), memory, -1, MPI_DOUBLE, 0, 0, kWorld, kNone, nullptr),
                SENNIT_ERR_ARG, "below 0");
        // Each error has its own text, and it names the call that the program made.
        refused(sennit_plan_alltoall(plan.get(), memory, 1, MPI_DOUBLE, memory, 1, MPI_DOUBLE,
                                     MPI_COMM_SELF, kNone, kNone),
                SENNIT_ERR_ARG, "the plan has another communicator");
        refused(sennit_plan_isend(plan.get(), memory, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, kNone,
                                  nullptr),
                SENNIT_ERR_ARG,
                "sennit_plan_isend to rank 0 of the communicator, tag 7: the plan has another");
        refused(sennit_plan_alltoall(plan.get(), MPI_IN_PLACE, 1, MPI_DOUBLE, memory, 1, MPI_DOUBLE,
                                     kWorld, kNone, kNone),
                SENNIT_ERR_ARG, "MPI_IN_PLACE");
        need(std::strstr(sennit_last_error()->text, "communicator") == nullptr, "two reasons");
        auto *const unmapped = reinterpret_cast<void *>(8 * 4096);
        refused(
            sennit_plan_irecv(plan.get(), unmapped, 1, MPI_DOUBLE, 0, 0, kWorld, kNone, nullptr),
            SENNIT_ERR_ARG, "not all mapped");
        refused(SENNIT_ERR_ARG, SENNIT_ERR_ARG,
                "sennit_plan_irecv from rank 0 of the communicator, tag 0: ");
        named("sennit_plan_irecv");
        refused(sennit_message_plan_start(plan.get()), SENNIT_ERR_STATE, "not committed");
        plan.commit();
        refused(sennit_plan_isend(plan.get(), memory, 1, MPI_DOUBLE, 0, 0, kWorld, kNone, nullptr),
                SENNIT_ERR_STATE, "is committed");
        refused(sennit_message_plan_commit(plan.get(), 0), SENNIT_ERR_STATE, "is committed");
        refused(sennit_message_plan_wait(plan.get(), 0), SENNIT_ERR_STATE, "no run");
        plan.run();
    }
    the_wrong_message_of_several_is_named();
    an_error_names_the_memory_between_two_arrays();
    const Plan alone(kWorld);
    if (rank == 0) {
        ok(sennit_plan_isend(alone.get(), memory, 1, MPI_DOUBLE, 1, 9, kWorld, kNone, nullptr));
        refused(sennit_message_plan_commit(alone.get(), 50'000'000), SENNIT_ERR_TIMEOUT,
                "sennit_plan_isend to rank 1 of the communicator, tag 9");
    }
    a_receive_without_a_send_is_named();
}

}  // namespace

int main(int argc, char **argv) {
    begin_mpi(&argc, &argv);
    use_nodes(argc, argv);
    ok(sennit_init_mpi(kWorld, nullptr));
    all_to_all();
    across();
    neighbors(true);
    neighbors(false);
    graph();
    ring_of_a_graph();
    line();
    waits_for_the_start();
    starts_that_hang_on_another_wait();
    a_wait_that_was_too_short_goes_on();
    mistakes();
    ok(sennit_finalize());
    more_ranks_than_the_job();
    ranks_of_two_jobs();
    end_mpi();
    return 0;
}
