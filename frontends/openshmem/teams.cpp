// Teams and contexts. A team is a team of Sennit. A context is only a team and options: where a
// call must complete the operations of one context, it may complete all.
#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "state.hpp"

namespace shmem {
namespace {

Team world;
Team shared;
std::mutex list_mutex;
std::vector<Team *> teams;  // created by the program and not destroyed
// All contexts ever created, and the idle ones, which have no handle. A destroyed context stays
// readable until it is reused, so that its use can be detected.
std::vector<Context *> contexts;
std::vector<Context *> idle;
int nobody_is_member;
const Team nobody{{}, -1, 0, &nobody_is_member, {0}};  // the team of destroyed contexts

shmem_team_t handle_of(const Team *team) {
    if (team == &world) return SHMEM_TEAM_WORLD;
    if (team == &shared) return SHMEM_TEAM_SHARED;
    return reinterpret_cast<shmem_team_t>(const_cast<Team *>(team));
}

// Caches the values that are often queried.
void cache_members(const char *call, Team &team) {
    must(call, sennit_team_rank(team.core, &team.me));
    must(call, sennit_team_size(team.core, &team.pes));
    team.members = new int[static_cast<std::size_t>(team.pes)];
    for (int pe = 0; pe < team.pes; ++pe)
        must(call, sennit_team_world_rank(team.core, pe, &team.members[pe]));
}

void free_members(Team &team) {
    delete[] team.members;
    team.members = nullptr;
}

struct TeamConfig {
    const shmem_team_config_t *config;
    long mask;
};

// Makes the handle for a team of Sennit; SHMEM_TEAM_INVALID if this PE is no member.
shmem_team_t add_team(const char *call, sennit_team core, const TeamConfig &wanted) {
    if (core.handle == 0) return SHMEM_TEAM_INVALID;
    auto *const team = new Team{core, -1, 0, nullptr, {0}};
    if (wanted.config != nullptr && (wanted.mask & SHMEM_TEAM_NUM_CONTEXTS) != 0)
        team->config = *wanted.config;
    cache_members(call, *team);
    const std::lock_guard<std::mutex> turn(list_mutex);
    teams.push_back(team);
    return handle_of(team);
}

template <class T>
void erase(std::vector<T *> &list, T *entry) {
    list.erase(std::remove(list.begin(), list.end(), entry), list.end());
}

// The caller holds list_mutex.
void retire(Context *context) {
    context->team = &nobody;
    idle.push_back(context);
}

void destroy(const char *call, Team *team) {
    quiet(call);
    {
        const std::lock_guard<std::mutex> turn(list_mutex);
        erase(teams, team);
        // The standard requires this for shareable contexts, and leaves private ones undefined.
        for (Context *context : contexts) {
            if (context->team == team) retire(context);
        }
    }
    must(call, sennit_team_destroy(team->core));
    free_members(*team);
    delete team;
}

int create_context(const Team *team, long options, shmem_ctx_t *ctx) {
    *ctx = SHMEM_CTX_INVALID;
    if (team == nullptr) return 1;
    const std::lock_guard<std::mutex> turn(list_mutex);
    if (idle.empty()) {
        auto *const made = new (std::nothrow) Context{};
        if (made == nullptr) return 1;
        contexts.push_back(made);
        idle.push_back(made);
    }
    Context *const made = idle.back();
    idle.pop_back();
    *made = {team, options};
    *ctx = reinterpret_cast<shmem_ctx_t>(made);
    return 0;
}

}  // namespace

Team *team_of(shmem_team_t handle) {
    if (handle == SHMEM_TEAM_WORLD) return &world;
    if (handle == SHMEM_TEAM_SHARED) return &shared;
    return reinterpret_cast<Team *>(handle);
}

// Creates SHMEM_TEAM_SHARED. If every PE reaches all heaps of its node by load and store, the team
// has the PEs of the node. Otherwise each PE is alone in its team.
void teams_start(bool shares_all) {
    const char *const call = "shmem_init";
    world.core = SENNIT_TEAM_WORLD;
    cache_members(call, world);
    free_members(world);  // members have the same numbers as in the world
    std::uint32_t mine = shares_all ? 1 : 0;
    if (!shares_all) {
        int size = 0;
        must(call, sennit_team_size(SENNIT_TEAM_NODE, &size));
        mine = 1;
        for (int pe = 0; pe < size; ++pe) {
            int other = 0;
            must(call, sennit_team_world_rank(SENNIT_TEAM_NODE, pe, &other));
            if (state.areas[kHeap].pointers.of(other) == nullptr) mine = 0;
        }
    }
    std::uint32_t all = mine;
    must(call, sennit_allreduce(SENNIT_TEAM_WORLD, &mine, &all,
                                sennit_reduction_of(1, SENNIT_UINT32, SENNIT_MIN), state.limit_ns));
    if (all == 1)
        shared.core = SENNIT_TEAM_NODE;
    else
        must(call, sennit_team_split(SENNIT_TEAM_WORLD, state.me, 0, &shared.core));
    cache_members(call, shared);
}

void teams_stop() {
    const char *const call = "shmem_finalize";
    // Sorts the teams into the same order on all PEs, because a destruction synchronises the
    // members and threads may have created the teams in any order. A team of Sennit has the same
    // handle on all members.
    std::sort(teams.begin(), teams.end(),
              [](const Team *a, const Team *b) { return a->core.handle < b->core.handle; });
    while (!teams.empty())
        destroy(call, teams.front());
    for (Context *context : contexts)
        delete context;
    contexts.clear();
    idle.clear();
    if (shared.core.handle != SENNIT_TEAM_NODE.handle) must(call, sennit_team_destroy(shared.core));
    free_members(shared);
}

SHMEM_DEFINE(int, shmem_team_my_pe, (shmem_team_t handle)) {
    const Team *const team = team_of(handle);
    return team != nullptr ? team->me : -1;
}
SHMEM_DEFINE(int, shmem_team_n_pes, (shmem_team_t handle)) {
    const Team *const team = team_of(handle);
    return team != nullptr ? team->pes : -1;
}
SHMEM_DEFINE(int, shmem_team_get_config,
             (shmem_team_t handle, long config_mask, shmem_team_config_t *config)) {
    const Team *const team = team_of(handle);
    if (team == nullptr) return 1;
    if ((config_mask & ~SHMEM_TEAM_NUM_CONTEXTS) != 0) return 1;
    if ((config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0)
        config->num_contexts = team->config.num_contexts;
    return 0;
}
SHMEM_DEFINE(int, shmem_team_translate_pe,
             (shmem_team_t src_team, int src_pe, shmem_team_t dest_team)) {
    const Team *const from = team_of(src_team);
    const Team *const to = team_of(dest_team);
    if (from == nullptr || to == nullptr || src_pe < 0 || src_pe >= from->pes) return -1;
    const int number = from->members != nullptr ? from->members[src_pe] : src_pe;
    if (to->members == nullptr) return number;
    const int *const begin = to->members;
    const int *const end = begin + to->pes;
    const int *const found = std::find(begin, end, number);
    return found != end ? static_cast<int>(found - begin) : -1;
}
SHMEM_DEFINE(int, shmem_team_split_strided,
             (shmem_team_t parent_team, int start, int stride, int size,
              const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)) {
    const char *const call = "shmem_team_split_strided";
    *new_team = SHMEM_TEAM_INVALID;
    const Team *const parent = team_of(parent_team);
    if (parent == nullptr || size < 1) return 1;
    sennit_team core = SENNIT_TEAM_NULL;
    const sennit_status status =
        sennit_team_split_strided(parent->core, start, stride, size, &core);
    if (status == SENNIT_ERR_TIMEOUT) must(call, status);
    if (status != SENNIT_OK) {
        debug("%s: %s", call, last_error().c_str());
        return 1;
    }
    *new_team = add_team(call, core, {config, config_mask});
    return 0;
}
SHMEM_DEFINE(int, shmem_team_split_2d,
             (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
              long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
              long yaxis_mask, shmem_team_t *yaxis_team)) {
    const char *const call = "shmem_team_split_2d";
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    const Team *const parent = team_of(parent_team);
    if (parent == nullptr || xrange < 1) return 1;
    const int range = std::min(xrange, parent->pes);
    sennit_team rows = SENNIT_TEAM_NULL;
    sennit_team columns = SENNIT_TEAM_NULL;
    sennit_status status = sennit_team_split(parent->core, parent->me / range, 0, &rows);
    if (status == SENNIT_OK) {
        status = sennit_team_split(parent->core, parent->me % range, 0, &columns);
        if (status != SENNIT_OK) (void)sennit_team_destroy(rows);
    }
    if (status == SENNIT_ERR_TIMEOUT) must(call, status);
    if (status != SENNIT_OK) {
        debug("%s: %s", call, last_error().c_str());
        return 1;
    }
    *xaxis_team = add_team(call, rows, {xaxis_config, xaxis_mask});
    *yaxis_team = add_team(call, columns, {yaxis_config, yaxis_mask});
    return 0;
}
SHMEM_DEFINE(void, shmem_team_destroy, (shmem_team_t handle)) {
    const char *const call = "shmem_team_destroy";
    Team *const team = team_of(handle);
    if (team == nullptr) return;
    if (team == &world || team == &shared)
        return wrong(call, "argument team: it is a predefined team");
    destroy(call, team);
}
SHMEM_DEFINE(void *, shmem_team_ptr, (shmem_team_t handle, const void *dest, int pe)) {
    const Team *const team = team_of(handle);
    if (team == nullptr || pe < 0 || pe >= team->pes) return nullptr;
    return reach(dest, 1, team->members != nullptr ? team->members[pe] : pe);
}
SHMEM_DEFINE(int, shmem_team_sync, (shmem_team_t handle)) {
    const char *const call = "shmem_team_sync";
    const Team *const team = team_of(handle);
    if (team == nullptr) {
        wrong(call, "argument team: it is SHMEM_TEAM_INVALID");
        return -1;
    }
    barrier(call, *team);
    return 0;
}

SHMEM_DEFINE(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx)) {
    return create_context(&world, options, ctx);
}
SHMEM_DEFINE(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx)) {
    return create_context(team_of(team), options, ctx);
}
SHMEM_DEFINE(void, shmem_ctx_destroy, (shmem_ctx_t ctx)) {
    if (ctx == SHMEM_CTX_INVALID) return;
    quiet("shmem_ctx_destroy");
    if (ctx == SHMEM_CTX_DEFAULT)
        return wrong("shmem_ctx_destroy", "argument ctx: it is the default one");
    bool is_there = false;
    {
        const std::lock_guard<std::mutex> turn(list_mutex);
        is_there = context_of(ctx)->team != &nobody;
        if (is_there) retire(context_of(ctx));
    }
    if (!is_there) wrong("shmem_ctx_destroy", "argument ctx: it was destroyed, or its team was");
}
SHMEM_DEFINE(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team)) {
    *team = SHMEM_TEAM_INVALID;
    if (ctx == SHMEM_CTX_INVALID) return 1;
    if (ctx != SHMEM_CTX_DEFAULT && context_of(ctx)->team == &nobody) return 1;
    *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : handle_of(context_of(ctx)->team);
    return 0;
}
// These hints are ignored.
SHMEM_DEFINE(void, shmem_ctx_session_start,
             (shmem_ctx_t, long, const shmem_ctx_session_config_t *, long)) {}
SHMEM_DEFINE(void, shmem_ctx_session_stop, (shmem_ctx_t)) {}

}  // namespace shmem
