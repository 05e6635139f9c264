// Numbers, slots and who may write them when. See state.hpp and docs/design/collectives.md.
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "coll/state.hpp"
#include "op/peer_memory.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

std::size_t area_offset(const State &state) {
    return team::sync_offset(*state.team) + offsetof(TeamSync, coll);
}

std::size_t slot_offset(const State &state, std::uint64_t number) {
    return area_offset(state) + offsetof(Area, slots) + sizeof(Slot) * (number % kSlots);
}

int world_rank_of(const State &state, std::uint32_t member) {
    return state.team->world_ranks[member];
}

// The member says that it gave up, and means this team and none that had the slot before.
bool gave_up(State &state, std::uint32_t member, const SlotHeader &header) {
    if (header.bytes != state.handle) return false;
    const auto status = static_cast<sennit_status>(header.status);
    const int about = static_cast<int>(header.rounds) - 1;
    (void)fail_peer(status, about >= 0 ? about : world_rank_of(state, member), "",
                    "rank %d gave up the team's collective calls: %s", world_rank_of(state, member),
                    sennit_status_string(status));
    end_all(state, status);
    return true;
}

// Of a member out of reach: into state.headers.
sennit_status get_header(State &state, std::uint32_t member, std::uint64_t number) {
    return op::get_control(*state.rank, world_rank_of(state, member), slot_offset(state, number),
                           &state.headers[member], sizeof(SlotHeader));
}

// Takes a number that was loaded or fetched. The slot of any number tells why a member gave up.
bool note_number(State &state, std::uint32_t member, std::uint64_t found, std::uint64_t number) {
    if (found < number) return false;
    if (found != kGaveUp) {
        state.seen[member] = found;
        return true;
    }
    const SlotHeader *header = &state.headers[member];
    if (state.areas[member] != nullptr) {
        header = &state.areas[member]->slots[0].header;
    } else if (get_header(state, member, 0) != SENNIT_OK) {
        return false;
    }
    (void)gave_up(state, member, *header);
    return false;
}

// By a get that is started here and looked after by later calls. The number alone: a get of more
// may bring the number of this post with the words of the one before.
bool fetch_number(State &state, std::uint32_t member, std::uint64_t number) {
    Rank &rank = *state.rank;
    const int peer = world_rank_of(state, member);
    std::atomic<std::uint64_t> &word = state.headers[member].number;
    sennit_request &request = state.fetches[member];
    sennit_status status = SENNIT_OK;
    int done = 0;
    if (request.handle == 0) {
        const op::Target target{peer, transport::Remote{nullptr, rank.peers[peer].control_handle},
                                area_offset(state) + offsetof(Area, latest)};
        status = op::engine_request(rank, op::Direction::get, target, &word, sizeof word, &request);
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

// The header of a post that is there and lasts.
const SlotHeader *header_of(State &state, std::uint32_t member, std::uint64_t number) {
    Area *area = state.areas[member];
    if (area != nullptr) return &area->slots[number % kSlots].header;
    return get_header(state, member, number) == SENNIT_OK ? &state.headers[member] : nullptr;
}

}  // namespace

bool has_posted(State &state, std::uint32_t member, std::uint64_t number) {
    if (state.seen[member] >= number) return true;
    if (member == state.team->rank) return state.number >= number;
    if (state.areas[member] == nullptr) return fetch_number(state, member, number);
    const SlotHeader &header = state.areas[member]->slots[number % kSlots].header;
    // SYNC coll-post: pairs with the release in post(); the payload comes before the number.
    const std::uint64_t found = header.number.load(std::memory_order_acquire);
    return found >= number && note_number(state, member, found, number);
}

bool has_come(State &state, std::uint32_t member, std::uint64_t number) {
    if (state.seen[member] >= number) return true;
    if (member == state.team->rank) return state.number >= number;
    if (state.areas[member] == nullptr) return fetch_number(state, member, number);
    // SYNC coll-post: pairs with the release in post(); what the member read of earlier posts comes
    // before.
    const std::uint64_t found = state.areas[member]->latest.epoch.load(std::memory_order_acquire);
    return found >= number && note_number(state, member, found, number);
}

bool has_room(State &state, std::uint64_t number) {
    const std::uint64_t needed = state.needed[number % kSlots];
    for (; state.room_member < state.team->size; ++state.room_member)
        if (!has_come(state, state.room_member, needed)) return false;
    state.room_member = 0;
    return true;
}

namespace {

void ring(State &state) {
    // SYNC doorbell: pairs with the fence in announce_sleep(); the numbers before the looks at
    // sleepers.
    store_load_fence();
    for (std::uint32_t place = 1; place < state.size; ++place) {
        Doorbell *bell = state.bells[(state.team->rank + place) % state.size];
        // relaxed: the one fence above serves all peers, see ring_doorbell().
        if (bell != nullptr && bell->sleepers.load(std::memory_order_relaxed) != 0)
            ring_sleepers(*bell);
    }
}

}  // namespace

void post(State &state, const Call &call, const Post &what) {
    if (what.is_read) {
        SlotHeader &header = state.own->slots[what.number % kSlots].header;
        header.call = signature_of(call);
        header.bytes = common_bytes(call);
        header.rounds = what.rounds;
        header.status = SENNIT_OK;
        state.needed[what.number % kSlots] = what.number + 1;
        // SYNC coll-post: pairs with the acquire in has_posted(); the payload comes before.
        header.number.store(what.number, std::memory_order_release);
    }
    state.number = what.number;
    // relaxed: see find_lost_member().
    state.awaited.store(what.number, std::memory_order_relaxed);
    // SYNC coll-post: pairs with the acquires in has_come(), fetch_number() and find_lost_member();
    // the payload, and all that this rank read of earlier posts, come before.
    state.own->latest.epoch.store(what.number, std::memory_order_release);
    ring(state);
}

std::byte *payload_of(State &state, const Operation &operation, std::uint32_t member) {
    const std::uint64_t turn = operation.number % kSlots;
    if (operation.wide) return state.wide[member] + turn * kWideBytes;
    Area *area = state.areas[member];
    return area == nullptr ? nullptr : area->slots[turn].payload;
}

sennit_status fetch(State &state, const Operation &operation, std::uint32_t member,
                    const Part &part, void *to) {
    if (part.bytes == 0) return SENNIT_OK;
    const std::byte *payload = payload_of(state, operation, member);
    if (payload == nullptr)
        return op::get_control(
            *state.rank, world_rank_of(state, member),
            slot_offset(state, operation.number) + offsetof(Slot, payload) + part.offset, to,
            part.bytes);
    std::memcpy(to, payload + part.offset, part.bytes);
    return SENNIT_OK;
}

bool verify(State &state, Operation &operation, std::uint32_t member, std::uint32_t rounds) {
    const SlotHeader *found = header_of(state, member, operation.number);
    if (found == nullptr) {
        note(operation, thread_error()->status);
        return false;
    }
    const SlotHeader &header = *found;
    const Call &call = operation.call;
    if (header.call == signature_of(call) && header.bytes == common_bytes(call)) return true;
    const int peer = world_rank_of(state, member);
    const auto theirs = static_cast<Kind>(header.call & 0xff);
    note(operation,
         fail_peer(SENNIT_ERR_ARG, peer, "",
                   "rank %d is in a %s of %llu bytes, this rank in a %s of %llu, or they differ in "
                   "root, type or operator",
                   peer, name_of(theirs), static_cast<unsigned long long>(header.bytes),
                   name_of(call.kind), static_cast<unsigned long long>(common_bytes(call))));
    operation.differs = true;
    // Calls of one round each end together, so that the next ones may still match.
    return header.rounds == rounds && rounds <= 1;
}

void give_up(State &state, sennit_status status) {
    if (state.own == nullptr) return;
    for (Slot &slot : state.own->slots) {
        slot.header.bytes = state.handle;
        slot.header.status = static_cast<std::uint32_t>(status);
        slot.header.rounds = static_cast<std::uint32_t>(thread_error()->peer + 1);
        // SYNC coll-post: pairs with the acquire in has_posted(); the reason comes before.
        slot.header.number.store(kGaveUp, std::memory_order_release);
    }
    // SYNC coll-post: pairs with the acquires in has_come() and fetch_number(); as above.
    state.own->latest.epoch.store(kGaveUp, std::memory_order_release);
    ring(state);
}

int find_lost_member(Rank &rank, const void *context) {
    const auto &state = *static_cast<const State *>(context);
    // relaxed: a number of the past only makes the search miss, and it is made again.
    const std::uint64_t number = state.awaited.load(std::memory_order_relaxed);
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        if (member == state.team->rank) continue;
        const int peer = world_rank_of(state, member);
        // The order counts: a rank posts first and goes then.
        if (peer_gone(rank, peer) == Gone::no) continue;
        if (state.areas[member] == nullptr) return peer;
        // SYNC coll-post: pairs with the release in post().
        if (state.areas[member]->latest.epoch.load(std::memory_order_acquire) < number) return peer;
    }
    return -1;
}

std::byte *scratch_of(State &state) {
    if (state.scratch == nullptr)
        state.scratch = static_cast<std::byte *>(std::aligned_alloc(64, 2 * kScratchBytes));
    if (state.scratch == nullptr)
        (void)fail(SENNIT_ERR_NOMEM, "no memory for a piece of a collective call");
    return state.scratch;
}

}  // namespace sennit::coll
