// SPDX-License-Identifier: BSD-3-Clause
// Tables that are equal on all ranks of a node, such as the addresses of all ranks. Each rank first
// makes its own. The lowest rank of the node copies its tables to a range of its memory file and
// publishes the place; the others map that range and free their own. A rank that can not map it
// keeps its own.
#pragma once

#include <initializer_list>

#include "base/array.hpp"
#include "rank/rank.hpp"

namespace sennit::transport::fabric {

// Filled before anybody else reads it; its data moves only with its readers' lock held.
class NodeTable {
  public:
    // Zeroed. False: no memory.
    bool make(std::size_t bytes) {
        own_ = Array<std::byte>(bytes);
        place_ = own_;
        bytes_ = own_ != nullptr ? bytes : 0;
        return own_ != nullptr;
    }
    bool exists() const { return place_ != nullptr; }
    std::size_t bytes() const { return bytes_; }
    std::byte *to_fill() const { return own_; }
    const std::byte *begin() const { return place_; }
    // Uses equal bytes at `place`, which stay as long as this table is used.
    void use(const std::byte *place) {
        place_ = place;
        own_ = Array<std::byte>();
    }

  private:
    Array<std::byte> own_;
    const std::byte *place_ = nullptr;
    std::size_t bytes_ = 0;
};

// The room of the shared tables. It outlives them.
class NodeRoom {
  public:
    using Tables = std::initializer_list<NodeTable *>;

    NodeRoom() = default;
    ~NodeRoom();
    NodeRoom(const NodeRoom &) = delete;
    NodeRoom &operator=(const NodeRoom &) = delete;

    // Called by the lowest rank of a node, before the others look. Does nothing if it is alone
    // there.
    void publish(Rank &rank, Tables tables);
    // Called by the others. Does nothing without published tables, or if load and store do not
    // reach them.
    void take(const Rank &rank, Tables tables);

  private:
    void use(std::byte *begin, std::uint64_t bytes, Tables tables);

    std::byte *begin_ = nullptr;
    std::uint64_t bytes_ = 0;
};

}  // namespace sennit::transport::fabric
