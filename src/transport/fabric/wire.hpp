// SPDX-License-Identifier: BSD-3-Clause
// The data that ranks exchange for the path fabric: at start-up the addresses for messages, then
// messages: tasks with their answers, the fence, and goodbyes.
#pragma once

#include <cstring>

#include "transport/transport.hpp"

namespace sennit::transport::fabric {

inline constexpr std::size_t kInterfaces = 8;  // of one rank that others know
inline constexpr std::size_t kNameBytes = 48;  // of libfabric's name of an endpoint
inline constexpr unsigned kMostRails = 8;      // of a rank

// The contents of the 64 bytes of an Address. Endpoints have names of two kinds: an IPv4 address
// and a port that the rank has reserved; or names that the provider chooses, known when the rails
// are open. Then the ranks exchange more: this struct again, with IPv4 addresses by which they
// watch each other, followed by a name for each of kMostRails rails.
struct RailCard {
    std::uint64_t machine;                 // equal if the interfaces are the same ones
    std::uint32_t addresses[kInterfaces];  // IPv4, in the order of the network, the best first;
                                           // or a word of the network's name
    std::uint8_t prefixes[kInterfaces];    // how many bits of each name its subnet; or its number
                                           // among those of the same network
    std::uint16_t port;                    // on each, in the order of the network
    std::uint16_t watch_port;              // port of its watch
    std::uint8_t interfaces;               // number of interfaces; 0: the rank has no rail
    std::uint8_t most_rails;               // the user's limit; 0: none
    std::uint8_t speeds[kInterfaces];      // bits of the number of Mbit/s; 0: not known
    std::uint8_t provider;                 // its place in kProviders, from 1; of others, which
                                           // somebody has named: 128 and 7 bits of a hash
    std::uint8_t more;                     // words of 8 bytes that are told later; 0: IPv4
};
static_assert(sizeof(RailCard) == kAddressBytes && offsetof(RailCard, port) == 48);
static_assert(offsetof(RailCard, more) == kAddressBytes - 1);
static_assert(kMostRails == 8 && (sizeof(RailCard) + kMostRails * kNameBytes) / 8 <= UINT8_MAX);
constexpr std::uint8_t more_words(std::size_t name_bytes) {
    return static_cast<std::uint8_t>(sizeof(RailCard) / 8 + name_bytes);
}

inline RailCard card_of(const Address &address) {
    RailCard card;
    std::memcpy(&card, address.bytes, sizeof card);
    return card;
}

// The cards of all ranks, in an array with more data of each.
struct CardList {
    const void *first;
    std::size_t stride;
    std::size_t size;

    RailCard at(std::size_t rank) const {
        RailCard card;
        std::memcpy(&card, static_cast<const char *>(first) + rank * stride, sizeof card);
        return card;
    }
};

// The passive endpoint of a rail, the target of puts and gets, has a number, from 1; a new one has
// the next. A rank in doubt about its transfers to one asks for its close, and learns the endpoint
// that is now open. The number 0 only asks for that. Question and answer may go by another rail.
enum class MessageKind : std::uint8_t {
    none = 0,
    task = 1,
    answer = 2,
    goodbye = 3,
    hurry = 6,     // a wait has started: for answers that may wait, or for anything
    question = 4,  // id: the number; body: handles of the transfers in doubt or without a key
    endpoint = 5   // id: the number; body: its name, then a KeyRow for each handle that is dead, or
                   // whose key is not what key_of() says
};
inline constexpr std::size_t kMostHandles = 16;  // of a question

// The owner's answer about memory. If keys are longer than a word, the key's bytes follow, and each
// row has room for them.
struct KeyRow {
    std::uint64_t handle;
    std::uint64_t base;  // added to offsets
    std::uint64_t key;   // kDeadKey: the memory is gone
};
inline constexpr std::size_t kMostRawKeyBytes = 64;
inline constexpr std::uint64_t kDeadKey = UINT64_MAX;
static_assert(sizeof(KeyRow) == 24 && offsetof(KeyRow, key) == 16);

// The cookie of a message to the rank: an endpoint's port may belong to another rank by the time it
// arrives.
constexpr std::uint64_t cookie_for(std::uint64_t job_cookie, int rank) {
    return job_cookie ^ (static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15u;
}

struct MessageHeader {
    std::uint64_t job_cookie;  // cookie_for() its receiver
    MessageKind kind;
    std::uint8_t rail;          // rail of the passive endpoint that the fence is about
    std::uint8_t answers;       // task, answer: number of LateAnswers after the body
    std::uint8_t after_events;  // task: the queues of events are read first
    std::int32_t from;          // world rank of the sender
    std::uint64_t id;           // of the task, chosen by who sent it, not 0; in its answer too. A
                                // number. Answer: 0: there are late ones alone
    std::uint64_t handle;       // task: of the segment. endpoint: its tag
    std::uint64_t offset;       // task: into it
    std::uint64_t bytes;        // task: how much of it the task works on. endpoint: 1: all keys are
                                // given in rows
    std::uint32_t body_bytes;   // what follows the header: payload, reply, or what the kind says
    std::uint16_t status;       // answer: sennit_status. question, endpoint: those below
    std::uint16_t back_port;    // to a rank with a higher number: by which messages may go back, in
                                // the order of the network; 0: none
    Task task;
};
// Whether answers that waited for a message to its receiver may follow the body.
constexpr bool may_bring_answers(const MessageHeader &header) {
    return header.kind == MessageKind::task || header.kind == MessageKind::answer;
}
// An answer to an executed task with a reply of one word.
struct LateAnswer {
    std::uint64_t id;     // of the task; or kOfSubject and the subject of earlier ones, of which
    std::uint64_t reply;  // this would be the reply now
};
inline constexpr std::uint64_t kOfSubject = std::uint64_t{1} << 63;
inline constexpr std::size_t kMostLateAnswers = 8;
inline constexpr std::size_t kAnswersBytes = kMostLateAnswers * sizeof(LateAnswer);
// The longest payload of a task on providers that put long messages into pinned memory or into
// memory of a card. On sockets it is kMostPayloadBytes.
inline constexpr std::size_t kShortPayloadBytes = kEventBytes + 8192;
inline constexpr std::uint32_t kIsNew = 1;  // endpoint: opened for this question
inline constexpr std::uint32_t kIsOut = 2;  // the rail carries nothing now, as in the question
static_assert(sizeof(MessageHeader) == 80 && offsetof(MessageHeader, task) == 56);
static_assert(kNameBytes + kMostHandles * sizeof(KeyRow) <= kMostTaskBytes);
static_assert(kNameBytes + sizeof(KeyRow) + kMostRawKeyBytes <= kMostTaskBytes);

}  // namespace sennit::transport::fabric
