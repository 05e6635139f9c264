// SPDX-License-Identifier: BSD-3-Clause
// The formats of the data that ranks send to each other on the path `fabric`: at start each rank's
// card with its addresses, and later messages. docs/design/fabric.md has the protocol.
#pragma once

#include <cstring>

#include "transport/transport.hpp"

namespace sennit::transport::fabric {

inline constexpr std::size_t kInterfaces = 8;  // most interfaces in a rank's card
inline constexpr std::size_t kNameBytes = 48;  // longest name of an endpoint
inline constexpr unsigned kMostRails = 8;      // most rails of a rank

// A rank's card; it fills the 64 bytes of the rank's Address. The name of an endpoint is either an
// IPv4 address and a port that the rank has reserved, or bytes that the provider chooses when the
// rail is opened. If the provider chooses, ranks exchange more data later: this struct again, with
// IPv4 addresses for the watch (the detector of dead hosts), then room for kMostRails names.
struct RailCard {
    std::uint64_t machine;                 // equal for ranks of one network namespace
    std::uint32_t addresses[kInterfaces];  // IPv4 in network byte order; or a hash of the network's
                                           // name
    std::uint8_t prefixes[kInterfaces];    // subnet bits; or the interface's number in its network
    std::uint16_t port;                    // equal on each interface, in network byte order
    std::uint16_t watch_port;              // port of the rank's watch
    std::uint8_t interfaces;               // number of interfaces; 0: the rank has no rail
    std::uint8_t most_rails;               // the user's limit of rails; 0: no limit
    std::uint8_t speeds[kInterfaces];      // bit length of the speed in Mbit/s; 0: unknown
    std::uint8_t provider;                 // place in kProviders, from 1; for another provider:
                                           // 128 | 7 bits of the hash of its name
    std::uint8_t more;                     // 8-byte words exchanged later; 0: names are IPv4
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

// The cards of all ranks, each at the start of an array element.
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

// The passive endpoint of a rail is the target of puts and gets. The first one has number 1, and
// each new one has the next number. A rank in doubt about its transfers to an endpoint sends a
// question with this number. The owner closes the endpoint, if it is still open, and answers with
// the endpoint that is open then. A question with number 0 closes nothing. Question and answer may
// go by another rail.
enum class MessageKind : std::uint8_t {
    none = 0,
    task = 1,
    answer = 2,
    goodbye = 3,
    hurry = 6,     // the sender waits: send delayed answers now, and poll often
    question = 4,  // id: the number; body: handles of transfers in doubt or without a key
    endpoint = 5   // the answer to a question, or news. id: the number; body: the endpoint's name,
                   // then KeyRows for handles that are dead or have another key than key_of()
};
inline constexpr std::size_t kMostHandles = 16;  // in a question

// The owner's answer about a handle. If the provider's keys are longer than 8 bytes, each row is
// followed by room for the bytes of a key.
struct KeyRow {
    std::uint64_t handle;
    std::uint64_t base;  // added to offsets
    std::uint64_t key;   // kDeadKey: the memory is gone
};
inline constexpr std::size_t kMostRawKeyBytes = 64;
inline constexpr std::uint64_t kDeadKey = UINT64_MAX;
static_assert(sizeof(KeyRow) == 24 && offsetof(KeyRow, key) == 16);

// The cookie of messages to a rank. It differs by rank, because the endpoint's port may belong to
// another rank when a message arrives.
constexpr std::uint64_t cookie_for(std::uint64_t job_cookie, int rank) {
    return job_cookie ^ (static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15u;
}

struct MessageHeader {
    std::uint64_t job_cookie;  // cookie_for() of the receiver
    MessageKind kind;
    std::uint8_t rail;          // question, endpoint: rail of the passive endpoint
    std::uint8_t answers;       // task, answer: number of LateAnswers after the body
    std::uint8_t after_events;  // task: the owner reads its event queues first
    std::int32_t from;          // world rank of the sender
    std::uint64_t id;           // task: chosen by its sender, not 0. answer: the id of its task; or
                                // 0: the message has only delayed answers. question, endpoint: the
                                // endpoint's number
    std::uint64_t handle;       // task: its segment. endpoint: its tag
    std::uint64_t offset;       // task: offset in the segment
    std::uint64_t bytes;        // task: size of its memory. endpoint: 1: the owner sends its keys
    std::uint32_t body_bytes;   // task: its payload. answer: its reply. others: see MessageKind
    std::uint16_t status;       // answer: sennit_status. question, endpoint: kIsNew, kIsLeftOut
    std::uint16_t back_port;    // port of the sender's outgoing endpoint, if messages may go back
                                // to it; network byte order; 0: none
    Task task;
};
// Whether delayed answers may follow the body.
constexpr bool may_bring_answers(const MessageHeader &header) {
    return header.kind == MessageKind::task || header.kind == MessageKind::answer;
}
// A delayed answer to a task whose reply is one word; or a change of a subject (answers.cpp).
struct LateAnswer {
    std::uint64_t id;     // of the task; or kOfSubject | subject
    std::uint64_t reply;  // to the task; or the present reply to tasks with that subject
};
inline constexpr std::uint64_t kOfSubject = std::uint64_t{1} << 63;
inline constexpr std::size_t kMostLateAnswers = 8;
inline constexpr std::size_t kAnswersBytes = kMostLateAnswers * sizeof(LateAnswer);
// The longest payload of a task on providers other than sockets: they may receive messages into
// pinned memory. On sockets the limit is kMostPayloadBytes.
inline constexpr std::size_t kShortPayloadBytes = kEventBytes + 8192;
inline constexpr std::uint32_t kIsNew = 1;  // endpoint: the old one was closed for this question
// question: its sender has left the rail out; the answer has the flag too.
inline constexpr std::uint32_t kIsLeftOut = 2;
static_assert(sizeof(MessageHeader) == 80 && offsetof(MessageHeader, task) == 56);
static_assert(kNameBytes + kMostHandles * sizeof(KeyRow) <= kMostTaskBytes);
static_assert(kNameBytes + sizeof(KeyRow) + kMostRawKeyBytes <= kMostTaskBytes);

}  // namespace sennit::transport::fabric
