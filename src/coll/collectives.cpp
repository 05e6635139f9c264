// SPDX-License-Identifier: BSD-3-Clause
// Starts collective calls, waits for them, and tests their requests.
#include "coll/collectives.hpp"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/invariant.hpp"
#include "base/mutex.hpp"
#include "coll/state.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"
#include "runtime/whole_call.hpp"

namespace sennit::coll {
namespace {

constexpr std::int64_t kCheckNs = 1'000'000;  // between searches for dead members

// The post numbers of a team start at its generation, shifted by this many bits. No job makes 2^36
// posts in a team, or 2^28 teams in a slot.
constexpr std::uint64_t kGenerationShift = 36;

// The state of the team, or null. The caller holds the CollectiveCall, so no other thread makes or
// frees the state.
TeamState *state_of(const Rank &rank, const team::Team &team) {
    TeamState *state = rank.collectives->by_slot[team.slot];
    // relaxed: constant while the team lives.
    SENNIT_INVARIANT(state == nullptr ||
                     state->handle == team.handle.load(std::memory_order_relaxed));
    return state;
}

// Removes a state with an empty queue from the list. Meanwhile other threads may add states at the
// front.
void take_out(Collectives &all, TeamState *state) {
    // With an empty queue poll_all() gives the turn back at once.
    while (!state->turn.try_take())
        (void)sched_yield();
    const MutexLock lock(all.walk);
    TeamState *first = state;
    // relaxed twice: the lock protects `next` of states in the list. If another state has become
    // the first one, it is loaded again with acquire.
    if (!all.states.compare_exchange_strong(first, state->next, std::memory_order_relaxed)) {
        // SYNC coll-states: pairs with the release in open_state(); the state comes before.
        first = all.states.load(std::memory_order_acquire);
        while (first->next != state)
            first = first->next;
        first->next = state->next;
    }
    all.by_slot[state->slot] = nullptr;
}

// Frees a state that is in no list any more.
void close_state(Rank &rank, TeamState *state) {
    // A fetch that does not end in time writes only into the engine's own memory.
    for (std::uint32_t member = 0; member < state->size; ++member) {
        sennit_request &request = state->fetches[member];
        if (request.handle == 0) continue;
        (void)request::wait(rank, &request, Deadline::after(kCheckNs));
        op::engine_abandon(rank, request);
    }
    close_nodes(*state);
    // Without `own` end_all() posts nothing: the members have left the team, or are leaving it.
    state->own = nullptr;
    const sennit_error error = *thread_error();
    end_all(*state, fail(SENNIT_ERR_STATE, "the team is gone"));
    *thread_error() = error;
    drop_wide_slots(*state);
    std::free(state->scratch);
    std::free(state->stages);
    std::free(state->operands);
    std::free(state->contents);
    std::free(state);
}

// Makes the state: one piece of zeroed memory, with its arrays after it.
sennit_status open_state(Rank &rank, team::Team &team) {
    const std::size_t members = team.size;
    const std::size_t each = sizeof(Area *) + sizeof(Doorbell *) + sizeof(std::byte *) +
                             2 * sizeof(std::uint64_t) + sizeof(SlotHeader) +
                             sizeof(sennit_request) + sizeof(std::uint32_t);
    auto *memory = static_cast<std::byte *>(std::calloc(1, sizeof(TeamState) + members * each));
    if (memory == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for a team's collective calls");
    auto *state = reinterpret_cast<TeamState *>(memory);
    memory += sizeof(TeamState);
    state->headers = reinterpret_cast<SlotHeader *>(memory);
    state->areas = reinterpret_cast<Area **>(memory + members * sizeof(SlotHeader));
    state->seen = reinterpret_cast<std::uint64_t *>(state->areas + members);
    state->fetches = reinterpret_cast<sennit_request *>(state->seen + members);
    state->wide = reinterpret_cast<std::byte **>(state->fetches + members);
    state->bells = reinterpret_cast<Doorbell **>(state->wide + members);
    state->fetched = reinterpret_cast<std::uint64_t *>(state->bells + members);
    state->places = reinterpret_cast<std::uint32_t *>(state->fetched + members);
    state->rank = &rank;
    state->team = &team;
    // relaxed: constant while the team lives.
    state->handle = team.handle.load(std::memory_order_relaxed);
    state->number = team.generation << kGenerationShift;
    state->slot = team.slot;
    state->size = team.size;
    state->reaches_data = true;
    state->reaches_control = true;
    state->kernel_copies = true;
    state->messages_copy = true;
    state->own = &area_of(*team.own);
    const bool by_nodes = team.way == team::Way::nodes;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const int peer = team.world_ranks[member];
        ControlBlock *control = control_of(rank, peer);
        const sennit_path path = rank.peers[peer].path;
        if (peer != rank.world_rank && rank.peers[peer].copier == nullptr) {
            state->kernel_copies = false;
            if (rank.peers[peer].same_node) state->messages_copy = false;
        }
        if (peer != rank.world_rank && path != SENNIT_PATH_INPROC && path != SENNIT_PATH_MAPPED)
            state->reaches_data = false;
        // In a team of several nodes, the leaders send posts to other nodes, even if load and store
        // reach a member there.
        if (control == nullptr || (by_nodes && !rank.peers[peer].same_node)) {
            state->reaches_control = false;
            continue;
        }
        state->areas[member] = &area_of(team_sync(*control, team.slot));
        state->bells[member] = &control->doorbell;
    }
    state->blocking.state = state;
    const sennit_status status = by_nodes ? open_nodes(*state) : SENNIT_OK;
    if (status != SENNIT_OK) {
        std::free(state);
        return status;
    }
    state->turn.set_shared(rank.thread_level == SENNIT_THREAD_MULTIPLE);
    Collectives &all = *rank.collectives;
    // relaxed: nothing reads through the pointer before the exchange below succeeds.
    state->next = all.states.load(std::memory_order_relaxed);
    // SYNC coll-states: pairs with the acquires in poll_all() and take_out(); the state comes
    // before.
    while (!all.states.compare_exchange_weak(state->next, state, std::memory_order_release,
                                             std::memory_order_relaxed)) {
    }
    all.by_slot[team.slot] = state;
    return SENNIT_OK;
}

// The rare cases of take_state(): the team has no state yet, a barrier is unfinished, or a rank
// gave up.
[[gnu::noinline]] sennit_status find_state(Rank &rank, team::Team &team, TeamState **out) {
    if (!team.all_reached)
        return fail(SENNIT_ERR_OTHER_NODE,
                    "no path leads to some rank of the team (sennit info --peers tells why)");
    if (team::is_arrived(team)) return team::fail_unfinished(rank, team);
    *out = state_of(rank, team);
    if (*out == nullptr) {
        const sennit_status status = open_state(rank, team);
        if (status != SENNIT_OK) return status;
        *out = state_of(rank, team);
    }
    // SYNC coll-broken: pairs with the release in end_all(), perhaps of another thread.
    const sennit_status broken = (*out)->broken.load(std::memory_order_acquire);
    if (broken == SENNIT_OK) return SENNIT_OK;
    return fail_peer(broken == SENNIT_ERR_PEER_LOST ? broken : SENNIT_ERR_STATE, (*out)->broken_by,
                     "", "the team's collective calls have ended: a rank gave up with %s",
                     sennit_status_string(broken));
}

// The team's state, if it can take a call.
inline sennit_status take_state(Rank &rank, team::Team &team, TeamState **out) {
    *out = state_of(rank, team);
    // SYNC coll-broken: pairs with the release in end_all(), perhaps of another thread.
    if (*out != nullptr && !team::is_arrived(team) &&
        (*out)->broken.load(std::memory_order_acquire) == SENNIT_OK) [[likely]]
        return SENNIT_OK;
    return find_state(rank, team, out);
}

void prepare(OpenCall &operation, const Call &call, bool is_request) {
    // Static: otherwise the compiler makes it on the stack before the copy.
    static constexpr CallState kFresh;
    static_cast<CallState &>(operation) = kFresh;
    operation.call = call;
    operation.is_request = is_request;
    operation.error.status = SENNIT_OK;
    operation.next = nullptr;
    // relaxed: not queued yet.
    operation.complete.store(false, std::memory_order_relaxed);
}

// Used while another thread of the rank has the queue, perhaps for a long reduction. That thread,
// or the next one that progresses the queue, executes the operation. Operations stay in order,
// because a rank makes one call of a team at a time.
void hand_over(TeamState &state, OpenCall &operation) {
    // relaxed: nothing reads through the pointer before the exchange below succeeds.
    OpenCall *last = state.incoming.load(std::memory_order_relaxed);
    do {
        operation.next = last;
        // SYNC coll-incoming: pairs with the acquire in take_all_incoming(); the operation comes
        // before.
    } while (!state.incoming.compare_exchange_weak(last, &operation, std::memory_order_release,
                                                   std::memory_order_relaxed));
}

bool is_complete(const OpenCall &operation) {
    // SYNC coll-complete: pairs with the release in finish(); results and status come before.
    return operation.complete.load(std::memory_order_acquire);
}

sennit_status take_result(const OpenCall &operation) {
    if (operation.status != SENNIT_OK) *thread_error() = operation.error;
    return operation.status;
}

// Ends the team's calls with the thread's last error. False: another thread has the queue.
bool try_end_all(TeamState &state, sennit_status status) {
    if (!state.turn.try_take()) return false;
    end_all(state, status);
    state.turn.give_back();
    return true;
}

// Called by tests of requests, because nothing else checks for dead members between them.
void check_for_dead(TeamState &state) {
    const std::int64_t now = now_ns();
    // relaxed twice: two threads that search at the same time do no harm.
    if (now - state.checked_at_ns.load(std::memory_order_relaxed) < kCheckNs) return;
    state.checked_at_ns.store(now, std::memory_order_relaxed);
    const int peer = find_lost_member(*state.rank, &state);
    if (peer < 0 || !state.turn.try_take()) return;
    // The member may have posted just before it ended.
    progress(state);
    if (!state.queue.is_empty() && find_lost_member(*state.rank, &state) == peer)
        end_all(state, fail_peer(SENNIT_ERR_PEER_LOST, peer, "",
                                 "rank %d is gone in the middle of a collective call", peer));
    state.turn.give_back();
}

void give_back(Collectives &all, OpenCall *operation) {
    const MutexLock guard(all.mutex);
    operation->is_request = false;
    all.table.give_back(*operation);
}

// The test of RequestCalls (rank/rank.hpp).
sennit_status test_request(Rank &rank, sennit_request request, bool /*makes_progress*/, int *done) {
    Collectives &all = *rank.collectives;
    OpenCall *operation = nullptr;
    {
        const MutexLock guard(all.mutex);
        operation = all.table.find(request::handle_in(request));
    }
    if (operation == nullptr) return request::no_request(request);
    if (!is_complete(*operation)) {
        try_progress(*operation->state);
        if (!is_complete(*operation)) check_for_dead(*operation->state);
    }
    *done = is_complete(*operation) ? 1 : 0;
    if (*done == 0) return SENNIT_OK;
    const sennit_status status = take_result(*operation);
    give_back(all, operation);
    return status;
}

// Progresses the requests of all teams whose turn is free. A wait in one of these calls may call
// this function again; the inner call skips the teams whose turn is taken. Keeps the thread's last
// error.
void poll_all(Rank &rank) {
    Collectives &all = *rank.collectives;
    if (pthread_mutex_trylock(&all.walk) != 0) return;
    // Without this, the time limit of the function that polls would apply to waits in the requests,
    // and a timeout there would end the calls of the request's team.
    const NoCall others;
    // SYNC coll-states: pairs with the release in open_state(); the state comes before.
    TeamState *state = all.states.load(std::memory_order_acquire);
    for (; state != nullptr; state = state->next) {
        // relaxed: a request that another thread has just started is progressed by that thread.
        if (state->open_requests.load(std::memory_order_relaxed) == 0 || !state->turn.try_take())
            continue;
        // The turn keeps the state in the list. The lock is released, because an operator of the
        // program may take long, or leave by longjmp.
        (void)pthread_mutex_unlock(&all.walk);
        const sennit_error error = *thread_error();
        progress(*state);
        *thread_error() = error;
        (void)pthread_mutex_lock(&all.walk);
        state->turn.give_back();
    }
    (void)pthread_mutex_unlock(&all.walk);
}

sennit_status take_operation(Collectives &all, OpenCall **out) {
    const MutexLock guard(all.mutex);
    OpenCall *operation = all.table.take();
    if (operation == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory to record a collective call; %u are open",
                    all.table.in_use());
    (void)all.table.publish(*operation);
    *out = operation;
    return SENNIT_OK;
}

// The context of a LostSearch in the wait for the blocking call.
struct Watch {
    const TeamState *state;
    team::LongWait *wait;
};

// For LostSearch::find, with a Watch.
int check_members(Rank &rank, const void *context) {
    const Watch &watch = *static_cast<const Watch *>(context);
    const int lost = find_lost_member(rank, watch.state);
    if (lost < 0) watch.wait->check();
    return lost;
}

// Whether the member has not reached this rank's last post. False for members whose posts this rank
// cannot load.
bool is_late(const TeamState &state, std::uint32_t member) {
    // relaxed: a number that this thread, or a later owner of the queue, has posted.
    const std::uint64_t number = state.awaited.load(std::memory_order_relaxed);
    // relaxed: only the value matters.
    return state.areas[member] != nullptr &&
           state.areas[member]->latest.number.load(std::memory_order_relaxed) < number;
}

team::LateRanks find_late(const TeamState &state) {
    team::LateRanks late;
    for (std::uint32_t member = 0; member < state.size; ++member)
        if (is_late(state, member)) late.add(state.team->world_ranks[member]);
    return late;
}

// Only the lowest member that has made the call warns, as far as this rank can load the members'
// posts, and it names the late members. If none of them is late, ranks of the team's first two
// nodes warn of ranks on other nodes.
void warn_of_late(const TeamState &state, const char *call, int seconds) {
    const team::Team &team = *state.team;
    for (std::uint32_t member = 0; member < team.rank; ++member)
        if (state.areas[member] != nullptr && !is_late(state, member)) return;
    const team::LateRanks late = find_late(state);
    if (!late.is_empty())
        late.warn(call, seconds);
    else if (team.way == team::Way::nodes && team.node < 2)
        team::warn_of_late_elsewhere(call, seconds);
}

// For LostSearch::warn, with a Watch.
void warn_in_blocking_call(Rank & /*rank*/, const void *context, int seconds) {
    const TeamState &state = *static_cast<const Watch *>(context)->state;
    warn_of_late(state, name_of(state.blocking.call.kind), seconds);
}

// The warn of RequestCalls (rank/rank.hpp).
void warn_of_request(Rank &rank, sennit_request request, int seconds) {
    Collectives &all = *rank.collectives;
    OpenCall *operation = nullptr;
    {
        const MutexLock guard(all.mutex);
        operation = all.table.find(request::handle_in(request));
    }
    if (operation == nullptr) return;
    char call[64];
    (void)std::snprintf(call, sizeof call, "the request of %s", name_of(operation->call.kind));
    warn_of_late(*operation->state, call, seconds);
}

// Waits for the blocking call.
sennit_status wait_for(TeamState &state, const OpenCall &operation, const Deadline &deadline) {
    team::LongWait long_wait(*state.rank, *state.team, call_of(operation.call.kind),
                             state.team->epoch);
    const Watch watch{&state, &long_wait};
    while (!is_complete(operation)) {
        // All relaxed: only a change of the number matters, not its order.
        const std::uint64_t moves = state.moves.load(std::memory_order_relaxed);
        // Polling restarts after every step.
        sennit_status status = wait_until(
            *state.rank, deadline, LostSearch{check_members, &watch, warn_in_blocking_call}, [&] {
                try_progress(state);
                return is_complete(operation) || long_wait.differs() ||
                       state.moves.load(std::memory_order_relaxed) != moves;
            });
        if (status == SENNIT_ERR_TIMEOUT) {
            const team::LateRanks late = find_late(state);
            late.report();
            if (late.is_empty() && state.team->way == team::Way::nodes)
                team::report_late_elsewhere();
            return status;
        }
        if (status == SENNIT_OK && long_wait.differs() && !is_complete(operation))
            status = long_wait.fail_differs();
        if (status != SENNIT_OK && !try_end_all(state, status) && deadline.over())
            return fail(SENNIT_ERR_TIMEOUT, "the timeout has passed");
    }
    return SENNIT_OK;
}

}  // namespace

sennit_status collectives_open(Rank &rank) {
    rank.collectives = new (std::nothrow) Collectives;
    if (rank.collectives == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the collective calls");
    request::register_kind(rank, request::RequestKind::collective,
                           {test_request, nullptr, nullptr, warn_of_request});
    rank.poll_requests = poll_all;
    return SENNIT_OK;
}

void collectives_close(Rank &rank) {
    Collectives *all = rank.collectives;
    if (all == nullptr) return;
    // The list is emptied first: a wait in close_state() makes progress, and must not find freed
    // states.
    // relaxed: no other thread of the rank is in Sennit any more.
    TeamState *state = all->states.exchange(nullptr, std::memory_order_relaxed);
    while (state != nullptr) {
        TeamState *next = state->next;
        close_state(rank, state);
        state = next;
    }
    all->table.close();
    delete all;
    rank.collectives = nullptr;
    request::register_kind(rank, request::RequestKind::collective, {});
    // relaxed: no other thread of the rank is in Sennit any more.
    rank.polled_requests.store(0, std::memory_order_relaxed);
}

namespace {

// Queues a call that the short way has not finished. Needs the turn.
[[gnu::noinline]] void queue_up(TeamState &state, const Call &call, ShortWay way) {
    OpenCall &operation = state.blocking;
    prepare(operation, call, false);
    take_incoming(state);
    state.queue.push(&operation);
    if (way == ShortWay::posted) begin_posted(state, operation);
    progress(state);
}

[[gnu::noinline]] sennit_status wait_for_blocking(TeamState &state, const Call &call,
                                                  std::int64_t timeout_ns) {
    const sennit_status status = is_complete(state.blocking)
                                     ? SENNIT_OK
                                     : wait_for(state, state.blocking, Deadline::after(timeout_ns));
    state.unfinished = status != SENNIT_OK;
    if (status == SENNIT_OK) return take_result(state.blocking);
    state.blocking_made = call;
    return status;
}

}  // namespace

sennit_status run(Rank &rank, team::Team &team, const Call &call, std::int64_t timeout_ns) {
    TeamState *state = nullptr;
    const sennit_status status = take_state(rank, team, &state);
    if (status != SENNIT_OK) return status;
    if (state->unfinished) [[unlikely]] {
        if (!is_same(state->blocking_made, call)) return check_no_unfinished(rank, team);
    } else if (++team.calls; state->turn.try_take()) [[likely]] {
        const ShortWay way = take_short_way(*state, call);
        if (way == ShortWay::done) [[likely]] {
            state->turn.give_back();
            return SENNIT_OK;
        }
        if (way != ShortWay::failed) queue_up(*state, call, way);
        state->turn.give_back();
        if (way == ShortWay::failed) return thread_error()->status;
    } else {
        if (team::is_in_operator()) return team::fail_in_operator();
        prepare(state->blocking, call, false);
        hand_over(*state, state->blocking);
    }
    // The time limit starts here, because the short way polls only for a short time.
    return wait_for_blocking(*state, call, timeout_ns);
}

namespace {

// For a barrier: records the open puts and implicit operations. The barrier is posted after they
// are complete.
sennit_status note_puts(Rank &rank, OpenCall &operation) {
    if (operation.call.kind != Kind::barrier || rank.engine == nullptr) return SENNIT_OK;
    operation.puts =
        static_cast<std::uint64_t *>(std::malloc(size_of(rank) * sizeof(std::uint64_t)));
    if (operation.puts == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory to record a barrier");
    op::engine_note_open(rank, operation.puts);
    operation.step = Step::flush;
    return SENNIT_OK;
}

}  // namespace

sennit_status start(Rank &rank, team::Team &team, const Call &call, sennit_request *out) {
    TeamState *state = nullptr;
    sennit_status status = take_state(rank, team, &state);
    if (status == SENNIT_OK) status = check_no_unfinished(rank, team);
    if (status != SENNIT_OK) return status;
    OpenCall *operation = nullptr;
    status = take_operation(*rank.collectives, &operation);
    if (status != SENNIT_OK) return status;
    prepare(*operation, call, true);
    operation->state = state;
    status = note_puts(rank, *operation);
    ++team.calls;
    const bool has_turn = state->turn.try_take();
    if (status == SENNIT_OK && !has_turn && team::is_in_operator())
        status = team::fail_in_operator();
    if (status != SENNIT_OK) {
        if (has_turn) state->turn.give_back();
        std::free(operation->puts);
        give_back(*rank.collectives, operation);
        return status;
    }
    // relaxed: this thread has published it.
    const sennit_request made = request::make(request::RequestKind::collective,
                                              operation->handle.load(std::memory_order_relaxed));
    // relaxed twice: the counts only say whether a thread should poll.
    state->open_requests.fetch_add(1, std::memory_order_relaxed);
    rank.polled_requests.fetch_add(1, std::memory_order_relaxed);
    if (has_turn) {
        take_incoming(*state);
        state->queue.push(operation);
        progress(*state);
        state->turn.give_back();
    } else {
        hand_over(*state, *operation);
    }
    *out = made;
    return SENNIT_OK;
}

sennit_status check_no_unfinished(Rank &rank, const team::Team &team) {
    const TeamState *state = state_of(rank, team);
    if (state == nullptr || !state->unfinished) return SENNIT_OK;
    return fail(SENNIT_ERR_STATE,
                "%s of the team timed out on this rank and is unfinished: call it again with the "
                "same arguments until it ends, then make this call",
                name_of(state->blocking.call.kind));
}

void release(Rank &rank, std::uint32_t slot) {
    TeamState *state = rank.collectives->by_slot[slot];
    if (state == nullptr) return;
    take_out(*rank.collectives, state);
    close_state(rank, state);
}

sennit_status check_idle(Rank &rank, const team::Team &team) {
    const sennit_status status = check_no_unfinished(rank, team);
    if (status != SENNIT_OK) return status;
    TeamState *state = state_of(rank, team);
    if (state == nullptr) return SENNIT_OK;
    // Another thread of the rank may be progressing the queue. A thread that has jumped out of an
    // operator never gives the queue back.
    const Deadline deadline = default_deadline();
    while (!state->turn.try_take()) {
        if (team::is_in_operator()) return team::fail_in_operator();
        if (deadline.over())
            return fail(SENNIT_ERR_TIMEOUT,
                        "another thread of this rank still works on the team's requests");
        (void)sched_yield();
    }
    progress(*state);
    const bool is_idle = state->queue.is_empty();
    state->turn.give_back();
    if (is_idle) return SENNIT_OK;
    return fail(SENNIT_ERR_STATE, "requests of the team's collective calls are not complete");
}

}  // namespace sennit::coll
