// SPDX-License-Identifier: BSD-3-Clause
#include "group/group.hpp"

#include <cstdlib>
#include <new>

#include "base/fail.hpp"
#include "base/handle_table.hpp"
#include "rank/part.hpp"

namespace sennit::group {
struct Groups;
}
template <>
struct sennit::PartType<sennit::Part::groups> {
    using Type = sennit::group::Groups;
};

namespace sennit::group {

namespace {

struct StoredGroup {
    std::atomic<std::uint64_t> handle;
    int *ranks;
    std::uint32_t count;
};

// At most 2^20 - 1 groups exist at a time, so a program that never destroys groups gets an error.
using GroupTable =
    HandleTable<StoredGroup, HandleLayout<std::uint64_t, 20, 32>, TableShape{1u << 20, 64}>;

}  // namespace

struct Groups {
    GroupTable table;
};

namespace {

sennit_status no_group(sennit_group group) {
    return fail(SENNIT_ERR_ARG, "group %#llx does not exist, or was destroyed",
                static_cast<unsigned long long>(group.handle));
}

// Called with the rank's cold mutex held.
StoredGroup *find_group(Rank &rank, sennit_group group) {
    const Groups *groups = rank.groups;
    return groups == nullptr ? nullptr : groups->table.find(group.handle);
}

// Called with the rank's cold mutex held. Null: no memory.
Groups *open_groups(Rank &rank) {
    if (rank.groups == nullptr) rank.groups = new (std::nothrow) Groups;
    return rank.groups;
}

}  // namespace

sennit_status RankList::reserve(std::size_t count) {
    count_ = 0;
    ranks_ = Array<int>(count);
    return ranks_ != nullptr ? SENNIT_OK : fail(SENNIT_ERR_NOMEM, "no memory for %zu ranks", count);
}

sennit_status Places::fill(const Rank &rank, const RankList &list) {
    const std::size_t size = size_of(rank);
    places_ = Array<int>(size);
    if (places_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for %zu ranks", size);
    for (std::size_t world_rank = 0; world_rank < size; ++world_rank)
        places_[world_rank] = SENNIT_RANK_NONE;
    for (std::size_t place = 0; place < list.count(); ++place)
        places_[list[place]] = static_cast<int>(place);
    return SENNIT_OK;
}

sennit_status group_read(Rank &rank, sennit_group group, RankList *list) {
    const ColdLock lock(rank);
    const StoredGroup *found = find_group(rank, group);
    if (found == nullptr) return no_group(group);
    const sennit_status status = list->reserve(found->count);
    if (status == SENNIT_OK) list->push(found->ranks, found->count);
    return status;
}

sennit_status group_keep(Rank &rank, RankList *list, sennit_group *group) {
    const ColdLock lock(rank);
    Groups *groups = open_groups(rank);
    StoredGroup *made = groups == nullptr ? nullptr : groups->table.take();
    if (made == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for another group, or %u exist already",
                    GroupTable::kMost);
    made->count = static_cast<std::uint32_t>(list->count());
    made->ranks = list->release();
    group->handle = groups->table.publish(*made);
    return SENNIT_OK;
}

sennit_status group_destroy(Rank &rank, sennit_group group) {
    const ColdLock lock(rank);
    StoredGroup *found = find_group(rank, group);
    if (found == nullptr) return no_group(group);
    std::free(found->ranks);
    found->ranks = nullptr;
    rank.groups->table.give_back(*found);
    return SENNIT_OK;
}

void groups_close(Rank &rank) {
    Groups *groups = rank.groups;
    if (groups == nullptr) return;
    groups->table.each([](const StoredGroup &group) { std::free(group.ranks); });
    groups->table.close();
    delete groups;
    rank.groups = nullptr;
}

}  // namespace sennit::group
