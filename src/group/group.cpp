// See group.hpp.
#include "group/group.hpp"

#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"

namespace sennit::group {

namespace {

struct Group {
    int *ranks;
    std::uint32_t count;
    std::uint32_t generation;  // goes up when the place is given away; never 0 while in use
    std::uint32_t next_free;   // while free: index + 1 of the next free place
    bool in_use;
};

// Groups at once, so that a program that never destroys them is told before memory ends.
constexpr std::uint32_t kMostGroups = 1u << 20;

}  // namespace

struct Groups {
    Group *all;
    std::uint32_t count;       // places that exist
    std::uint32_t first_free;  // index + 1; 0: none
};

namespace {

sennit_status no_group(sennit_group group) {
    return fail(SENNIT_ERR_ARG, "group %#llx does not exist, or was destroyed",
                static_cast<unsigned long long>(group.handle));
}

// With the lock held.
Group *find_group(Rank &rank, sennit_group group) {
    const Groups *groups = rank.groups;
    const std::uint64_t place = group.handle & UINT32_MAX;
    if (groups == nullptr || place == 0 || place > groups->count) return nullptr;
    Group &found = groups->all[place - 1];
    return found.in_use && found.generation == group.handle >> 32 ? &found : nullptr;
}

bool grow(Groups *groups) {
    const std::uint32_t wanted = groups->count == 0 ? 16 : groups->count * 2;
    if (wanted > kMostGroups) return false;
    auto *all = static_cast<Group *>(std::realloc(groups->all, wanted * sizeof(Group)));
    if (all == nullptr) return false;
    std::memset(all + groups->count, 0, (wanted - groups->count) * sizeof(Group));
    for (std::uint32_t place = wanted; place > groups->count; --place) {
        all[place - 1].next_free = groups->first_free;
        groups->first_free = place;
    }
    groups->all = all;
    groups->count = wanted;
    return true;
}

// With the lock held. Null without memory.
Groups *open_groups(Rank &rank) {
    Groups *&groups = rank.groups;
    if (groups == nullptr) groups = static_cast<Groups *>(std::calloc(1, sizeof(Groups)));
    return groups;
}

}  // namespace

RankList::~RankList() {
    std::free(ranks_);
}

sennit_status RankList::reserve(std::size_t count) {
    std::free(ranks_);
    count_ = 0;
    ranks_ = count <= PTRDIFF_MAX / sizeof(int)
                 ? static_cast<int *>(std::malloc(sizeof(int) * (count == 0 ? 1 : count)))
                 : nullptr;
    return ranks_ != nullptr ? SENNIT_OK : fail(SENNIT_ERR_NOMEM, "no memory for %zu ranks", count);
}

int *RankList::release() {
    int *ranks = ranks_;
    ranks_ = nullptr;
    count_ = 0;
    return ranks;
}

Places::~Places() {
    std::free(places_);
}

sennit_status Places::fill(const Rank &rank, const RankList &list) {
    // relaxed: constant while the rank is in use.
    const std::size_t size = rank.size.load(std::memory_order_relaxed);
    std::free(places_);
    places_ = static_cast<int *>(std::malloc(sizeof(int) * size));
    if (places_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for %zu ranks", size);
    for (std::size_t world_rank = 0; world_rank < size; ++world_rank)
        places_[world_rank] = SENNIT_RANK_NONE;
    for (std::size_t place = 0; place < list.count(); ++place)
        places_[list[place]] = static_cast<int>(place);
    return SENNIT_OK;
}

sennit_status group_read(Rank &rank, sennit_group group, RankList *list) {
    const ColdLock lock(rank);
    const Group *found = find_group(rank, group);
    if (found == nullptr) return no_group(group);
    const sennit_status status = list->reserve(found->count);
    if (status != SENNIT_OK) return status;
    for (std::uint32_t place = 0; place < found->count; ++place)
        list->push(found->ranks[place]);
    return SENNIT_OK;
}

sennit_status group_keep(Rank &rank, RankList *list, sennit_group *group) {
    const ColdLock lock(rank);
    Groups *groups = open_groups(rank);
    if (groups == nullptr || (groups->first_free == 0 && !grow(groups)))
        return fail(SENNIT_ERR_NOMEM, "no memory for another group, or %u of them", kMostGroups);
    const std::uint32_t place = groups->first_free;
    Group &made = groups->all[place - 1];
    groups->first_free = made.next_free;
    made.in_use = true;
    if (++made.generation == 0) made.generation = 1;
    made.count = static_cast<std::uint32_t>(list->count());
    made.ranks = list->release();
    group->handle = static_cast<std::uint64_t>(made.generation) << 32 | place;
    return SENNIT_OK;
}

sennit_status group_destroy(Rank &rank, sennit_group group) {
    const ColdLock lock(rank);
    Group *found = find_group(rank, group);
    if (found == nullptr) return no_group(group);
    Groups &groups = *rank.groups;
    std::free(found->ranks);
    found->ranks = nullptr;
    found->in_use = false;
    found->next_free = groups.first_free;
    groups.first_free = static_cast<std::uint32_t>(group.handle);
    return SENNIT_OK;
}

void groups_close(Rank &rank) {
    Groups *groups = rank.groups;
    if (groups == nullptr) return;
    for (std::uint32_t place = 0; place < groups->count; ++place)
        std::free(groups->all[place].ranks);
    std::free(groups->all);
    std::free(groups);
    rank.groups = nullptr;
}

}  // namespace sennit::group
