// SPDX-License-Identifier: BSD-3-Clause
#include "channel/pool.hpp"

#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "rank/process.hpp"
#include "runtime/detector.hpp"

namespace sennit::channel {

enum class Use : std::uint8_t { free = 0, taken, resting };

struct OwnChunk {
    Chunk *chunk;
    std::uint64_t offset;  // in the memory file
    Use uses[kHalvesPerChunk];
    std::int32_t peers[kHalvesPerChunk];  // the writer of the half
};

struct PeerChunk {
    std::int32_t peer;
    bool by_address;
    std::uint64_t offset;  // in the peer's memory file
    Chunk *chunk;
};

namespace {

// Grows an array of plain structs by one.
template <class T>
T *add_one(T **items, std::uint32_t *count) {
    void *more = std::realloc(*items, sizeof(T) * (std::size_t{*count} + 1));
    if (more == nullptr) return nullptr;
    *items = static_cast<T *>(more);
    T *added = *items + *count;
    std::memset(added, 0, sizeof *added);
    ++*count;
    return added;
}

void use_chunk(void *chunk) {
    // relaxed: while other ranks can find the owner's control block, the owner counts as a user, so
    // the count is not 0.
    static_cast<Chunk *>(chunk)->users.fetch_add(1, std::memory_order_relaxed);
}

void release_chunk(Chunk *chunk) {
    // SYNC channel-users: pairs with the acquire below in the last user; all its uses come before.
    if (chunk->users.fetch_sub(1, std::memory_order_release) != 1) return;
    // SYNC channel-users: pairs with the releases of the other users; their uses come before the
    // unmap.
    (void)chunk->users.load(std::memory_order_acquire);
    memory::file_unmap(reinterpret_cast<std::byte *>(chunk), sizeof(Chunk));
}

bool is_reusable(Rank &rank, const OwnChunk &own, std::uint32_t place, bool thorough) {
    const int peer = own.peers[place];
    // SYNC channel-closed: pairs with the release in close_own_end(), of the peer; it was the
    // peer's last write.
    const std::uint64_t word =
        own.chunk->halves[place].written.word.load(std::memory_order_acquire);
    if ((word & kClosedBit) != 0) return true;
    if (thorough) return peer_gone(rank, peer) != Gone::no;
    return known_gone(rank, peer) != Gone::no;
}

// Finds a half that is free, or that no peer writes any more. `thorough`: also checks whether peers
// are alive. Returns false if there is none.
bool find_half(Rank &rank, Pool &pool, bool thorough, std::uint32_t *half) {
    for (std::uint32_t i = 0; i < pool.chunk_count; ++i) {
        OwnChunk &own = pool.chunks[i];
        for (std::uint32_t place = 0; place < kHalvesPerChunk; ++place) {
            if (own.uses[place] == Use::resting && is_reusable(rank, own, place, thorough))
                own.uses[place] = Use::free;
            if (own.uses[place] != Use::free) continue;
            *half = i * kHalvesPerChunk + place;
            return true;
        }
    }
    return false;
}

sennit_status add_chunk(Rank &rank, Pool &pool) {
    std::uint64_t offset = 0;
    std::byte *address = nullptr;
    const sennit_status status = memory::range_create(rank, sizeof(Chunk), &offset, &address);
    if (status != SENNIT_OK) return status;
    OwnChunk *own = add_one(&pool.chunks, &pool.chunk_count);
    if (own == nullptr) {
        memory::file_unmap(address, sizeof(Chunk));
        return fail(SENNIT_ERR_NOMEM, "no memory for the table of channels");
    }
    own->chunk = reinterpret_cast<Chunk *>(address);
    own->offset = offset;
    use_chunk(own->chunk);
    return SENNIT_OK;
}

void close_view(const PeerChunk &view) {
    if (view.by_address) {
        release_chunk(view.chunk);
    } else {
        memory::file_unmap(reinterpret_cast<std::byte *>(view.chunk), sizeof(Chunk));
    }
}

sennit_status view_chunk(Rank &rank, int peer, const ChannelOffer &offer, PeerChunk *view) {
    Peer &the_peer = rank.peers[peer];
    if (the_peer.memory_file >= 0) {
        std::byte *address = nullptr;
        const sennit_status status =
            memory::file_map(the_peer.memory_file, offer.chunk_offset, sizeof(Chunk),
                             memory::page_bytes(), &address);
        view->chunk = reinterpret_cast<Chunk *>(address);
        return status;
    }
    // process_use_control() fails if the peer has given up after its offer and has started to end.
    auto *chunk = reinterpret_cast<Chunk *>(offer.chunk_address);
    if (!the_peer.same_process || !process_use_control(the_peer.control, use_chunk, chunk))
        return fail_peer(SENNIT_ERR_UNSUPPORTED, peer, sennit_path_name(the_peer.path),
                         "the memory file of rank %d was not received", peer);
    view->chunk = chunk;
    view->by_address = true;
    return SENNIT_OK;
}

OwnChunk &chunk_of(const Pool &pool, std::uint32_t half) {
    return pool.chunks[half / kHalvesPerChunk];
}

}  // namespace

void pool_close(Pool &pool) {
    for (std::uint32_t i = 0; i < pool.view_count; ++i)
        close_view(pool.views[i]);
    for (std::uint32_t i = 0; i < pool.chunk_count; ++i)
        release_chunk(pool.chunks[i].chunk);
    std::free(pool.views);
    std::free(pool.chunks);
}

sennit_status half_take(Rank &rank, Pool &pool, int peer, std::uint32_t *half) {
    if (!find_half(rank, pool, false, half) && !find_half(rank, pool, true, half)) {
        const sennit_status status = add_chunk(rank, pool);
        if (status != SENNIT_OK) return status;
        *half = (pool.chunk_count - 1) * kHalvesPerChunk;
    }
    OwnChunk &own = chunk_of(pool, *half);
    own.uses[*half % kHalvesPerChunk] = Use::taken;
    own.peers[*half % kHalvesPerChunk] = peer;
    Half *own_half = half_at(pool, *half);
    // All relaxed: nobody writes the half now, and the offer announces it to the peer later.
    own_half->written.word.store(0, std::memory_order_relaxed);
    own_half->written.is_closing.store(0, std::memory_order_relaxed);
    own_half->read.count.store(0, std::memory_order_relaxed);
    return SENNIT_OK;
}

Half *half_at(Pool &pool, std::uint32_t half) {
    return &chunk_of(pool, half).chunk->halves[half % kHalvesPerChunk];
}

void half_give_back(Pool &pool, std::uint32_t half) {
    chunk_of(pool, half).uses[half % kHalvesPerChunk] = Use::free;
}

void half_retire(Pool &pool, std::uint32_t half) {
    chunk_of(pool, half).uses[half % kHalvesPerChunk] = Use::resting;
}

void half_describe(const Pool &pool, std::uint32_t half, ChannelOffer *offer) {
    const OwnChunk &own = chunk_of(pool, half);
    offer->half = half % kHalvesPerChunk;
    offer->chunk_offset = own.offset;
    offer->chunk_address = reinterpret_cast<std::uintptr_t>(own.chunk);
}

sennit_status half_of_peer(Rank &rank, Pool &pool, int peer, const ChannelOffer &offer,
                           Half **half) {
    const PeerChunk *found = nullptr;
    for (std::uint32_t i = 0; i < pool.view_count && found == nullptr; ++i)
        if (pool.views[i].peer == peer && pool.views[i].offset == offer.chunk_offset)
            found = &pool.views[i];
    if (found == nullptr) {
        PeerChunk made{peer, false, offer.chunk_offset, nullptr};
        const sennit_status status = view_chunk(rank, peer, offer, &made);
        if (status != SENNIT_OK) return status;
        PeerChunk *added = add_one(&pool.views, &pool.view_count);
        if (added == nullptr) {
            close_view(made);
            return fail(SENNIT_ERR_NOMEM, "no memory for the table of channels");
        }
        *added = made;
        found = added;
    }
    *half = &found->chunk->halves[offer.half];
    return SENNIT_OK;
}

}  // namespace sennit::channel
