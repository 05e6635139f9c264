// SPDX-License-Identifier: BSD-3-Clause
// Owns the tables: a rank's own signals in chunks of its memory file, and the views of its peers'
// signals.
#include "signal/signals.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail_rank.hpp"
#include "base/invariant.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"
#include "signal/blocks.hpp"
#include "signal/carried.hpp"
#include "signal/sets.hpp"

namespace sennit::signal {
namespace {

sennit_status no_memory() {
    return fail(SENNIT_ERR_NOMEM, "no memory for the table of signals");
}

sennit_status not_registered(sennit_signal signal) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, signal.rank, "",
                     "rank %d has no signal %#x: never created, or destroyed", signal.rank,
                     signal.handle);
}

void free_signals(Signals *all, std::uint32_t size) {
    for (std::uint32_t peer = 0; all->views != nullptr && peer < size; ++peer) {
        // relaxed: one thread ends the rank.
        ChunkView *views = all->views[peer].load(std::memory_order_relaxed);
        for (std::uint32_t chunk = 0; views != nullptr && chunk < kSignalChunks; ++chunk)
            if (views[chunk].mapped_bytes != 0)
                memory::file_unmap(views[chunk].base, views[chunk].mapped_bytes);
        delete[] views;
    }
    std::free(all->views);
    all->table.close();
    if (all->sets != nullptr) sets_close(all->sets);
    delete all;
}

// Makes the records of a chunk. Needs the cold mutex.
sennit_status add_chunk(Rank &rank, Signals &all, std::uint32_t number) {
    memory::SegmentArgs args;
    args.kind = SegmentKind::signals;
    args.bytes = chunk_bytes(number);
    args.alignment = kLineBytes;
    SegmentRecord *segment = nullptr;
    const sennit_status status = memory::segment_create(rank, args, &segment);
    if (status != SENNIT_OK) return status;
    auto *base = reinterpret_cast<std::byte *>(segment->owner_address);
    auto &head = *reinterpret_cast<SignalChunkHead *>(base);
    head.magic = kChunkMagic;
    head.chunk = number;
    head.signals = signals_in(number);
    // SYNC signal-chunk: pairs with the acquire in collect(), of other threads of this rank.
    all.chunks[number].store(base, std::memory_order_release);
    if (number == 0) expect_events(rank);
    // relaxed: this thread stored it.
    const std::uint32_t id = segment->id.load(std::memory_order_relaxed);
    // SYNC signal-view: pairs with the acquire in segment_of_chunk(), at a peer; the head and the
    // segment's record come before.
    rank.control->header.signal_chunks[number].store(id, std::memory_order_release);
    return SENNIT_OK;
}

// Takes a free entry with its record. Needs the cold mutex.
sennit_status take_entry(Rank &rank, Signals &all, Own **entry) {
    Own *own = all.table.take();
    if (own == nullptr) return fail_no_place(all.table.is_full(), SignalTable::kMost, "signals");
    const std::uint32_t index = all.table.place_of(*own);
    const std::uint32_t chunk = chunk_of(index);
    // All relaxed: under the lock.
    if (all.chunks[chunk].load(std::memory_order_relaxed) == nullptr) {
        const sennit_status status = add_chunk(rank, all, chunk);
        if (status != SENNIT_OK) {
            all.table.give_back(*own);
            return status;
        }
    }
    std::byte *base = all.chunks[chunk].load(std::memory_order_relaxed);
    own->record = reinterpret_cast<SignalRecord *>(base + records_offset(chunk)) +
                  (index - first_index(chunk));
    *entry = own;
    return SENNIT_OK;
}

// The segment of a peer's chunk, 0 if it has none.
sennit_status segment_of_chunk(Rank &rank, int peer, std::uint32_t chunk, std::uint32_t *segment) {
    if (const ControlBlock *control = control_of(rank, peer)) {
        // SYNC signal-view: pairs with the release in add_chunk(), of the peer.
        *segment = control->header.signal_chunks[chunk].load(std::memory_order_acquire);
        return SENNIT_OK;
    }
    const std::size_t offset = offsetof(ControlHeader, signal_chunks) + sizeof *segment * chunk;
    return op::get_control(rank, peer, offset, segment, sizeof *segment);
}

// For a peer whose path only copies: maps this chunk of the peer's signals, so that events are
// counted by load and store.
sennit_status map_view(Rank &rank, int peer, sennit_gptr gptr, ChunkView *view) {
    const Peer &the_peer = rank.peers[peer];
    if (the_peer.control == nullptr || the_peer.memory_file < 0)
        return fail_peer(
            SENNIT_ERR_UNSUPPORTED, peer, sennit_path_name(the_peer.path),
            "the signals of rank %d are out of reach: its memory file was not received", peer);
    SegmentRecord record{};
    sennit_status status = op::read_segment(rank, gptr, &record);
    if (status != SENNIT_OK) return status;
    status = memory::file_map(the_peer.memory_file, record.file_offset, record.mapped_bytes,
                              memory::page_bytes(), &view->base);
    if (status == SENNIT_OK) view->mapped_bytes = record.mapped_bytes;
    return status;
}

// Needs the cold mutex.
sennit_status fill_view(Rank &rank, int peer, sennit_gptr gptr, const memory::SegmentEntry &entry,
                        ChunkView *view) {
    if (rank.peers[peer].control != nullptr) {
        view->live = entry.live;
        // relaxed: the entry was just found.
        view->live_value = entry.live_value.load(std::memory_order_relaxed);
    }
    view->base = entry.base;
    sennit_status status = SENNIT_OK;
    if (entry.base == nullptr && entry.path == SENNIT_PATH_CMA)
        status = map_view(rank, peer, gptr, view);
    if (status == SENNIT_OK) {
        // SYNC signal-view: pairs with the acquire in view_of(); the fields come before.
        view->segment.store(gptr.segment, std::memory_order_release);
    }
    return status;
}

sennit_status open_view(Rank &rank, Signals &all, int peer, std::uint32_t chunk) {
    std::uint32_t segment = 0;
    sennit_status status = segment_of_chunk(rank, peer, chunk, &segment);
    if (status != SENNIT_OK) return status;
    if (segment == 0)
        return fail_peer(SENNIT_ERR_NOT_REGISTERED, peer, "", "rank %d never had that signal",
                         peer);
    const sennit_gptr gptr{peer, segment, 0};
    memory::SegmentEntry *entry = nullptr;
    status = op::resolve(rank, gptr, &entry);
    if (status != SENNIT_OK) return status;
    const ColdLock lock(rank);
    // All relaxed: all changes are made under the lock.
    ChunkView *views = all.views[peer].load(std::memory_order_relaxed);
    if (views == nullptr) {
        views = new (std::nothrow) ChunkView[kSignalChunks];
        if (views == nullptr) return no_memory();
        // SYNC signal-view: pairs with the acquire in view_of(); the empty views come before.
        all.views[peer].store(views, std::memory_order_release);
    }
    if (views[chunk].segment.load(std::memory_order_relaxed) != 0) return SENNIT_OK;
    return fill_view(rank, peer, gptr, *entry, &views[chunk]);
}

}  // namespace

sennit_status make_signals(Rank &rank, Signals **out) {
    *out = signals_of(rank);
    if (*out != nullptr) return SENNIT_OK;
    const ColdLock lock(rank);
    *out = signals_of(rank);
    if (*out != nullptr) return SENNIT_OK;
    auto *made = new (std::nothrow) Signals;
    if (made == nullptr) return no_memory();
    made->resets_by_exchange = rank.thread_level == SENNIT_THREAD_MULTIPLE;
    made->views = static_cast<std::atomic<ChunkView *> *>(
        std::calloc(size_of(rank), sizeof(std::atomic<ChunkView *>)));
    made->sets = sets_open();
    if (made->views == nullptr || made->sets == nullptr) {
        free_signals(made, size_of(rank));
        return no_memory();
    }
    *out = made;
    // SYNC signal-table: pairs with the acquire in signals_of(); the empty tables come before.
    rank.signals.store(made, std::memory_order_release);
    return SENNIT_OK;
}

void signals_close(Rank &rank) {
    // All relaxed: one thread ends the rank.
    Signals *all = rank.signals.load(std::memory_order_relaxed);
    if (all == nullptr) return;
    rank.signals.store(nullptr, std::memory_order_relaxed);
    rank.signal_table.hide();
    rank.block_table.hide();
    blocks_close(all->blocks);
    free_signals(all, size_of(rank));
}

sennit_status signal_create(Rank &rank, std::uint32_t events, std::uint32_t max_events,
                            unsigned flags, sennit_signal *signal) {
    const bool is_to_be_strict = (flags & SENNIT_SIGNAL_STRICT) != 0;
    Signals *all = nullptr;
    sennit_status status = make_signals(rank, &all);
    if (status != SENNIT_OK) return status;
    const ColdLock lock(rank);
    Own *entry = nullptr;
    status = take_entry(rank, *all, &entry);
    if (status != SENNIT_OK) return status;
    Own &own = *entry;
    own.listed = Listed::none;
    own.set = 0;
    own.next = own.previous = 0;
    // All relaxed: nobody may read them before the handle is published.
    own.epoch.store(0, std::memory_order_relaxed);
    own.state.store((all->resets_by_exchange ? kExchanges : 0) | (is_to_be_strict ? kStrict : 0),
                    std::memory_order_relaxed);
    own.reported_early.store(0, std::memory_order_relaxed);
    own.events = events;
    own.event_bits = static_cast<std::uint8_t>(event_bits_of(max_events));
    SENNIT_INVARIANT((std::uint64_t{events} >> own.event_bits) == 0);
    SignalRecord &record = *own.record;
    record.slot[0].store(0, std::memory_order_relaxed);
    record.slot[1].store(0, std::memory_order_relaxed);
    record.refused.store(0, std::memory_order_relaxed);
    record.epoch.store(0, std::memory_order_relaxed);
    record.in_set.store(0, std::memory_order_relaxed);
    record.events = events;
    record.max_events = max_events;
    record.owner = rank.world_rank;
    record.event_bits = own.event_bits;
    record.most_ahead = is_to_be_strict ? 0 : 1;
    const std::uint32_t handle =
        all->table.next_handle(own) | ((flags & SENNIT_SIGNAL_UNCHECKED) != 0 ? kUncheckedBit : 0);
    *signal = sennit_signal{rank.world_rank, handle};
    // SYNC signal-handle: pairs with the acquire in read_by_pointer(), of senders; the fields come
    // before.
    record.handle.store(handle, std::memory_order_release);
    all->table.publish(own, name_of(*signal));
    if (all->table.in_use() == 1 && rank.observer == nullptr) all->table.show(rank.signal_table);
    return SENNIT_OK;
}

void signal_destroy(Rank &rank, Own &own) {
    Signals &all = *signals_of(rank);
    leave_set(all, own);
    const ColdLock lock(rank);
    // relaxed: a later use is the program's error, and for a short time may find the old handle.
    own.record->handle.store(0, std::memory_order_relaxed);
    all.table.give_back(own);
}

sennit_status view_of(Rank &rank, int peer, std::uint32_t chunk, const ChunkView **view) {
    Signals *all = nullptr;
    const sennit_status made = make_signals(rank, &all);
    if (made != SENNIT_OK) return made;
    for (;;) {
        // SYNC signal-view: pairs with the release in open_view().
        ChunkView *views = all->views[peer].load(std::memory_order_acquire);
        // SYNC signal-view: pairs with the release in fill_view(); the fields come before.
        if (views != nullptr && views[chunk].segment.load(std::memory_order_acquire) != 0) {
            *view = &views[chunk];
            return SENNIT_OK;
        }
        const sennit_status status = open_view(rank, *all, peer, chunk);
        if (status != SENNIT_OK) return status;
    }
}

RemoteSignal reach_own(Rank &rank, const Own &own) {
    RemoteSignal found;
    found.signal = {rank.world_rank, handle_of(own)};
    found.record = own.record;
    const std::uint32_t chunk = chunk_of(index_of(found.signal.handle));
    // relaxed: the chunk was stored before the handle was published.
    found.chunk = signals_of(rank)->chunks[chunk].load(std::memory_order_relaxed);
    found.control = rank.control;
    return found;
}

sennit_status reach(Rank &rank, sennit_signal signal, RemoteSignal *remote) {
    if (signal.rank == SENNIT_SIGNAL_NULL.rank && signal.handle == 0)
        return fail(SENNIT_ERR_ARG, "the signal is null (SENNIT_SIGNAL_NULL)");
    if (signal.rank < 0 || static_cast<std::uint32_t>(signal.rank) >= size_of(rank))
        return fail_no_rank(signal.rank, size_of(rank));
    const std::uint32_t index = index_of(signal.handle);
    const std::uint32_t chunk = chunk_of(index);
    if (signal.handle == 0 || chunk >= kSignalChunks) return not_registered(signal);
    const std::size_t offset =
        records_offset(chunk) + sizeof(SignalRecord) * (index - first_index(chunk));
    RemoteSignal found;
    found.signal = signal;
    if (signal.rank == rank.world_rank) {
        const Own *own = find_own(rank, signal);
        if (own == nullptr) return not_registered(signal);
        *remote = reach_own(rank, *own);
        return SENNIT_OK;
    }
    const ChunkView *view = nullptr;
    const sennit_status status = view_of(rank, signal.rank, chunk, &view);
    if (status != SENNIT_OK) return status;
    found.live = view->live;
    found.live_value = view->live_value;
    // relaxed: view_of() has done the acquire.
    found.gptr = sennit_gptr{signal.rank, view->segment.load(std::memory_order_relaxed), offset};
    if (view->base != nullptr) {
        found.chunk = view->base;
        found.record = reinterpret_cast<SignalRecord *>(view->base + offset);
        found.control = rank.peers[signal.rank].control;
        if (!found.is_alive()) return not_registered(signal);
        // relaxed: creating or destroying the signal meanwhile is the program's responsibility.
        if (found.record->handle.load(std::memory_order_relaxed) != signal.handle)
            return not_registered(signal);
    }
    *remote = found;
    return SENNIT_OK;
}

}  // namespace sennit::signal
