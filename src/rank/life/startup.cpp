// SPDX-License-Identifier: BSD-3-Clause
// The order of start-up; each step needs the earlier ones:
//   memory file and control block -> transports opened -> cards exchanged -> descriptors of the
//   node exchanged -> transports connected -> if needed, networks opened, addresses exchanged,
//   networks connected -> paths tried -> results exchanged, paths chosen -> engine, teams -> ready.
// Without networks there are three bootstrap exchanges: cards, results, ready. Each of these shows
// whether any rank has failed; if so, one more exchange gives all ranks the reason. Networks need
// another exchange for their addresses, some need one for further data, and results that differ
// between other nodes need one.
#include "rank/life/startup.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/process_age.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/card.hpp"
#include "coll/collectives.hpp"
#include "memory/registration.hpp"
#include "observe/observer.hpp"
#include "op/engine.hpp"
#include "path/router.hpp"
#include "rank/life/start_state.hpp"
#include "rank/life/teardown.hpp"
#include "runtime/watch/watch.hpp"
#include "team/nodes.hpp"

namespace sennit::life {
namespace {

constexpr std::size_t kStride = sizeof(Introduction);

transport::EventSink sink_of(Rank &rank) {
    return {op::engine_event_arrived, &rank,
            op::engine_execute,       op::engine_subject,
            op::engine_renew,         op::engine_renewed};
}

sennit_status make_tables(Startup &start) {
    const auto size = static_cast<std::size_t>(start.size);
    sennit_status status = make_array(size, &start.all);
    if (status == SENNIT_OK)
        status = make_array(size * std::max(path::kTransports, path::kNetworks), &start.addresses);
    if (status == SENNIT_OK) status = make_array(size, &start.usable);
    if (status == SENNIT_OK) status = make_array(size, &start.theirs);
    if (status == SENNIT_OK) status = make_array(size, &start.places);
    if (status == SENNIT_OK) status = make_array(size, &start.nodes);
    if (status == SENNIT_OK) status = make_array(size, &start.firsts);
    if (status == SENNIT_OK) status = make_array(size * path::kNetworks, &start.trials);
    if (status != SENNIT_OK) return status;
    return start.rank.peers.open(size) ? SENNIT_OK
                                       : fail(SENNIT_ERR_NOMEM, "no memory for the peers");
}

// A rank's report to the others when some rank has failed.
struct Failure {
    std::int32_t status;  // SENNIT_OK: this rank has not failed
    std::int32_t blames;  // another rank that knows the reason; -1: this rank is at fault
    std::int32_t os_errno;
    char text[180];
};
static_assert(sizeof(Failure) == 192);

Failure failure_of_this_rank(sennit_status status) {
    Failure mine{};
    mine.blames = -1;
    if (status == SENNIT_OK) return mine;
    const sennit_error &error = *thread_error();
    mine.status = status;
    mine.blames = error.peer;
    mine.os_errno = error.os_errno;
    const std::size_t length = std::strlen(error.text);
    std::memcpy(mine.text, error.text, std::min(length, sizeof mine.text - 1));
    return mine;
}

// The first rank that is itself at fault, else the first that has failed.
int find_culprit(const Failure *all, int size) {
    int culprit = -1;
    for (int r = 0; r < size; ++r) {
        if (all[r].status == SENNIT_OK) continue;
        if (all[r].blames < 0) return r;
        if (culprit < 0) culprit = r;
    }
    return culprit;
}

}  // namespace

sennit_status share_failure(Startup &start, sennit_status own) {
    const Failure mine = failure_of_this_rank(own);
    const sennit_error error = *thread_error();
    // The cards are no longer needed, and there may be no memory for another array.
    static_assert(sizeof(Failure) <= sizeof(Introduction));
    auto *const all = reinterpret_cast<Failure *>(start.all);
    sennit_status status = allgather(start, &mine, all, sizeof mine);
    const int culprit = status == SENNIT_OK ? find_culprit(all, start.size) : -1;
    // If all failed ranks blame others, for example for different settings, each keeps its own
    // reason.
    const bool is_known = culprit >= 0 && all[culprit].blames < 0;
    if (culprit >= 0 && (own == SENNIT_OK || (mine.blames >= 0 && is_known))) {
        status = fail_peer(SENNIT_ERR_BOOTSTRAP, culprit, "", "rank %d failed during start-up: %s",
                           culprit, all[culprit].text);
        thread_error()->os_errno = all[culprit].os_errno;
    } else if (own != SENNIT_OK && (status == SENNIT_OK || mine.blames < 0)) {
        *thread_error() = error;
        status = own;
    } else if (status == SENNIT_OK) {
        status = fail(SENNIT_ERR_BOOTSTRAP, "a rank failed during start-up and gives no reason");
    }
    return status;
}

namespace {

// A rank that failed before the first exchange still takes part, with an empty card.
sennit_status introduce_failure(Startup &start, sennit_status status) {
    const sennit_error error = *thread_error();
    const Introduction nothing{};
    if (start.all != nullptr &&
        allgather(start, &nothing, start.all, sizeof nothing) == SENNIT_OK) {
        *thread_error() = error;
        return share_failure(start, status);
    }
    *thread_error() = error;
    return status;
}

bool some_card_is_empty(const Startup &start) {
    for (int r = 0; r < start.size; ++r)
        if (start.all[r].card.magic == 0) return true;
    return false;
}

sennit_status check_share() {
    const std::int64_t share = runtime::knobs().rail_share;
    if (share >= 0 && share <= 100) return SENNIT_OK;
    return fail(SENNIT_ERR_ARG, "SENNIT_RAIL_SHARE=%lld: it is a share, 0 to 100",
                static_cast<long long>(share));
}

sennit_status introduce(Startup &start, sennit_status so_far) {
    Introduction mine{};
    sennit_status status = so_far;
    if (status == SENNIT_OK) status = runtime::listener_open(&start.listener);
    if (status == SENNIT_OK) status = runtime::card_fill(&mine.card, start.listener);
    if (status == SENNIT_OK) status = check_share();
    if (status != SENNIT_OK) return introduce_failure(start, status);
    std::memcpy(start.rank.control->processors.words, mine.card.processors,
                sizeof mine.card.processors);
    mine.card.rank = start.rank.world_rank;
    mine.card.size = start.size;
    path::router_addresses(start.rank, path::router_node_slots(), mine.addresses);
    mine.rail_share = static_cast<std::uint64_t>(runtime::knobs().rail_share);
    status = allgather(start, &mine, start.all, sizeof mine);
    if (status != SENNIT_OK) return status;
    if (some_card_is_empty(start)) return share_failure(start, SENNIT_OK);
    status = runtime::cards_check(&start.all->card, start.size, kStride);
    if (status != SENNIT_OK) return status;
    runtime::cards_note_processors(&start.all->card, start.size, kStride, start.rank.world_rank);
    start.rank.job_cookie = start.all[0].card.job_cookie;
    start.rank.control->header.job_cookie = start.rank.job_cookie;
    return SENNIT_OK;
}

// The lowest rank of the node of rank `r`. All lower ranks already have their Peers.
int find_first_of_node(const Startup &start, int r) {
    const auto shares_node = [&](int other) {
        return std::memcmp(start.all[other].card.node, start.all[r].card.node,
                           sizeof start.all[r].card.node) == 0;
    };
    // Most launchers fill one node after another.
    if (r > 0 && shares_node(r - 1)) return start.rank.peers[r - 1].first_of_node;
    for (int other = 0; other < r; ++other)
        if (start.rank.peers[other].first_of_node == other && shares_node(other)) return other;
    return r;
}

void make_peers(Startup &start) {
    const runtime::Card &mine = start.all[start.rank.world_rank].card;
    for (int r = 0; r < start.size; ++r) {
        const runtime::Card &theirs = start.all[r].card;
        const int first = find_first_of_node(start, r);
        if (first == r) start.firsts[start.node_count] = r;
        start.nodes[r] = first == r ? start.node_count++ : start.nodes[first];
        const bool same_node = std::memcmp(theirs.node, mine.node, sizeof mine.node) == 0;
        if (!same_node && first != r) {
            start.rank.peers.share(r, first);
            continue;
        }
        Peer &peer = start.rank.peers.make(r);
        peer.first_of_node = first;
        peer.node = start.nodes[r];
        peer.same_node = same_node;
        if (!same_node) continue;
        peer.same_process = theirs.process_cookie == mine.process_cookie;
        peer.numa = theirs.numa;
        peer.process_id = theirs.process_id;
        if (peer.same_process && r != start.rank.world_rank) start.rank.shares_process = true;
    }
}

// All ranks take the minimum, because later exchanges depend on it. If no node has two ranks, no
// copy is split.
void agree_on_share(Startup &start) {
    std::uint64_t least = start.node_count < start.size ? 100 : 0;
    for (int r = 0; r < start.size; ++r)
        least = std::min(least, start.all[r].rail_share);
    start.rank.rail_share = static_cast<unsigned>(least);
}

// Lists the other ranks of the node, whose deaths this rank detects.
sennit_status note_mates(Startup &start) {
    Rank &rank = start.rank;
    const auto is_mate = [&](int r) { return rank.peers[r].same_node && r != rank.world_rank; };
    std::size_t count = 0;
    for (int r = 0; r < start.size; ++r)
        count += is_mate(r) ? 1 : 0;
    if (count == 0) return SENNIT_OK;
    const sennit_status status = make_array(count, &rank.mates);
    for (int r = 0; r < start.size && status == SENNIT_OK; ++r)
        if (is_mate(r)) rank.mates[rank.mate_count++] = r;
    return status;
}

// False if all ranks of the node are threads of this process and inproc is allowed: n * n
// descriptors would have no use.
bool descriptors_needed(Startup &start) {
    bool needed = !path::router_allows(start.rank, SENNIT_PATH_INPROC);
    for (int r = 0; r < start.size; ++r)
        needed |= start.rank.peers[r].same_node && !start.rank.peers[r].same_process;
    return needed;
}

sennit_status exchange_descriptors(Startup &start) {
    if (!descriptors_needed(start)) return SENNIT_OK;
    int *members = nullptr;
    const std::uint8_t **names = nullptr;
    const auto size = static_cast<std::size_t>(start.size);
    sennit_status status = make_array(size, &members);
    if (status == SENNIT_OK) status = make_array(size, &names);
    if (status == SENNIT_OK) {
        runtime::NodeExchange exchange{&start.listener, members, names, 0};
        for (int r = 0; r < start.size; ++r) {
            if (!start.rank.peers[r].same_node) continue;
            names[exchange.count] = start.all[r].card.socket_name;
            members[exchange.count++] = r;
        }
        status = runtime::node_exchange(start.rank, exchange, start.deadline);
    }
    std::free(names);
    std::free(members);
    if (status != SENNIT_OK) runtime::listener_close(&start.listener);
    return status;
}

// Chooses how deaths of the ranks of this node are detected.
void choose_detection(Startup &start) {
    start.rank.launcher_fd = runtime::launcher_connection(start.rank.bootstrap);
    int by_proc = 0;
    int unseen = 0;
    for (int r = 0; r < start.size; ++r) {
        Peer &peer = start.rank.peers[r];
        if (!peer.same_node || peer.same_process || peer.pid_fd >= 0) continue;
        // The start time is compared because, in another pid namespace, the peer's process id
        // belongs to another process or to none.
        const std::uint32_t ticks = start.all[r].card.start_ticks;
        if (ticks != 0 && process_start_ticks(peer.process_id) == ticks) peer.start_ticks = ticks;
        ++(peer.start_ticks != 0 ? by_proc : unseen);
    }
    if (by_proc + unseen == 0) return;
    log(SENNIT_LOG_INFO,
        "the kernel gave no pidfd of %d rank%s (pidfd_open): deaths of %d of them are found in "
        "/proc, deaths of %d only by the launcher",
        by_proc + unseen, plural(static_cast<std::uint64_t>(by_proc + unseen)), by_proc, unseen);
}

sennit_status connect_transports(Startup &start) {
    for (int r = 0; r < start.size; ++r)
        std::copy_n(start.all[r].addresses, path::kTransports,
                    start.addresses + r * path::kTransports);
    return path::router_connect(start.rank, path::router_node_slots(), start.addresses,
                                start.deadline);
}

// After the network in that slot is connected, exchanges its further data, if it has any. A rank
// that has failed takes part too.
sennit_status exchange_more(Startup &start, int slot, sennit_status so_far) {
    const auto size = static_cast<std::size_t>(start.size);
    std::size_t bytes = 0;
    for (int r = 0; r < start.size; ++r)
        bytes = std::max(bytes, transport::more_bytes(start.addresses[r * path::kNetworks + slot]));
    if (bytes == 0) return so_far;
    sennit_status status = so_far;
    // The room has the part of each rank, then this rank's own.
    std::uint8_t *const room = make_room(start, (size + 1) * bytes, &status);
    if (room == nullptr) return status;
    auto *const all = reinterpret_cast<std::byte *>(room);
    std::byte *const mine = all + size * bytes;
    std::memset(mine, 0, bytes);
    if (status == SENNIT_OK) path::router_write_more(start.rank, slot, mine);
    const sennit_error error = *thread_error();
    const sennit_status exchanged = allgather(start, mine, all, bytes);
    if (status != SENNIT_OK)
        *thread_error() = error;
    else if (exchanged == SENNIT_OK)
        status = path::router_read_more(start.rank, slot, all, bytes);
    else
        status = exchanged;
    free_room(start, room);
    return status;
}

// Opens and connects the networks, if rails are needed. A rank that has failed takes part too.
sennit_status connect_networks(Startup &start, sennit_status so_far) {
    if (!needs_rails(start)) return so_far;
    transport::Address mine[path::kNetworks] = {};
    sennit_status status = so_far;
    if (status == SENNIT_OK) status = path::router_open_networks(start.rank, sink_of(start.rank));
    if (status == SENNIT_OK)
        path::router_addresses(start.rank, path::router_network_slots(start.rank), mine);
    const sennit_error error = *thread_error();
    const sennit_status exchanged = allgather(start, mine, start.addresses, sizeof mine);
    if (status != SENNIT_OK)
        *thread_error() = error;
    else if (exchanged == SENNIT_OK)
        status = path::router_connect(start.rank, path::router_network_slots(start.rank),
                                      start.addresses, start.deadline);
    if (exchanged != SENNIT_OK) return status != SENNIT_OK ? status : exchanged;
    for (int slot = 0; slot < path::kNetworks; ++slot)
        status = exchange_more(start, slot, status);
    return status;
}

sennit_status open_upper_layers(Startup &start) {
    sennit_status status = SENNIT_OK;
    if (path::router_needs_engine(start.rank)) status = op::engine_create(start.rank);
    if (status == SENNIT_OK)
        status = memory::table_create(start.rank, memory::kWorldSlot,
                                      static_cast<std::uint32_t>(start.size));
    if (status == SENNIT_OK) status = coll::collectives_open(start.rank);
    if (status == SENNIT_OK) status = team::teams_open(start.rank);
    return status;
}

// Called before the introductions are overwritten, and after the ranks without a path are known.
sennit_status watch_other_nodes(Startup &start) {
    if (start.rank.watch == nullptr || !has_several_nodes(start)) return SENNIT_OK;
    const bool crowded =
        runtime::cards_oversubscribed(&start.all->card, start.size, kStride, start.rank.world_rank);
    return watch::watch_start(start.rank, crowded);
}

// A rank's data in the last exchange.
struct Readiness {
    std::uint8_t status;
    std::uint8_t reach;  // the bits below, from this rank's view
    std::uint16_t unused;
    std::uint32_t node_buffer;  // team::make_node_buffer() of the world
};
static_assert(sizeof(Readiness) == 8 && SENNIT_STATUS_END <= UINT8_MAX);
constexpr std::uint8_t kWorldLoadStore = 0x1;
constexpr std::uint8_t kWorldReached = 0x2;
constexpr std::uint8_t kNodeLoadStore = 0x4;
constexpr std::uint8_t kNodeReached = 0x8;
constexpr std::uint8_t kTraces = 0x10;
constexpr std::uint8_t kWorldNodes = 0x20;  // Reach::node_load_store of the world

std::uint8_t reach_bits(Rank &rank) {
    const team::Reach world = team::own_reach(rank, team::world_of(rank));
    const team::Reach node = team::own_reach(rank, team::node_of(rank));
    return static_cast<std::uint8_t>(
        (world.load_store ? kWorldLoadStore : 0) | (world.some_path ? kWorldReached : 0) |
        (node.load_store ? kNodeLoadStore : 0) | (node.some_path ? kNodeReached : 0) |
        (world.node_load_store ? kWorldNodes : 0) | (runtime::observer_traces(rank) ? kTraces : 0));
}

// If some rank traces in a job of several nodes, all ranks compare their clocks. If the comparison
// fails, start-up continues.
void align_clocks(Startup &start, const Readiness *all) {
    bool traces = false;
    for (int r = 0; r < start.size; ++r)
        traces |= (all[r].reach & kTraces) != 0;
    if (traces && has_several_nodes(start)) runtime::observer_align(start.rank, start.deadline);
}

// All members must agree on a team's kind of barrier.
void agree_on_reach(Rank &rank, const Readiness *all) {
    const auto common = [all](const team::Team &team) {
        unsigned bits = UINT8_MAX;
        for (std::uint32_t member = 0; member < team.size; ++member)
            bits &= all[team.world_ranks[member]].reach;
        return bits;
    };
    const unsigned world = common(team::world_of(rank));
    const unsigned node = common(team::node_of(rank));
    for (std::uint32_t r = 0; r < size_of(rank); ++r)
        team::world_of(rank).node_buffers[r] = all[r].node_buffer;
    team::agree_on_reach(
        rank, team::world_of(rank),
        {(world & kWorldLoadStore) != 0, (world & kWorldReached) != 0, (world & kWorldNodes) != 0});
    const bool node_load_store = (node & kNodeLoadStore) != 0;
    team::agree_on_reach(rank, team::node_of(rank),
                         {node_load_store, (node & kNodeReached) != 0, node_load_store});
}

// The last exchange: all ranks are ready, or all give up.
sennit_status get_ready(Startup &start, sennit_status so_far) {
    Readiness mine{};
    if (so_far == SENNIT_OK)
        so_far = team::make_node_buffer(start.rank, team::world_of(start.rank), &mine.node_buffer);
    mine.status = static_cast<std::uint8_t>(so_far);
    if (so_far == SENNIT_OK) mine.reach = reach_bits(start.rank);
    const sennit_error error = *thread_error();
    // The introductions are no longer needed.
    static_assert(sizeof(Readiness) <= sizeof(Introduction));
    auto *all = reinterpret_cast<Readiness *>(start.all);
    const sennit_status status = allgather(start, &mine, all, sizeof mine);
    if (status != SENNIT_OK && so_far == SENNIT_OK) return status;
    *thread_error() = error;
    if (status != SENNIT_OK) return so_far;
    for (int r = 0; r < start.size; ++r)
        if (all[r].status != SENNIT_OK) return share_failure(start, so_far);
    agree_on_reach(start.rank, all);
    align_clocks(start, all);
    runtime::observer_ready(start.rank);
    // A transport's thread calls the hooks only after the rank has called them once. The rank may
    // compute from here on, so this is the first call.
    poll_hooks(start.rank);
    return SENNIT_OK;
}

void choose_spins(Startup &start) {
    // A rank with its own core polls for about 0.1 ms before it yields. On shared cores it yields
    // at once, because every poll keeps another rank from running (docs/design/waiting.md). If
    // completion needs this rank's progress, it does not poll either: polls without progress would
    // see nothing new.
    constexpr unsigned kSpins = 4000;
    start.rank.shares_processors =
        runtime::cards_oversubscribed(&start.all->card, start.size, kStride, start.rank.world_rank);
    // relaxed: start-up has one thread.
    const bool by_progress = start.rank.hook_count.load(std::memory_order_relaxed) != 0;
    start.rank.spins = start.rank.shares_processors || by_progress ? 0 : kSpins;
}

sennit_status run(Startup &start, const char *paths) {
    const std::int64_t started_ns = now_ns();
    sennit_status status = make_tables(start);
    runtime::observer_open(start.rank, start.size, started_ns);
    if (status == SENNIT_OK) status = memory::registration_check_knob();
    if (status == SENNIT_OK)
        status = memory::segments_open(start.rank, start.rank.world_rank, start.size);
    if (status == SENNIT_OK) status = path::router_open(start.rank, paths, sink_of(start.rank));
    status = introduce(start, status);
    if (status != SENNIT_OK) return status;
    make_peers(start);
    agree_on_share(start);
    status = exchange_descriptors(start);
    choose_detection(start);
    if (status == SENNIT_OK) status = note_mates(start);
    if (status == SENNIT_OK) status = connect_transports(start);
    status = connect_networks(start, status);
    status = agree_on_paths(start, status);
    if (start.is_over) return status;
    if (status == SENNIT_OK) status = open_upper_layers(start);
    if (status == SENNIT_OK) status = watch_other_nodes(start);
    if (status == SENNIT_OK) choose_spins(start);
    return get_ready(start, status);
}

void report(const Startup &start) {
    int counts[SENNIT_PATH_END] = {};
    int here = 0;
    for (int r = 0; r < start.size; ++r) {
        ++counts[start.rank.peers[r].path];
        here += start.rank.peers[r].same_node ? 1 : 0;
    }
    char by_path[256] = "";
    std::size_t used = 0;
    for (const transport::Maker *maker = transport::kMakers; maker->make != nullptr; ++maker) {
        const int more = std::snprintf(by_path + used, sizeof by_path - used, "%d %s, ",
                                       counts[maker->path], sennit_path_name(maker->path));
        used = std::min(used + static_cast<std::size_t>(more), sizeof by_path - 1);
    }
    log(SENNIT_LOG_NONE, "%d rank%s by %s, %d on this node; from rank 0: %s%d without a path",
        start.size, plural(static_cast<std::uint64_t>(start.size)), start.rank.bootstrap.name, here,
        by_path, counts[SENNIT_PATH_NONE]);
}

}  // namespace

sennit_status startup(Rank &rank, const StartupArgs &args) {
    Startup start{rank, Deadline::after(args.timeout_ns), args.bootstrap.size};
    rank.bootstrap = args.bootstrap;
    rank.world_rank = args.bootstrap.rank;
    rank.thread_level = args.thread_level;
    // relaxed: no other thread knows of the rank before process_publish_rank().
    rank.size.store(static_cast<std::uint32_t>(start.size), std::memory_order_relaxed);
    const sennit_status status = run(start, args.paths);
    runtime::listener_close(&start.listener);
    if (status == SENNIT_OK) {
        // relaxed: readers act only on `leaving` and `left`.
        rank.control->header.state.store(static_cast<std::uint32_t>(RankState::running),
                                         std::memory_order_relaxed);
        if (runtime::knobs().report && rank.world_rank == 0) report(start);
    } else {
        const sennit_error error = *thread_error();
        take_apart(rank, Deadline::after(0), false);
        *thread_error() = error;
    }
    std::free(start.all);
    std::free(start.addresses);
    std::free(start.usable);
    std::free(start.theirs);
    std::free(start.places);
    std::free(start.nodes);
    std::free(start.firsts);
    std::free(start.trials);
    return status;
}

}  // namespace sennit::life
