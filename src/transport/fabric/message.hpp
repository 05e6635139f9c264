// SPDX-License-Identifier: BSD-3-Clause
// The records of operations that are posted to libfabric: transfers (puts and gets) and messages.
#pragma once

#include <rdma/fabric.h>

#include <cstring>
#include <new>

#include "base/zero_pages.hpp"
#include "transport/fabric/rail.hpp"

namespace sennit::transport::fabric {

// libfabric's completion of an operation has the address of `context`.
struct Posted {
    enum class Kind : std::uint8_t { unused, transfer, send, receive };
    fi_context2 context;
    Kind kind = Kind::unused;
    bool is_in_flight = false;    // the provider has it
    bool was_in_flight = false;   // transfer: the provider had it at some time
    std::uint8_t failures = 0;    // transfer: all its failures
    std::uint8_t attempts = 0;    // transfer: failures that no other one caused
    bool is_alone = false;        // transfer: the only one to the peer on the rail
    std::uint16_t checks = 0;     // transfer: outage checks since it was posted
    std::uint32_t completed = 0;  // transfer: RailLink::completed when it was posted
    std::uint8_t rail = 0;
    std::uint64_t number = 0;           // transfer: number of its target endpoint
    fi_addr_t to = FI_ADDR_UNSPEC;      // address of the target endpoint
    int peer = -1;                      // transfer, send
    int error = 0;                      // FI_*, 0: done
    sennit_status verdict = SENNIT_OK;  // transfer: if not OK, its result, whatever `error` is
    std::size_t bytes = 0;              // receive: bytes received
    Operation *operation = nullptr;     // transfer
    bool is_copied = false;             // transfer: its data is in copy_of()
    fid_mr *lent = nullptr;             // transfer: registration of its private memory
    Posted *next = nullptr;
};

struct MessagePool;

struct Message : Posted {
    MessagePool *pool = nullptr;
    bool is_again = false;  // a repeated task
    bool is_room = false;   // the engine uses the body for a task's payload
    bool is_back = false;   // sent from the incoming endpoint, or received at the outgoing one
    MessageHeader header;

    // The body follows the message in the pool.
    std::byte *body() { return reinterpret_cast<std::byte *>(&header + 1); }
    const std::byte *body() const { return reinterpret_cast<const std::byte *>(&header + 1); }
};

inline LateAnswer late_answer(const Message &message, unsigned number) {
    LateAnswer late;
    const std::byte *const all = message.body() + message.header.body_bytes;
    std::memcpy(&late, all + number * sizeof late, sizeof late);
    return late;
}

// All messages of the rank are in such pools. Room for its body follows each message; untouched
// pages of this room use no memory.
struct MessagePool {
    static constexpr std::size_t kMessages = 64;

    MessagePool *next = nullptr;
    LentMemory received[kMostRails];
    LentMemory sent[kMostRails];
    std::byte *memory = nullptr;
    std::size_t stride = 0;

    static_assert(sizeof(Message) % alignof(Message) == 0);
    ~MessagePool() { free_zero_pages(memory, kMessages * stride); }
    // Returns false if there is no memory.
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

// A first-in, first-out list. It does not own its entries.
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
