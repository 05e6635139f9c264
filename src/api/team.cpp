// SPDX-License-Identifier: BSD-3-Clause
// Teams. Creation is collective: a rank with wrong arguments joins the call too and reports its
// error to the others, so that they do not wait for it.
#include <sennit/team.h>

#include <cstdlib>
#include <initializer_list>

#include "api/ranks.hpp"
#include "base/array.hpp"
#include "base/fail_rank.hpp"
#include "coll/collectives.hpp"

namespace sennit::api {

sennit_status check_ranks(std::size_t count, const int ranks[], int limit, const char *where) {
    if (count == 0) return SENNIT_OK;
    if (ranks == nullptr) return null_argument("ranks");
    for (std::size_t i = 0; i < count; ++i) {
        if (ranks[i] < 0 || ranks[i] >= limit)
            return fail(SENNIT_ERR_RANGE, "rank %d is outside 0 to %d of %s", ranks[i], limit - 1,
                        where);
        if (i >= static_cast<std::size_t>(limit))
            return fail(SENNIT_ERR_ARG,
                        "%zu ranks are listed, but %s has %d: some are listed twice", count, where,
                        limit);
    }
    const Array<bool> seen(static_cast<std::size_t>(limit));
    if (seen == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for %d ranks", limit);
    for (std::size_t i = 0; i < count; ++i) {
        if (seen[ranks[i]]) return fail(SENNIT_ERR_ARG, "rank %d is listed twice", ranks[i]);
        seen[ranks[i]] = true;
    }
    return SENNIT_OK;
}

void args_for(const team::Team &parent, std::size_t count, const int ranks[],
              team::CreationArgs *args) {
    Digest digest(kOfRanks);
    digest.add(count);
    for (std::size_t i = 0; i < count; ++i) {
        digest.add(ranks[i]);
        if (ranks[i] != static_cast<int>(parent.rank)) continue;
        args->color = 0;
        args->key = static_cast<int>(i);
    }
    args->digest = digest.sum();
}

sennit_status create_team(Rank &rank, team::Team &parent, sennit_team handle,
                          const team::CreationArgs &args, sennit_team *out) {
    const team::CollectiveCall call(parent, handle.handle);
    std::uint32_t made = 0;
    const sennit_status status =
        call.status() != SENNIT_OK ? call.status() : team::create(rank, parent, args, &made);
    if (status == SENNIT_OK) out->handle = made;
    // If a team was made, it owns the grid now.
    if (status != SENNIT_OK || made == 0) std::free(args.grid);
    return status;
}

namespace {

// The color of this rank: the lowest member of the parent that is within `level` of it. All members
// within that level of each other get the same color.
int color_of(const Rank &rank, const team::Team &parent, sennit_locality_level level) {
    const int numa = rank.peers[rank.world_rank].numa;
    for (std::uint32_t member = 0; member < parent.size; ++member) {
        const Peer &peer = rank.peers[parent.world_ranks[member]];
        const bool near = level == SENNIT_LOCALITY_NETWORK ||
                          (level == SENNIT_LOCALITY_NODE && peer.same_node) ||
                          (level == SENNIT_LOCALITY_NUMA && peer.same_node && peer.numa == numa) ||
                          (level == SENNIT_LOCALITY_PROCESS && peer.same_process);
        if (near || member == parent.rank) return static_cast<int>(member);
    }
    return SENNIT_COLOR_NONE;
}

sennit_status strided_args(const team::Team &parent, int start, int stride, int count,
                           team::CreationArgs *args) {
    Digest digest(kStrided);
    for (const int value : {start, stride, count})
        digest.add(value);
    args->digest = digest.sum();
    const auto size = static_cast<std::int64_t>(parent.size);
    if (count < 0) return fail(SENNIT_ERR_ARG, "count is %d, but must not be negative", count);
    if (count > 1 && stride == 0)
        return fail(SENNIT_ERR_ARG, "stride is 0, but count is more than 1");
    if (count == 0) return SENNIT_OK;
    const std::int64_t last = start + static_cast<std::int64_t>(stride) * (count - 1);
    if (start < 0 || start >= size || last < 0 || last >= size)
        return fail(SENNIT_ERR_RANGE, "ranks %d to %lld are outside 0 to %lld of the parent", start,
                    static_cast<long long>(last), static_cast<long long>(size - 1));
    const std::int64_t distance = static_cast<std::int64_t>(parent.rank) - start;
    const std::int64_t place = stride != 0 ? distance / stride : 0;
    if (distance != place * stride || place < 0 || place >= count) return SENNIT_OK;
    args->color = 0;
    args->key = static_cast<int>(place);
    return SENNIT_OK;
}

sennit_status locality_args(const Rank &rank, const team::Team &parent, sennit_locality_level level,
                            team::CreationArgs *args) {
    Digest digest(kByLocality);
    digest.add(static_cast<int>(level));
    args->digest = digest.sum();
    args->color = color_of(rank, parent, level);
    return level >= SENNIT_LOCALITY_SELF && level <= SENNIT_LOCALITY_NETWORK
               ? SENNIT_OK
               : fail(SENNIT_ERR_ARG, "there is no locality level %d", static_cast<int>(level));
}

sennit_status check_member(const team::Team &team, int rank) {
    if (rank >= 0 && rank < static_cast<int>(team.size)) return SENNIT_OK;
    return fail_no_rank(rank, team.size, " of the team");
}

sennit_status destroy(Rank &rank, team::Team &team, std::uint32_t handle) {
    if (team.slot <= team::kNodeSlot)
        return fail(SENNIT_ERR_ARG, "SENNIT_TEAM_WORLD and SENNIT_TEAM_NODE cannot be destroyed");
    const std::uint32_t slot = team.slot;
    sennit_status status = SENNIT_OK;
    {
        const team::CollectiveCall turn(team, handle);
        status = turn.status();
        if (status == SENNIT_OK) status = coll::check_idle(rank, team);
        if (status == SENNIT_OK) status = team::destroy(rank, team);
        if (status == SENNIT_OK) coll::release(rank, slot);
    }
    // After an error other members may still use the team, so the slot is not reused.
    if (status == SENNIT_OK) team::free_slot(rank, slot);
    return status;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_team_create(sennit_team parent, size_t count, const int ranks[],
                                 sennit_team *team) {
    return creation_call(
        __func__, parent, team, [=](Rank &, team::Team &found, team::CreationArgs *args) {
            const auto size = static_cast<int>(found.size);
            const sennit_status status = check_ranks(count, ranks, size, "the parent");
            if (status == SENNIT_OK) args_for(found, count, ranks, args);
            return status;
        });
}

sennit_status sennit_team_split(sennit_team parent, int color, int key, sennit_team *team) {
    return creation_call(__func__, parent, team,
                         [=](Rank &, team::Team &, team::CreationArgs *args) {
                             *args = {color, key, Digest(kSplit).sum()};
                             return SENNIT_OK;
                         });
}

sennit_status sennit_team_split_strided(sennit_team parent, int start, int stride, int count,
                                        sennit_team *team) {
    return creation_call(__func__, parent, team,
                         [=](Rank &, team::Team &found, team::CreationArgs *args) {
                             return strided_args(found, start, stride, count, args);
                         });
}

sennit_status sennit_team_split_locality(sennit_team parent, sennit_locality_level level,
                                         sennit_team *team) {
    return creation_call(__func__, parent, team,
                         [=](Rank &rank, team::Team &found, team::CreationArgs *args) {
                             return locality_args(rank, found, level, args);
                         });
}

sennit_status sennit_team_rank(sennit_team team, int *rank) {
    return team_call(__func__, team, [=](Rank &, team::Team &found) {
        if (rank == nullptr) return null_argument("rank");
        *rank = static_cast<int>(found.rank);
        return SENNIT_OK;
    });
}

sennit_status sennit_team_size(sennit_team team, int *size) {
    return team_call(__func__, team, [=](Rank &, team::Team &found) {
        if (size == nullptr) return null_argument("size");
        *size = static_cast<int>(found.size);
        return SENNIT_OK;
    });
}

sennit_status sennit_team_world_rank(sennit_team team, int rank, int *world_rank) {
    return team_call(__func__, team, [=](Rank &, team::Team &found) {
        if (world_rank == nullptr) return null_argument("world_rank");
        const sennit_status status = check_member(found, rank);
        if (status == SENNIT_OK) *world_rank = found.world_ranks[rank];
        return status;
    });
}

sennit_status sennit_team_translate(sennit_team from, int rank, sennit_team to, int *translated) {
    return team_call(__func__, from, [=](Rank &self, team::Team &source) {
        const team::Team *target = team::find(self, to.handle);
        if (target == nullptr) return no_team(to.handle);
        if (translated == nullptr) return null_argument("translated");
        const sennit_status status = check_member(source, rank);
        if (status == SENNIT_OK) *translated = team::member_of(*target, source.world_ranks[rank]);
        return status;
    });
}

sennit_status sennit_team_destroy(sennit_team team) {
    const char *const name = __func__;
    return team_call(name, team, [=](Rank &rank, team::Team &found) {
        const runtime::Observed observed(rank, name);
        return destroy(rank, found, team.handle);
    });
}

}  // extern "C"
