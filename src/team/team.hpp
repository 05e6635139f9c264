// SPDX-License-Identifier: BSD-3-Clause
// The team object: a rank's state of one of its teams, with the barrier and the exchange of small
// messages. Both are a *synchronisation*: every member waits until all have arrived.
//
// A team has a slot (1 to 1023, equal on all members, the top bits of its segments' ids) and a
// generation, which separates consecutive teams of a slot. Its handle consists of both. Members
// communicate by the slot's TeamSync in each member's control block, so most new teams need no new
// shared memory.
//
// Epochs in a TeamSync only grow, also from one team of the slot to the next: a new team continues
// from the highest epoch that any member has seen there (`base`). So no epoch is ever reset, and
// those of an earlier team are too small to be mistaken for those of a new one.
//
// If all members have paths to each other, there are three barriers:
//   - flat, if load and store connect all members of a small team: each member stores its epoch in
//     its own line and reads the lines of all others;
//   - clusters, if load and store connect all members of a larger team (cluster.hpp);
//   - otherwise dissemination among one member of each node, or among all members (nodes.hpp).
// In the first two, a member that has arrived has nothing more to do for the others. This is good
// if ranks share processors. If some members have no path to each other, the world uses the
// launcher's barrier, and other teams have none.
#pragma once

#include <sennit/team.h>

#include "base/clock.hpp"
#include "base/turn.hpp"
#include "memory/entry.hpp"
#include "rank/rank.hpp"

namespace sennit::team {
struct Team;
}
template <>
struct sennit::PartType<sennit::Part::team> {
    using Type = sennit::team::Team;
};

namespace sennit::group {
struct Grid;
}

namespace sennit::team {

inline constexpr unsigned kSlotBits = 10;
inline constexpr unsigned kTeamGenerationBits = 22;
static_assert(kTeamSlots == 1u << kSlotBits);

constexpr std::uint32_t slot_of(std::uint32_t handle) {
    return handle & (kTeamSlots - 1);
}
// Handles repeat after 2^22 - 1 teams of a slot. Generation 0 is for teams that start-up makes.
constexpr std::uint32_t make_handle(std::uint32_t slot, std::uint64_t generation) {
    const std::uint64_t most = (1u << kTeamGenerationBits) - 1;
    const std::uint64_t part = generation == 0 ? 0 : (generation - 1) % most + 1;
    return static_cast<std::uint32_t>(part) << kSlotBits | slot;
}
inline constexpr std::uint32_t kNodeSlot = 2;
inline constexpr std::uint32_t kWorldHandle = make_handle(memory::kWorldSlot, 0);

// The purpose of a synchronisation.
enum class Purpose : std::uint32_t {
    none = 0,
    offer = 1,
    outcome = 2,
    free = 3,
    propose = 4,
    conclude = 5,
    destroy = 6,
    propose_again = 7,  // the next try of a disturbed creation
    part = 8,           // the second synchronisation of a destruction
    regions = 20,
    region_votes = 21,
    barrier = 40,
    leave = 41,
};

// The segments of a team. The first allocation makes the table, zeroed.
struct SegmentTable {
    // Equal on all members, because all allocate and free in the same order.
    std::uint32_t live;  // segments
    std::uint64_t used[kSegmentsPerTeam / 64];
    std::uint8_t generations[kSegmentsPerTeam];  // of the index's last segment; 0: none yet

    // This rank's own.
    std::uint16_t owner_slots[kSegmentsPerTeam];  // of the segment's record, while used
    // After a vote that timed out: the record of this rank's segment, which may be null, and this
    // rank's vote.
    SegmentRecord *voted_record;
    std::uint32_t voted_id;
    std::uint32_t voted_status;
};

struct Cluster;
// The barrier of a team; docs/design/collectives.md has the table.
enum class Way : std::uint8_t { none, flat, clusters, nodes, rounds };

// A leader's next step in a round of dissemination.
enum class RoundStep : std::uint8_t { send_messages, await_messages, send_word, await_word };

// Made zeroed, without a constructor. The object of a slot stays until the rank ends, so that the
// use of a destroyed handle is detected without access to freed memory.
struct Team {
    // Constant from creation to destruction. Ranks are those of the team unless named world ranks.
    std::atomic<std::uint32_t> handle;  // 0: no team here
    std::uint32_t slot;
    std::uint32_t size;
    std::uint32_t rank;             // this rank's
    std::uint64_t generation;       // higher than those of all members' earlier teams in the slot
    bool all_load_store;            // every member reaches all control blocks by load and store
    bool all_reached;               // every member has a path to all
    Way way;                        // of the barrier
    const int *world_ranks;         // [size]
    const std::uint32_t *by_world;  // [size]: the members in the order of their world ranks
    group::Grid *grid;              // null: the team is no grid
    TeamSync *own;                  // the team's words in this rank's control block
    // For the other members, [size - 1], starting with the member after this rank. An entry is null
    // if load and store do not reach the member.
    const std::atomic<std::uint64_t> **arrivals;
    Doorbell **bells;
    Cluster *clusters;  // [cluster_count], null in a small team
    std::uint32_t cluster_count;
    std::uint32_t cluster;  // this rank's
    // For nodes.hpp. `by_place` has the members in the order of their nodes; `first_places` has the
    // start of each node in that order, then `size`; `node_buffers` has the segments of the
    // leaders' node buffers, and 0 for other members.
    std::uint32_t *by_place;      // [size]
    std::uint32_t *first_places;  // [node_count + 1]
    std::uint32_t *node_buffers;  // [size], by member
    std::uint32_t node_count;
    std::uint32_t node;                 // this rank's
    SegmentRecord *node_buffer_record;  // of this rank's node buffer, or null

    // For the barrier and the exchange.
    std::uint64_t epoch;       // the last completed synchronisation; the first value is `base`
    std::uint64_t calls;       // number of calls of coll/ started
    sennit_error flush_error;  // error of an implicit operation, until the barrier is done
    bool read_failed;          // the last exchange is complete, but a message was unreadable
    Purpose purpose;           // purpose of epoch + 1, if this rank has arrived; else none
    std::uint32_t next_peer;   // number of peers already seen: of all, or of the node
    std::uint32_t round;       // dissemination: rounds done
    RoundStep round_step;
    sennit_request sends[2];  // puts of this round in progress
    // If another leader's word is late, this leader gets that leader's ArrivalLine::sent. `answer`:
    // the latest value; `ask`: the get in progress; `ask_ns`: time of the next get, 0: none so far.
    std::uint64_t answer;
    sennit_request ask;
    std::int64_t ask_ns;
    std::int64_t ask_pause_ns;
    Turn turn;  // for threads of this rank in a collective call of the team

    SegmentTable *segments;  // null until the first allocation
    void *unfinished;        // state of a binding call that can continue; freed by drop()
};

// Whether this rank has arrived in synchronisation epoch + 1, which is then unfinished.
inline bool is_arrived(const Team &team) {
    return team.purpose != Purpose::none;
}

// The largest difference between the numbers of two members: if this rank has completed n and
// arrived in n + 1, a peer may have completed n + 1 and published n + 2.
inline constexpr std::uint64_t kNumberMargin = 2;

// Calls use(member) for each member of this rank's node. Without Way::nodes, for each member of the
// team.
template <class Use>
void for_each_here(const Team &team, const Use &use) {
    const bool knows = team.way == Way::nodes;
    const std::uint32_t end = knows ? team.first_places[team.node + 1] : team.size;
    for (std::uint32_t place = knows ? team.first_places[team.node] : 0; place < end; ++place)
        use(knows ? team.by_place[place] : place);
}

// The team of a handle, or null: never made, destroyed, or not this rank's. Another thread may
// destroy the team afterwards, so CollectiveCall checks the handle again.
inline Team *find(Rank &rank, std::uint32_t handle) {
    // SYNC team-object: pairs with the release in take_object(); the zeroed object comes before.
    Team *team = rank.teams[slot_of(handle)].load(std::memory_order_acquire);
    // SYNC team-live: pairs with the release in open(); the fields come before the handle.
    if (team == nullptr || team->handle.load(std::memory_order_acquire) != handle) return nullptr;
    return team;
}

// The team that holds a segment id, or null.
inline Team *find_of_segment(Rank &rank, std::uint32_t id) {
    // SYNC team-object: pairs with the release in take_object(); the zeroed object comes before.
    Team *team = rank.teams[memory::team_slot_of(id)].load(std::memory_order_acquire);
    // SYNC team-live: pairs with the release in open(); the fields come before the handle.
    if (team == nullptr || team->handle.load(std::memory_order_acquire) == 0) return nullptr;
    return team;
}

inline Team &world_of(Rank &rank) {
    // relaxed: set at start-up by the thread that publishes the rank.
    return *rank.teams[memory::kWorldSlot].load(std::memory_order_relaxed);
}

// The ranks of this node.
inline Team &node_of(Rank &rank) {
    // relaxed: set at start-up by the thread that publishes the rank.
    return *rank.teams[kNodeSlot].load(std::memory_order_relaxed);
}

// The offset of a member's words of the team in its control block.
inline std::size_t sync_offset(const Team &team) {
    return team_sync_offset(team.slot);
}
// The same as a pointer; null if load and store do not reach the member.
inline TeamSync *sync_of(Rank &rank, const Team &team, std::uint32_t member) {
    ControlBlock *control = control_of(rank, team.world_ranks[member]);
    return control == nullptr ? nullptr : &team_sync(*control, team.slot);
}

// The member that has this world rank, or -1.
int member_of(const Team &team, int world_rank);

// Start-up: makes the world and the team of the node. Errors: NOMEM.
sennit_status teams_open(Rank &rank);
void teams_close(Rank &rank);

// All members must agree on how they reach each other, or they would take part in different
// barriers. Each computes own_reach(); agree_on_reach() gets the common result.
struct Reach {
    bool load_store = false;
    bool some_path = false;
    bool node_load_store = false;  // to the members on the rank's node
};
Reach own_reach(Rank &rank, const Team &team);
void agree_on_reach(Rank &rank, Team &team, const Reach &common);

// A new team is made in steps, because everything that can fail must precede the agreement of the
// members. `make` prepares the object of the slot, `open` lets threads find it, `drop` ends it in
// either state. Errors of `make`: NOMEM.
struct Members {
    std::uint32_t size = 0;
    std::uint32_t rank = 0;            // the caller's
    const int *world_ranks = nullptr;  // [size]; copied
};
sennit_status make(Rank &rank, std::uint32_t slot, const Members &members, Team **team);
void open(Team &team, std::uint64_t generation, std::uint64_t base);
void drop(Team &team);

// Whether this thread has called an operator of the program that has not returned: the thread is
// inside it, or has left it by longjmp. In both cases the team's turns stay taken.
bool is_in_operator();
[[gnu::cold]] sennit_status fail_in_operator();

// Admits one thread of the rank at a time in each team. Errors: STATE (another thread is in a call,
// this thread is in an operator, or the team was destroyed meanwhile).
class CollectiveCall {
  public:
    CollectiveCall(Team &team, std::uint32_t handle) : team_(team), status_(SENNIT_OK) {
        const bool has_turn = team_.turn.try_take();
        // relaxed: stored by a thread that had its turn before.
        if (!has_turn || team_.handle.load(std::memory_order_relaxed) != handle) [[unlikely]]
            status_ = refuse(team_, has_turn);
    }
    ~CollectiveCall() {
        if (status_ == SENNIT_OK) team_.turn.give_back();
    }
    CollectiveCall(const CollectiveCall &) = delete;
    CollectiveCall &operator=(const CollectiveCall &) = delete;
    sennit_status status() const { return status_; }

  private:
    [[gnu::cold]] static sennit_status refuse(Team &team, bool has_turn);

    Team &team_;
    sennit_status status_;
};

// The following need a CollectiveCall.

// Completes implicit operations first; a failed one is reported after the members have
// synchronised. Errors: as synchronise(), STATE (is_bound()), and the error of an operation.
sennit_status barrier(Rank &rank, Team &team, const Deadline &deadline);

// Continues a synchronisation that timed out, for any purpose. Errors: as synchronise().
sennit_status take_up(Rank &rank, Team &team, const Deadline &deadline);

// The barrier of sennit_finalize. Errors: as barrier(), and ARG: a member is in another call.
sennit_status last_barrier(Rank &rank, Team &team, const Deadline &deadline);

// Waits until all members have arrived. Everything that a member did before is visible to all
// afterwards. After TIMEOUT the next call continues the same synchronisation. Errors: TIMEOUT,
// PEER_LOST, ARG (a member has waited for a second in a call that does not match), OTHER_NODE (no
// path joins the members, and the team is not the world); between nodes those of a put; for a world
// without paths those of the launcher.
sennit_status synchronise(Rank &rank, Team &team, Purpose purpose, const Deadline &deadline);

// synchronise() without a wait, for tests: returns whether all members have arrived. Only if load
// and store connect all members.
bool try_synchronise(Team &team, Purpose purpose);

// The reason why no other collective call is possible while a synchronisation of the team is
// unfinished (is_arrived()): STATE, or PEER_LOST if a member is gone, since the synchronisation
// then never ends.
sennit_status fail_unfinished(Rank &rank, const Team &team);

// For these purposes a rank's part cannot be withdrawn: only the same call continues the
// synchronisation.
constexpr bool is_binding(Purpose purpose) {
    return purpose == Purpose::outcome || purpose == Purpose::free ||
           purpose == Purpose::propose_again || purpose == Purpose::conclude ||
           purpose == Purpose::destroy || purpose == Purpose::part ||
           purpose == Purpose::region_votes;
}
// Whether a synchronisation for a binding purpose is unfinished, so that only the same call may
// continue it.
inline bool is_bound(const Team &team) {
    return is_binding(team.purpose);
}
// The deadline for a binding purpose: SENNIT_TIMEOUT. If the launcher synchronises the team, there
// is no deadline, because such a synchronisation cannot be resumed.
Deadline binding_deadline(const Team &team);

// Every member gives `bytes` bytes (at most kExchangeBytes) and gets the bytes of all members, in
// the order of their ranks. Errors: those of synchronise(), fail_unfinished() and a get, and ARG if
// a member is in another collective call.
inline constexpr std::size_t kExchangeBytes = kMailboxBytes - 16;
struct Exchange {
    Purpose purpose;  // equal on all members, or the calls do not match
    const void *mine = nullptr;
    std::size_t bytes = 0;
    void *all = nullptr;
};
sennit_status exchange(Rank &rank, Team &team, const Exchange &what, const Deadline &deadline);

}  // namespace sennit::team
