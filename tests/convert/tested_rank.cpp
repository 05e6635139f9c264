// Rank 0 commits with short timeouts before the other ranks have made their calls. Broken by a
// commit that cannot go on after a timeout, by one that records a message or receives a description
// twice, and, without the progress thread, by one that does not serve the ranks that increment rank
// 0's word.
//
// Argument: "nodes" for ranks on two simulated nodes, without the progress thread.
#include <algorithm>

#include "nodes.h"
#include "rank.hpp"

namespace {

constexpr int kRuns = 5000;  // too many for MPI to send the description at once

struct Received {
    int in = -1;
    std::vector<int> same = std::vector<int>(static_cast<std::size_t>(size), -1);
    std::vector<int> different = same;
    std::vector<int> around = {-1, -1};
    std::vector<int> late = std::vector<int>(2 * kRuns, -1);

    void clear() {
        in = -1;
        for (std::vector<int> *array : {&same, &different, &around, &late})
            std::fill(array->begin(), array->end(), -1);
    }
    void check() const {
        const int before = 10 * ((rank + size - 1) % size);
        need(in == before, "a wrong number");
        need(same == different, "alltoallv differs from alltoall");
        for (int i = 0; i < size; ++i)
            need(same[static_cast<std::size_t>(i)] == 10 * i + rank, "a wrong number in alltoall");
        need(around[0] == before + 1 && around[1] == 10 * ((rank + 1) % size), "a wrong neighbour");
        for (std::size_t i = 0; i < kRuns; ++i)
            need(late[2 * i] == before + static_cast<int>(i) && late[2 * i + 1] == -1,
                 "a wrong column");
    }
};

void a_tested_exchange_makes_progress() {
    const auto all = static_cast<std::size_t>(size);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    const int periods[1] = {1}, ones[2] = {1, 1}, two_places[2] = {0, 1};
    const std::vector<int> counts(all, 1), places = numbers(all, 0), out = numbers(all, 10 * rank);
    const std::vector<int> long_out = numbers(kRuns, 10 * rank);
    Received got;
    sennit_gptr word = SENNIT_GPTR_NULL;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Cart_create(kWorld, 1, &size, periods, 0, &ring);
    MPI_Type_vector(kRuns, 1, 2, MPI_INT, &column);
    {
        const Plan plan(kWorld);
        ok(sennit_message_plan_use(plan.get(), ring));
        if (rank == 0) ok(sennit_alloc_local(sizeof(std::uint64_t), 0, 0, &word));
        if (rank != 0) {
            std::uint64_t old = 1;
            MPI_Bcast(&word, sizeof word, MPI_BYTE, 0, kWorld);  // after two timeouts of rank 0
            ok(sennit_atomic_fetch_add_u64(word, 1, &old));
        }
        ok(sennit_plan_alltoall(plan.get(), out.data(), 1, MPI_INT, got.same.data(), 1, MPI_INT,
                                kWorld, kNone, kNone));
        ok(sennit_plan_alltoallv(plan.get(), out.data(), counts.data(), places.data(), MPI_INT,
                                 got.different.data(), counts.data(), places.data(), MPI_INT,
                                 kWorld, kNone, kNone));
        ok(sennit_plan_neighbor_alltoallv(plan.get(), out.data(), ones, two_places, MPI_INT,
                                          got.around.data(), ones, two_places, MPI_INT, ring, kNone,
                                          kNone));
        ok(sennit_plan_sendrecv(plan.get(), &out[0], 1, MPI_INT, next, 3, &got.in, 1, MPI_INT,
                                before, 3, kWorld, kNone, kNone));
        if (rank == 0) {
            refused(sennit_message_plan_commit(plan.get(), 0), SENNIT_ERR_TIMEOUT,
                    "sennit_plan_alltoall to rank ");
            refused(sennit_message_plan_start(plan.get()), SENNIT_ERR_STATE, "not committed");
            refused(sennit_message_plan_commit(plan.get(), 50'000'000), SENNIT_ERR_TIMEOUT,
                    "sennit_plan_alltoall to rank 1 of the communicator, tag 0");
            MPI_Bcast(&word, sizeof word, MPI_BYTE, 0, kWorld);
        }
        ok(sennit_plan_irecv(plan.get(), got.late.data(), 1, column, before, 4, kWorld, kNone,
                             nullptr));
        ok(sennit_plan_isend(plan.get(), long_out.data(), kRuns, MPI_INT, next, 4, kWorld, kNone,
                             nullptr));
        const double end = sennit_wtime() + static_cast<double>(kTimeNs) * 1e-9;
        sennit_status status = SENNIT_ERR_TIMEOUT;
        while (status == SENNIT_ERR_TIMEOUT && sennit_wtime() < end)
            status = sennit_message_plan_commit(plan.get(), 0);
        ok(status);
        refused(sennit_message_plan_commit(plan.get(), 0), SENNIT_ERR_STATE, "is committed");
        for (int run = 0; run < 3; ++run) {
            got.clear();
            plan.run();
            got.check();
        }
    }
    if (rank == 0) ok(sennit_free(word));
    MPI_Type_free(&column);
    MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char **argv) {
    begin_mpi(&argc, &argv);
    use_nodes(argc, argv);
    if (argc > 1) (void)setenv("SENNIT_PROGRESS", "off", 1);
    ok(sennit_init_mpi(kWorld, nullptr));
    a_tested_exchange_makes_progress();
    ok(sennit_finalize());
    MPI_Finalize();
    return 0;
}
