// SPDX-License-Identifier: BSD-3-Clause
// Finds the members' posts, and slots that may be written (docs/design/collectives.md).
#include <algorithm>
#include <cstdlib>

#include "base/copy.hpp"
#include "base/fail.hpp"
#include "coll/post.hpp"
#include "op/peer_memory.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

std::size_t area_offset(const TeamState &state) {
    return team::sync_offset(*state.team) + offsetof(TeamSync, coll);
}

int world_rank_of(const TeamState &state, std::uint32_t member) {
    return state.team->world_ranks[member];
}

// Fetches the header of a member out of reach into state.headers.
sennit_status get_header(TeamState &state, std::uint32_t member, Place place) {
    return op::get_control(*state.rank, world_rank_of(state, member),
                           area_offset(state) + slot_offset(place), &state.headers[member],
                           sizeof(SlotHeader));
}

// Records a number that was loaded or fetched.
bool note_number(TeamState &state, std::uint32_t member, std::uint64_t found,
                 std::uint64_t number) {
    if (found < number) return false;
    if (found != kGaveUp) {
        state.seen[member] = found;
        return true;
    }
    (void)gave_up(state, member);
    return false;
}

// Fetches the member's number by a get, which later calls complete. A longer get could return the
// number of this post with words of the post before it.
bool fetch_number(TeamState &state, std::uint32_t member, std::uint64_t number) {
    Rank &rank = *state.rank;
    const int peer = world_rank_of(state, member);
    std::atomic<std::uint64_t> &word = state.headers[member].number;
    sennit_request &request = state.fetches[member];
    sennit_status status = SENNIT_OK;
    int done = 0;
    if (request.handle == 0) {
        const op::Target target{peer,
                                transport::RemoteMemory{nullptr, rank.peers[peer].control_handle},
                                area_offset(state) + offsetof(Area, latest)};
        status = op::engine_start(rank, op::Direction::get, target, &word, sizeof word,
                                  {op::Completion::Mode::request, &request, true});
        done = request.handle == 0 ? 1 : 0;
    }
    if (status == SENNIT_OK && done == 0) {
        status = op::engine_test(rank, request, true, &done);
        if (done != 0) request = SENNIT_REQUEST_NULL;
    }
    if (status != SENNIT_OK) {
        end_all(state, status);
        return false;
    }
    // SYNC coll-post: pairs with the releases in post(), carried by the transport's delivery; the
    // payload comes before the number.
    return done != 0 && note_number(state, member, word.load(std::memory_order_acquire), number);
}

// Whether a member out of reach has reached the number. False: not yet, or an error.
bool find_number(TeamState &state, std::uint32_t member, std::uint64_t number) {
    return state.node_buffer != nullptr ? is_passed_on(state, member, number)
                                        : fetch_number(state, member, number);
}

// Allocates the memory at its first use. Null: the thread's last error says why.
std::byte *memory_of(std::byte *&memory, std::size_t alignment, std::size_t bytes) {
    if (memory == nullptr) memory = static_cast<std::byte *>(std::aligned_alloc(alignment, bytes));
    if (memory == nullptr)
        (void)fail(SENNIT_ERR_NOMEM, "no memory for a piece of a collective call");
    return memory;
}

// A content is the header and a short payload of a member out of reach. If the contents of all
// members need more memory than this, they are fetched one after another.
constexpr std::size_t kMostContents = 4 << 20;
constexpr std::size_t kContentBytes = kSmallSlotBytes;

SlotHeader *content_of(const TeamState &state, std::uint32_t member) {
    return reinterpret_cast<SlotHeader *>(state.contents + kContentBytes * member);
}

// The fetched content of the member's current post. Null: not requested, not here yet, or from
// another post.
SlotHeader *find_content(const TeamState &state, std::uint32_t member, Place place) {
    if (state.contents == nullptr || state.fetched[member] != place.number) return nullptr;
    SlotHeader *const header = content_of(state, member);
    // SYNC coll-post: pairs with the release in post(), carried by the transport's delivery of the
    // number, which came before this request.
    const std::uint64_t found = header->number.load(std::memory_order_acquire);
    return found == place.number ? header : nullptr;
}

bool make_contents(TeamState &state) {
    if (state.contents != nullptr) return true;
    const std::size_t bytes = kContentBytes * state.size;
    // Without memory each content is fetched on its own.
    if (bytes <= kMostContents)
        state.contents = static_cast<std::byte *>(std::aligned_alloc(kLineBytes, bytes));
    return state.contents != nullptr;
}

// Starts to fetch the content of the member's post. The engine keeps the data until has_fetched()
// takes it.
void ask_for_content(TeamState &state, Place place, std::uint32_t member, std::size_t bytes) {
    Rank &rank = *state.rank;
    const int peer = world_rank_of(state, member);
    const std::size_t length = std::max(sizeof(SlotHeader), shape_of(place.size).payload + bytes);
    if (bytes == 0 || length > kContentBytes || state.fetched[member] == place.number ||
        !make_contents(state))
        return;
    const op::Target target{peer, transport::RemoteMemory{nullptr, rank.peers[peer].control_handle},
                            area_offset(state) + slot_offset(place)};
    const sennit_status status =
        op::engine_start(rank, op::Direction::get, target, content_of(state, member), length,
                         {op::Completion::Mode::request, &state.fetches[member], true});
    state.fetched[member] = place.number;
    state.content_bytes = length;
    if (status != SENNIT_OK) end_all(state, status);
}

// After this number of polls has_posted() checks whether the slot's owner made another call.
constexpr unsigned kPolls = 1024;
constexpr unsigned kFewPolls = 8;  // if ranks share processors: there may be a sleep between polls

}  // namespace

bool gave_up(TeamState &state, std::uint32_t member) {
    LatestPost fetched{};
    const LatestPost *latest = &fetched;
    if (state.areas[member] != nullptr) {
        latest = &state.areas[member]->latest;
    } else if (op::get_control(*state.rank, world_rank_of(state, member),
                               area_offset(state) + offsetof(Area, latest), &fetched,
                               sizeof fetched) != SENNIT_OK) {
        return false;
    }
    // SYNC coll-post: pairs with the release in give_up(); who was lost, and why, come before.
    if (latest->team.load(std::memory_order_acquire) != state.handle) return false;
    // relaxed twice: the acquire above orders them.
    const auto status = static_cast<sennit_status>(latest->status.load(std::memory_order_relaxed));
    const int about = static_cast<int>(latest->lost.load(std::memory_order_relaxed)) - 1;
    (void)fail_peer(status, about >= 0 ? about : world_rank_of(state, member), "",
                    "rank %d gave up the team's collective calls: %s", world_rank_of(state, member),
                    sennit_status_string(status));
    end_all(state, status);
    return true;
}

Found header_of(TeamState &state, std::uint32_t member, Place place, sennit_status *status) {
    *status = SENNIT_OK;
    if (state.node_buffer != nullptr && state.areas[member] == nullptr)
        return {passed_header(state, member, place.number), SlotSize::small};
    for (const SlotSize size :
         {place.size, SlotSize::full, SlotSize::middle, SlotSize::small, SlotSize::tiny}) {
        const Place here{place.number, size};
        Area *area = state.areas[member];
        SlotHeader *const content =
            area == nullptr && size == place.size ? find_content(state, member, place) : nullptr;
        if (content != nullptr) return {content, size};
        if (area == nullptr) *status = get_header(state, member, here);
        if (*status != SENNIT_OK) return {nullptr, size};
        const SlotHeader &header = area != nullptr ? header_at(*area, here) : state.headers[member];
        // SYNC coll-post: pairs with the release in post(); the words of the header come before.
        const std::uint64_t found = header.number.load(std::memory_order_acquire);
        if (found == place.number) return {&header, size};
        if (found == kGaveUp && gave_up(state, member)) break;
    }
    return {nullptr, place.size};
}

PostedCall posted_call(const Found &found) {
    const SlotHeader &header = *found.header;
    if (found.size == SlotSize::tiny)
        return {header.call & ~kTinySizeMask, (header.call & kTinySizeMask) >> kTinySizeShift, 1,
                SENNIT_OK};
    return {header.call, header.bytes, header.rounds, static_cast<sennit_status>(header.status)};
}

bool has_posted(TeamState &state, std::uint32_t member, Place place) {
    if (state.seen[member] >= place.number) return true;
    if (member == state.team->rank) return state.number >= place.number;
    if (state.areas[member] == nullptr) return find_number(state, member, place.number);
    const SlotHeader &header = header_at(*state.areas[member], place);
    // SYNC coll-post: pairs with the release in post(); the payload comes before the number.
    const std::uint64_t found = header.number.load(std::memory_order_acquire);
    if (found >= place.number) {
        if (note_number(state, member, found, place.number)) return true;
        if (is_broken(state)) return false;
        // An earlier team in the slot gave up; that means nothing for this one.
    }
    const unsigned polls = state.rank->spins == 0 ? kFewPolls : kPolls;
    return ++state.polls % polls == 0 && has_reached(state, member, place.number);
}

bool has_reached(TeamState &state, std::uint32_t member, std::uint64_t number) {
    if (state.seen[member] >= number) return true;
    if (member == state.team->rank) return state.number >= number;
    if (state.areas[member] == nullptr) return find_number(state, member, number);
    // SYNC coll-post: pairs with the release in post(); the member's reads of earlier posts come
    // before.
    const std::uint64_t found = state.areas[member]->latest.number.load(std::memory_order_acquire);
    return found >= number && note_number(state, member, found, number);
}

bool ask_all(TeamState &state, const OpenCall &operation, std::size_t bytes) {
    const std::uint32_t own = state.team->rank;
    const Place place = place_of(operation);
    const bool reads_all = operation.step != Step::posts || operation.relayed;
    const bool takes_content = !operation.relayed && !operation.wide;
    for (std::uint32_t member = operation.member; member < state.size; ++member) {
        if (member == own || state.areas[member] != nullptr) continue;
        if (!reads_all && !reads(operation.call, own, member)) continue;
        const bool is_there = has_posted(state, member, place);
        if (is_there && takes_content) ask_for_content(state, place, member, bytes);
        if (is_broken(state)) return false;
    }
    return !is_broken(state);
}

bool has_fetched(TeamState &state, const OpenCall &operation, std::uint32_t member) {
    if (state.areas[member] != nullptr || state.contents == nullptr ||
        state.fetched[member] != operation.number || state.fetches[member].handle == 0)
        return true;
    int done = 0;
    const sennit_status status = op::engine_test(*state.rank, state.fetches[member], true, &done);
    if (done != 0) state.fetches[member] = SENNIT_REQUEST_NULL;
    if (status != SENNIT_OK) end_all(state, status);
    return done != 0 && status == SENNIT_OK;
}

bool has_room(TeamState &state, Place place) {
    const std::uint64_t needed = needed_for(state, place);
    for (; state.room_member < state.team->size; ++state.room_member) {
        if (has_reached(state, state.room_member, needed)) continue;
        // Ask later members out of reach at the same time, so that the gets overlap.
        for (std::uint32_t member = state.room_member + 1; member < state.size; ++member)
            if (state.areas[member] == nullptr && !is_broken(state))
                (void)has_reached(state, member, needed);
        return false;
    }
    state.room_member = 0;
    return true;
}

std::byte *payload_of(TeamState &state, const OpenCall &operation, std::uint32_t member) {
    if (operation.wide) return state.wide[member] + operation.number % kWideSlots * kWideBytes;
    Area *area = state.areas[member];
    return area == nullptr ? nullptr : payload_at(*area, place_of(operation));
}

namespace {

// The payload in the fetched content of the member's post, if it includes the part.
[[gnu::noinline]] const std::byte *find_payload(const TeamState &state, const OpenCall &operation,
                                                std::uint32_t member, const PayloadPart &part) {
    if (state.node_buffer != nullptr)
        return passed_payload(state, operation, member, part.offset + part.bytes);
    const Place place = place_of(operation);
    const std::size_t begin = shape_of(place.size).payload;
    if (begin + part.offset + part.bytes > state.content_bytes) return nullptr;
    const SlotHeader *content = find_content(state, member, place);
    return content != nullptr ? reinterpret_cast<const std::byte *>(content) + begin : nullptr;
}

sennit_status fail_other_call(int peer, const PostedCall &theirs, const Call &mine) {
    const auto their_kind = static_cast<Kind>(theirs.signature & 0xff);
    const auto their_bytes = static_cast<unsigned long long>(theirs.bytes);
    const auto my_bytes = static_cast<unsigned long long>(common_bytes(mine));
    if (their_kind == mine.kind && their_bytes == my_bytes)
        return fail_peer(SENNIT_ERR_ARG, peer, "",
                         "rank %d is also in %s of %llu byte%s, but with another root, type or "
                         "operator",
                         peer, name_of(mine.kind), my_bytes, plural(my_bytes));
    return fail_peer(SENNIT_ERR_ARG, peer, "",
                     "rank %d is in %s of %llu byte%s, this rank in %s of %llu byte%s", peer,
                     name_of(their_kind), their_bytes, plural(their_bytes), name_of(mine.kind),
                     my_bytes, plural(my_bytes));
}

}  // namespace

sennit_status fetch(TeamState &state, const OpenCall &operation, std::uint32_t member,
                    const PayloadPart &part, void *to) {
    if (part.bytes == 0) return SENNIT_OK;
    const std::byte *payload = payload_of(state, operation, member);
    if (payload == nullptr) payload = find_payload(state, operation, member, part);
    if (payload == nullptr)
        return op::get_control(
            *state.rank, world_rank_of(state, member),
            area_offset(state) + payload_offset(place_of(operation)) + part.offset, to, part.bytes);
    copy_bytes(to, payload + part.offset, part.bytes);
    return SENNIT_OK;
}

bool verify(TeamState &state, OpenCall &operation, std::uint32_t member, std::uint32_t rounds) {
    sennit_status status = SENNIT_OK;
    const Found found = header_of(state, member, place_of(operation), &status);
    const Call &call = operation.call;
    if (found.header == nullptr && is_broken(state)) return false;
    if (found.header == nullptr) {
        const int peer = world_rank_of(state, member);
        if (status == SENNIT_OK)
            status = fail_peer(SENNIT_ERR_ARG, peer, "",
                               "this rank is in %s and rank %d in a call where it sends nothing",
                               name_of(call.kind), peer);
        note(operation, status);
        return false;
    }
    const PostedCall posted = posted_call(found);
    if (posted.signature == signature_of(call) && posted.bytes == common_bytes(call)) return true;
    note(operation, fail_other_call(world_rank_of(state, member), posted, call));
    operation.differs = true;
    // Calls of one round end together, so the next calls may still match.
    return posted.rounds == rounds && rounds <= 1;
}

void give_up(TeamState &state, sennit_status status) {
    if (state.own == nullptr) return;
    LatestPost &latest = state.own->latest;
    const auto lost = static_cast<std::uint32_t>(thread_error()->peer + 1);
    // relaxed twice: the store of the team's handle follows.
    latest.lost.store(lost, std::memory_order_relaxed);
    latest.status.store(static_cast<std::uint32_t>(status), std::memory_order_relaxed);
    // SYNC coll-post: pairs with the acquire in gave_up(); who was lost, and why, come before.
    latest.team.store(state.handle, std::memory_order_release);
    for (const SlotSize size : kSlotSizes) {
        for (std::uint64_t i = 0; i < shape_of(size).slots; ++i) {
            // SYNC coll-post: pairs with the acquires in has_posted() and header_of(); the reason
            // comes before.
            header_at(*state.own, {i, size}).number.store(kGaveUp, std::memory_order_release);
        }
    }
    // SYNC coll-post: pairs with the acquires in has_reached() and fetch_number(); the reason comes
    // before.
    latest.number.store(kGaveUp, std::memory_order_release);
    ring(state);
}

namespace {

// Whether this rank still needs a post from the ended member: its own, or those of other nodes if
// it was the leader.
bool is_missing(const TeamState &state, std::uint32_t member, std::uint64_t number) {
    const Area *area = state.areas[member];
    if (area == nullptr) return state.node_buffer == nullptr || !is_released(state, number);
    // SYNC coll-post: pairs with the releases in post() and give_up().
    const std::uint64_t found = area->latest.number.load(std::memory_order_acquire);
    // relaxed: the acquire above orders it.
    if (found == kGaveUp) return area->latest.team.load(std::memory_order_relaxed) != state.handle;
    if (found < number) return true;
    return state.node_buffer != nullptr &&
           member == team::leader_of(*state.team, state.team->node) && !is_released(state, number);
}

}  // namespace

int find_lost_member(Rank &rank, const void *context) {
    const auto &state = *static_cast<const TeamState *>(context);
    // relaxed: an old number only makes the search miss, and the search is repeated.
    const std::uint64_t number = state.awaited.load(std::memory_order_relaxed);
    team::for_each_here(*state.team, [&](std::uint32_t member) {
        if (member != state.team->rank) (void)peer_gone(rank, world_rank_of(state, member));
    });
    // While no rank has ended, members on other nodes need no check.
    if (count_ended(rank) == 0) return -1;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        if (member == state.team->rank) continue;
        const int peer = world_rank_of(state, member);
        // known_gone() comes first: a rank posts, and a leader releases its node, before it ends.
        if (known_gone(rank, peer) != Gone::no && is_missing(state, member, number)) return peer;
    }
    return -1;
}

std::byte *scratch_of(TeamState &state) {
    return memory_of(state.scratch, 64, 2 * kScratchBytes);
}

std::byte *stages_of(TeamState &state) {
    return memory_of(state.stages, 4096, 3 * kStageBytes);
}

std::byte *operands_of(TeamState &state, std::size_t bytes) {
    return memory_of(state.operands, 64, (bytes + 63) / 64 * 64);
}

}  // namespace sennit::coll
