// SPDX-License-Identifier: BSD-3-Clause
// An allocation is two exchanges: in the first each rank sends the record of its segment, in the
// second whether it could attach all segments. If one rank could not, all ranks undo the
// allocation. A free is one exchange.
#include "team/allocate.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

namespace sennit::team {
namespace {

// A rank's offer in an allocation.
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

// The generation before that of the first segment at each index. For consecutive teams of a slot
// the values are far apart, so that a pointer to a segment of an earlier team rarely matches a
// segment of a later one. 158 is 255 divided by the golden ratio.
std::uint32_t first_generation(const Team &team) {
    return static_cast<std::uint32_t>(team.generation % memory::kGenerations) * 158;
}

bool is_used(const SegmentTable &table, std::uint32_t index) {
    return (table.used[index / 64] >> (index % 64) & 1) != 0;
}

// The id of the team's next segment: the lowest free index and its next generation. Equal on all
// members. 0: no index is free.
std::uint32_t next_id(const Team &team) {
    const SegmentTable &table = *team.segments;
    for (std::uint32_t word = 0; word < kSegmentsPerTeam / 64; ++word) {
        if (table.used[word] == UINT64_MAX) continue;
        const std::uint32_t index =
            word * 64 + static_cast<std::uint32_t>(std::countr_one(table.used[word]));
        const std::uint32_t last =
            table.generations[index] != 0 ? table.generations[index] : first_generation(team);
        return memory::make_id(team.slot, index, last % memory::kGenerations + 1);
    }
    return 0;
}

sennit_status make_own(Rank &rank, const AllocationArgs &args, std::uint32_t id,
                       SegmentRecord **record) {
    if (id == 0)
        return fail(SENNIT_ERR_NOMEM, "the team has %zu segments, which is the most",
                    kSegmentsPerTeam);
    const memory::SegmentArgs segment{SegmentKind::team, id, args.bytes, args.alignment,
                                      args.flags};
    const ColdLock lock(rank);
    return memory::segment_create(rank, segment, record);
}

// Checks that all offers succeed and agree. Reports this rank's own error, else the lowest member
// whose offer failed or differs.
sennit_status check_offers(const Team &team, const Offer *offers) {
    const Offer &mine = offers[team.rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const Offer &theirs = offers[member];
        const int peer = team.world_ranks[member];
        if (theirs.status != SENNIT_OK) {
            const auto status = static_cast<sennit_status>(theirs.status);
            return fail_peer(status, peer, "", "the allocation failed on rank %d with %s", peer,
                             sennit_status_string(status));
        }
        if (theirs.bytes != mine.bytes || theirs.alignment != mine.alignment ||
            theirs.flags != mine.flags || theirs.id != mine.id)
            return fail_peer(SENNIT_ERR_ARG, peer, "",
                             "rank %d asks for %llu byte%s aligned to %llu bytes, this rank for "
                             "%llu byte%s aligned to %llu bytes",
                             peer, static_cast<unsigned long long>(theirs.bytes),
                             plural(theirs.bytes),
                             static_cast<unsigned long long>(theirs.alignment),
                             static_cast<unsigned long long>(mine.bytes), plural(mine.bytes),
                             static_cast<unsigned long long>(mine.alignment));
    }
    return SENNIT_OK;
}

void detach_all(Rank &rank, const Team &team, std::uint32_t id) {
    for (std::uint32_t member = 0; member < team.size; ++member)
        op::detach_segment(rank, team.world_ranks[member], id);
}

sennit_status attach_all(Rank &rank, const Team &team, const Offer *offers, std::uint32_t id) {
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const int peer = team.world_ranks[member];
        SegmentRecord record{};
        std::memcpy(static_cast<void *>(&record), offers[member].record, sizeof record);
        // A peer without a path takes part; only the use of its memory fails.
        if (peer != rank.world_rank && rank.peers[peer].transport == nullptr) continue;
        const sennit_status status = op::attach_segment(rank, peer, record, id);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// The second exchange: sends whether this rank could attach, and returns the common result. `all`
// has room for one outcome per member.
sennit_status agree(Rank &rank, Team &team, const Outcome &mine, Outcome *all) {
    const Exchange what{Purpose::outcome, &mine, sizeof mine, all};
    const sennit_status status = exchange(rank, team, what, binding_deadline(team));
    if (status != SENNIT_OK) return status;
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < team.size; ++member) {
        if (all[member].status == SENNIT_OK) continue;
        const int peer = team.world_ranks[member];
        return fail_peer(static_cast<sennit_status>(all[member].status), peer, "",
                         "rank %d could not attach the new segment", peer);
    }
    return SENNIT_OK;
}

void keep(Team &team, std::uint32_t id, const SegmentRecord &own) {
    SegmentTable &table = *team.segments;
    const std::uint32_t index = memory::index_of(id);
    table.used[index / 64] |= std::uint64_t{1} << (index % 64);
    table.generations[index] = static_cast<std::uint8_t>(memory::generation_of(id));
    table.owner_slots[index] = static_cast<std::uint16_t>(own.owner_slot);
    ++table.live;
}

void forget(Team &team, std::uint32_t id) {
    SegmentTable &table = *team.segments;
    const std::uint32_t index = memory::index_of(id);
    table.used[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    --table.live;
}

void drop_own(Rank &rank, SegmentRecord *record) {
    if (record == nullptr) return;
    const ColdLock lock(rank);
    memory::segment_destroy(rank, record);
}

sennit_status make_table(Team &team) {
    if (team.segments != nullptr) return SENNIT_OK;
    // Untouched pages of a large calloc() use no memory.
    team.segments = static_cast<SegmentTable *>(std::calloc(1, sizeof(SegmentTable)));
    return team.segments != nullptr
               ? SENNIT_OK
               : fail(SENNIT_ERR_NOMEM, "no memory for the team's table of segments");
}

// Makes this rank's part of the first exchange. After an error *record is null, and the offer has
// the error.
Offer make_offer(Rank &rank, Team &team, const AllocationArgs &args, SegmentRecord **record) {
    // The error of an implicit operation is sent to the others like any other failure.
    sennit_status made = args.refused;
    if (made == SENNIT_OK && rank.engine != nullptr)
        made = request::flush(rank, kAnyPeer, default_deadline());
    if (made == SENNIT_OK) made = make_table(team);
    const std::uint32_t id = team.segments != nullptr ? next_id(team) : 0;
    if (made == SENNIT_OK) made = make_own(rank, args, id, record);
    Offer offer{
        static_cast<std::uint32_t>(made), id, args.bytes, args.alignment, args.flags, 0, {}};
    if (*record != nullptr)
        std::memcpy(offer.record, static_cast<const void *>(*record), sizeof offer.record);
    return offer;
}

struct Vote {
    SegmentRecord *record;
    Outcome outcome;
};

// The second exchange and the end of an allocation. The outcomes of all members reuse the memory of
// the offers, which are no longer needed.
sennit_status vote(Rank &rank, Team &team, const Vote &mine, Offer *offers, sennit_gptr *gptr) {
    const std::uint32_t id = mine.outcome.id;
    const sennit_status status =
        agree(rank, team, mine.outcome, reinterpret_cast<Outcome *>(offers));
    if (status == SENNIT_ERR_TIMEOUT && is_arrived(team) && team.segments != nullptr) {
        // The result is still unknown; the same call made again continues here.
        team.segments->voted_record = mine.record;
        team.segments->voted_id = id;
        team.segments->voted_status = mine.outcome.status;
        return status;
    }
    if (status != SENNIT_OK) {
        {
            const ColdLock lock(rank);
            detach_all(rank, team, id);
        }
        drop_own(rank, mine.record);
        return status;
    }
    keep(team, id, *mine.record);
    *gptr = sennit_gptr{rank.world_rank, id, 0};
    return SENNIT_OK;
}

// Whether this repeats the call whose vote timed out.
bool continues_vote(const Team &team, const AllocationArgs &args) {
    if (team.purpose != Purpose::outcome) return false;
    const SegmentRecord *record = team.segments->voted_record;
    return record == nullptr || record->bytes == args.bytes;
}

sennit_status allocate_with(Rank &rank, Team &team, const AllocationArgs &args, Offer *offers,
                            sennit_gptr *gptr) {
    if (continues_vote(team, args)) {
        const SegmentTable &table = *team.segments;
        return vote(rank, team, {table.voted_record, {table.voted_status, table.voted_id}}, offers,
                    gptr);
    }
    SegmentRecord *record = nullptr;
    const Offer offer = make_offer(rank, team, args, &record);
    const Exchange what{Purpose::offer, &offer, sizeof offer, offers};
    sennit_status status = exchange(rank, team, what, default_deadline());
    if (status == SENNIT_OK) status = check_offers(team, offers);
    // If only this rank could not read a message, the others vote now, so it votes too.
    if (status != SENNIT_OK && !team.read_failed) {
        drop_own(rank, record);
        return status;
    }
    if (status == SENNIT_OK) {
        const ColdLock lock(rank);
        status = attach_all(rank, team, offers, offer.id);
    }
    return vote(rank, team, {record, {static_cast<std::uint32_t>(status), offer.id}}, offers, gptr);
}

}  // namespace

sennit_status allocate(Rank &rank, Team &team, const AllocationArgs &args, sennit_gptr *gptr) {
    const Array<Offer> offers(team.size);
    if (offers == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the offers of the ranks");
    return allocate_with(rank, team, args, offers, gptr);
}

bool is_live(const Team &team, std::uint32_t id) {
    if (team.segments == nullptr) return false;
    const std::uint32_t index = memory::index_of(id);
    return is_used(*team.segments, index) &&
           team.segments->generations[index] == memory::generation_of(id);
}

sennit_status free_segment(Rank &rank, Team &team, std::uint32_t id) {
    const Array<std::uint32_t> ids(team.size);
    if (ids == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the answers of the ranks");
    const sennit_status flushed =
        rank.engine != nullptr ? request::flush(rank, kAnyPeer, default_deadline()) : SENNIT_OK;
    const sennit_error flush_error = *thread_error();
    const Exchange what{Purpose::free, &id, sizeof id, ids};
    sennit_status status = exchange(rank, team, what, binding_deadline(team));
    for (std::uint32_t member = 0; status == SENNIT_OK && member < team.size; ++member) {
        if (ids[member] == id) continue;
        const int peer = team.world_ranks[member];
        status = fail_peer(SENNIT_ERR_ARG, peer, "",
                           "rank %d frees segment %#x, this rank %#x: nothing is freed", peer,
                           ids[member], id);
    }
    if (status != SENNIT_OK) return status;
    const ColdLock lock(rank);
    detach_all(rank, team, id);
    const std::uint32_t place = team.segments->owner_slots[memory::index_of(id)];
    memory::segment_destroy(rank, &rank.control->records[place]);
    forget(team, id);
    if (flushed != SENNIT_OK) *thread_error() = flush_error;
    return flushed;
}

}  // namespace sennit::team
