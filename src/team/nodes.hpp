// SPDX-License-Identifier: BSD-3-Clause
// Synchronises a team whose members do not all reach each other by load and store: a team of
// several nodes (Way::nodes), or one without load and store even within a node (Way::rounds), where
// each member counts as a node. The first member of a node is its leader. It waits until the others
// of its node have arrived, synchronises with the leaders of the other nodes by dissemination
// (Hensgen, Finkel, Manber 1988), and releases its node. In round k the leader of node i stores the
// epoch in a word of the leader of node i + 2^k, and waits for the word from node i - 2^k. So the
// number of words does not grow with the ranks per node.
//
// An exchange also moves messages (Bruck 1997). In round k the leader of node i first puts the
// messages of nodes i, i - 1, ... i - 2^k + 1 into the *node buffer* of the next leader (in the
// last round only those that are missing there), then stores the word. Members read the messages in
// the node buffer of their node. coll/nodes.cpp moves its posts through the same buffers. Design
// and failures: docs/design/collectives.md.
#pragma once

#include <cstdint>
#include <iterator>

#include "team/team.hpp"

namespace sennit::team {

inline std::uint32_t leader_of(const Team &team, std::uint32_t node) {
    return team.by_place[team.first_places[node]];
}
inline bool leads(const Team &team) {
    return leader_of(team, team.node) == team.rank;
}
// The other leaders of a round: this leader sends to next_leader(), and waits for the word of
// previous_leader(). Only for leaders.
inline std::uint32_t next_leader(const Team &team, std::uint32_t round) {
    return leader_of(team, (team.node + (1u << round)) % team.node_count);
}
inline std::uint32_t previous_leader(const Team &team, std::uint32_t round) {
    return leader_of(team, (team.node + team.node_count - (1u << round)) % team.node_count);
}

// Finds the team's nodes, which are equal on all members, and the node of this rank.
void form_nodes(Rank &rank, Team &team);

// A node buffer has two messages of exchanges per member, then these words, then the messages of
// posts (coll/nodes.cpp): two per member for each length.
struct PostWords {
    // Index: the number of the post modulo 2, then the round. Writer: the leader that sends in that
    // round.
    std::atomic<std::uint64_t> words[2][kRounds];
    std::atomic<std::uint64_t> released;  // writer: the leader of the node
    std::uint64_t beside;  // the data of a put that sends only a word; nobody reads it
    std::uint8_t unused[112];
};
static_assert(sizeof(PostWords) == 384 && offsetof(PostWords, released) == 256);
// Lengths of the messages of posts. A team uses a length if one message of this length per member
// takes at most kMostMessageBytes (same index) in total.
inline constexpr std::size_t kPostBytes[] = {96, 640, 2560, 8448};
inline constexpr std::size_t kMostMessageBytes[] = {SIZE_MAX, 4 << 20, 256 << 10, 256 << 10};

// Messages in a node buffer; each member's message is at its place.
struct MessageArray {
    std::size_t first;  // offset of the first message
    std::size_t bytes;  // of each
};
inline MessageArray messages_of_exchange(const Team &team, std::uint64_t number) {
    return {kMailboxBytes * (number % 2 * team.size), kMailboxBytes};
}
inline std::size_t post_words_offset(const Team &team) {
    return 2 * kMailboxBytes * team.size;
}
inline std::size_t post_lengths(const Team &team) {
    std::size_t count = 1;
    while (count < std::size(kPostBytes) &&
           kPostBytes[count] * team.size <= kMostMessageBytes[count])
        ++count;
    return count;
}
// `length`: an index of kPostBytes, less than post_lengths().
inline MessageArray messages_of_post(const Team &team, std::uint64_t number, std::size_t length) {
    std::size_t first = post_words_offset(team) + sizeof(PostWords);
    for (std::size_t shorter = 0; shorter < length; ++shorter)
        first += 2 * kPostBytes[shorter] * team.size;
    return {first + kPostBytes[length] * (number % 2 * team.size), kPostBytes[length]};
}

// Called before the members agree on how they reach each other. Makes a node buffer if this rank
// may be the leader of its node. `*id` is the buffer's segment, or 0. Errors: NOMEM, OS.
sennit_status make_node_buffer(Rank &rank, Team &team, std::uint32_t *id);
// Called after the last synchronisation of the team.
void drop_node_buffer(Rank &rank, Team &team);

// synchronise() for Way::nodes and Way::rounds.
sennit_status synchronise_by_nodes(Rank &rank, Team &team, Purpose purpose,
                                   const Deadline &deadline);

// With Way::nodes: finds the node buffer of this node. Errors: those of attaching the leader's
// memory.
sennit_status find_node_buffer(Rank &rank, const Team &team, std::byte **node_buffer);

struct NodeBufferPart {
    std::size_t offset;
    std::size_t bytes;
    const void *data;
};
// Starts a put to the node buffer of another leader. The data is copied first, so the caller may
// reuse its memory at once. Errors: those of resolve() and engine_start().
sennit_status put_in_node_buffer(Rank &rank, const Team &team, std::uint32_t leader,
                                 const NodeBufferPart &part, sennit_request *request);
// The word of a node buffer that put_with_word() stores after the data.
struct NodeBufferWord {
    std::size_t offset;
    std::uint64_t value;
};
// Whether the data is short enough for put_with_word().
bool goes_with_word(const Rank &rank, const Team &team, std::uint32_t leader,
                    const NodeBufferPart &part);
// put_in_node_buffer(), then stores the word in the same node buffer.
sennit_status put_with_word(Rank &rank, const Team &team, std::uint32_t leader,
                            const NodeBufferPart &part, const NodeBufferWord &word,
                            sennit_request *request);
// The messages that the next leader of the round lacks: those of this node and the 2^round - 1
// nodes before it; in the last round only those that are still missing there. They are two parts if
// they wrap around the end of the node buffer. Returns the number of parts.
std::size_t messages_of_round(const Team &team, std::uint32_t round, const MessageArray &messages,
                              NodeBufferPart parts[2]);
// put_in_node_buffer() for each part.
sennit_status put_parts(Rank &rank, const Team &team, std::uint32_t leader,
                        const NodeBufferPart parts[2], std::size_t count, sennit_request sends[2]);

// For LostSearch::find; `team` points to the Team. Returns a lost rank that this synchronisation
// needs, or -1.
int find_lost_of_nodes(Rank &rank, const void *team);

}  // namespace sennit::team
