// See create.hpp. States and failure cases: docs/design/teams.md.
#include "team/create.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "memory/control_map.hpp"
#include "runtime/wait.hpp"

namespace sennit::team {
namespace {

// What a rank says in the first exchange of a creation.
struct Proposal {
    std::uint32_t status;
    std::int32_t color;
    std::int32_t key;
    std::uint32_t gives_way;  // 1: it offers no slot because of another creation
    std::uint32_t chunks;     // of slots that its memory file has room for (control_map.hpp)
    std::uint32_t unused;
    std::uint64_t digest;
    std::uint64_t free[kSlotWords];
};
static_assert(sizeof(Proposal) == 32 + sizeof(std::uint64_t) * kSlotWords &&
              sizeof(Proposal) <= kExchangeBytes);

// What a rank says in the second.
struct Conclusion {
    std::uint32_t status;
    std::uint32_t again;       // 1: another creation has taken the slot
    std::uint32_t load_store;  // Reach::load_store
    std::uint32_t unused;
    std::uint64_t number;      // Registry::numbers of the slot
    std::uint64_t generation;  // Registry::generations of the slot
};
static_assert(sizeof(Conclusion) == 32);

// A creation while it runs.
struct Creation {
    Rank &rank;
    Team &parent;
    const CreationWish &wish;
    unsigned attempt = 0;
    bool grows = false;      // the next attempt comes after more room for slots was made
    std::uint32_t slot = 0;  // chosen for all colors
    bool taken = false;      // by this rank
    Team *team = nullptr;
    std::uint32_t size = 0;             // members of this rank's color
    Proposal *proposals = nullptr;      // [parent.size]
    Conclusion *conclusions = nullptr;  // [parent.size]
    std::uint32_t *order = nullptr;     // [size of the parent]: members, as ranks of the parent
    int *world_ranks = nullptr;         // the same as world ranks

    bool joins() const { return wish.color >= 0; }
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

// A creation that was disturbed this often lets those of lower slots go first, so that one of any
// number that disturb each other always gets through.
constexpr unsigned kPatience = 3;

bool gives_way(const Registry &registry, const Creation &it) {
    if (it.attempt < kPatience) return false;
    std::uint32_t slot = 0;
    while (!has(registry.creating, slot))
        ++slot;
    return slot < it.parent.slot;
}

std::uint32_t own_chunks(Rank &rank) {
    const ColdLock lock(rank);
    return memory::control_chunks(*rank.control);
}

void propose(Creation &it, Proposal *mine) {
    *mine = Proposal{static_cast<std::uint32_t>(it.wish.refused),
                     it.wish.color,
                     it.wish.key,
                     0,
                     own_chunks(it.rank),
                     0,
                     it.wish.digest,
                     {}};
    const std::uint32_t slots = memory::control_slots(mine->chunks);
    const RegistryLock lock(it.rank);
    const Registry &registry = *it.rank.team_registry;
    mine->gives_way = gives_way(registry, it) ? 1 : 0;
    for (std::size_t word = 0; mine->gives_way == 0 && word < kSlotWords; ++word)
        mine->free[word] = ~registry.used[word];
    for (std::uint32_t slot = slots; slot < kTeamSlots; ++slot)
        clear(mine->free, slot);
}

// Do all proposals stand, and belong together? The lowest rank whose does not decides.
sennit_status judge(const Creation &it) {
    const Proposal &mine = it.proposals[it.parent.rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < it.parent.size; ++member) {
        const Proposal &theirs = it.proposals[member];
        const int peer = it.parent.world_ranks[member];
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

// A slot that all who join a team have free: one for all colors, which share no rank. The lowest at
// first; after a disturbance another one for each parent. 0 if there is none.
std::uint32_t choose_slot(const Creation &it) {
    std::uint64_t common[kSlotWords];
    std::memset(common, 0xFF, sizeof common);
    for (std::uint32_t member = 0; member < it.parent.size; ++member) {
        if (it.proposals[member].color < 0) continue;
        for (std::size_t word = 0; word < kSlotWords; ++word)
            common[word] &= it.proposals[member].free[word];
    }
    const std::uint32_t start =
        it.attempt == 0 ? 0 : (it.parent.slot * 37 + it.attempt * 101) % kTeamSlots;
    for (std::uint32_t i = 0; i < kTeamSlots; ++i) {
        const std::uint32_t slot = (start + i) % kTeamSlots;
        if (slot > kNodeSlot && has(common, slot)) return slot;
    }
    return 0;
}

// No slot is free on all who join: those with the fewest chunks of slots get as many as the others
// have, all one more where all have the same. The same decision on every rank. Errors: NOMEM, OS.
sennit_status make_room(Creation &it) {
    std::uint32_t fewest = UINT32_MAX;
    std::uint32_t most = 0;
    for (std::uint32_t member = 0; member < it.parent.size; ++member) {
        if (it.proposals[member].color < 0) continue;
        fewest = std::min(fewest, it.proposals[member].chunks);
        most = std::max(most, it.proposals[member].chunks);
    }
    if (fewest == kTeamChunks)
        return fail(SENNIT_ERR_NOMEM, "the ranks have %zu teams, which is the most",
                    kTeamSlots - kNodeSlot - 1);
    it.grows = true;
    if (!it.joins()) return SENNIT_OK;
    const ColdLock lock(it.rank);
    return memory::control_grow(it.rank, fewest == most ? most + 1 : most);
}

// The members of this rank's color in the order of the new team.
std::uint32_t collect_members(Creation &it) {
    std::uint32_t count = 0;
    for (std::uint32_t member = 0; member < it.parent.size; ++member)
        if (it.proposals[member].color == it.wish.color) it.order[count++] = member;
    std::sort(it.order, it.order + count, [&](std::uint32_t a, std::uint32_t b) {
        const std::int32_t key_a = it.proposals[a].key;
        const std::int32_t key_b = it.proposals[b].key;
        return key_a != key_b ? key_a < key_b : a < b;
    });
    for (std::uint32_t i = 0; i < count; ++i)
        it.world_ranks[i] = it.parent.world_ranks[it.order[i]];
    return count;
}

// Takes the slot. False if another creation was faster.
bool take_slot(Creation &it) {
    const RegistryLock lock(it.rank);
    if (has(it.rank.team_registry->used, it.slot)) return false;
    set(it.rank.team_registry->used, it.slot);
    return it.taken = true;
}

// The members' words of the slot can be reached where their control blocks can.
sennit_status reach_words(Creation &it) {
    const ColdLock lock(it.rank);
    for (std::uint32_t i = 0; i < it.size; ++i) {
        const sennit_status status = memory::control_reach(it.rank, it.world_ranks[i], it.slot);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status make_part(Creation &it) {
    it.size = collect_members(it);
    std::uint32_t self = 0;
    while (it.order[self] != it.parent.rank)
        ++self;
    sennit_status status = reach_words(it);
    if (status != SENNIT_OK) return status;
    status = make(it.rank, it.slot, {it.size, self, it.world_ranks}, &it.team);
    if (status != SENNIT_OK) return status;
    const Reach reach = own_reach(it.rank, *it.team);
    it.team->all_load_store = reach.load_store;
    return reach.some_path ? SENNIT_OK
                           : fail(SENNIT_ERR_OTHER_NODE,
                                  "no path leads from this rank to some member of the new team");
}

// This rank's part in the team that the proposals make.
Conclusion conclude(Creation &it, sennit_status status) {
    Conclusion mine{};
    bool anyone = false;
    bool waits = false;
    for (std::uint32_t member = 0; status == SENNIT_OK && member < it.parent.size; ++member) {
        anyone |= it.proposals[member].color >= 0;
        waits |= it.proposals[member].gives_way != 0;
    }
    if (status == SENNIT_OK && anyone) {
        it.slot = choose_slot(it);
        if (it.slot == 0 && !waits) status = make_room(it);
        mine.again = it.slot == 0 || (it.joins() && !take_slot(it)) ? 1 : 0;
    }
    if (it.taken) {
        status = make_part(it);
        const RegistryLock lock(it.rank);
        mine.load_store = it.team != nullptr && it.team->all_load_store ? 1 : 0;
        mine.number = it.rank.team_registry->numbers[it.slot];
        mine.generation = it.rank.team_registry->generations[it.slot];
    }
    mine.status = static_cast<std::uint32_t>(status);
    return mine;
}

// What all conclusions come to: OK, an error, or `*again`.
sennit_status judge_conclusions(const Creation &it, bool *again) {
    const Conclusion &mine = it.conclusions[it.parent.rank];
    if (mine.status != SENNIT_OK) return static_cast<sennit_status>(mine.status);
    for (std::uint32_t member = 0; member < it.parent.size; ++member) {
        const auto status = static_cast<sennit_status>(it.conclusions[member].status);
        const int peer = it.parent.world_ranks[member];
        if (status != SENNIT_OK)
            return fail_peer(status, peer, "", "rank %d could not make its part of the team: %s",
                             peer, sennit_status_string(status));
        *again |= it.conclusions[member].again != 0;
    }
    return SENNIT_OK;
}

// The team comes to nothing on this rank. A slot whose other takers are not known stays taken.
void take_back(Creation &it, bool spoilt) {
    const sennit_error error = *thread_error();
    if (it.team != nullptr) drop(*it.team);
    if (it.taken && !spoilt) {
        const RegistryLock lock(it.rank);
        clear(it.rank.team_registry->used, it.slot);
    }
    it.team = nullptr;
    it.taken = false;
    *thread_error() = error;
}

// All could make their part: what its members know of the slot decides where its numbers begin.
void finish(Creation &it, std::uint32_t *handle) {
    Team &team = *it.team;
    std::uint64_t number = 0;
    std::uint64_t generation = 0;
    bool load_store = true;
    for (std::uint32_t i = 0; i < it.size; ++i) {
        const Conclusion &theirs = it.conclusions[it.order[i]];
        number = std::max(number, theirs.number);
        generation = std::max(generation, theirs.generation);
        load_store &= theirs.load_store != 0;
    }
    {
        const RegistryLock lock(it.rank);
        it.rank.team_registry->generations[team.slot] = generation + 1;
    }
    agree_on_reach(team, {load_store, true});
    team.grid = it.wish.grid;
    open(team, generation + 1, number);
    *handle = make_handle(team.slot, generation + 1);
}

// One try. `*again`: it was disturbed, and nothing is kept.
sennit_status attempt(Creation &it, std::uint32_t *handle, bool *again) {
    Proposal mine;
    propose(it, &mine);
    const Exchange first{Purpose::propose, &mine, sizeof mine, it.proposals};
    sennit_status status = exchange(it.rank, it.parent, first,
                                    it.attempt == 0 ? default_deadline() : Deadline::never());
    // A letter that could not be read is this rank's trouble alone: the others go on, so it votes.
    if (status != SENNIT_OK && !it.parent.read_failed) return status;
    if (status == SENNIT_OK) status = judge(it);
    const Conclusion conclusion = conclude(it, status);
    const Exchange second{Purpose::conclude, &conclusion, sizeof conclusion, it.conclusions};
    status = exchange(it.rank, it.parent, second, Deadline::never());
    if (status != SENNIT_OK) {
        take_back(it, true);
        return status;
    }
    status = judge_conclusions(it, again);
    if (status != SENNIT_OK || *again) {
        take_back(it, false);
        return status;
    }
    *handle = 0;
    if (it.team != nullptr) finish(it, handle);
    return SENNIT_OK;
}

// One piece of memory for the arrays of a creation. Null without memory.
void *make_arrays(Creation &it) {
    const std::size_t size = it.parent.size;
    const std::size_t each =
        sizeof(Proposal) + sizeof(Conclusion) + sizeof(std::uint32_t) + sizeof(int);
    auto *memory = static_cast<std::byte *>(std::calloc(size, each));
    if (memory == nullptr) return nullptr;
    it.proposals = reinterpret_cast<Proposal *>(memory);
    it.conclusions = reinterpret_cast<Conclusion *>(it.proposals + size);
    it.order = reinterpret_cast<std::uint32_t *>(it.conclusions + size);
    it.world_ranks = reinterpret_cast<int *>(it.order + size);
    return memory;
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
    std::free(rank.team_registry);
    rank.team_registry = nullptr;
}

sennit_status create(Rank &rank, Team &parent, const CreationWish &wish, std::uint32_t *handle) {
    Creation it{rank, parent, wish};
    void *arrays = make_arrays(it);
    if (arrays == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the creation of a team");
    {
        const RegistryLock lock(rank);
        set(rank.team_registry->creating, parent.slot);
    }
    bool again = true;
    sennit_status status = SENNIT_OK;
    while (again && status == SENNIT_OK) {
        again = false;
        it.grows = false;
        status = attempt(it, handle, &again);
        // Room for more is no disturbance.
        if (!it.grows) ++it.attempt;
    }
    {
        const RegistryLock lock(rank);
        clear(rank.team_registry->creating, parent.slot);
    }
    std::free(arrays);
    return status;
}

namespace {

// The members agree that the team goes. The second meeting is for the mailboxes: whoever gets the
// slot next may write there as soon as it has left.
sennit_status part(Rank &rank, Team &team) {
    auto *handles = static_cast<std::uint32_t *>(std::calloc(team.size, sizeof(std::uint32_t)));
    if (handles == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the answers of the ranks");
    // relaxed: this thread has the team's turn.
    const std::uint32_t mine = team.handle.load(std::memory_order_relaxed);
    // As with the vote of an allocation, only the loss of a rank ends these waits.
    sennit_status status =
        exchange(rank, team, {Purpose::destroy, &mine, sizeof mine, handles}, Deadline::never());
    std::free(handles);
    if (status == SENNIT_OK) return meet(rank, team, Purpose::destroy, Deadline::never());
    if (team.read_failed) {
        // The others are in the second meeting: this rank comes, and does not wait.
        const sennit_error error = *thread_error();
        (void)meet(rank, team, Purpose::destroy, Deadline::after(0));
        *thread_error() = error;
    }
    return status;
}

}  // namespace

sennit_status destroy(Rank &rank, Team &team, std::uint32_t handle) {
    const std::uint32_t slot = team.slot;
    sennit_status status = SENNIT_OK;
    {
        const CollectiveCall call(team, handle);
        if (call.status() != SENNIT_OK) return call.status();
        const std::uint32_t live = team.segments != nullptr ? team.segments->live : 0;
        // Alike on all members: all refuse.
        if (live != 0)
            return fail(SENNIT_ERR_STATE, "the team still has %u segments: free them first", live);
        status = part(rank, team);
        const bool kept =
            status == SENNIT_ERR_ARG || status == SENNIT_ERR_STATE || status == SENNIT_ERR_NOMEM;
        if (kept && !team.read_failed) return status;
        const RegistryLock lock(rank);
        rank.team_registry->numbers[slot] = team.epoch + kNumberMargin;
        drop(team);
    }
    // After an error somebody may still be in the team: this rank does not use the slot again.
    const RegistryLock lock(rank);
    if (status == SENNIT_OK) clear(rank.team_registry->used, slot);
    return status;
}

}  // namespace sennit::team
