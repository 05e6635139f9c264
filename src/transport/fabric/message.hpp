// SPDX-License-Identifier: BSD-3-Clause
// What is posted with libfabric: transfers and messages. A message has one buffer, which is
// the context of its operation too.
#pragma once

#include <rdma/fabric.h>

#include <cstring>
#include <new>

#include "base/zero_pages.hpp"
#include "transport/fabric/rail.hpp"

namespace sennit::transport::fabric {

// What a completion belongs to. The address of `context` is what libfabric gives back.
struct Posted {
    enum class Kind : std::uint8_t { unused, transfer, send, receive };
    fi_context2 context;
    Kind kind = Kind::unused;
    bool is_out = false;                // the provider has it
    bool has_left = false;              // transfer: it has had it, at some time
    std::uint8_t failures = 0;          // transfer: so often it failed, or others with it
    std::uint8_t attempts = 0;          // and so often for sure by itself
    bool is_alone = false;              // nothing else is under way to the peer
    std::uint16_t looks = 0;            // transfer: of look_for_outages(), since it was posted
    std::uint32_t completed = 0;        // transfer: RailLink::completed when it was posted
    std::uint8_t rail = 0;              // by which it goes, or came
    std::uint64_t number = 0;           // transfer: of the endpoint that it was sent to
    fi_addr_t to = FI_ADDR_UNSPEC;      // and its name
    int peer = -1;                      // transfer, send
    int error = 0;                      // FI_*, 0: done
    sennit_status verdict = SENNIT_OK;  // transfer: not OK: it is over, whatever `error` is
    std::size_t bytes = 0;              // receive: that arrived
    Operation *operation = nullptr;     // transfer
    bool is_copied = false;             // transfer: by copy_of()
    fid_mr *lent = nullptr;             // transfer: its private memory, until the try is over
    Posted *next = nullptr;
};

struct MessagePool;

struct Message : Posted {
    MessagePool *pool = nullptr;
    bool is_again = false;  // a task that was sent before
    bool is_room = false;   // the body is lent to the engine, for the payload of a task
    bool is_back = false;  // sent from where messages come to, or received where they are sent from
    MessageHeader header;

    // Behind it, in its pool.
    std::byte *body() { return reinterpret_cast<std::byte *>(&header + 1); }
    const std::byte *body() const { return reinterpret_cast<const std::byte *>(&header + 1); }
};

inline LateAnswer late_answer(const Message &message, unsigned number) {
    LateAnswer late;
    const std::byte *const all = message.body() + message.header.body_bytes;
    std::memcpy(&late, all + number * sizeof late, sizeof late);
    return late;
}

// All messages of the rank lie in pools, each with room for a body behind it. Pages of a body take
// memory once something has been there.
struct MessagePool {
    static constexpr std::size_t kMessages = 64;

    MessagePool *next = nullptr;
    LentMemory received[kMostRails];
    LentMemory sent[kMostRails];
    std::byte *memory = nullptr;
    std::size_t stride = 0;

    static_assert(sizeof(Message) % alignof(Message) == 0);
    ~MessagePool() { free_zero_pages(memory, kMessages * stride); }
    // False: no memory.
    bool make(std::size_t body_bytes) {
        stride = sizeof(Message) + body_bytes;
        memory = static_cast<std::byte *>(zero_pages(kMessages * stride));
        for (std::size_t i = 0; memory != nullptr && i < kMessages; ++i)
            (new (memory + i * stride) Message)->pool = this;
        return memory != nullptr;
    }
    Message &at(std::size_t number) {
        return *std::launder(reinterpret_cast<Message *>(memory + number * stride));
    }
};

// First in, first out; owns nothing.
struct PostedList {
    Posted *first = nullptr;
    Posted *last = nullptr;

    bool empty() const { return first == nullptr; }
    void append(Posted *posted) {
        posted->next = nullptr;
        (first == nullptr ? first : last->next) = posted;
        last = posted;
    }
    PostedList take_all() {
        const PostedList all = *this;
        *this = PostedList{};
        return all;
    }
    Posted *take() {
        Posted *posted = first;
        if (posted != nullptr) first = posted->next;
        return posted;
    }
};

}  // namespace sennit::transport::fabric
