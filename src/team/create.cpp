// SPDX-License-Identifier: BSD-3-Clause
// docs/design/teams.md has the states and failure cases.
#include "team/create.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "memory/control_map.hpp"
#include "runtime/wait.hpp"
#include "team/nodes.hpp"

namespace sennit::team {
namespace {

// A rank's part of the first exchange of a creation.
struct Proposal {
    std::uint32_t status;
    std::int32_t color;
    std::int32_t key;
    std::uint32_t gives_way;  // 1: offers no slot, because of another creation
    std::uint32_t chunks;     // chunks of slots in its memory file (control_map.hpp)
    std::uint32_t unused;
    std::uint64_t digest;
    std::uint64_t free[kSlotWords];
};
static_assert(sizeof(Proposal) == 32 + sizeof(std::uint64_t) * kSlotWords &&
              sizeof(Proposal) <= kExchangeBytes);

// A rank's part of the second exchange.
struct Conclusion {
    std::uint32_t status;
    std::uint32_t again;           // 1: another creation has the slot, or no slot was free
    std::uint8_t load_store;       // Reach::load_store
    std::uint8_t node_load_store;  // Reach::node_load_store
    std::uint16_t unused;
    std::uint32_t node_buffer;  // make_node_buffer()
    std::uint64_t number;       // Registry::numbers of the slot
    std::uint64_t generation;   // Registry::generations of the slot
};
static_assert(sizeof(Conclusion) == 32);

// A creation in progress. After a timeout in its votes it is kept until the same call continues it.
struct Creation {
    Rank &rank;
    Team &parent;
    CreationArgs args;
    unsigned attempt = 0;
    bool is_repeated = false;  // the first exchange has been made once
    bool grows = false;        // the next attempt has more slots (make_room())
    std::uint32_t slot = 0;    // chosen for all colors
    bool taken = false;        // this rank has taken the slot
    Team *team = nullptr;
    std::uint32_t size = 0;             // members of this rank's color
    Proposal *proposals = nullptr;      // [parent.size]
    Conclusion *conclusions = nullptr;  // [parent.size]
    std::uint32_t *order = nullptr;  // [parent.size]: ranks in the parent of the members of `team`
    int *world_ranks = nullptr;      // [parent.size]: world ranks of these members
    Proposal proposal{};             // this rank's
    Conclusion conclusion{};         // this rank's

    bool joins() const { return args.color >= 0; }
};

bool has(const std::uint64_t *words, std::uint32_t slot) {
    return (words[slot / 64] >> (slot % 64) & 1) != 0;
}
void set(std::uint64_t *words, std::uint32_t slot) {
    words[slot / 64] |= std::uint64_t{1} << (slot % 64);
}
void clear(std::uint64_t *words, std::uint32_t slot) {
    words[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
}

// After this many conflicts a creation gives way to creations over parents with lower slots. So at
// least one of several conflicting creations succeeds.
constexpr unsigned kPatience = 3;

bool gives_way(const Registry &registry, const Creation &creation) {
    if (creation.attempt < kPatience) return false;
    std::uint32_t slot = 0;
    while (!has(registry.creating, slot))
        ++slot;
    return slot < creation.parent.slot;
}

std::uint32_t own_chunks(Rank &rank) {
    const ColdLock lock(rank);
    return memory::control_chunks(*rank.control);
}

void propose(Creation &creation, Proposal *mine) {
    *mine = Proposal{static_cast<std::uint32_t>(creation.args.refused),
                     creation.args.color,
                     creation.args.key,
                     0,
                     own_chunks(creation.rank),
                     0,
                     creation.args.digest,
                     {}};
    const std::uint32_t slots = memory::control_slots(mine->chunks);
    const RegistryLock lock(creation.rank);
    const Registry &registry = *creation.rank.team_registry;
    mine->gives_way = gives_way(registry, creation) ? 1 : 0;
    for (std::size_t word = 0; mine->gives_way == 0 && word < kSlotWords; ++word)
        mine->free[word] = ~registry.used[word];
    for (std::uint32_t slot = slots; slot < kTeamSlots; ++slot)
        clear(mine->free, slot);
}

// Checks that all proposals succeed and match. Reports this rank's own error, else the lowest
// member whose proposal failed or differs.
sennit_status check_proposals(const Creation &creation) {
    const Proposal &mine = creation.proposals[creation.parent.rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < creation.parent.size; ++member) {
        const Proposal &theirs = creation.proposals[member];
        const int peer = creation.parent.world_ranks[member];
        if (theirs.status != SENNIT_OK) {
            const auto status = static_cast<sennit_status>(theirs.status);
            return fail_peer(status, peer, "", "the creation failed on rank %d with %s", peer,
                             sennit_status_string(status));
        }
        if (theirs.digest != mine.digest)
            return fail_peer(SENNIT_ERR_ARG, peer, "", "rank %d asks for another team", peer);
    }
    return SENNIT_OK;
}

// Chooses a slot that is free on all ranks that join a team. All colors use the same slot, since
// they share no rank. The first attempt takes the lowest one; after a conflict the search starts at
// a place that depends on the parent. 0: none.
std::uint32_t choose_slot(const Creation &creation) {
    std::uint64_t common[kSlotWords];
    std::memset(common, 0xFF, sizeof common);
    for (std::uint32_t member = 0; member < creation.parent.size; ++member) {
        if (creation.proposals[member].color < 0) continue;
        for (std::size_t word = 0; word < kSlotWords; ++word)
            common[word] &= creation.proposals[member].free[word];
    }
    const std::uint32_t start =
        creation.attempt == 0 ? 0
                              : (creation.parent.slot * 37 + creation.attempt * 101) % kTeamSlots;
    for (std::uint32_t i = 0; i < kTeamSlots; ++i) {
        const std::uint32_t slot = (start + i) % kTeamSlots;
        if (slot > kNodeSlot && has(common, slot)) return slot;
    }
    return 0;
}

// Called if no slot is free on all ranks that join. Each of them with fewer chunks of slots than
// another gets as many as the largest number; if all have the same number, all get one more. Every
// rank decides the same. Errors: NOMEM, OS.
sennit_status make_room(Creation &creation) {
    std::uint32_t fewest = UINT32_MAX;
    std::uint32_t most = 0;
    for (std::uint32_t member = 0; member < creation.parent.size; ++member) {
        if (creation.proposals[member].color < 0) continue;
        fewest = std::min(fewest, creation.proposals[member].chunks);
        most = std::max(most, creation.proposals[member].chunks);
    }
    if (fewest == kTeamChunks)
        return fail(SENNIT_ERR_NOMEM, "the ranks have %zu teams, which is the most",
                    kTeamSlots - kNodeSlot - 1);
    creation.grows = true;
    if (!creation.joins()) return SENNIT_OK;
    const ColdLock lock(creation.rank);
    return memory::control_grow(creation.rank, fewest == most ? most + 1 : most);
}

// Collects the members of this rank's color, in the order of the new team. Returns their number.
std::uint32_t collect_members(Creation &creation) {
    std::uint32_t count = 0;
    for (std::uint32_t member = 0; member < creation.parent.size; ++member)
        if (creation.proposals[member].color == creation.args.color)
            creation.order[count++] = member;
    std::sort(creation.order, creation.order + count, [&](std::uint32_t a, std::uint32_t b) {
        const std::int32_t key_a = creation.proposals[a].key;
        const std::int32_t key_b = creation.proposals[b].key;
        return key_a != key_b ? key_a < key_b : a < b;
    });
    for (std::uint32_t i = 0; i < count; ++i)
        creation.world_ranks[i] = creation.parent.world_ranks[creation.order[i]];
    return count;
}

// Takes the slot. False: another creation has taken it.
bool take_slot(Creation &creation) {
    const RegistryLock lock(creation.rank);
    if (has(creation.rank.team_registry->used, creation.slot)) return false;
    set(creation.rank.team_registry->used, creation.slot);
    return creation.taken = true;
}

// Maps the members' words of the slot, if load and store reach their control blocks.
sennit_status reach_words(Creation &creation) {
    const ColdLock lock(creation.rank);
    for (std::uint32_t i = 0; i < creation.size; ++i) {
        const sennit_status status =
            memory::control_reach(creation.rank, creation.world_ranks[i], creation.slot);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// The first member to which this rank has no path, as a world rank.
int unreached_member(const Rank &rank, const Team &team) {
    std::uint32_t member = 0;
    while (member == team.rank || rank.peers[team.world_ranks[member]].transport != nullptr)
        ++member;
    return team.world_ranks[member];
}

sennit_status make_part(Creation &creation, Conclusion *mine) {
    creation.size = collect_members(creation);
    std::uint32_t self = 0;
    while (creation.order[self] != creation.parent.rank)
        ++self;
    sennit_status status = reach_words(creation);
    if (status != SENNIT_OK) return status;
    status = make(creation.rank, creation.slot, {creation.size, self, creation.world_ranks},
                  &creation.team);
    if (status != SENNIT_OK) return status;
    const Reach reach = own_reach(creation.rank, *creation.team);
    mine->load_store = reach.load_store;
    mine->node_load_store = reach.node_load_store;
    if (!reach.some_path) {
        const int peer = unreached_member(creation.rank, *creation.team);
        return fail_peer(SENNIT_ERR_OTHER_NODE, peer, "",
                         "no path leads from this rank to rank %d, a member of the new team; "
                         "sennit info --peers tells why",
                         peer);
    }
    return make_node_buffer(creation.rank, *creation.team, &mine->node_buffer);
}

// Makes this rank's part of the proposed team.
Conclusion conclude(Creation &creation, sennit_status status) {
    Conclusion mine{};
    bool anyone = false;
    bool waits = false;
    for (std::uint32_t member = 0; status == SENNIT_OK && member < creation.parent.size; ++member) {
        anyone |= creation.proposals[member].color >= 0;
        waits |= creation.proposals[member].gives_way != 0;
    }
    if (status == SENNIT_OK && anyone) {
        creation.slot = choose_slot(creation);
        if (creation.slot == 0 && !waits) status = make_room(creation);
        mine.again = creation.slot == 0 || (creation.joins() && !take_slot(creation)) ? 1 : 0;
    }
    if (creation.taken) {
        status = make_part(creation, &mine);
        const RegistryLock lock(creation.rank);
        mine.number = creation.rank.team_registry->numbers[creation.slot];
        mine.generation = creation.rank.team_registry->generations[creation.slot];
    }
    mine.status = static_cast<std::uint32_t>(status);
    return mine;
}

// The common result of all conclusions: an error, or OK; `*again`: choose another slot.
sennit_status check_conclusions(const Creation &creation, bool *again) {
    const Conclusion &mine = creation.conclusions[creation.parent.rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < creation.parent.size; ++member) {
        const auto status = static_cast<sennit_status>(creation.conclusions[member].status);
        const int peer = creation.parent.world_ranks[member];
        if (status != SENNIT_OK)
            return fail_peer(status, peer, "", "rank %d could not make its part of the team: %s",
                             peer, sennit_status_string(status));
        *again |= creation.conclusions[member].again != 0;
    }
    return SENNIT_OK;
}

// Undoes the team on this rank. `keeps_slot`: the slot stays taken, because other ranks may use it.
void undo(Creation &creation, bool keeps_slot) {
    const sennit_error error = *thread_error();
    if (creation.team != nullptr) drop_node_buffer(creation.rank, *creation.team);
    if (creation.team != nullptr) drop(*creation.team);
    if (creation.taken && !keeps_slot) {
        const RegistryLock lock(creation.rank);
        clear(creation.rank.team_registry->used, creation.slot);
    }
    creation.team = nullptr;
    creation.taken = false;
    *thread_error() = error;
}

// Called if all ranks could make their part. The numbers of the team start above the highest one
// that any member has seen in the slot.
void finish(Creation &creation, std::uint32_t *handle) {
    Team &team = *creation.team;
    std::uint64_t number = 0;
    std::uint64_t generation = 0;
    Reach common{true, true, true};
    for (std::uint32_t i = 0; i < creation.size; ++i) {
        const Conclusion &theirs = creation.conclusions[creation.order[i]];
        number = std::max(number, theirs.number);
        generation = std::max(generation, theirs.generation);
        common.load_store &= theirs.load_store != 0;
        common.node_load_store &= theirs.node_load_store != 0;
        team.node_buffers[i] = theirs.node_buffer;
    }
    {
        const RegistryLock lock(creation.rank);
        creation.rank.team_registry->generations[team.slot] = generation + 1;
    }
    agree_on_reach(creation.rank, team, common);
    team.grid = creation.args.grid;
    open(team, generation + 1, number);
    *handle = make_handle(team.slot, generation + 1);
}

// The first exchange of an attempt; then makes this rank's part. Errors: those of an incomplete
// exchange.
sennit_status propose_and_choose(Creation &creation) {
    Team &parent = creation.parent;
    if (!is_arrived(parent)) propose(creation, &creation.proposal);
    const Exchange what{creation.is_repeated ? Purpose::propose_again : Purpose::propose,
                        &creation.proposal, sizeof creation.proposal, creation.proposals};
    const Deadline deadline = creation.is_repeated ? binding_deadline(parent) : default_deadline();
    sennit_status status = exchange(creation.rank, parent, what, deadline);
    // If only this rank could not read a message, the others continue, so it votes too.
    if (status != SENNIT_OK && !parent.read_failed) return status;
    creation.is_repeated = true;
    creation.grows = false;
    if (status == SENNIT_OK) status = check_proposals(creation);
    creation.conclusion = conclude(creation, status);
    return SENNIT_OK;
}

// One attempt. `*again`: all ranks have undone it and must choose another slot.
sennit_status attempt(Creation &creation, std::uint32_t *handle, bool *again) {
    Team &parent = creation.parent;
    sennit_status status = SENNIT_OK;
    if (parent.purpose != Purpose::conclude) status = propose_and_choose(creation);
    if (status != SENNIT_OK) return status;
    const Exchange what{Purpose::conclude, &creation.conclusion, sizeof creation.conclusion,
                        creation.conclusions};
    status = exchange(creation.rank, parent, what, binding_deadline(parent));
    if (status == SENNIT_ERR_TIMEOUT && is_bound(parent)) return status;
    if (status != SENNIT_OK) {
        undo(creation, true);
        return status;
    }
    status = check_conclusions(creation, again);
    if (status != SENNIT_OK || *again) {
        undo(creation, false);
        return status;
    }
    *handle = 0;
    if (creation.team != nullptr) finish(creation, handle);
    return SENNIT_OK;
}

// One piece of memory: the creation, then its arrays. Null: no memory.
Creation *make_creation(Rank &rank, Team &parent, const CreationArgs &args) {
    const std::size_t size = parent.size;
    const std::size_t each =
        sizeof(Proposal) + sizeof(Conclusion) + sizeof(std::uint32_t) + sizeof(int);
    auto *memory = static_cast<std::byte *>(std::calloc(1, sizeof(Creation) + size * each));
    if (memory == nullptr) return nullptr;
    auto *creation = new (memory) Creation{rank, parent, args};
    creation->proposals = reinterpret_cast<Proposal *>(memory + sizeof(Creation));
    creation->conclusions = reinterpret_cast<Conclusion *>(creation->proposals + size);
    creation->order = reinterpret_cast<std::uint32_t *>(creation->conclusions + size);
    creation->world_ranks = reinterpret_cast<int *>(creation->order + size);
    return creation;
}
static_assert(std::is_trivially_destructible_v<Creation>);

// A new creation, or the one whose votes timed out; only the same call continues it.
sennit_status take_creation(Rank &rank, Team &parent, const CreationArgs &args, Creation **out) {
    if (!is_bound(parent)) {
        *out = make_creation(rank, parent, args);
        return *out != nullptr ? SENNIT_OK
                               : fail(SENNIT_ERR_NOMEM, "no memory for the creation of a team");
    }
    auto *creation = static_cast<Creation *>(parent.unfinished);
    const bool is_creation =
        parent.purpose == Purpose::conclude || parent.purpose == Purpose::propose_again;
    if (!is_creation || creation->args.color != args.color || creation->args.key != args.key ||
        creation->args.digest != args.digest || creation->args.refused != args.refused)
        return fail_unfinished(rank, parent);
    parent.unfinished = nullptr;
    creation->args = args;
    *out = creation;
    return SENNIT_OK;
}

}  // namespace

sennit_status registry_open(Rank &rank) {
    rank.team_registry = static_cast<Registry *>(std::calloc(1, sizeof(Registry)));
    if (rank.team_registry == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the table of teams");
    (void)pthread_mutex_init(&rank.team_registry->lock, nullptr);
    for (const std::uint32_t slot : {memory::kLocalSlot, memory::kWorldSlot, kNodeSlot})
        set(rank.team_registry->used, slot);
    return SENNIT_OK;
}

void registry_close(Rank &rank) {
    if (rank.team_registry == nullptr) return;
    (void)pthread_mutex_destroy(&rank.team_registry->lock);
    std::free(rank.team_registry.get());
    rank.team_registry = nullptr;
}

sennit_status create(Rank &rank, Team &parent, const CreationArgs &args, std::uint32_t *handle) {
    Creation *creation = nullptr;
    sennit_status status = take_creation(rank, parent, args, &creation);
    if (status != SENNIT_OK) return status;
    {
        const RegistryLock lock(rank);
        set(rank.team_registry->creating, parent.slot);
    }
    bool again = true;
    while (again && status == SENNIT_OK) {
        again = false;
        status = attempt(*creation, handle, &again);
        // An attempt that makes more slots is no conflict.
        if (again && !creation->grows) ++creation->attempt;
    }
    {
        const RegistryLock lock(rank);
        clear(rank.team_registry->creating, parent.slot);
    }
    if (status == SENNIT_ERR_TIMEOUT && is_bound(parent)) {
        parent.unfinished = creation;
        return status;
    }
    std::free(creation);
    return status;
}

namespace {

// The members agree to end the team. The second synchronisation protects the mailboxes: afterwards
// no member reads them, so the slot's next team may write to them.
sennit_status part(Rank &rank, Team &team) {
    if (team.purpose == Purpose::part)
        return synchronise(rank, team, Purpose::part, binding_deadline(team));
    const Array<std::uint32_t> handles(team.size);
    if (handles == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the answers of the ranks");
    // relaxed: this thread has the team's turn.
    const std::uint32_t mine = team.handle.load(std::memory_order_relaxed);
    sennit_status status = exchange(rank, team, {Purpose::destroy, &mine, sizeof mine, handles},
                                    binding_deadline(team));
    if (status == SENNIT_OK) return synchronise(rank, team, Purpose::part, binding_deadline(team));
    if (team.read_failed) {
        // The others wait for this rank in the second synchronisation. So it arrives there, but
        // does not wait.
        const sennit_error error = *thread_error();
        (void)synchronise(rank, team, Purpose::part, Deadline::after(0));
        *thread_error() = error;
    }
    return status;
}

}  // namespace

sennit_status destroy(Rank &rank, Team &team) {
    const std::uint32_t live = team.segments != nullptr ? team.segments->live : 0;
    // Equal on all members: all refuse.
    if (live != 0)
        return fail(SENNIT_ERR_STATE, "the team still has %u segment%s: call sennit_free first",
                    live, plural(live));
    const sennit_status status = part(rank, team);
    const bool stays = status == SENNIT_ERR_ARG || status == SENNIT_ERR_STATE ||
                       status == SENNIT_ERR_NOMEM || status == SENNIT_ERR_TIMEOUT;
    if (stays && !team.read_failed) return status;
    drop_node_buffer(rank, team);
    const RegistryLock lock(rank);
    rank.team_registry->numbers[team.slot] = team.epoch + kNumberMargin;
    drop(team);
    return status;
}

void free_slot(Rank &rank, std::uint32_t slot) {
    const RegistryLock lock(rank);
    clear(rank.team_registry->used, slot);
}

}  // namespace sennit::team
