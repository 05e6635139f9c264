// Collective allocation and free. Two exchanges for an allocation: what each rank made, then
// whether each could reach all of it; only when all agree is anything kept. One for a free.
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "coll/world.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/rma.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

enum Purpose : std::uint32_t { kOffer = 1, kOutcome = 2, kFree = 3 };

// What a rank offers in an allocation.
struct Offer {
    std::uint32_t status;
    std::uint32_t id;
    std::uint64_t bytes;
    std::uint64_t alignment;
    std::uint32_t flags;
    std::uint32_t unused;
    std::uint8_t record[sizeof(SegmentRecord)];
};
static_assert(sizeof(Offer) == 32 + sizeof(SegmentRecord) && sizeof(Offer) <= kExchangeBytes);

struct Outcome {
    std::uint32_t status;
    std::uint32_t id;
};

int size_of(const Rank &rank) {
    // relaxed: constant while the rank is in use.
    return static_cast<int>(rank.size.load(std::memory_order_relaxed));
}

// The lowest free index and the generation its next segment gets; the same on every rank.
bool next_id(const World &world, std::uint32_t *id) {
    for (std::uint32_t word = 0; word < kSegmentsPerTeam / 64; ++word) {
        if (world.used[word] == UINT64_MAX) continue;
        const std::uint32_t index =
            word * 64 + static_cast<std::uint32_t>(std::countr_one(world.used[word]));
        const std::uint32_t generation = world.generations[index] % 255u + 1;
        *id = memory::make_id(memory::kWorldSlot, index, generation);
        return true;
    }
    return false;
}

sennit_status make_own(Rank &rank, const AllocationWish &wish, std::uint32_t id,
                       SegmentRecord **record) {
    if (id == 0)
        return fail(SENNIT_ERR_NOMEM, "the team has %zu segments, which is the most",
                    kSegmentsPerTeam);
    const memory::SegmentWish segment{SegmentKind::team, id, wish.bytes, wish.alignment,
                                      wish.flags};
    const ColdLock lock(rank);
    return memory::segment_create(rank, segment, record);
}

// Do all offers succeed and agree? The lowest rank that does not decides what is reported.
sennit_status judge(Rank &rank, const Offer *offers) {
    const Offer &mine = offers[rank.world_rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (int peer = 0; peer < size_of(rank); ++peer) {
        const Offer &theirs = offers[peer];
        if (theirs.status != SENNIT_OK) {
            const auto status = static_cast<sennit_status>(theirs.status);
            return fail_peer(status, peer, "", "the allocation failed on rank %d with %s", peer,
                             sennit_status_string(status));
        }
        if (theirs.bytes != mine.bytes || theirs.alignment != mine.alignment ||
            theirs.flags != mine.flags || theirs.id != mine.id)
            return fail_peer(
                SENNIT_ERR_ARG, peer, "",
                "rank %d asks for %llu bytes aligned to %llu, this rank for %llu to %llu", peer,
                static_cast<unsigned long long>(theirs.bytes),
                static_cast<unsigned long long>(theirs.alignment),
                static_cast<unsigned long long>(mine.bytes),
                static_cast<unsigned long long>(mine.alignment));
    }
    return SENNIT_OK;
}

void detach_all(Rank &rank, std::uint32_t id) {
    for (int peer = 0; peer < size_of(rank); ++peer)
        op::detach_segment(rank, peer, id);
}

sennit_status attach_all(Rank &rank, const Offer *offers, std::uint32_t id) {
    for (int peer = 0; peer < size_of(rank); ++peer) {
        SegmentRecord record{};
        std::memcpy(static_cast<void *>(&record), offers[peer].record, sizeof record);
        // A peer that no path reaches has memory all the same; using it is what fails.
        if (peer != rank.world_rank && rank.peers[peer].transport == nullptr) continue;
        const sennit_status status = op::attach_segment(rank, peer, record, id);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Tells all ranks whether this one could attach, and returns what holds for all. `all` has room for
// one outcome of each rank.
sennit_status agree(Rank &rank, const Outcome &mine, Outcome *all, const Deadline &deadline) {
    const sennit_status status = exchange(rank, {kOutcome, &mine, sizeof mine, all}, deadline);
    if (status != SENNIT_OK) return status;
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (int peer = 0; peer < size_of(rank); ++peer) {
        if (all[peer].status == SENNIT_OK) continue;
        return fail_peer(static_cast<sennit_status>(all[peer].status), peer, "",
                         "rank %d could not attach the new segment", peer);
    }
    return SENNIT_OK;
}

void set_used(World &world, std::uint32_t id, bool used) {
    const std::uint32_t index = memory::index_of(id);
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    if (used) {
        world.used[index / 64] |= bit;
        world.generations[index] = static_cast<std::uint8_t>(memory::generation_of(id));
    } else {
        world.used[index / 64] &= ~bit;
    }
}

void drop_own(Rank &rank, SegmentRecord *record) {
    if (record == nullptr) return;
    const ColdLock lock(rank);
    memory::segment_destroy(rank, record);
}

sennit_status allocate_with(Rank &rank, const AllocationWish &wish, Offer *offers,
                            sennit_gptr *gptr) {
    const Deadline deadline = default_deadline();
    std::uint32_t id = 0;
    (void)next_id(*rank.world, &id);
    SegmentRecord *record = nullptr;
    // What an implicit operation failed with travels to the others like any other refusal.
    sennit_status made = wish.refused;
    if (made == SENNIT_OK && rank.engine != nullptr) made = op::flush(rank, kAnyPeer, deadline);
    if (made == SENNIT_OK) made = make_own(rank, wish, id, &record);
    Offer offer{
        static_cast<std::uint32_t>(made), id, wish.bytes, wish.alignment, wish.flags, 0, {}};
    if (record != nullptr)
        std::memcpy(offer.record, static_cast<const void *>(record), sizeof offer.record);
    sennit_status status = exchange(rank, {kOffer, &offer, sizeof offer, offers}, deadline);
    if (status == SENNIT_OK) status = judge(rank, offers);
    // A letter that could not be read is this rank's trouble alone: the others vote now, so it
    // votes.
    if (status != SENNIT_OK && !rank.world->read_failed) {
        drop_own(rank, record);
        return status;
    }
    if (status == SENNIT_OK) {
        const ColdLock lock(rank);
        status = attach_all(rank, offers, id);
    }
    // The offers have been read; their memory serves for the outcomes. A vote that was given can
    // not be taken back: from here only the loss of a rank ends the wait.
    const Outcome outcome{static_cast<std::uint32_t>(status), id};
    status = agree(rank, outcome, reinterpret_cast<Outcome *>(offers), Deadline::never());
    if (status != SENNIT_OK) {
        {
            const ColdLock lock(rank);
            detach_all(rank, id);
        }
        drop_own(rank, record);
        return status;
    }
    set_used(*rank.world, id, true);
    rank.world->own_records[memory::index_of(id)] = record;
    *gptr = sennit_gptr{rank.world_rank, id, 0};
    return SENNIT_OK;
}

}  // namespace

sennit_status allocate(Rank &rank, const AllocationWish &wish, sennit_gptr *gptr) {
    auto *offers =
        static_cast<Offer *>(std::calloc(static_cast<std::size_t>(size_of(rank)), sizeof(Offer)));
    if (offers == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the offers of the ranks");
    const sennit_status status = allocate_with(rank, wish, offers, gptr);
    std::free(offers);
    return status;
}

bool is_live(Rank &rank, std::uint32_t id) {
    const World &world = *rank.world;
    const std::uint32_t index = memory::index_of(id);
    return (world.used[index / 64] >> (index % 64) & 1) != 0 &&
           world.generations[index] == memory::generation_of(id);
}

sennit_status free_segment(Rank &rank, std::uint32_t id) {
    auto *ids = static_cast<std::uint32_t *>(
        std::calloc(static_cast<std::size_t>(size_of(rank)), sizeof(std::uint32_t)));
    if (ids == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the answers of the ranks");
    const sennit_status flushed =
        rank.engine != nullptr ? op::flush(rank, kAnyPeer, default_deadline()) : SENNIT_OK;
    const sennit_error flush_error = *thread_error();
    // As with the vote of an allocation, only the loss of a rank ends this wait.
    sennit_status status = exchange(rank, {kFree, &id, sizeof id, ids}, Deadline::never());
    for (int peer = 0; status == SENNIT_OK && peer < size_of(rank); ++peer) {
        if (ids[peer] == id) continue;
        status = fail_peer(SENNIT_ERR_ARG, peer, "",
                           "rank %d frees segment %#x, this rank %#x: nothing is freed", peer,
                           ids[peer], id);
    }
    std::free(ids);
    if (status != SENNIT_OK) return status;
    const ColdLock lock(rank);
    detach_all(rank, id);
    SegmentRecord *&record = rank.world->own_records[memory::index_of(id)];
    memory::segment_destroy(rank, record);
    record = nullptr;
    set_used(*rank.world, id, false);
    if (flushed != SENNIT_OK) *thread_error() = flush_error;
    return flushed;
}

}  // namespace sennit::coll
