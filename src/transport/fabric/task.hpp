// SPDX-License-Identifier: BSD-3-Clause
// A rank's records of sent tasks without an answer, and of answers to received tasks.
#pragma once

#include <sennit/error.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/fabric/wire.hpp"
#include "transport/transport.hpp"

namespace sennit::transport::fabric {

// Delayed answers to a peer, sent with the next message to it.
struct HeldAnswers {
    int peer = -1;  // -1: free
    std::uint8_t count = 0;
    std::uint8_t rail = 0;    // rail of the last task
    bool is_in_vain = false;  // no message to the peer was sent in time for them
    std::int64_t since_ns = 0;
    LateAnswer answers[kMostLateAnswers];
    std::uint32_t subjects[kMostLateAnswers];  // 0: none
};

// The subjects (answers.cpp) of a peer's latest tasks, each with the last reply that was sent to
// the peer for it. Messages to the peer carry updates if they have room.
class KnownSubjects {
  public:
    struct Known {
        std::uint32_t subject;
        std::uint64_t reply;
    };

    void note(std::uint32_t subject, std::uint64_t reply);
    std::span<const Known> all() const { return {known_, count_}; }

  private:
    std::uint8_t count_ = 0;
    Known known_[kMostLateAnswers];
};

// A sent task without an answer.
struct OpenTask {
    Operation *operation = nullptr;
    std::uint64_t id = 0;
    std::int64_t resend_ns = 0;  // time of the next repetition; 0: not set yet
    std::int64_t pause_ns = 0;
    std::uint32_t events_put = 0;  // PeerLink::events_put when the task was sent
    std::uint8_t first_rail = 0;
    std::uint8_t rail = 0;  // rail of the last repetition
};

// An answer to a task of this rank; `reply` is in the received message.
struct Answer {
    sennit_status status;
    const std::byte *reply;
    std::size_t bytes;
};

// Operations that answers have ended.
struct Answered {
    struct Ended {
        Operation *operation;
        sennit_status status;
    };
    // A message has its own answer and delayed ones.
    static constexpr std::size_t kMostInMessage = kMostLateAnswers + 1;
    static constexpr std::size_t kMost = 4 * kMostInMessage;

    bool has_room() const { return count + kMostInMessage <= kMost; }

    Ended ended[kMost];
    std::size_t count = 0;
};

}  // namespace sennit::transport::fabric
