// SPDX-License-Identifier: BSD-3-Clause
// The moving part of the collectives: operations, and what a rank keeps for each team that makes
// some. An operation is a row of rounds, and a round is: wait until the own slot is free, write
// into it, post it under the next number, wait for the posts of those who are read, act. No
// function here waits: progress() goes as far as the peers' posts allow and returns, so a call that
// timed out and a call with a request are the same thing, taken up again later.
// docs/design/collectives.md has the invariants.
//
// A TeamState belongs to one team of one rank. Everything in it is used in its `turn`, except
// `complete` of an operation.
#pragma once

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
    flush,  // of a barrier: wait until what was put before is complete
    begin,
    letter_room,  // wait for the slot, then post the letter
    letters,      // wait for everyone's
    room,         // wait for the slot, then fill and post it
    posts,        // wait for those who are read, and take what they posted
    in_place,     // read and write peers' buffers where they are
    last_room,    // then tell that this rank is done with them
    last_posts,   // wait until all are
    over,
};

// How blocks are cut into rounds.
struct Cut {
    std::size_t piece_bytes = 0;  // of a block in one round
    std::uint32_t group = 1;      // members that get a piece in one round
    std::uint32_t groups = 1;
    std::uint64_t piece_rounds = 1;  // pieces of the longest block
    std::uint64_t rounds() const { return piece_rounds * groups; }
};

// How far a call is. Begins anew with each.
struct CallState {
    Step step = Step::begin;
    bool is_request = false;
    bool in_place = false;  // the letters agreed on using buffers where they are
    bool divided = false;   // and each member does a part of what the root could do alone
    bool wide = false;      // or on wide slots
    bool relayed = false;   // on which results are passed on, see relay.cpp
    bool differs = false;   // somebody makes another call: this one ends with ARG
    // As far as letters were read.
    bool shares_processors = false;  // of the members
    bool can_be_wide = true;
    SlotSize slot_size = SlotSize::full;  // of the slots of its posts
    std::uint32_t member = 0;             // whose post is looked at next
    std::uint64_t number = 0;             // of the present round's post
    std::uint64_t round = 0;
    std::uint64_t most_bytes = 0;  // of the longest block of all letters
    Cut cut;
    const std::byte *first_operand = nullptr;  // of a fold that has met only one so far
    SegmentRecord *lent[2] = {};     // buffers of this rank, registered while peers use them
    std::size_t *offsets = nullptr;  // of blocks of several sizes, see add_offsets()
    std::byte *copy = nullptr;       // of the elements, where the call would overwrite them
    std::uint64_t *puts = nullptr;   // of a barrier, by world rank: see engine_note_open()
    sennit_status status = SENNIT_OK;
};

struct OpenCall : CallState {
    std::atomic<std::uint64_t> handle;  // of a request, in the rank's table
    Call call;
    sennit_error error;  // of a request, for the thread that takes it
    std::atomic<bool> complete;
    OpenCall *next;  // in the team's queue
    struct TeamState *state;
};

// What a leader does next in passing the posts of its node on.
enum class PassStep : std::uint8_t { gather, send, deliver, await_word };

// Of a leader between nodes, see nodes.cpp. Requests are {0} where nothing is under way.
struct Passing {
    std::uint64_t number;              // of the posts
    std::uint32_t place;               // whose post is gathered next
    std::uint32_t round;               // of dissemination
    sennit_request sends[2];           // letters of this round
    sennit_request words[2][kRounds];  // the last to each place
    sennit_request ask;                // how far the leader is whose word is late
    std::uint64_t told;                // what it has said
    std::int64_t ask_ns;               // when it is asked next; 0: the wait has only begun
    PassStep step;
};

struct TeamState {
    // What short calls use comes first, on few lines.
    Rank *rank;
    team::Team *team;
    std::uint32_t slot;
    std::uint32_t size;
    std::uint32_t handle;
    bool kernel_copies;    // or the kernel copies private memory between all members
    bool messages_copy;    // or it does on a node, and messages do between nodes
    bool reaches_data;     // load and store lead to segments of all members
    bool reaches_control;  // and to their control blocks
    bool unfinished;       // the blocking call timed out
    Turn turn;
    // Not OK: some rank gave up. Also read by a thread that has not the turn.
    std::atomic<sennit_status> broken;
    std::atomic<std::uint32_t> open_requests;  // in the queue, and on their way there
    unsigned polls;                            // that found nothing
    std::uint32_t room_member;                 // all before it have
    std::uint64_t number;                      // of this rank's last post
    std::atomic<std::uint64_t> awaited;        // the same, for the search after dead members
    Area *own;
    Doorbell **bells;     // [size], null where load and store do not reach
    Area **areas;         // [size], null where load and store do not reach
    std::uint64_t *seen;  // [size], the highest number known of each
    // All must have come so far before the slot is written again.
    std::uint64_t needed[kBooks];
    std::atomic<std::uint64_t> moves;  // counts steps, to tell waits that something went on
    TeamState *next;                   // in the rank's list
    std::atomic<OpenCall *> incoming;  // not in the queue yet, the last first
    LinkedQueue<OpenCall, &OpenCall::next> queue;  // the first is under way
    OpenCall blocking;                             // the one blocking call
    Call blocking_made;  // if it timed out, as its caller made it; operations change their own
    int broken_by;       // the rank that this was about, -1 if none
    std::atomic<std::int64_t> looked_at_ns;  // when somebody last looked for dead members
    std::byte *scratch;                      // two pieces, made when first needed
    std::byte *stages;                       // three of kStageBytes, likewise
    std::uint32_t wide_segment;              // of this rank's wide slots; 0: none yet
    std::byte **wide;                        // [size], the members' wide slots, null until needed
    SlotHeader *headers;                     // [size], of those out of reach: what was fetched last
    sennit_request *fetches;                 // [size], under way
    std::uint64_t *fetched;                  // [size], the posts whose content was asked for last
    std::byte *contents;        // [size], their headers and payloads; null until needed
    std::size_t content_bytes;  // of each, as asked for last
    // Where posts go from node to node; null elsewhere.
    std::byte *board;           // of this node, in its leader's memory
    team::PostWords *on_board;  // there
    std::uint32_t *places;      // [size], of the members' letters
    Passing passing;
};

// Did some rank give up? Needs the turn.
inline bool is_broken(const TeamState &state) {
    // relaxed: written in this turn or in one before.
    return state.broken.load(std::memory_order_relaxed) != SENNIT_OK;
}

// Of a rank: its requests, and the teams that have some.
struct Collectives {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of the requests
    // Held by who carries all teams on, which may take long: no call waits for it but that which
    // ends a team.
    pthread_mutex_t polling = PTHREAD_MUTEX_INITIALIZER;
    HandleTable<OpenCall, request::Handles, TableShape{1u << 20, 16}> table;
    std::atomic<TeamState *> states = nullptr;  // of all teams that have made a call
    TeamState *by_slot[kTeamSlots] = {};        // the same by team slot
    Choices choices;
};

// ---- posts.cpp

// Is the member's post there? It may also have come that far without such a post, if its call
// differs, which verify() finds out. The slot is good until this rank posts the next number.
bool has_posted(TeamState &state, std::uint32_t member, Place place);
// Has the member come that far, with or without a post that is read?
bool has_come(TeamState &state, std::uint32_t member, std::uint64_t number);
// Starts to fetch from all members out of reach that this rank reads, from the present one on, so
// that it does not wait for one after the other: whether they have posted and, of those that have,
// the header and the first `bytes` of the payload, 0 for none. False: the team is broken.
bool ask_all(TeamState &state, const OpenCall &operation, std::size_t bytes);
// Of a member that has posted: what was so asked for is there, if anything was.
bool has_fetched(TeamState &state, const OpenCall &operation, std::uint32_t member);
inline bool has_content(TeamState &state, const OpenCall &operation, std::uint32_t member) {
    return state.reaches_control || has_fetched(state, operation, member);
}
// May this rank write the slot?
bool has_room(TeamState &state, Place place);
// The payload of the member's present post, or null where load and store do not reach.
std::byte *payload_of(TeamState &state, const OpenCall &operation, std::uint32_t member);
// Copies from it. Errors: those of a get.
struct PayloadPart {
    std::size_t offset;
    std::size_t bytes;
};
sennit_status fetch(TeamState &state, const OpenCall &operation, std::uint32_t member,
                    const PayloadPart &part, void *to);
inline Place place_of(const OpenCall &operation) {
    return {operation.number, operation.slot_size};
}
// The header of the member's post, in whichever slot it is. Null: the member has come that far
// without a post that is read, or a get failed and *status says how.
struct Found {
    const SlotHeader *header;
    SlotSize size;
};
Found header_of(TeamState &state, std::uint32_t member, Place place, sennit_status *status);
// What it says of the call.
struct PostedCall {
    std::uint64_t signature;
    std::uint64_t bytes;
    std::uint32_t rounds;
    sennit_status status;
};
PostedCall posted_call(const Found &found);
// Notes a call that differs. False: the ranks can not go on together.
bool verify(TeamState &state, OpenCall &operation, std::uint32_t member, std::uint32_t rounds);
// Ends the team's collective calls with this status on all members.
void give_up(TeamState &state, sennit_status status);
// The member's number is kGaveUp. True: it means this team, and none that had the slot before.
bool gave_up(TeamState &state, std::uint32_t member);
// A member without which the queue has no hope: its world rank, or -1. A LostSearch of a TeamState.
int find_lost_member(Rank &rank, const void *state);
// Two pieces of kScratchBytes. Null: the thread's last error tells.
inline constexpr std::size_t kScratchBytes = 8320;
static_assert(kScratchBytes >= kPayloadBytes);
std::byte *scratch_of(TeamState &state);
// Elements that a reduction fetches from a peer at a time: long enough for the kernel's copy, short
// enough for the second cache.
inline constexpr std::size_t kStageBytes = 32768;
// Null: the thread's last error tells.
std::byte *stages_of(TeamState &state);

// For the post of a call of one round, with so many bytes.
inline SlotSize slot_size_for(Kind kind, std::size_t bytes) {
    // Only a root runs ahead. Members that wait for each other would meet on one line.
    if (kind == Kind::broadcast && bytes <= kTinyPayloadBytes) return SlotSize::tiny;
    if (bytes <= kSmallPayloadBytes) return SlotSize::small;
    return bytes <= kMiddlePayloadBytes ? SlotSize::middle : SlotSize::full;
}

// Of the payload of a round's post, at most.
inline std::size_t posted_bytes(const OpenCall &operation) {
    return has_own_blocks(operation.call.kind) ? operation.cut.piece_bytes * operation.cut.group
                                               : operation.most_bytes;
}

// ---- nodes.cpp

// Of a team of several nodes. Errors: those of attaching the leader's memory.
sennit_status open_nodes(TeamState &state);
void close_nodes(TeamState &state);
// Passes the posts of this rank's node on, if it leads one, and takes those of the others. True:
// that is done for the present round. False: not yet, or the team is broken.
bool pass_on(TeamState &state, const OpenCall &operation);
// Are the posts of that number of all other nodes here?
bool is_released(const TeamState &state, std::uint64_t number);
// Of a member on one of them. Finds out too whether this node's leader gave up.
bool is_passed_on(TeamState &state, std::uint32_t member, std::uint64_t number);
// The header of such a post, or null: the member has come that far without one that is read.
const SlotHeader *passed_header(const TeamState &state, std::uint32_t member, std::uint64_t number);
// The payload behind it, if it has the part.
const std::byte *passed_payload(const TeamState &state, const OpenCall &operation,
                                std::uint32_t member, std::size_t end);

// ---- rounds.cpp

// Where the piece of `source` for `destination` lies, as a number of pieces over all groups. For
// copies a Latin square that is its own mirror image, so that no two senders serve the same member
// first and calls in place replace a piece just when it has been sent. A fold needs all sources at
// once, hence one place for each destination. The 1 puts the only piece of two ranks that is read
// first, beside the slot's header.
inline std::uint32_t place_of_piece(const Call &call, const team::Team &team, std::uint32_t source,
                                    std::uint32_t destination) {
    return folds(call.kind) ? destination : (source + destination + 1) % team.size;
}

inline constexpr std::size_t kPieceAlignment = 64;
inline constexpr std::size_t kSmallAlignment = 16;  // of short pieces in a slot
Cut cut_of(const Call &call, const team::Team &team, std::size_t most_bytes, std::size_t payload);
// Copies what needs no peer.
sennit_status copy_own(TeamState &state, OpenCall &operation);
sennit_status copy_own_block(const TeamState &state, const Call &call);
void fill(TeamState &state, OpenCall &operation);
sennit_status take(TeamState &state, OpenCall &operation, std::uint32_t member);
void end_round(TeamState &state, OpenCall &operation);

// ---- small.cpp

enum class ShortWay {
    done,
    failed,     // with the thread's last error
    posted,     // goes on with begin_posted()
    not_taken,  // nothing has happened
};
// Of a blocking call, with the queue empty.
ShortWay take_short_way(TeamState &state, const Call &call);

// ---- relay.cpp

bool can_be_relayed(const TeamState &state, const Call &call);
Cut relay_cut(const TeamState &state, const Call &call);
void relay_fill(TeamState &state, OpenCall &operation);
sennit_status relay_take(TeamState &state, OpenCall &operation, std::uint32_t member);

// ---- in_place.cpp

// The size of a block from which on letters come first.
inline std::size_t in_place_from(const TeamState &state, const Call &call) {
    // relaxed: not shared while the rank is in use.
    const Choices &choices = state.rank->collectives->choices;
    if (call.kind == Kind::broadcast) return choices.broadcast_in_place_from;
    return folds(call.kind) ? choices.fold_in_place_from : choices.copy_in_place_from;
}

bool wants_letters(const TeamState &state, const Call &call);
void write_letter(TeamState &state, OpenCall &operation);
void end_loan(TeamState &state, OpenCall &operation);
// Looks at the member's letter.
sennit_status read_letter(TeamState &state, OpenCall &operation, std::uint32_t member);
sennit_status work_in_place(TeamState &state, OpenCall &operation);
// After the letters: finds everyone's wide slots, if all have some.
sennit_status find_wide_slots(TeamState &state, OpenCall &operation);
void drop_wide_slots(TeamState &state);

// ---- progress.cpp

// The operation's one round was posted before.
void begin_posted(TeamState &state, OpenCall &operation);

// Needs the turn. Puts what came while another thread had it into the queue.
void take_all_incoming(TeamState &state);
inline void take_incoming(TeamState &state) {
    // relaxed: what is missed now is taken in by the next progress().
    if (state.incoming.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        take_all_incoming(state);
}
// Needs the turn. Carries the queue on as far as it goes.
void progress(TeamState &state);
// The same if nobody else does it at the moment.
void try_progress(TeamState &state);
void finish(TeamState &state, OpenCall &operation, sennit_status status);
// What the operation is to end with: the thread's last error, if nothing was noted before.
void note(OpenCall &operation, sennit_status status);
// All that is queued ends with the thread's last error.
void end_all(TeamState &state, sennit_status status);

}  // namespace sennit::coll
