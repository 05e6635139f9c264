// SPDX-License-Identifier: BSD-3-Clause
// A rank's records of its sent tasks, and of answers to received ones.
#pragma once

#include <sennit/error.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/fabric/wire.hpp"
#include "transport/transport.hpp"

namespace sennit::transport::fabric {

// Answers to a peer that wait for a message to it.
struct HeldAnswers {
    int peer = -1;  // -1: free
    std::uint8_t count = 0;
    std::uint8_t rail = 0;    // the last task's
    bool is_in_vain = false;  // no message to the peer was sent in time
    std::int64_t since_ns = 0;
    LateAnswer answers[kMostLateAnswers];
    std::uint32_t subjects[kMostLateAnswers];  // 0: none
};

// The latest information that a peer has on the subjects of its latest tasks. Any message with room
// updates it.
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

// A sent task without an answer yet.
struct OpenTask {
    Operation *operation = nullptr;
    std::uint64_t id = 0;
    std::int64_t resend_ns = 0;  // time of the repetition; 0: see resend_tasks()
    std::int64_t pause_ns = 0;
    std::uint32_t events_put = 0;  // PeerLink::events_put when the task was sent
    std::uint8_t first_rail = 0;
    std::uint8_t rail = 0;  // its last rail
};

// An answer to a task of this rank. The reply is in the message that brought it.
struct Answer {
    sennit_status status;
    const std::byte *reply;
    std::size_t bytes;
};

// The operations that answers have ended.
struct Answered {
    struct Ended {
        Operation *operation;
        sennit_status status;
    };
    // In a message: those that waited for it, and its own.
    static constexpr std::size_t kMostInMessage = kMostLateAnswers + 1;
    static constexpr std::size_t kMost = 4 * kMostInMessage;

    bool has_room() const { return count + kMostInMessage <= kMost; }

    Ended ended[kMost];
    std::size_t count = 0;
};

}  // namespace sennit::transport::fabric
