// SPDX-License-Identifier: BSD-3-Clause
// The state of the collectives: operations, and a rank's state for each team with collective calls.
// An operation is a sequence of rounds. In a round, a rank waits until its slot is free, writes
// into it, and posts it under the next number. Then it waits for the posts that it reads, and uses
// them. No function here waits for posts: progress() takes the steps that the peers' posts allow,
// and returns. So a call that timed out and a call with a request are continued in the same way.
// docs/design/collectives.md has the invariants.
//
// A member is *out of reach* if this rank does not load its posts: load and store do not reach its
// control block, or the team has several nodes and the member is on another node.
//
// A TeamState belongs to one team of one rank. Fields that change are used under its `turn`, except
// atomic ones. The fields of the blocking call (`blocking` until it is queued, `unfinished`,
// `blocking_made`) need only the CollectiveCall.
#pragma once

#include <algorithm>

#include "base/linked_queue.hpp"
#include "base/turn.hpp"
#include "coll/area.hpp"
#include "coll/call.hpp"
#include "coll/choices.hpp"
#include "op/engine.hpp"
#include "rank/part.hpp"
#include "request/request.hpp"
#include "team/nodes.hpp"

namespace sennit::coll {
struct Collectives;
}
template <>
struct sennit::PartType<sennit::Part::collectives> {
    using Type = sennit::coll::Collectives;
};

namespace sennit::coll {

enum class Step : std::uint8_t {
    flush,  // of a barrier: wait until earlier puts are complete
    begin,
    description_room,  // wait for the slot, then post the description
    descriptions,      // wait for all descriptions
    room,              // wait for the slot, then fill and post it
    posts,             // wait for the posts that this rank reads, and take them
    in_place,          // read and write peers' buffers in place
    last_room,         // wait for the slot, then post that this rank is done with the buffers
    last_posts,        // wait for this post of all members
    over,
};

// How blocks are cut into pieces for the rounds (rounds.cpp).
struct Cut {
    std::size_t piece_bytes = 0;  // of a block in one round
    std::uint32_t group = 1;      // number of members that get a piece in one round
    std::uint32_t groups = 1;
    std::uint64_t piece_rounds = 1;  // pieces of the longest block
    std::uint64_t rounds() const { return piece_rounds * groups; }
};

// The progress of a call, reset for each call.
struct CallState {
    Step step = Step::begin;
    bool is_request = false;
    bool in_place = false;  // the buffers are used in place; final after the descriptions
    bool divided = false;   // in place, and the members divide the work; final at the same time
    bool wide = false;      // through wide slots
    bool relayed = false;   // wide, and each member combines a share and passes the result on
    bool differs = false;   // a member makes another call, so this operation ends with ARG
    // From the descriptions read so far.
    bool shares_processors = false;       // members share processors
    bool own_stays = false;               // the root has one buffer: it copies no block for itself
    bool can_be_wide = true;              // all members have wide slots
    SlotSize slot_size = SlotSize::full;  // of its posts
    std::uint32_t member = 0;             // the member whose post is checked next
    std::uint64_t number = 0;             // of this round's post
    std::uint64_t round = 0;
    std::uint64_t most_bytes = 0;  // of the longest block in all descriptions
    Cut cut;
    const std::byte *first_operand = nullptr;  // the left operand of the next fold
    SegmentRecord *lent[2] = {};     // buffers of this rank, registered while peers use them
    std::size_t *offsets = nullptr;  // of blocks of several sizes, see add_offsets()
    std::byte *copy = nullptr;       // of the elements, where the call would overwrite them
    std::uint64_t *puts = nullptr;   // of a barrier, by world rank: see engine_note_open()
    sennit_status status = SENNIT_OK;
};

struct OpenCall : CallState {
    std::atomic<std::uint64_t> handle;  // of a request, in the rank's table
    Call call;
    sennit_error error;  // for the thread that takes the result
    std::atomic<bool> complete;
    OpenCall *next;  // in the team's queue
    struct TeamState *state;
};

// A leader's next step in passing on the posts of its node.
enum class PassStep : std::uint8_t { gather, send, deliver, await_word };

// A leader's state while it exchanges posts with other nodes. A request is {0} if none is open.
struct Passing {
    std::uint64_t number;              // of the posts
    std::uint32_t place;               // the member whose post is gathered next
    std::uint32_t round;               // of dissemination
    sennit_request sends[2];           // messages of this round
    sennit_request words[2][kRounds];  // the last word to each place
    sennit_request ask;                // asks for the number of the leader whose word is late
    std::uint64_t answer;              // the number in the answer
    std::int64_t ask_ns;               // time of the next question; 0: the wait has just started
    PassStep step;
    bool is_left;  // the leader has continued, although the last word is missing
};

struct TeamState {
    // The fields that short calls use are first, on few lines.
    Rank *rank;
    team::Team *team;
    std::uint32_t slot;
    std::uint32_t size;
    std::uint32_t handle;
    bool kernel_copies;    // the kernel copies private memory between all members
    bool messages_copy;    // the kernel copies on a node, messages between nodes
    bool reaches_data;     // load and store reach segments of all members
    bool reaches_control;  // no member is out of reach
    bool unfinished;       // the blocking call timed out
    Turn turn;
    // Not OK: a rank gave up (give_up()). Also read by threads without the turn.
    std::atomic<sennit_status> broken;
    std::atomic<std::uint32_t> open_requests;  // in `queue` or `incoming`
    unsigned polls;                            // polls that found nothing
    std::uint32_t room_member;                 // all members before it have reached `needed`
    std::uint64_t number;                      // of this rank's last post
    std::atomic<std::uint64_t> awaited;        // `number`, for the search for dead members
    Area *own;
    Doorbell **bells;     // [size], null if out of reach
    Area **areas;         // [size], null if out of reach
    std::uint64_t *seen;  // [size], the highest number known of each
    // The number that all members must reach before the slot is written again.
    std::uint64_t needed[kBooks];
    std::atomic<std::uint64_t> moves;              // counts steps, for waits
    TeamState *next;                               // in the rank's list
    std::atomic<OpenCall *> incoming;              // not in the queue yet, the last one first
    LinkedQueue<OpenCall, &OpenCall::next> queue;  // only the first one progresses
    OpenCall blocking;                             // the one blocking call
    // After a timeout, the arguments of the caller; `blocking.call` may have been changed.
    Call blocking_made;
    int broken_by;                            // the rank that the error is about, -1 if none
    std::atomic<std::int64_t> checked_at_ns;  // time of the last search
    std::byte *scratch;                       // two pieces, made at first use
    std::byte *stages;                        // three of kStageBytes, made at first use
    std::byte *operands;                      // made at first use, see operands_of()
    std::uint32_t wide_segment;               // of this rank's wide slots; 0: none yet
    std::byte **wide;                         // [size], the members' wide slots, null until needed
    SlotHeader *headers;        // [size], of members out of reach: the last that was fetched
    sennit_request *fetches;    // [size], gets in progress
    std::uint64_t *fetched;     // [size], the posts whose content was requested last
    std::byte *contents;        // [size], their headers and payloads; null until needed
    std::size_t content_bytes;  // of each, at the last request
    // Only for posts between nodes; else null.
    std::byte *node_buffer;       // of this node, in its leader's memory
    team::PostWords *post_words;  // in the node buffer
    std::uint32_t *places;        // [size], of the members' messages there
    Passing passing;
};

// Whether a rank gave up. Needs the turn.
inline bool is_broken(const TeamState &state) {
    // relaxed: written in this turn or an earlier one.
    return state.broken.load(std::memory_order_relaxed) != SENNIT_OK;
}

// A rank's collective requests, and the teams that have made calls.
struct Collectives {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of the requests
    // Held by walks through `states` and removals. Its holder progresses no call.
    pthread_mutex_t walk = PTHREAD_MUTEX_INITIALIZER;
    HandleTable<OpenCall, request::Handles, TableShape{1u << 20, 16}> table;
    std::atomic<TeamState *> states = nullptr;  // of all teams with calls
    TeamState *by_slot[kTeamSlots] = {};        // the same by team slot
    Choices choices;
};

// ---- posts.cpp

// Whether the member's post has arrived. A member whose call differs may reach the number without
// this post; verify() detects that. The slot is valid until this rank posts the next number.
bool has_posted(TeamState &state, std::uint32_t member, Place place);
// Whether the member has reached the number, with or without a post to read.
bool has_reached(TeamState &state, std::uint32_t member, std::uint64_t number);
// Starts gets from the members out of reach that this rank reads, from operation.member on, so that
// the gets overlap. It gets a member's number first. Once the member has posted, it gets the header
// and the first `bytes` of the payload, or nothing if `bytes` is 0. False: the team is broken.
bool ask_all(TeamState &state, const OpenCall &operation, std::size_t bytes);
// For a member that has posted: whether the data that ask_all() requested, if any, has arrived.
bool has_fetched(TeamState &state, const OpenCall &operation, std::uint32_t member);
inline bool has_content(TeamState &state, const OpenCall &operation, std::uint32_t member) {
    return state.reaches_control || has_fetched(state, operation, member);
}
// Whether this rank may write the slot.
bool has_room(TeamState &state, Place place);
// The payload of the member's current post, or null if it is out of reach.
std::byte *payload_of(TeamState &state, const OpenCall &operation, std::uint32_t member);
// Copies from the payload. Errors: those of a get.
struct PayloadPart {
    std::size_t offset;
    std::size_t bytes;
};
sennit_status fetch(TeamState &state, const OpenCall &operation, std::uint32_t member,
                    const PayloadPart &part, void *to);
inline Place place_of(const OpenCall &operation) {
    return {operation.number, operation.slot_size};
}
// The header of the member's post, in the slot that has it. Null: the member has reached the number
// without a post to read, or a get failed and *status says why.
struct Found {
    const SlotHeader *header;
    SlotSize size;
};
Found header_of(TeamState &state, std::uint32_t member, Place place, sennit_status *status);
// The call of a post.
struct PostedCall {
    std::uint64_t signature;
    std::uint64_t bytes;
    std::uint32_t rounds;
    sennit_status status;
};
PostedCall posted_call(const Found &found);
// Notes an error if the member makes another call. False: the ranks cannot continue together.
bool verify(TeamState &state, OpenCall &operation, std::uint32_t member, std::uint32_t rounds);
// Posts to all members that this rank gives up the team's collective calls with this status.
void give_up(TeamState &state, sennit_status status);
// Called if the member's number is kGaveUp. True: it gave up this team, not an earlier team in the
// slot, and the team's calls on this rank have ended too.
bool gave_up(TeamState &state, std::uint32_t member);
// For LostSearch::find, with a TeamState. Returns the world rank of a lost member that the queue
// needs, or -1.
int find_lost_member(Rank &rank, const void *state);
// Two pieces of kScratchBytes. Null: the thread's last error says why.
inline constexpr std::size_t kScratchBytes = 8320;
static_assert(kScratchBytes >= kPayloadBytes);
std::byte *scratch_of(TeamState &state);
// Bytes that a reduction fetches from a peer at a time: long enough for the kernel's copy, short
// enough for the level-2 cache.
inline constexpr std::size_t kStageBytes = 32768;
// Null: the thread's last error says why.
std::byte *stages_of(TeamState &state);
// Memory for operands that a reduction in place fetches. `bytes` is the same in all calls of a
// team.
std::byte *operands_of(TeamState &state, std::size_t bytes);

// The slot size for the post of a call of one round with `bytes` bytes.
inline SlotSize slot_size_for(Kind kind, std::size_t bytes) {
    // Two tiny slots share a line. This is good for a root that runs ahead; members that wait for
    // each other would contend for the line.
    if (kind == Kind::broadcast && bytes <= kTinyPayloadBytes) return SlotSize::tiny;
    if (bytes <= kSmallPayloadBytes) return SlotSize::small;
    return bytes <= kMiddlePayloadBytes ? SlotSize::middle : SlotSize::full;
}

// The most payload of a round's post.
inline std::size_t posted_bytes(const OpenCall &operation) {
    return has_own_blocks(operation.call.kind) ? operation.cut.piece_bytes * operation.cut.group
                                               : operation.most_bytes;
}

// ---- nodes.cpp

// For a team of several nodes. Errors: those of attaching the leader's memory.
sennit_status open_nodes(TeamState &state);
void close_nodes(TeamState &state);
// On the leader of a node: sends the node's posts to the other nodes, and receives theirs. True:
// done for this post, or this rank is no leader. False: not yet, or the team is broken.
bool pass_on(TeamState &state, const OpenCall &operation);
// Whether all posts of other nodes with this number have arrived.
bool is_released(const TeamState &state, std::uint64_t number);
// is_released() for a member of another node. Also checks whether this node's leader gave up.
bool is_passed_on(TeamState &state, std::uint32_t member, std::uint64_t number);
// The header of a post of another node. Null: the member has reached the number without a post.
const SlotHeader *passed_header(const TeamState &state, std::uint32_t member, std::uint64_t number);
// The payload of that post, if the message has its first `end` bytes; else null.
const std::byte *passed_payload(const TeamState &state, const OpenCall &operation,
                                std::uint32_t member, std::size_t end);

// ---- rounds.cpp

// The place of the piece from `source` for `destination` among the source's pieces, counted over
// all groups. Copies use a symmetric Latin square: at each place, different senders have pieces for
// different members. The pieces that two members send to each other have the same place, so a call
// with a single buffer overwrites a piece in the round in which it was sent. A reduction needs all
// sources in one round, so each destination has one place. The added 1 is for teams of two: the
// only piece that is read is the first one, beside the slot's header.
inline std::uint32_t place_of_piece(const Call &call, const team::Team &team, std::uint32_t source,
                                    std::uint32_t destination) {
    return folds(call.kind) ? destination : (source + destination + 1) % team.size;
}

inline constexpr std::size_t kPieceAlignment = 64;
inline constexpr std::size_t kSmallAlignment = 16;  // of short pieces in a slot
Cut cut_of(const Call &call, const team::Team &team, std::size_t most_bytes, std::size_t payload);
// For a reduce_scatter with a single buffer whose rounds serve only some members each. A result
// could overwrite elements that are sent in a later round, so this copies all elements first.
sennit_status copy_elements(TeamState &state, OpenCall &operation);
// Copies this rank's block for itself.
sennit_status copy_own_block(const TeamState &state, const Call &call);
void fill(TeamState &state, OpenCall &operation);
sennit_status take(TeamState &state, OpenCall &operation, std::uint32_t member);
void end_round(TeamState &state, OpenCall &operation);

// ---- small.cpp

enum class ShortWay {
    done,
    failed,     // the thread's last error says why
    posted,     // continues with begin_posted()
    not_taken,  // nothing was changed
};
// For a blocking call with an empty queue.
ShortWay take_short_way(TeamState &state, const Call &call);

// ---- relay.cpp

bool can_be_relayed(const TeamState &state, const Call &call);
Cut relay_cut(const TeamState &state, const Call &call);
void relay_fill(TeamState &state, OpenCall &operation);
sennit_status relay_take(TeamState &state, OpenCall &operation, std::uint32_t member);

// ---- in_place.cpp

// The block size from which a call starts with descriptions.
inline std::size_t in_place_from(const TeamState &state, const Call &call) {
    const Choices &choices = state.rank->collectives->choices;
    if (call.kind == Kind::broadcast) return choices.broadcast_in_place_from;
    if (!folds(call.kind)) return choices.copy_in_place_from;
    // Between nodes, work in place takes three more trips.
    constexpr std::size_t kFoldBetweenNodesFrom = std::size_t{32} << 10;
    return state.node_buffer == nullptr
               ? choices.fold_in_place_from
               : std::max(choices.fold_in_place_from, kFoldBetweenNodesFrom);
}

bool describes_first(const TeamState &state, const Call &call);
void write_description(TeamState &state, OpenCall &operation);
void end_loan(TeamState &state, OpenCall &operation);
sennit_status read_description(TeamState &state, OpenCall &operation, std::uint32_t member);
sennit_status work_in_place(TeamState &state, OpenCall &operation);
// After the descriptions: finds all members' wide slots, if all have some.
sennit_status find_wide_slots(TeamState &state, OpenCall &operation);
void drop_wide_slots(TeamState &state);

// ---- fold_in_place.cpp

// Does this rank's part of a reduction with the buffers in the descriptions. Errors: those of
// transfers and of the program's operator, NOMEM.
sennit_status fold_in_place(TeamState &state, OpenCall &operation);

// ---- progress.cpp

// Starts an operation whose only round is already posted.
void begin_posted(TeamState &state, OpenCall &operation);

// Needs the turn. Queues the operations that were added while another thread had the turn.
void take_all_incoming(TeamState &state);
inline void take_incoming(TeamState &state) {
    // relaxed: the next progress() takes an operation that is missed now.
    if (state.incoming.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        take_all_incoming(state);
}
// Needs the turn. Progresses the queue as far as possible.
void progress(TeamState &state);
// Calls progress(), unless another thread has the turn.
void try_progress(TeamState &state);
void finish(TeamState &state, OpenCall &operation, sennit_status status);
// Stores a failure as the operation's final status, with the thread's last error, unless an earlier
// failure is stored.
void note(OpenCall &operation, sennit_status status);
// Gives up the team's collective calls: all queued operations end with the thread's last error.
void end_all(TeamState &state, sennit_status status);

}  // namespace sennit::coll
