// Bad arguments for the collective calls, with a timeout and with a request.
#include "arguments_table.hpp"

namespace arguments {
namespace {

constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;

const unsigned char in[64] = {};
const std::size_t kOne[1] = {1};
const std::size_t kEight[1] = {8};
const sennit_vbuffer kFrom = {const_cast<unsigned char *>(in), kEight, nullptr};
const sennit_vbuffer kNoSizes = {const_cast<unsigned char *>(in), nullptr, nullptr};
const sennit_vbuffer kNoMemory = {nullptr, kEight, nullptr};
const sennit_reduction kSum = sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM);

const sennit_vbuffer *blocks_at(Fixture &fixture) {
    static sennit_vbuffer blocks;
    blocks = {fixture.buffer, kEight, nullptr};
    return &blocks;
}

void ignore(const void *, const void *, void *, std::size_t, void *) {}

}  // namespace

const std::vector<Row> wrong_collectives = {
    {"sennit_barrier_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_barrier_nb(sennit_team{0}, &it.request); }},
    {"sennit_barrier_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_barrier_nb(SENNIT_TEAM_WORLD, nullptr); }},
    {"sennit_broadcast", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_broadcast(sennit_team{0}, 0, it.buffer, 8, 0); }},
    {"sennit_broadcast", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_broadcast(SENNIT_TEAM_WORLD, 0, it.buffer, 8, -1); }},
    {"sennit_broadcast", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_broadcast(SENNIT_TEAM_WORLD, -1, it.buffer, 8, 0); }},
    {"sennit_broadcast", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_broadcast(SENNIT_TEAM_WORLD, 1, it.buffer, 8, 0); }},
    {"sennit_broadcast", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_broadcast(SENNIT_TEAM_WORLD, 0, nullptr, 8, 0); }},
    {"sennit_broadcast_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_broadcast_nb(sennit_team{0}, 0, it.buffer, 8, &it.request); }},
    {"sennit_broadcast_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_broadcast_nb(SENNIT_TEAM_WORLD, 0, it.buffer, 8, nullptr); }},
    {"sennit_broadcast_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_broadcast_nb(SENNIT_TEAM_WORLD, -1, it.buffer, 8, &it.request); }},
    {"sennit_broadcast_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_broadcast_nb(SENNIT_TEAM_WORLD, 1, it.buffer, 8, &it.request); }},
    {"sennit_broadcast_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_broadcast_nb(SENNIT_TEAM_WORLD, 0, nullptr, 8, &it.request); }},
    {"sennit_scatter", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter(sennit_team{0}, 0, in, it.buffer, 8, 0); }},
    {"sennit_scatter", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, -1); }},
    {"sennit_scatter", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatter(SENNIT_TEAM_WORLD, -1, in, it.buffer, 8, 0); }},
    {"sennit_scatter", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatter(SENNIT_TEAM_WORLD, 1, in, it.buffer, 8, 0); }},
    {"sennit_scatter", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, 0); }},
    {"sennit_scatter", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_scatter(SENNIT_TEAM_WORLD, 0, in, nullptr, 8, 0); }},
    {"sennit_scatter_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter_nb(sennit_team{0}, 0, in, it.buffer, 8, &it.request); }},
    {"sennit_scatter_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, nullptr); }},
    {"sennit_scatter_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatter_nb(SENNIT_TEAM_WORLD, -1, in, it.buffer, 8, &it.request); }},
    {"sennit_scatter_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatter_nb(SENNIT_TEAM_WORLD, 1, in, it.buffer, 8, &it.request); }},
    {"sennit_scatter_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter_nb(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, &it.request); }},
    {"sennit_scatter_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatter_nb(SENNIT_TEAM_WORLD, 0, in, nullptr, 8, &it.request); }},
    {"sennit_gather", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather(sennit_team{0}, 0, in, it.buffer, 8, 0); }},
    {"sennit_gather", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, -1); }},
    {"sennit_gather", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gather(SENNIT_TEAM_WORLD, -1, in, it.buffer, 8, 0); }},
    {"sennit_gather", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gather(SENNIT_TEAM_WORLD, 1, in, it.buffer, 8, 0); }},
    {"sennit_gather", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, 0); }},
    {"sennit_gather", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_gather(SENNIT_TEAM_WORLD, 0, in, nullptr, 8, 0); }},
    {"sennit_gather_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather_nb(sennit_team{0}, 0, in, it.buffer, 8, &it.request); }},
    {"sennit_gather_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, nullptr); }},
    {"sennit_gather_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gather_nb(SENNIT_TEAM_WORLD, -1, in, it.buffer, 8, &it.request); }},
    {"sennit_gather_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gather_nb(SENNIT_TEAM_WORLD, 1, in, it.buffer, 8, &it.request); }},
    {"sennit_gather_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather_nb(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, &it.request); }},
    {"sennit_gather_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gather_nb(SENNIT_TEAM_WORLD, 0, in, nullptr, 8, &it.request); }},
    {"sennit_allgather", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather(sennit_team{0}, in, it.buffer, 8, 0); }},
    {"sennit_allgather", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather(SENNIT_TEAM_WORLD, in, it.buffer, 8, -1); }},
    {"sennit_allgather", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather(SENNIT_TEAM_WORLD, nullptr, it.buffer, 8, 0); }},
    {"sennit_allgather", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_allgather(SENNIT_TEAM_WORLD, in, nullptr, 8, 0); }},
    {"sennit_allgather_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather_nb(sennit_team{0}, in, it.buffer, 8, &it.request); }},
    {"sennit_allgather_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather_nb(SENNIT_TEAM_WORLD, in, it.buffer, 8, nullptr); }},
    {"sennit_allgather_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, 8, &it.request); }},
    {"sennit_allgather_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgather_nb(SENNIT_TEAM_WORLD, in, nullptr, 8, &it.request); }},
    {"sennit_alltoall", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall(sennit_team{0}, in, it.buffer, 8, 0); }},
    {"sennit_alltoall", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall(SENNIT_TEAM_WORLD, in, it.buffer, 8, -1); }},
    {"sennit_alltoall", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall(SENNIT_TEAM_WORLD, nullptr, it.buffer, 8, 0); }},
    {"sennit_alltoall", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_alltoall(SENNIT_TEAM_WORLD, in, nullptr, 8, 0); }},
    {"sennit_alltoall_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall_nb(sennit_team{0}, in, it.buffer, 8, &it.request); }},
    {"sennit_alltoall_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall_nb(SENNIT_TEAM_WORLD, in, it.buffer, 8, nullptr); }},
    {"sennit_alltoall_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, 8, &it.request); }},
    {"sennit_alltoall_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoall_nb(SENNIT_TEAM_WORLD, in, nullptr, 8, &it.request); }},
    {"sennit_scatterv", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv(sennit_team{0}, 0, &kFrom, it.buffer, 8, 0); }},
    {"sennit_scatterv", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, &kFrom, it.buffer, 8, -1); }},
    {"sennit_scatterv", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, -1, &kFrom, it.buffer, 8, 0); }},
    {"sennit_scatterv", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 1, &kFrom, it.buffer, 8, 0); }},
    {"sennit_scatterv", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, &kFrom, nullptr, 8, 0); }},
    {"sennit_scatterv", "no source blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, 0); }},
    {"sennit_scatterv", "a source without sizes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, &kNoSizes, it.buffer, 8, 0); }},
    {"sennit_scatterv", "source blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, &kNoMemory, it.buffer, 8, 0); }},
    {"sennit_scatterv_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(sennit_team{0}, 0, &kFrom, it.buffer, 8, &it.request); }},
    {"sennit_scatterv_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, &kFrom, it.buffer, 8, nullptr); }},
    {"sennit_scatterv_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, -1, &kFrom, it.buffer, 8, &it.request); }},
    {"sennit_scatterv_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 1, &kFrom, it.buffer, 8, &it.request); }},
    {"sennit_scatterv_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, &kFrom, nullptr, 8, &it.request); }},
    {"sennit_scatterv_nb", "no source blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, 8, &it.request); }},
    {"sennit_scatterv_nb", "a source without sizes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, &kNoSizes, it.buffer, 8, &it.request); }},
    {"sennit_scatterv_nb", "source blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, &kNoMemory, it.buffer, 8, &it.request); }},
    {"sennit_gatherv", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv(sennit_team{0}, 0, in, 8, blocks_at(it), 0); }},
    {"sennit_gatherv", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv(SENNIT_TEAM_WORLD, 0, in, 8, blocks_at(it), -1); }},
    {"sennit_gatherv", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gatherv(SENNIT_TEAM_WORLD, -1, in, 8, blocks_at(it), 0); }},
    {"sennit_gatherv", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gatherv(SENNIT_TEAM_WORLD, 1, in, 8, blocks_at(it), 0); }},
    {"sennit_gatherv", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv(SENNIT_TEAM_WORLD, 0, nullptr, 8, blocks_at(it), 0); }},
    {"sennit_gatherv", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_gatherv(SENNIT_TEAM_WORLD, 0, in, 8, nullptr, 0); }},
    {"sennit_gatherv", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_gatherv(SENNIT_TEAM_WORLD, 0, in, 8, &kNoMemory, 0); }},
    {"sennit_gatherv_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv_nb(sennit_team{0}, 0, in, 8, blocks_at(it), &it.request); }},
    {"sennit_gatherv_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 0, in, 8, blocks_at(it), nullptr); }},
    {"sennit_gatherv_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, -1, in, 8, blocks_at(it), &it.request); }},
    {"sennit_gatherv_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 1, in, 8, blocks_at(it), &it.request); }},
    {"sennit_gatherv_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 0, nullptr, 8, blocks_at(it), &it.request); }},
    {"sennit_gatherv_nb", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 0, in, 8, nullptr, &it.request); }},
    {"sennit_gatherv_nb", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 0, in, 8, &kNoMemory, &it.request); }},
    {"sennit_allgatherv", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv(sennit_team{0}, in, 8, blocks_at(it), 0); }},
    {"sennit_allgatherv", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv(SENNIT_TEAM_WORLD, in, 8, blocks_at(it), -1); }},
    {"sennit_allgatherv", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv(SENNIT_TEAM_WORLD, nullptr, 8, blocks_at(it), 0); }},
    {"sennit_allgatherv", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_allgatherv(SENNIT_TEAM_WORLD, in, 8, nullptr, 0); }},
    {"sennit_allgatherv", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_allgatherv(SENNIT_TEAM_WORLD, in, 8, &kNoMemory, 0); }},
    {"sennit_allgatherv_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv_nb(sennit_team{0}, in, 8, blocks_at(it), &it.request); }},
    {"sennit_allgatherv_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv_nb(SENNIT_TEAM_WORLD, in, 8, blocks_at(it), nullptr); }},
    {"sennit_allgatherv_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv_nb(SENNIT_TEAM_WORLD, nullptr, 8, blocks_at(it), &it.request); }},
    {"sennit_allgatherv_nb", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv_nb(SENNIT_TEAM_WORLD, in, 8, nullptr, &it.request); }},
    {"sennit_allgatherv_nb", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allgatherv_nb(SENNIT_TEAM_WORLD, in, 8, &kNoMemory, &it.request); }},
    {"sennit_alltoallv", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv(sennit_team{0}, &kFrom, blocks_at(it), 0); }},
    {"sennit_alltoallv", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kFrom, blocks_at(it), -1); }},
    {"sennit_alltoallv", "a source without sizes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kNoSizes, blocks_at(it), 0); }},
    {"sennit_alltoallv", "source blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kNoMemory, blocks_at(it), 0); }},
    {"sennit_alltoallv", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kFrom, nullptr, 0); }},
    {"sennit_alltoallv", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kFrom, &kNoMemory, 0); }},
    {"sennit_alltoallv_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(sennit_team{0}, &kFrom, blocks_at(it), &it.request); }},
    {"sennit_alltoallv_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kFrom, blocks_at(it), nullptr); }},
    {"sennit_alltoallv_nb", "a source without sizes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kNoSizes, blocks_at(it), &it.request); }},
    {"sennit_alltoallv_nb", "source blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kNoMemory, blocks_at(it), &it.request); }},
    {"sennit_alltoallv_nb", "no destination blocks", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kFrom, nullptr, &it.request); }},
    {"sennit_alltoallv_nb", "destination blocks without memory", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kFrom, &kNoMemory, &it.request); }},
    {"sennit_reduce", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(sennit_team{0}, 0, in, it.buffer, kSum, 0); }},
    {"sennit_reduce", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, kSum, -1); }},
    {"sennit_reduce", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, -1, in, it.buffer, kSum, 0); }},
    {"sennit_reduce", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 1, in, it.buffer, kSum, 0); }},
    {"sennit_reduce", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, kSum, 0); }},
    {"sennit_reduce", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, nullptr, kSum, 0); }},
    {"sennit_reduce", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_reduce", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_reduce", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_reduce", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_reduce", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_reduce", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_reduce", "SIZE_MAX elements", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_of(SIZE_MAX, SENNIT_DOUBLE, SENNIT_SUM), 0); }},
    {"sennit_reduce_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_nb(sennit_team{0}, 0, in, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, kSum, nullptr); }},
    {"sennit_reduce_nb", "root -1", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, -1, in, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_nb", "root size", kRunning, SENNIT_ERR_RANGE, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, 1, in, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, 0, nullptr, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, 0, in, nullptr, kSum, &it.request); }},
    {"sennit_reduce_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
    {"sennit_allreduce", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(sennit_team{0}, in, it.buffer, kSum, 0); }},
    {"sennit_allreduce", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, kSum, -1); }},
    {"sennit_allreduce", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, 0); }},
    {"sennit_allreduce", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, nullptr, kSum, 0); }},
    {"sennit_allreduce", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_allreduce", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_allreduce", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_allreduce", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_allreduce", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_allreduce", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_allreduce", "SIZE_MAX elements", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(SIZE_MAX, SENNIT_DOUBLE, SENNIT_SUM), 0); }},
    {"sennit_allreduce_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce_nb(sennit_team{0}, in, it.buffer, kSum, &it.request); }},
    {"sennit_allreduce_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, nullptr); }},
    {"sennit_allreduce_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, &it.request); }},
    {"sennit_allreduce_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce_nb(SENNIT_TEAM_WORLD, in, nullptr, kSum, &it.request); }},
    {"sennit_allreduce_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_allreduce_nb(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
    {"sennit_reduce_scatter", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(sennit_team{0}, in, it.buffer, kOne, kSum, 0); }},
    {"sennit_reduce_scatter", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, kSum, -1); }},
    {"sennit_reduce_scatter", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, nullptr, it.buffer, kOne, kSum, 0); }},
    {"sennit_reduce_scatter", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, nullptr, kOne, kSum, 0); }},
    {"sennit_reduce_scatter", "null counts", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, nullptr, kSum, 0); }},
    {"sennit_reduce_scatter", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_reduce_scatter", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_reduce_scatter", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_reduce_scatter", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_reduce_scatter", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_reduce_scatter", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_reduce_scatter_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(sennit_team{0}, in, it.buffer, kOne, kSum, &it.request); }},
    {"sennit_reduce_scatter_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, in, it.buffer, kOne, kSum, nullptr); }},
    {"sennit_reduce_scatter_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, kOne, kSum, &it.request); }},
    {"sennit_reduce_scatter_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, in, nullptr, kOne, kSum, &it.request); }},
    {"sennit_reduce_scatter_nb", "null counts", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, in, it.buffer, nullptr, kSum, &it.request); }},
    {"sennit_reduce_scatter_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, in, it.buffer, kOne, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
    {"sennit_reduce_scatter_block", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(sennit_team{0}, in, it.buffer, kSum, 0); }},
    {"sennit_reduce_scatter_block", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, kSum, -1); }},
    {"sennit_reduce_scatter_block", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, 0); }},
    {"sennit_reduce_scatter_block", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, nullptr, kSum, 0); }},
    {"sennit_reduce_scatter_block", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_reduce_scatter_block", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_reduce_scatter_block", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_reduce_scatter_block", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_reduce_scatter_block", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_reduce_scatter_block", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_reduce_scatter_block", "SIZE_MAX elements", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(SIZE_MAX, SENNIT_DOUBLE, SENNIT_SUM), 0); }},
    {"sennit_reduce_scatter_block_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block_nb(sennit_team{0}, in, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_scatter_block_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, nullptr); }},
    {"sennit_reduce_scatter_block_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, &it.request); }},
    {"sennit_reduce_scatter_block_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block_nb(SENNIT_TEAM_WORLD, in, nullptr, kSum, &it.request); }},
    {"sennit_reduce_scatter_block_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_reduce_scatter_block_nb(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
    {"sennit_scan", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(sennit_team{0}, in, it.buffer, kSum, 0); }},
    {"sennit_scan", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, kSum, -1); }},
    {"sennit_scan", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, 0); }},
    {"sennit_scan", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_scan(SENNIT_TEAM_WORLD, in, nullptr, kSum, 0); }},
    {"sennit_scan", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_scan", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_scan", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_scan", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_scan", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_scan", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_scan", "SIZE_MAX elements", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(SIZE_MAX, SENNIT_DOUBLE, SENNIT_SUM), 0); }},
    {"sennit_scan_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_nb(sennit_team{0}, in, it.buffer, kSum, &it.request); }},
    {"sennit_scan_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, nullptr); }},
    {"sennit_scan_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, &it.request); }},
    {"sennit_scan_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_nb(SENNIT_TEAM_WORLD, in, nullptr, kSum, &it.request); }},
    {"sennit_scan_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_nb(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
    {"sennit_scan_exclusive", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(sennit_team{0}, in, it.buffer, kSum, 0); }},
    {"sennit_scan_exclusive", "a negative timeout", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, kSum, -1); }},
    {"sennit_scan_exclusive", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, 0); }},
    {"sennit_scan_exclusive", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, nullptr, kSum, 0); }},
    {"sennit_scan_exclusive", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), 0); }},
    {"sennit_scan_exclusive", "type 0", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, static_cast<sennit_type>(0), SENNIT_SUM), 0); }},
    {"sennit_scan_exclusive", "an operator only for accumulate", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_INT8, SENNIT_REPLACE), 0); }},
    {"sennit_scan_exclusive", "no function", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 8, nullptr, nullptr), 0); }},
    {"sennit_scan_exclusive", "elements of no bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 0, ignore, nullptr), 0); }},
    {"sennit_scan_exclusive", "elements of 4097 bytes", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_by(1, 4097, ignore, nullptr), 0); }},
    {"sennit_scan_exclusive", "SIZE_MAX elements", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(SIZE_MAX, SENNIT_DOUBLE, SENNIT_SUM), 0); }},
    {"sennit_scan_exclusive_nb", "a team that does not exist", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive_nb(sennit_team{0}, in, it.buffer, kSum, &it.request); }},
    {"sennit_scan_exclusive_nb", "a null request", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, nullptr); }},
    {"sennit_scan_exclusive_nb", "a null source", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive_nb(SENNIT_TEAM_WORLD, nullptr, it.buffer, kSum, &it.request); }},
    {"sennit_scan_exclusive_nb", "a null destination", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive_nb(SENNIT_TEAM_WORLD, in, nullptr, kSum, &it.request); }},
    {"sennit_scan_exclusive_nb", "a bitwise operator of floats", kRunning, SENNIT_ERR_ARG, [](Fixture &it) { return sennit_scan_exclusive_nb(SENNIT_TEAM_WORLD, in, it.buffer, sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), &it.request); }},
};

const std::vector<Row> collectives_that_need_a_rank = {
    {"sennit_barrier", "", kAny, kState,
     [](Fixture &) { return sennit_barrier(SENNIT_TEAM_WORLD, 0); }},
    {"sennit_barrier_nb", "", kAny, kState,
     [](Fixture &it) { return sennit_barrier_nb(SENNIT_TEAM_WORLD, &it.request); }},
    {"sennit_broadcast", "", kAny, kState,
     [](Fixture &it) { return sennit_broadcast(SENNIT_TEAM_WORLD, 0, it.buffer, 8, 0); }},
    {"sennit_broadcast_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_broadcast_nb(SENNIT_TEAM_WORLD, 0, it.buffer, 8, &it.request);
     }},
    {"sennit_scatter", "", kAny, kState,
     [](Fixture &it) { return sennit_scatter(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, 0); }},
    {"sennit_scatter_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_scatter_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, &it.request);
     }},
    {"sennit_gather", "", kAny, kState,
     [](Fixture &it) { return sennit_gather(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, 0); }},
    {"sennit_gather_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_gather_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, 8, &it.request);
     }},
    {"sennit_allgather", "", kAny, kState,
     [](Fixture &it) { return sennit_allgather(SENNIT_TEAM_WORLD, in, it.buffer, 8, 0); }},
    {"sennit_allgather_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_allgather_nb(SENNIT_TEAM_WORLD, in, it.buffer, 8, &it.request);
     }},
    {"sennit_alltoall", "", kAny, kState,
     [](Fixture &it) { return sennit_alltoall(SENNIT_TEAM_WORLD, in, it.buffer, 8, 0); }},
    {"sennit_alltoall_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_alltoall_nb(SENNIT_TEAM_WORLD, in, it.buffer, 8, &it.request);
     }},
    {"sennit_scatterv", "", kAny, kState,
     [](Fixture &it) { return sennit_scatterv(SENNIT_TEAM_WORLD, 0, &kFrom, it.buffer, 8, 0); }},
    {"sennit_scatterv_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_scatterv_nb(SENNIT_TEAM_WORLD, 0, &kFrom, it.buffer, 8, &it.request);
     }},
    {"sennit_gatherv", "", kAny, kState,
     [](Fixture &it) { return sennit_gatherv(SENNIT_TEAM_WORLD, 0, in, 8, blocks_at(it), 0); }},
    {"sennit_gatherv_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_gatherv_nb(SENNIT_TEAM_WORLD, 0, in, 8, blocks_at(it), &it.request);
     }},
    {"sennit_allgatherv", "", kAny, kState,
     [](Fixture &it) { return sennit_allgatherv(SENNIT_TEAM_WORLD, in, 8, blocks_at(it), 0); }},
    {"sennit_allgatherv_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_allgatherv_nb(SENNIT_TEAM_WORLD, in, 8, blocks_at(it), &it.request);
     }},
    {"sennit_alltoallv", "", kAny, kState,
     [](Fixture &it) { return sennit_alltoallv(SENNIT_TEAM_WORLD, &kFrom, blocks_at(it), 0); }},
    {"sennit_alltoallv_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_alltoallv_nb(SENNIT_TEAM_WORLD, &kFrom, blocks_at(it), &it.request);
     }},
    {"sennit_reduce", "", kAny, kState,
     [](Fixture &it) { return sennit_reduce(SENNIT_TEAM_WORLD, 0, in, it.buffer, kSum, 0); }},
    {"sennit_reduce_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_reduce_nb(SENNIT_TEAM_WORLD, 0, in, it.buffer, kSum, &it.request);
     }},
    {"sennit_allreduce", "", kAny, kState,
     [](Fixture &it) { return sennit_allreduce(SENNIT_TEAM_WORLD, in, it.buffer, kSum, 0); }},
    {"sennit_allreduce_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_allreduce_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, &it.request);
     }},
    {"sennit_reduce_scatter", "", kAny, kState,
     [](Fixture &it) {
         return sennit_reduce_scatter(SENNIT_TEAM_WORLD, in, it.buffer, kOne, kSum, 0);
     }},
    {"sennit_reduce_scatter_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_reduce_scatter_nb(SENNIT_TEAM_WORLD, in, it.buffer, kOne, kSum, &it.request);
     }},
    {"sennit_reduce_scatter_block", "", kAny, kState,
     [](Fixture &it) {
         return sennit_reduce_scatter_block(SENNIT_TEAM_WORLD, in, it.buffer, kSum, 0);
     }},
    {"sennit_reduce_scatter_block_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_reduce_scatter_block_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, &it.request);
     }},
    {"sennit_scan", "", kAny, kState,
     [](Fixture &it) { return sennit_scan(SENNIT_TEAM_WORLD, in, it.buffer, kSum, 0); }},
    {"sennit_scan_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_scan_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, &it.request);
     }},
    {"sennit_scan_exclusive", "", kAny, kState,
     [](Fixture &it) { return sennit_scan_exclusive(SENNIT_TEAM_WORLD, in, it.buffer, kSum, 0); }},
    {"sennit_scan_exclusive_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_scan_exclusive_nb(SENNIT_TEAM_WORLD, in, it.buffer, kSum, &it.request);
     }},
};

}  // namespace arguments
