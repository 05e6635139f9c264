// What one end of a channel has: a place in the rank's table, a half, and the way to the peer's
// buffer. See channels.hpp.
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"

namespace sennit::channel {
namespace {

constexpr std::size_t kTableBytes = sizeof(Channel) * kChannelsPerRank;
// So many places are in use before one comes again, and with it its handles.
constexpr std::uint32_t kFewestPlaces = 64;
constexpr std::uint32_t kGenerations = (1u << kGenerationBits) - 1;
constexpr std::size_t kMirrorAlignment = 64;

void free_channels(Channels *it) {
    if (it->table != nullptr) (void)munmap(it->table, kTableBytes);
    pool_close(it->pool);
    std::free(it->pairs);
    delete it;
}

sennit_status make_channels(const Rank &rank, Channels *it) {
    void *table = mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        return fail_os(SENNIT_ERR_NOMEM, errno, "no address space for the table of channels");
    it->table = static_cast<Channel *>(table);
    // relaxed: nobody knows of the table yet.
    it->table[0].handle.store(kNoHandle, std::memory_order_relaxed);
    // relaxed: as above.
    it->table[0].short_handle.store(kNoHandle, std::memory_order_relaxed);
    // relaxed: as above.
    it->table[0].ahead_handle.store(kNoHandle, std::memory_order_relaxed);
    it->pool = pool_open();
    it->pairs = static_cast<std::atomic<std::uint8_t> *>(
        std::calloc(size_of(rank), sizeof(std::atomic<std::uint8_t>)));
    return it->pool != nullptr && it->pairs != nullptr
               ? SENNIT_OK
               : fail(SENNIT_ERR_NOMEM, "no memory for the table of channels");
}

// The rank's channels, made when the first is opened. Needs the cold mutex.
sennit_status channels_of(Rank &rank) {
    if (rank.channels != nullptr) return SENNIT_OK;
    auto *made = new (std::nothrow) Channels;
    if (made == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the table of channels");
    const sennit_status status = make_channels(rank, made);
    if (status != SENNIT_OK) {
        free_channels(made);
        return status;
    }
    rank.channels = made;
    (void)sleep_with_barrier(rank);
    // SYNC channel-table: pairs with the acquires in find() and place_of_handle(); the places come
    // before.
    rank.channel_table.store(made->table, std::memory_order_release);
    process_show_tables();
    return SENNIT_OK;
}

// The link of the list of free places; a place that is free has no half.
std::uint32_t &next_of(Channels &all, std::uint32_t place) {
    return all.table[place].half;
}

// 0: all are in use.
std::uint32_t find_place(Channels &all) {
    const bool may_grow = all.end < kChannelsPerRank;
    if (may_grow && (all.end <= kFewestPlaces || all.free_count == 0)) return all.end++;
    const std::uint32_t place = all.first_free;
    if (place == 0) return 0;
    all.first_free = next_of(all, place);
    if (all.first_free == 0) all.last_free = 0;
    --all.free_count;
    return place;
}

void free_place(Channels &all, std::uint32_t place) {
    next_of(all, place) = 0;
    if (all.last_free != 0) {
        next_of(all, all.last_free) = place;
    } else {
        all.first_free = place;
    }
    all.last_free = place;
    ++all.free_count;
}

std::uint32_t place_number(const Channels &all, const Channel &it) {
    return static_cast<std::uint32_t>(&it - all.table);
}

// Everything of an earlier channel of the place, but the generation of its handle.
void clear(Channel &it) {
    const std::uint32_t generation = it.generation;
    std::memset(static_cast<void *>(&it), 0, sizeof it);
    it.generation = generation;
}

}  // namespace

void channels_close(Rank &rank) {
    if (rank.channels == nullptr) return;
    for (std::uint32_t i = 1; i < rank.channels->end; ++i)
        std::free(rank.channels->table[i].mirror);
    // relaxed: the rank is ended by one thread.
    rank.channel_table.store(nullptr, std::memory_order_relaxed);
    process_show_tables();
    free_channels(rank.channels);
    rank.channels = nullptr;
}

sennit_status check_peer(const Rank &rank, int peer) {
    if (peer == rank.world_rank || rank.peers[peer].control != nullptr) return SENNIT_OK;
    return fail_peer(SENNIT_ERR_OTHER_NODE, peer, sennit_path_name(rank.peers[peer].path),
                     "a channel needs a peer on the same node, and rank %d is not", peer);
}

sennit_status take_place(Rank &rank, int peer, Channel **channel) {
    const ColdLock lock(rank);
    sennit_status status = channels_of(rank);
    if (status != SENNIT_OK) return status;
    Channels &all = *rank.channels;
    const std::uint32_t place = find_place(all);
    if (place == 0)
        return fail(SENNIT_ERR_NOMEM, "the rank has %u channels, which is the most",
                    kChannelsPerRank - 1);
    std::uint32_t half = 0;
    status = half_take(rank, *all.pool, peer, &half);
    if (status != SENNIT_OK) {
        free_place(all, place);
        return status;
    }
    Channel &it = all.table[place];
    clear(it);
    it.peer = peer;
    it.half = half;
    it.own = half_at(*all.pool, half);
    it.peer_control = control_of(rank, peer);
    it.spins = rank.spins;
    *channel = &it;
    return SENNIT_OK;
}

void publish(Rank &rank, Channel &it) {
    it.generation = it.generation % kGenerations + 1;
    const std::uint32_t handle = make_handle(place_number(*rank.channels, it), it.generation);
    const bool is_short = it.mirror == nullptr && rank.observer == nullptr;
    // SYNC channel-handle: pairs with the acquires in find(), goes_short() and goes_ahead(); the
    // fields come before.
    it.handle.store(handle, std::memory_order_release);
    it.short_handle.store(is_short && it.ahead == 1 ? handle : 0, std::memory_order_release);
    it.ahead_handle.store(is_short && it.ahead > 1 ? handle : 0, std::memory_order_release);
}

sennit_status reach_memory(Rank &rank, Channel &it) {
    if (it.peer_bytes == 0) return SENNIT_OK;
    memory::Entry *entry = nullptr;
    sennit_status status = op::resolve(rank, it.peer_memory, &entry);
    if (status == SENNIT_OK) status = op::check_range(*entry, it.peer_memory, it.peer_bytes);
    if (status != SENNIT_OK) return status;
    if (entry->base != nullptr) {
        it.peer_buffer = entry->base + it.peer_memory.offset;
        return SENNIT_OK;
    }
    const char *path = sennit_path_name(static_cast<sennit_path>(entry->path));
    if ((it.flags & SENNIT_CHANNEL_MIRROR) == 0)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, it.peer, path,
                         "the path %s to the buffer of rank %d has no load and store: allocate it "
                         "by sennit_alloc, or allow a copy by SENNIT_CHANNEL_MIRROR",
                         path, it.peer);
    const std::uint64_t bytes = memory::round_up(it.peer_bytes, kMirrorAlignment);
    it.mirror = static_cast<std::byte *>(std::aligned_alloc(kMirrorAlignment, bytes));
    if (it.mirror == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for a mirror of %llu bytes",
                    static_cast<unsigned long long>(it.peer_bytes));
    std::memset(it.mirror, 0, bytes);
    it.peer_buffer = it.mirror;
    return SENNIT_OK;
}

void forget_memory(Rank &rank, Channel &it) {
    std::free(it.mirror);
    it.mirror = nullptr;
    it.peer_buffer = nullptr;
    if (!it.detaches) return;
    it.detaches = false;
    const ColdLock lock(rank);
    const std::uint32_t id = it.peer_memory.segment;
    const memory::Entry *entry = memory::entry_at(rank, size_of(rank), id, it.peer_memory.rank);
    if (entry != nullptr && entry->id() == id) op::detach_segment(rank, it.peer_memory.rank, id);
}

void close_own_end(Channel &it) {
    // relaxed twice: of this rank, and the program has ordered its threads' calls before.
    const std::uint64_t word =
        pack(it.written.load(std::memory_order_relaxed), it.read.load(std::memory_order_relaxed));
    // SYNC channel-closed: pairs with the acquires in is_closed_by_peer() and is_rested(), at the
    // peer; all that this rank wrote comes before.
    it.theirs->written.word.store(word | kClosedBit, std::memory_order_release);
    ring_doorbell(*it.peer_control);
}

void release_place(Rank &rank, Channel &it, bool was_met) {
    forget_memory(rank, it);
    const ColdLock lock(rank);
    Channels &all = *rank.channels;
    // relaxed: a call that finds the handle still is made at the same time as the close,
    // which is wrong.
    it.short_handle.store(0, std::memory_order_relaxed);
    // relaxed: as above.
    it.ahead_handle.store(0, std::memory_order_relaxed);
    // relaxed: as above.
    it.handle.store(0, std::memory_order_relaxed);
    if (was_met) {
        half_retire(*all.pool, it.half);
    } else {
        half_give_back(*all.pool, it.half);
    }
    free_place(all, place_number(all, it));
}

}  // namespace sennit::channel
