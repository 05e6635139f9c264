// SPDX-License-Identifier: BSD-3-Clause
#include "path/router.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/invariant.hpp"
#include "base/log.hpp"
#include "rank/part.hpp"
#include "runtime/watch/watch.hpp"

namespace sennit::path {
struct Router;
}
template <>
struct sennit::PartType<sennit::Part::router> {
    using Type = sennit::path::Router;
};

namespace sennit::path {

using transport::Address;
using transport::Maker;
using transport::NodeTrial;
using transport::Transport;

struct Router {
    Transport *transports[kTransports + kNetworks] = {};  // in order of preference
    int count = 0;
    int node_count = 0;                    // transports within a node, which come first
    Address *addresses[kTransports] = {};  // [transport within a node][rank]
    PathSet networks = 0;                  // paths between nodes that may be opened
    char settings[SENNIT_PATH_END][256] = {};
    Transport *by_path[SENNIT_PATH_END] = {};
    Transport *immediate[SENNIT_PATH_END] = {};  // those with Traits::immediate
    PathSet allowed = path_bit(SENNIT_PATH_SELF);
};

namespace {

bool is_name_of(sennit_path path, const char *name, std::size_t length) {
    const char *known = sennit_path_name(path);
    return std::strlen(known) == length && std::strncmp(known, name, length) == 0;
}

const Maker *maker_named(const char *name, std::size_t length) {
    for (const Maker *maker = transport::kMakers; maker->make != nullptr; ++maker)
        if (is_name_of(maker->path, name, length)) return maker;
    return nullptr;
}

sennit_path path_named(const char *name, std::size_t length) {
    for (int path = SENNIT_PATH_SELF; path < SENNIT_PATH_END; ++path)
        if (is_name_of(static_cast<sennit_path>(path), name, length))
            return static_cast<sennit_path>(path);
    return SENNIT_PATH_NONE;
}

sennit_status add(Rank &rank, const Maker &maker, const char *settings,
                  const transport::EventSink &sink) {
    Router &router = *rank.router;
    if (router.count == router.node_count + (maker.between_nodes ? kNetworks : kTransports))
        return fail(SENNIT_ERR_ARG, "more than %d paths are named", kTransports);
    Transport *made = maker.make();
    if (made == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the path %s", sennit_path_name(maker.path));
    SENNIT_INVARIANT(maker.path == made->traits().path);
    SENNIT_INVARIANT(std::strcmp(made->traits().name, sennit_path_name(maker.path)) == 0);
    const sennit_status status = made->open(rank, settings, sink);
    if (status != SENNIT_OK) {
        delete made;
        return status;
    }
    router.transports[router.count++] = made;
    router.by_path[maker.path] = made;
    if (made->traits().immediate) router.immediate[maker.path] = made;
    router.allowed |= path_bit(maker.path);
    return SENNIT_OK;
}

[[gnu::cold]] sennit_status fail_unknown(const char *name, std::size_t length) {
    char known[160] = "";
    std::size_t used = 0;
    for (const Maker *maker = transport::kMakers; maker->make != nullptr; ++maker) {
        const int more =
            std::snprintf(known + used, sizeof known - used, ", %s", sennit_path_name(maker->path));
        used = std::min(used + static_cast<std::size_t>(more), sizeof known - 1);
    }
    return fail(SENNIT_ERR_ARG, "'%.*s' in SENNIT_PATHS is no path; this build has self%s",
                static_cast<int>(length), name, known);
}

// Adds one word of the list: "name" or "name:settings". Sets *absent to a path that this build does
// not have.
sennit_status add_named(Rank &rank, const char *word, std::size_t length,
                        const transport::EventSink &sink, sennit_path *absent) {
    const auto *colon = static_cast<const char *>(std::memchr(word, ':', length));
    const std::size_t name_length =
        colon == nullptr ? length : static_cast<std::size_t>(colon - word);
    const sennit_path path = path_named(word, name_length);
    if (path == SENNIT_PATH_NONE) return fail_unknown(word, name_length);
    const Maker *maker = maker_named(word, name_length);
    if (maker == nullptr) {
        if (path != SENNIT_PATH_SELF) *absent = path;
        return SENNIT_OK;
    }
    Router &router = *rank.router;
    if (router.by_path[path] != nullptr || has_path(router.networks, path))
        return fail(SENNIT_ERR_ARG, "the path %.*s is in SENNIT_PATHS twice",
                    static_cast<int>(name_length), word);
    char *const settings = router.settings[maker->path];
    const std::size_t settings_length = colon == nullptr ? 0 : length - name_length - 1;
    if (settings_length >= sizeof router.settings[0])
        return fail(SENNIT_ERR_ARG, "the settings of path %.*s are too long",
                    static_cast<int>(name_length), word);
    if (colon != nullptr) std::memcpy(settings, colon + 1, settings_length);
    settings[settings_length] = '\0';
    if (!maker->between_nodes) return add(rank, *maker, settings, sink);
    router.networks |= path_bit(maker->path);
    return SENNIT_OK;
}

// Why a built path is not open.
Reason reason_not_open(const Router &router, sennit_path path) {
    // Allowed, but the job has one node.
    if (has_path(router.networks, path)) return Reason{Reason::Code::same_node};
    const char *name = sennit_path_name(path);
    const bool by_default = maker_named(name, std::strlen(name))->by_default;
    return Reason::of(Reason::Code::not_allowed, by_default ? 0 : 1);
}

void set_reasons_before_trying(Rank &rank, int peer, PeerPath &other) {
    for (int path = 0; path < SENNIT_PATH_END; ++path) {
        Reason &reason = other.reasons[path];
        if (peer == rank.world_rank) {
            reason.code = path == SENNIT_PATH_SELF ? Reason::Code::taken : Reason::Code::is_self;
        } else if (path == SENNIT_PATH_SELF) {
            reason.code = Reason::Code::not_self;
        } else if (sennit_path_built(static_cast<sennit_path>(path)) == 0) {
            reason.code = Reason::Code::not_built;
        } else if (!has_path(rank.router->allowed, static_cast<sennit_path>(path))) {
            reason = reason_not_open(*rank.router, static_cast<sennit_path>(path));
        }
    }
}

// The best path in `common`, or null. `for_private_memory`: only immediate paths that reach it.
Transport *best_of(const Router &router, PathSet common, bool for_private_memory) {
    for (int i = 0; i < router.count; ++i) {
        const transport::Traits &traits = router.transports[i]->traits();
        if (!has_path(common, traits.path)) continue;
        if (!for_private_memory || (traits.immediate && traits.private_memory))
            return router.transports[i];
    }
    return nullptr;
}

// Tries all paths, stores the reasons in `other`, and returns the paths that work from this side.
PathSet try_all(Rank &rank, int peer, PeerPath &other) {
    PathSet usable = 0;
    set_reasons_before_trying(rank, peer, other);
    for (int i = 0; i < rank.router->count && peer != rank.world_rank; ++i) {
        Transport *const transport = rank.router->transports[i];
        const sennit_path path = transport->traits().path;
        const Reason reason = transport->reach(peer);
        other.reasons[path] = reason;
        if (reason.code != Reason::Code::taken) continue;
        usable |= path_bit(path);
        transport->forget(peer);
    }
    return usable;
}

// `mine` and `theirs`: sets of the paths that work from this side and from the peer's.
void choose(const Router &router, int peer, PathSet mine, PathSet theirs, PeerPath &other) {
    const PathSet common = mine & theirs;
    Transport *chosen = best_of(router, common, false);
    for (int i = 0; i < router.count; ++i) {
        const sennit_path path = router.transports[i]->traits().path;
        if (!has_path(mine, path)) continue;
        const bool works = has_path(common, path);
        other.reasons[path].code = works ? Reason::Code::not_tried : Reason::Code::peer_refused;
    }
    if (chosen == nullptr) return;
    const Reason reason = chosen->reach(peer);
    other.reasons[chosen->traits().path] = reason;
    if (reason.code != Reason::Code::taken) return;
    other.transport = chosen;
    other.path = chosen->traits().path;
    other.copier = best_of(router, common, true);
    if (other.copier == nullptr || other.copier == chosen || chosen->traits().private_memory)
        return;
    other.reasons[other.copier->traits().path].code = Reason::Code::private_memory;
}

// Chooses the rails that carry parts of large copies to a load/store rank of this node. They never
// become its path: rails between nodes were not tried within the node, and data that they fail to
// transfer must be copied.
void choose_rails(Rank &rank, int peer, PathSet common) {
    const Router &router = *rank.router;
    Peer &other = rank.peers[peer];
    const bool has_pointers = other.transport != nullptr && other.transport->traits().load_store;
    for (int i = 0; i < router.count && rank.rail_share != 0; ++i) {
        Transport &rails = *router.transports[i];
        const sennit_path path = rails.traits().path;
        if (!rails.traits().is_message() || !has_path(common, path)) continue;
        const bool is_between_nodes = i >= router.node_count;
        if (is_between_nodes) other.reasons[path].code = Reason::Code::same_node;
        if (!has_pointers || other.rail_path != SENNIT_PATH_NONE) continue;
        if (is_between_nodes) rails.settle(peer, {NodeTrial{}.rails, 0});
        if (rails.reach(peer).code != Reason::Code::taken) continue;
        other.rail_path = static_cast<std::uint8_t>(path);
        other.reasons[path].code = Reason::Code::carries_parts;
    }
}

// Chooses the path to a rank of another node. `agreed`: the paths that the addresses of both ranks
// permit; `trials`: the results of both nodes.
void choose_network(Rank &rank, int peer, const NodeTrial *trials, PathSet agreed) {
    const Router &router = *rank.router;
    for (int i = router.node_count; i < router.count; ++i)
        if (has_path(agreed, router.transports[i]->traits().path))
            router.transports[i]->settle(peer, trials[i - router.node_count]);
    PeerPath found;
    const PathSet mine = try_all(rank, peer, found) & agreed;
    choose(router, peer, mine, mine, found);
    Peer &shared = rank.peers[peer];
    if (peer == shared.first_of_node)
        static_cast<PeerPath &>(shared) = found;
    else if (!shared.is_like(found))
        rank.peers.part(peer, found);
}

// The transport for this segment of the peer. Null: none; the thread's error has the reason.
Transport *transport_for(const Peer &peer, int world_rank, const SegmentRecord &record) {
    if (peer.transport == nullptr) {
        (void)fail_no_path(world_rank);
        return nullptr;
    }
    if (record.memory != MemoryKind::host) {
        (void)fail_peer(SENNIT_ERR_UNSUPPORTED, world_rank, "",
                        "the segment is in memory of kind %u; this rank reaches only host memory",
                        static_cast<unsigned>(record.memory));
        return nullptr;
    }
    if (record.mechanism != Mechanism::copied || peer.transport->traits().private_memory)
        return peer.transport;
    if (peer.copier != nullptr) return peer.copier;
    char text[160];
    reason_text(peer.reasons[SENNIT_PATH_CMA], SENNIT_PATH_CMA, text, sizeof text);
    (void)fail_peer(SENNIT_ERR_UNSUPPORTED, world_rank, "cma",
                    "rank %d registered private memory, and no path reaches it: cma: %s",
                    world_rank, text);
    return nullptr;
}

// Attaches by the chosen transport. If this process cannot attach memory that the owner offers by
// XPMEM, it uses Peer::copier instead, if there is one.
sennit_status attach_by(Rank &rank, int peer, const SegmentRecord &record, Transport **transport,
                        transport::RemoteMemory *remote, std::uint8_t *attach_errno) {
    const sennit_error before = *thread_error();
    const sennit_status status = (*transport)->attach(peer, record, remote);
    Transport *const copier = rank.peers[peer].copier;
    if (status != SENNIT_ERR_UNSUPPORTED || record.mechanism != Mechanism::xpmem ||
        copier == nullptr)
        return status;
    *attach_errno = static_cast<std::uint8_t>(thread_error()->os_errno);
    *thread_error() = before;
    *transport = copier;
    *remote = transport::RemoteMemory{};
    return copier->attach(peer, record, remote);
}

sennit_status attach_entry(Rank &rank, sennit_gptr gptr, const SegmentRecord &record,
                           memory::SegmentEntry *entry) {
    SENNIT_INVARIANT(entry->id() == 0);
    const Peer &peer = rank.peers[gptr.rank];
    memory::EntryFields fields{peer.path, nullptr, 0, nullptr, rank.observer != nullptr};
    if (peer.control != nullptr || gptr.rank == rank.world_rank)
        fields.live = &control_of(rank, gptr.rank)->records[record.owner_slot].live;
    if (gptr.rank == rank.world_rank) {
        fields.base = reinterpret_cast<std::byte *>(record.owner_address);
        if (record.mechanism == Mechanism::file) fields.mapped_bytes = record.mapped_bytes;
    } else {
        Transport *transport = transport_for(peer, gptr.rank, record);
        if (transport == nullptr) return thread_error()->status;
        transport::RemoteMemory remote;
        const sennit_status status =
            attach_by(rank, gptr.rank, record, &transport, &remote, &fields.attach_errno);
        if (status != SENNIT_OK) return status;
        fields.path = transport->traits().path;
        fields.base = remote.pointer;
        fields.handle = remote.handle;
        fields.mapped_bytes = remote.mapped_bytes;
    }
    memory::fill_entry(entry, record, {gptr.rank, gptr.segment, 0}, fields);
    return SENNIT_OK;
}

void detach_entry(Rank &rank, int peer, memory::SegmentEntry *entry) {
    if (entry == nullptr || entry->id() == 0) return;
    const transport::RemoteMemory remote{entry->base, entry->handle, entry->mapped_bytes};
    Transport *transport = transport_of(rank, *entry);
    memory::clear_entry(entry);
    if (peer != rank.world_rank) transport->detach(peer, remote);
}

}  // namespace

sennit_status fail_no_path(int peer) {
    return fail_peer(SENNIT_ERR_OTHER_NODE, peer, "",
                     "no path leads to rank %d (sennit info --peers tells why)", peer);
}

sennit_status router_open(Rank &rank, const char *allowed, const transport::EventSink &sink) {
    rank.router = new (std::nothrow) Router;
    if (rank.router == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the router");
    sennit_path absent = SENNIT_PATH_NONE;
    if (allowed[0] == '\0') {
        for (const Maker *maker = transport::kMakers; maker->make != nullptr; ++maker) {
            if (!maker->by_default) continue;
            const sennit_status status =
                add_named(rank, sennit_path_name(maker->path),
                          std::strlen(sennit_path_name(maker->path)), sink, &absent);
            if (status != SENNIT_OK) return status;
        }
        rank.router->node_count = rank.router->count;
        return SENNIT_OK;
    }
    for (const char *word = allowed; *word != '\0';) {
        const std::size_t length = std::strcspn(word, ",");
        const sennit_status status = add_named(rank, word, length, sink, &absent);
        if (status != SENNIT_OK) return status;
        word += length;
        if (*word == ',') ++word;
    }
    rank.router->node_count = rank.router->count;
    if (absent != SENNIT_PATH_NONE && rank.router->count == 0 && rank.router->networks == 0)
        return fail(SENNIT_ERR_ARG,
                    "SENNIT_PATHS allows no path to another rank: this build does not have %s",
                    sennit_path_name(absent));
    return SENNIT_OK;
}

sennit_status router_open_networks(Rank &rank, const transport::EventSink &sink) {
    const Router &router = *rank.router;
    for (const Maker *maker = transport::kMakers; maker->make != nullptr; ++maker) {
        if (!has_path(router.networks, maker->path)) continue;
        const sennit_status status = add(rank, *maker, router.settings[maker->path], sink);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

Slots router_node_slots() {
    return {0, kTransports};
}

Slots router_network_slots(Rank &rank) {
    return {rank.router->node_count, kNetworks};
}

void router_addresses(Rank &rank, Slots slots, Address addresses[]) {
    for (int i = 0; i < slots.count; ++i) {
        addresses[i] = Address{};
        const int index = slots.first + i;
        if (index < rank.router->count) rank.router->transports[index]->address(&addresses[i]);
    }
}

sennit_status router_connect(Rank &rank, Slots slots, const Address *all,
                             const Deadline &deadline) {
    Router &router = *rank.router;
    const std::size_t size = size_of(rank);
    for (int i = slots.first; i < router.count && i < slots.first + slots.count; ++i) {
        const bool is_of_node = i < router.node_count;
        // Pages that only ranks of other nodes would use stay untouched, and take no memory.
        auto *column = static_cast<Address *>(std::calloc(size, sizeof(Address)));
        if (column == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for addresses");
        for (std::size_t r = 0; r < size; ++r)
            if (!is_of_node || rank.peers[r].same_node)
                column[r] = all[r * static_cast<std::size_t>(slots.count) +
                                static_cast<std::size_t>(i - slots.first)];
        const sennit_status status = router.transports[i]->connect(column, deadline);
        if (is_of_node)
            router.addresses[i] = column;
        else
            std::free(column);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

void router_write_more(Rank &rank, int slot, std::byte *out) {
    Router &router = *rank.router;
    const int index = router.node_count + slot;
    if (index < router.count) router.transports[index]->write_more(out);
}

sennit_status router_read_more(Rank &rank, int slot, const std::byte *all, std::size_t bytes) {
    Router &router = *rank.router;
    const int index = router.node_count + slot;
    return index < router.count ? router.transports[index]->read_more(all, bytes) : SENNIT_OK;
}

bool router_allows(Rank &rank, sennit_path path) {
    return has_path(rank.router->allowed, path);
}

void router_try(Rank &rank, PathSet *usable) {
    for (int peer = 0; peer < world_size(rank); ++peer) {
        PeerPath found;
        usable[peer] = try_all(rank, peer, found);
        if (rank.peers[peer].same_node) static_cast<PeerPath &>(rank.peers[peer]) = found;
    }
}

void router_try_nodes(Rank &rank, const Nodes &nodes, NodeTrial *out) {
    const Router &router = *rank.router;
    const auto count = static_cast<std::size_t>(nodes.count);
    const auto own = static_cast<std::size_t>(nodes.of[rank.world_rank]);
    for (int i = router.node_count; i < router.count; ++i) {
        NodeTrial *const column = out + (i - router.node_count);
        NodeTrial some;  // the rails that reach at least one of the tried nodes
        for (std::size_t node = 0; node < count; ++node) {
            NodeTrial &trial = column[node * kNetworks];
            trial = NodeTrial{};
            if (node == own || !watch::are_neighbours(own, node, count)) continue;
            trial = router.transports[i]->try_node(nodes.first[node]);
            if (!trial.is_tried()) continue;
            const std::uint8_t before = some.is_tried() ? some.rails : 0;
            some.rails = static_cast<std::uint8_t>(before | trial.rails);
            some.dataless = static_cast<std::uint8_t>(some.dataless | trial.dataless);
            if (!some.is_tried() || some.error == 0) some.error = trial.error;
        }
        for (std::size_t node = 0; node < count; ++node)
            if (!column[node * kNetworks].is_tried()) column[node * kNetworks] = some;
    }
}

void router_agree(Rank &rank, const PathSet *mine, const PathSet *theirs, const Nodes &nodes,
                  const NodeTrial *trials) {
    rank.peers[rank.world_rank].path = SENNIT_PATH_SELF;
    const auto of_node = static_cast<PathSet>(~rank.router->networks);
    for (int peer = 0; peer < world_size(rank); ++peer)
        if (peer != rank.world_rank && rank.peers[peer].same_node)
            choose(*rank.router, peer, mine[peer], theirs[peer] & of_node, rank.peers[peer]);
    // After the paths within the node, because settle() of a network uses memory of the node.
    for (int peer = 0; peer < world_size(rank); ++peer)
        if (peer != rank.world_rank && rank.peers[peer].same_node)
            choose_rails(rank, peer, mine[peer] & theirs[peer]);
    for (int peer = 0; peer < world_size(rank); ++peer)
        if (!rank.peers[peer].same_node)
            choose_network(rank, peer, trials + nodes.of[peer] * kNetworks,
                           mine[peer] & theirs[peer]);
}

bool router_needs_engine(Rank &rank) {
    const auto size = static_cast<int>(size_of(rank));
    for (int peer = 0; peer < size; ++peer)
        if (message_transport_of(rank, peer) != nullptr) return true;
    return false;
}

Transport *message_transport_of(const Rank &rank, int peer) {
    const Peer &other = rank.peers[peer];
    if (other.rail_path != SENNIT_PATH_NONE) return rank.router->by_path[other.rail_path];
    const bool is_message = other.transport != nullptr && other.transport->traits().is_message();
    return is_message ? other.transport.get() : nullptr;
}

bool attach_by_rail(Rank &rank, int peer, const memory::SegmentEntry &entry,
                    transport::RemoteMemory *remote) {
    const Peer &other = rank.peers[peer];
    if (other.rail_path == SENNIT_PATH_NONE || other.control == nullptr) return false;
    const auto *record = reinterpret_cast<const SegmentRecord *>(
        reinterpret_cast<const std::byte *>(entry.live) - offsetof(SegmentRecord, live));
    SegmentRecord copy;
    load_words(&copy, record, sizeof copy);
    // The record may describe a later segment by now: take the value of the attached one. relaxed
    // twice: the caller has checked that it lives.
    copy.live.store(entry.live_value.load(std::memory_order_relaxed), std::memory_order_relaxed);
    const ColdLock lock(rank);
    return message_transport_of(rank, peer)->attach(peer, copy, remote) == SENNIT_OK;
}

void detach_by_rail(Rank &rank, int peer, const transport::RemoteMemory &remote) {
    const ColdLock lock(rank);
    message_transport_of(rank, peer)->detach(peer, remote);
}

sennit_status attach(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id) {
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = memory::entry_to_fill(rank, id, peer, &entry);
    return status == SENNIT_OK ? attach_entry(rank, {peer, id, 0}, record, entry) : status;
}

sennit_status attach_once(Rank &rank, sennit_gptr gptr, const SegmentRecord &record,
                          memory::SegmentEntry **entry) {
    const ColdLock lock(rank);
    *entry = memory::find(rank, size_of(rank), gptr);
    // relaxed twice: under the cold mutex, and a private copy. Compare the values, because an owner
    // whose control block is not mapped may have reused the id.
    if (*entry != nullptr && (*entry)->live_value.load(std::memory_order_relaxed) ==
                                 record.live.load(std::memory_order_relaxed))
        return SENNIT_OK;
    const sennit_status status = memory::entry_to_fill(rank, gptr.segment, gptr.rank, entry);
    if (status != SENNIT_OK) return status;
    // The place may still hold the earlier segment of this index.
    detach_entry(rank, gptr.rank, *entry);
    return attach_entry(rank, gptr, record, *entry);
}

void detach(Rank &rank, int peer, std::uint32_t id) {
    detach_entry(rank, peer, memory::entry_at(rank, size_of(rank), id, peer));
}

bool router_describe_rail(Rank &rank, int peer, unsigned index, sennit_rail *rail) {
    const Router &router = *rank.router;
    for (int i = router.node_count; i < router.count; ++i)
        for (unsigned number = 0; router.transports[i]->describe_rail(peer, number, rail); ++number)
            if (index-- == 0) return true;
    return false;
}

Transport *transport_of(Rank &rank, const memory::SegmentEntry &entry) {
    return rank.router->by_path[entry.path];
}

Transport *immediate_of(Rank &rank, const memory::SegmentEntry &entry) {
    return rank.router->immediate[entry.path];
}

bool read_record(Rank &rank, int peer, std::uint32_t id, SegmentRecord *copy) {
    const SegmentRecord &record = control_of(rank, peer)->records[memory::index_of(id)];
    // SYNC segment-live: pairs with the release in segment_create(); the record comes before.
    if (record.id.load(std::memory_order_acquire) != id) return false;
    load_words(copy, &record, sizeof *copy);
    // SYNC segment-end: pairs with the release fence in segment_end(); the copy comes before the
    // check. A segment that was freed during the copy leaves a torn copy.
    std::atomic_thread_fence(std::memory_order_acquire);
    // relaxed twice: the fence above orders the first; the second is of the copy. A record that is
    // ending still has the id but a live word of 0; a live one never has 0.
    return record.id.load(std::memory_order_relaxed) == id &&
           copy->live.load(std::memory_order_relaxed) != 0;
}

void router_stop_threads(Rank &rank) {
    if (rank.router == nullptr) return;
    for (int i = 0; i < rank.router->count; ++i)
        rank.router->transports[i]->stop_thread();
}

void router_close(Rank &rank, const Deadline &deadline) {
    if (rank.router == nullptr) return;
    Router &router = *rank.router;
    for (int i = router.count - 1; i >= 0; --i) {
        router.transports[i]->close(deadline);
        delete router.transports[i];
        std::free(router.addresses[i]);
    }
    delete rank.router.get();
    rank.router = nullptr;
}

}  // namespace sennit::path
