// SPDX-License-Identifier: BSD-3-Clause
// What a rank notes of the tasks that it has sent, and of the answers to those that came to it.
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
    int peer = -1;  // -1: nobody's
    std::uint8_t count = 0;
    std::uint8_t rail = 0;    // the last task's
    bool is_in_vain = false;  // nothing went to the peer in time
    std::int64_t since_ns = 0;
    LateAnswer answers[kMostLateAnswers];
    std::uint32_t subjects[kMostLateAnswers];  // 0: none
};

// What a peer has last been told of the subjects of its latest tasks. It hears more with any
// message that has room.
class ToldSubjects {
  public:
    struct Told {
        std::uint32_t subject;
        std::uint64_t reply;
    };

    void note(std::uint32_t subject, std::uint64_t reply);
    std::span<const Told> all() const { return {told_, count_}; }

  private:
    std::uint8_t count_ = 0;
    Told told_[kMostLateAnswers];
};

// A task that was sent and has no answer yet.
struct OpenTask {
    Operation *operation = nullptr;
    std::uint64_t id = 0;
    std::int64_t resend_ns = 0;  // when it is sent again; 0: see resend_tasks()
    std::int64_t pause_ns = 0;
    std::uint32_t events_put = 0;  // to the peer, when it was sent
    std::uint8_t first_rail = 0;
    std::uint8_t rail = 0;  // by which it was sent last
};

// To a task of this rank's. The reply lies in the message that has brought it.
struct Answer {
    Operation *operation;
    sennit_status status;
    const std::byte *reply;
    std::size_t bytes;
};

// All that a message has brought: those that waited for it, and its own.
struct Answered {
    Answer answers[kMostLateAnswers + 1];
    std::size_t count = 0;
};

}  // namespace sennit::transport::fabric
