// SPDX-License-Identifier: BSD-3-Clause
// Chooses the path to each rank. Each rank tries the paths to all ranks of its node; one rank of
// each node tries the paths to other nodes. One exchange shares the results, or two if the results
// for other nodes differ. Then both ranks of a pair choose the same path.
#include <algorithm>
#include <cstring>

#include "rank/life/start_state.hpp"

namespace sennit::life {
namespace {

// A rank's results. In a row of the exchange, a PathSet for each rank of its node follows, by place
// in the node. Ranks of other nodes need no PathSet: their addresses show the possible paths, and
// one rank of each node has tried the rails.
struct Tries {
    // Set by a rank that failed after the first exchange, so that the others need not wait.
    std::uint8_t has_failed;
    // The trials of other nodes differ, so one more exchange is needed for all of them.
    std::uint8_t is_uneven;
    transport::NodeTrial others[path::kNetworks];  // the same for every other node
};
static_assert(sizeof(Tries) == 10);

// The offset in a row of the PathSet for the rank with that place in the node.
std::size_t set_offset(int place) {
    return sizeof(Tries) + sizeof(path::PathSet) * static_cast<std::size_t>(place);
}

// Finds the place of each rank in its node. Returns the number of ranks of the largest node.
int find_places(Startup &start) {
    int most = 0;
    for (int r = 0; r < start.size; ++r) {
        int before = r - 1;
        while (before >= 0 && start.nodes[before] != start.nodes[r])
            --before;
        start.places[r] = before >= 0 ? start.places[before] + 1 : 0;
        most = std::max(most, start.places[r] + 1);
    }
    return most;
}

const transport::NodeTrial *trials_of(const Startup &start, int node) {
    return start.trials + node * path::kNetworks;
}

void write_tries(const Startup &start, std::uint8_t *row) {
    Tries tries{};
    const int own = start.nodes[start.rank.world_rank];
    const transport::NodeTrial *const first = trials_of(start, own == 0 ? 1 : 0);
    for (int node = 0; node < start.node_count && has_several_nodes(start); ++node)
        for (int i = 0; i < path::kNetworks && node != own; ++i) {
            tries.others[i] = first[i];
            if (!trials_of(start, node)[i].is_like(first[i])) tries.is_uneven = 1;
        }
    std::memcpy(row, &tries, sizeof tries);
    for (int r = 0; r < start.size; ++r)
        if (start.rank.peers[r].same_node)
            std::memcpy(row + set_offset(start.places[r]), &start.usable[r], sizeof *start.usable);
}

// Combines this node's trials of each other node with that node's trials of this one: a rail works
// only if both say so. `all` has a row of `bytes` bytes from each rank. In a row, the trials of
// consecutive nodes are `step` bytes apart.
void join_trials(Startup &start, const std::uint8_t *all, std::size_t bytes, std::size_t step) {
    constexpr auto kEach = sizeof(transport::NodeTrial) * path::kNetworks;
    const int own = start.nodes[start.rank.world_rank];
    const auto add = [&](int node, int from, int about) {
        transport::NodeTrial found[path::kNetworks];
        std::memcpy(
            found,
            all + static_cast<std::size_t>(from) * bytes + step * static_cast<std::size_t>(about),
            kEach);
        for (int i = 0; i < path::kNetworks; ++i)
            start.trials[node * path::kNetworks + i].add(found[i]);
    };
    std::fill_n(start.trials, start.node_count * path::kNetworks, transport::NodeTrial{});
    for (int r = 0; r < start.size; ++r) {
        if (start.nodes[r] != own) add(start.nodes[r], r, own);
        for (int node = 0; node < start.node_count && start.nodes[r] == own; ++node)
            if (node != own) add(node, r, node);
    }
}

}  // namespace

std::uint8_t *make_room(Startup &start, std::size_t bytes, sennit_status *status) {
    const sennit_error error = *thread_error();
    std::uint8_t *room = nullptr;
    const sennit_status made = make_array(bytes, &room);
    if (made == SENNIT_OK) return room;
    if (*status != SENNIT_OK)
        *thread_error() = error;
    else
        *status = made;
    const bool is_enough = bytes <= sizeof(Introduction) * static_cast<std::size_t>(start.size);
    return is_enough ? reinterpret_cast<std::uint8_t *>(start.all) : nullptr;
}

void free_room(const Startup &start, std::uint8_t *room) {
    if (room != reinterpret_cast<std::uint8_t *>(start.all)) std::free(room);
}

namespace {

// Exchanges the trials of all nodes. Called by all ranks if one of them has set is_uneven.
sennit_status exchange_all_trials(Startup &start) {
    constexpr std::size_t kEach = sizeof(transport::NodeTrial) * path::kNetworks;
    const std::size_t bytes = kEach * static_cast<std::size_t>(start.node_count);
    sennit_status status = SENNIT_OK;
    std::uint8_t *all = make_room(start, static_cast<std::size_t>(start.size) * bytes, &status);
    const sennit_error error = *thread_error();
    const sennit_status exchanged =
        all != nullptr ? allgather(start, start.trials, all, bytes) : status;
    start.is_over = exchanged != SENNIT_OK;
    if (exchanged == SENNIT_OK) {
        *thread_error() = error;
        join_trials(start, all, bytes, kEach);
    }
    free_room(start, all);
    return status != SENNIT_OK ? status : exchanged;
}

void try_paths(Startup &start, std::uint8_t *row) {
    path::router_try(start.rank, start.usable);
    path::router_try_nodes(start.rank, {start.nodes, start.firsts, start.node_count}, start.trials);
    write_tries(start, row);
}

// `rows` has room for the row of each rank and then for this rank's own.
sennit_status exchange_tries(Startup &start, std::uint8_t *rows, std::size_t bytes,
                             sennit_status so_far) {
    const auto size = static_cast<std::size_t>(start.size);
    std::uint8_t *const mine = rows + size * bytes;
    Tries tries{};
    tries.has_failed = 1;
    std::memcpy(mine, &tries, sizeof tries);
    if (so_far == SENNIT_OK) try_paths(start, mine);
    const sennit_error error = *thread_error();
    const sennit_status status = allgather(start, mine, rows, bytes);
    start.is_over = status != SENNIT_OK;
    if (status != SENNIT_OK && so_far == SENNIT_OK) return status;
    if (status == SENNIT_ERR_PEER_LOST && error.peer >= 0)
        return status;  // names the rank that it blames
    *thread_error() = error;
    if (status != SENNIT_OK) return so_far;
    bool some_are_uneven = false;
    const std::size_t own = set_offset(start.places[start.rank.world_rank]);
    for (std::size_t r = 0; r < size; ++r) {
        const std::uint8_t *row = rows + r * bytes;
        std::memcpy(&tries, row, sizeof tries);
        if (tries.has_failed != 0) {
            start.is_over = true;
            return share_failure(start, so_far);
        }
        some_are_uneven |= tries.is_uneven != 0;
        start.theirs[r] = start.usable[r];
        if (start.rank.peers[r].same_node)
            std::memcpy(&start.theirs[r], row + own, sizeof *start.theirs);
    }
    if (some_are_uneven) return exchange_all_trials(start);
    join_trials(start, rows + offsetof(Tries, others), bytes, 0);
    return SENNIT_OK;
}

}  // namespace

sennit_status agree_on_paths(Startup &start, sennit_status so_far) {
    const std::size_t bytes = set_offset(find_places(start));
    sennit_status status = so_far;
    std::uint8_t *rows =
        make_room(start, (static_cast<std::size_t>(start.size) + 1) * bytes, &status);
    start.is_over = rows == nullptr;
    if (rows != nullptr) status = exchange_tries(start, rows, bytes, status);
    free_room(start, rows);
    if (status == SENNIT_OK)
        path::router_agree(start.rank, start.usable, start.theirs,
                           {start.nodes, start.firsts, start.node_count}, start.trials);
    return status;
}

}  // namespace sennit::life
