// SPDX-License-Identifier: BSD-3-Clause
// Makes, finds and drops team objects.
#include "team/team.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "base/thread_callback.hpp"
#include "team/cluster.hpp"
#include "team/create.hpp"
#include "team/nodes.hpp"

namespace sennit::team {
namespace {

// The object of a slot, made at the first use.
Team *take_object(Rank &rank, std::uint32_t slot) {
    // relaxed: one thread at a time makes the team of a slot.
    Team *team = rank.teams[slot].load(std::memory_order_relaxed);
    if (team != nullptr) return team;
    // Zero is the initial value of every field.
    team = static_cast<Team *>(std::calloc(1, sizeof(Team)));
    if (team == nullptr) return nullptr;
    team->turn.set_shared(rank.thread_level == SENNIT_THREAD_MULTIPLE);
    // SYNC team-object: pairs with the acquire in find(); the zeroed object comes before.
    rank.teams[slot].store(team, std::memory_order_release);
    return team;
}

// Makes the arrays of a team of `size` in one piece of memory that starts with `arrivals`.
bool make_arrays(Team &team, std::uint32_t size) {
    const std::size_t others = size - 1;
    const std::size_t arrivals = others * sizeof *team.arrivals;
    const std::size_t bells = others * sizeof *team.bells;
    const std::size_t ranks = size * sizeof *team.world_ranks;
    const std::size_t by_world = size * sizeof *team.by_world;
    const std::size_t clusters = size > kMostOfCluster ? size * sizeof *team.clusters : 0;
    const std::size_t places = (3 * std::size_t{size} + 1) * sizeof *team.by_place;
    auto *memory = static_cast<std::byte *>(
        std::calloc(1, arrivals + bells + clusters + ranks + by_world + places));
    if (memory == nullptr) return false;
    team.arrivals = reinterpret_cast<const std::atomic<std::uint64_t> **>(memory);
    team.bells = reinterpret_cast<Doorbell **>(memory + arrivals);
    memory += arrivals + bells;
    team.clusters = clusters != 0 ? reinterpret_cast<Cluster *>(memory) : nullptr;
    team.world_ranks = reinterpret_cast<const int *>(memory + clusters);
    team.by_world = reinterpret_cast<const std::uint32_t *>(memory + clusters + ranks);
    team.by_place = reinterpret_cast<std::uint32_t *>(memory + clusters + ranks + by_world);
    team.node_buffers = team.by_place + size;
    team.first_places = team.node_buffers + size;
    return true;
}

void sort_members(Team &team) {
    auto *by_world = const_cast<std::uint32_t *>(team.by_world);
    for (std::uint32_t member = 0; member < team.size; ++member)
        by_world[member] = member;
    std::sort(by_world, by_world + team.size, [&](std::uint32_t a, std::uint32_t b) {
        return team.world_ranks[a] < team.world_ranks[b];
    });
}

void find_the_others(Rank &rank, Team &team) {
    for (std::uint32_t place = 0; place + 1 < team.size; ++place) {
        const std::uint32_t member = (team.rank + place + 1) % team.size;
        ControlBlock *control = rank.peers[team.world_ranks[member]].control;
        if (control == nullptr) continue;
        team.arrivals[place] = &team_sync(*control, team.slot).arrived.epoch;
        team.bells[place] = &control->doorbell;
    }
}

// Makes a team at start-up: all ranks, or those of this node.
sennit_status open_first(Rank &rank, std::uint32_t slot, bool of_node) {
    const Array<int> ranks(size_of(rank));
    if (ranks == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the first teams");
    Members members{0, 0, ranks};
    for (int r = 0; r < world_size(rank); ++r) {
        if (of_node && !rank.peers[r].same_node) continue;
        if (r == rank.world_rank) members.rank = members.size;
        ranks[members.size++] = r;
    }
    Team *team = nullptr;
    const sennit_status status = make(rank, slot, members, &team);
    if (status == SENNIT_OK) open(*team, 0, 0);
    return status;
}

}  // namespace

sennit_status make(Rank &rank, std::uint32_t slot, const Members &members, Team **out) {
    Team *team = take_object(rank, slot);
    if (team == nullptr || !make_arrays(*team, members.size))
        return fail(SENNIT_ERR_NOMEM, "no memory for the tables of a team");
    team->slot = slot;
    team->size = members.size;
    team->rank = members.rank;
    std::memcpy(const_cast<int *>(team->world_ranks), members.world_ranks,
                sizeof(int) * members.size);
    sort_members(*team);
    team->own = &team_sync(*rank.control, slot);
    find_the_others(rank, *team);
    if (team->clusters != nullptr) form_clusters(rank, *team);
    *out = team;
    return SENNIT_OK;
}

void open(Team &team, std::uint64_t generation, std::uint64_t base) {
    team.generation = generation;
    team.epoch = base;
    team.calls = 0;
    // SYNC team-live: pairs with the acquire in find(); the fields come before the handle.
    team.handle.store(make_handle(team.slot, generation), std::memory_order_release);
}

void drop(Team &team) {
    // relaxed: using a team while it is destroyed is the program's error in any order.
    team.handle.store(0, std::memory_order_relaxed);
    std::free(team.arrivals);
    std::free(team.segments);
    std::free(team.grid);
    std::free(team.unfinished);
    team.arrivals = nullptr;
    team.bells = nullptr;
    team.clusters = nullptr;
    team.cluster_count = 0;
    team.world_ranks = nullptr;
    team.by_world = nullptr;
    team.by_place = nullptr;
    team.node_buffers = nullptr;
    team.first_places = nullptr;
    team.node_buffer_record = nullptr;
    team.grid = nullptr;
    team.unfinished = nullptr;
    team.segments = nullptr;
    team.flush_error.status = SENNIT_OK;
    team.purpose = Purpose::none;
    team.read_failed = false;
}

Reach own_reach(Rank &rank, const Team &team) {
    Reach reach{true, true, true};
    for (std::uint32_t member = 0; member < team.size; ++member) {
        if (member == team.rank) continue;
        const Peer &peer = rank.peers[team.world_ranks[member]];
        reach.load_store &= peer.control != nullptr;
        reach.some_path &= peer.transport != nullptr;
        // The other ranks of a node need a pointer to its node buffer, which is a segment.
        const bool has_pointers =
            peer.path == SENNIT_PATH_MAPPED || peer.path == SENNIT_PATH_INPROC;
        reach.node_load_store &= !peer.same_node || (peer.control != nullptr && has_pointers);
    }
    return reach;
}

void agree_on_reach(Rank &rank, Team &team, const Reach &common) {
    team.all_load_store = common.load_store;
    team.all_reached = common.some_path;
    team.way = !common.some_path          ? Way::none
               : !common.load_store       ? (common.node_load_store ? Way::nodes : Way::rounds)
               : team.clusters != nullptr ? Way::clusters
                                          : Way::flat;
    if (team.way == Way::nodes || team.way == Way::rounds) form_nodes(rank, team);
}

int member_of(const Team &team, int world_rank) {
    const std::uint32_t *end = team.by_world + team.size;
    const std::uint32_t *found = std::lower_bound(
        team.by_world, end, world_rank,
        [&](std::uint32_t member, int wanted) { return team.world_ranks[member] < wanted; });
    return found != end && team.world_ranks[*found] == world_rank ? static_cast<int>(*found) : -1;
}

sennit_status teams_open(Rank &rank) {
    sennit_status status = registry_open(rank);
    if (status == SENNIT_OK) status = open_first(rank, memory::kWorldSlot, false);
    return status != SENNIT_OK ? status : open_first(rank, kNodeSlot, true);
}

void teams_close(Rank &rank) {
    for (AtomicPartPointer<Part::team> &place : rank.teams) {
        // All relaxed: one thread starts and ends a rank.
        Team *team = place.load(std::memory_order_relaxed);
        if (team == nullptr) continue;
        drop(*team);
        std::free(team);
        place.store(nullptr, std::memory_order_relaxed);
    }
    registry_close(rank);
}

bool is_in_operator() {
    const Callback *callback = thread_callback();
    return callback != nullptr && *callback == Callback::combine;
}

sennit_status fail_in_operator() {
    return fail(SENNIT_ERR_STATE,
                "an operator of the program that this thread called has not returned: it must not "
                "call Sennit, nor leave by longjmp");
}

sennit_status CollectiveCall::refuse(Team &team, bool has_turn) {
    if (!has_turn && is_in_operator()) return fail_in_operator();
    if (!has_turn)
        return fail(SENNIT_ERR_STATE,
                    "another thread of this rank is in a collective call of the team");
    team.turn.give_back();
    return fail(SENNIT_ERR_STATE, "another thread has destroyed the team");
}

}  // namespace sennit::team
