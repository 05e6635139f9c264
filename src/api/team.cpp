// Teams. A rank whose arguments are wrong takes part and says so, lest the others wait for it.
#include <sennit/team.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "api/call.hpp"
#include "api/ranks.hpp"
#include "coll/collectives.hpp"
#include "observe/observer.hpp"

namespace sennit::api {

sennit_status check_ranks(std::size_t count, const int ranks[], int limit, const char *where) {
    if (count == 0) return SENNIT_OK;
    if (ranks == nullptr) return null_argument("ranks");
    for (std::size_t i = 0; i < count; ++i) {
        if (ranks[i] < 0 || ranks[i] >= limit)
            return fail(SENNIT_ERR_RANGE, "rank %d is outside 0 to %d of %s", ranks[i], limit - 1,
                        where);
        if (i >= static_cast<std::size_t>(limit))
            return fail(SENNIT_ERR_ARG, "%zu ranks of %s, which has %d: some are there twice",
                        count, where, limit);
    }
    auto *seen = static_cast<bool *>(std::calloc(static_cast<std::size_t>(limit), sizeof(bool)));
    if (seen == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for %d ranks", limit);
    sennit_status status = SENNIT_OK;
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i) {
        if (seen[ranks[i]]) status = fail(SENNIT_ERR_ARG, "rank %d is there twice", ranks[i]);
        seen[ranks[i]] = true;
    }
    std::free(seen);
    return status;
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
    // Given to the team, if there is one now.
    if (status != SENNIT_OK || made == 0) std::free(args.grid);
    return status;
}

namespace {

sennit_status null_output() {
    return null_argument("team");
}

// The lowest member of the parent that is as near as `level` says: the color of all of them.
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

void args_strided(const team::Team &parent, int start, int stride, int count,
                  team::CreationArgs *args) {
    Digest digest(kStrided);
    for (const int value : {start, stride, count})
        digest.add(value);
    args->digest = digest.sum();
    const auto size = static_cast<std::int64_t>(parent.size);
    if (count < 0 || (count > 1 && stride == 0)) {
        args->refused = fail(SENNIT_ERR_ARG, "%d ranks with stride %d are none", count, stride);
        return;
    }
    if (count == 0) return;
    const std::int64_t last = start + static_cast<std::int64_t>(stride) * (count - 1);
    if (start < 0 || start >= size || last < 0 || last >= size) {
        args->refused = fail(SENNIT_ERR_RANGE, "ranks %d to %lld leave the parent, which has %lld",
                             start, static_cast<long long>(last), static_cast<long long>(size));
        return;
    }
    const std::int64_t distance = static_cast<std::int64_t>(parent.rank) - start;
    const std::int64_t place = stride != 0 ? distance / stride : 0;
    if (distance != place * stride || place < 0 || place >= count) return;
    args->color = 0;
    args->key = static_cast<int>(place);
}

// Every public function below that asks about a team begins so.
team::Team *known_team(Rank *rank, sennit_team handle, const char *name, sennit_status *status) {
    if (rank == nullptr) {
        *status = no_rank(name);
        return nullptr;
    }
    team::Team *found = team::find(*rank, handle.handle);
    if (found == nullptr) *status = fail_in(no_team(handle.handle), name);
    return found;
}

sennit_status check_member(const team::Team &team, int rank) {
    if (rank >= 0 && rank < static_cast<int>(team.size)) return SENNIT_OK;
    return fail(SENNIT_ERR_RANGE, "rank %d is outside 0 to %u of the team", rank, team.size - 1);
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_team_create(sennit_team parent, size_t count, const int ranks[],
                                 sennit_team *team) {
    const char *const name = "sennit_team_create";
    Rank *rank = caller();
    sennit_status status = SENNIT_OK;
    team::Team *found = known_team(rank, parent, name, &status);
    if (found == nullptr) return status;
    team::CreationArgs args;
    args.refused = team == nullptr
                       ? null_output()
                       : check_ranks(count, ranks, static_cast<int>(found->size), "the parent");
    if (args.refused == SENNIT_OK) args_for(*found, count, ranks, &args);
    const runtime::Observed observed(*rank, name);
    return done(create_team(*rank, *found, parent, args, team), name);
}

sennit_status sennit_team_split(sennit_team parent, int color, int key, sennit_team *team) {
    const char *const name = "sennit_team_split";
    Rank *rank = caller();
    sennit_status status = SENNIT_OK;
    team::Team *found = known_team(rank, parent, name, &status);
    if (found == nullptr) return status;
    team::CreationArgs args{color, key, Digest(kSplit).sum()};
    if (team == nullptr) args.refused = null_output();
    const runtime::Observed observed(*rank, name);
    return done(create_team(*rank, *found, parent, args, team), name);
}

sennit_status sennit_team_split_strided(sennit_team parent, int start, int stride, int count,
                                        sennit_team *team) {
    const char *const name = "sennit_team_split_strided";
    Rank *rank = caller();
    sennit_status status = SENNIT_OK;
    team::Team *found = known_team(rank, parent, name, &status);
    if (found == nullptr) return status;
    team::CreationArgs args;
    args_strided(*found, start, stride, count, &args);
    if (args.refused == SENNIT_OK && team == nullptr) args.refused = null_output();
    const runtime::Observed observed(*rank, name);
    return done(create_team(*rank, *found, parent, args, team), name);
}

sennit_status sennit_team_split_locality(sennit_team parent, sennit_locality_level level,
                                         sennit_team *team) {
    const char *const name = "sennit_team_split_locality";
    Rank *rank = caller();
    sennit_status status = SENNIT_OK;
    team::Team *found = known_team(rank, parent, name, &status);
    if (found == nullptr) return status;
    Digest digest(kByLocality);
    digest.add(static_cast<int>(level));
    team::CreationArgs args{color_of(*rank, *found, level), 0, digest.sum()};
    if (level < SENNIT_LOCALITY_SELF || level > SENNIT_LOCALITY_NETWORK)
        args.refused = fail(SENNIT_ERR_ARG, "locality level %d is none", static_cast<int>(level));
    if (args.refused == SENNIT_OK && team == nullptr) args.refused = null_output();
    const runtime::Observed observed(*rank, name);
    return done(create_team(*rank, *found, parent, args, team), name);
}

sennit_status sennit_team_rank(sennit_team team, int *rank) {
    const char *const name = "sennit_team_rank";
    sennit_status status = SENNIT_OK;
    const team::Team *found = known_team(caller(), team, name, &status);
    if (found == nullptr) return status;
    if (rank == nullptr) return null_argument("rank", name);
    *rank = static_cast<int>(found->rank);
    return SENNIT_OK;
}

sennit_status sennit_team_size(sennit_team team, int *size) {
    const char *const name = "sennit_team_size";
    sennit_status status = SENNIT_OK;
    const team::Team *found = known_team(caller(), team, name, &status);
    if (found == nullptr) return status;
    if (size == nullptr) return null_argument("size", name);
    *size = static_cast<int>(found->size);
    return SENNIT_OK;
}

sennit_status sennit_team_world_rank(sennit_team team, int rank, int *world_rank) {
    const char *const name = "sennit_team_world_rank";
    sennit_status status = SENNIT_OK;
    const team::Team *found = known_team(caller(), team, name, &status);
    if (found == nullptr) return status;
    if (world_rank == nullptr) return null_argument("world_rank", name);
    status = check_member(*found, rank);
    if (status != SENNIT_OK) return fail_in(status, name);
    *world_rank = found->world_ranks[rank];
    return SENNIT_OK;
}

sennit_status sennit_team_translate(sennit_team from, int rank, sennit_team to, int *translated) {
    const char *const name = "sennit_team_translate";
    sennit_status status = SENNIT_OK;
    const team::Team *source = known_team(caller(), from, name, &status);
    if (source == nullptr) return status;
    const team::Team *target = known_team(caller(), to, name, &status);
    if (target == nullptr) return status;
    if (translated == nullptr) return null_argument("translated", name);
    status = check_member(*source, rank);
    if (status != SENNIT_OK) return fail_in(status, name);
    *translated = team::member_of(*target, source->world_ranks[rank]);
    return SENNIT_OK;
}

sennit_status sennit_team_destroy(sennit_team team) {
    const char *const name = "sennit_team_destroy";
    Rank *rank = caller();
    sennit_status status = SENNIT_OK;
    team::Team *found = known_team(rank, team, name, &status);
    if (found == nullptr) return status;
    if (found->slot <= team::kNodeSlot)
        return fail_in(fail(SENNIT_ERR_ARG, "the world and the node end with the rank"), name);
    const runtime::Observed observed(*rank, name);
    const std::uint32_t slot = found->slot;
    {
        const team::CollectiveCall call(*found, team.handle);
        status = call.status();
        if (status == SENNIT_OK) status = coll::check_idle(*rank, *found);
        if (status == SENNIT_OK) status = team::destroy(*rank, *found);
        if (status == SENNIT_OK) coll::release(*rank, slot);
    }
    // After an error somebody may still be in the team: this rank does not use the slot again.
    if (status == SENNIT_OK) team::free_slot(*rank, slot);
    return done(status, name);
}

}  // extern "C"
