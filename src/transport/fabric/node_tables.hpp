// SPDX-License-Identifier: BSD-3-Clause
// Tables that are equal on all ranks of a node, such as the addresses of all ranks. Each rank first
// makes its own. The lowest rank of the node copies its tables to a range of its memory file and
// publishes the offset; the others map that range and free their own. A rank that cannot map it
// uses its own.
#pragma once

#include <initializer_list>

#include "base/array.hpp"
#include "rank/rank.hpp"

namespace sennit::transport::fabric {

// Filled before anybody reads it; use() needs the lock that readers hold.
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
    // Uses the equal bytes at `place`, which must outlive this table's use.
    void use(const std::byte *place) {
        place_ = place;
        own_ = Array<std::byte>();
    }

  private:
    Array<std::byte> own_;
    const std::byte *place_ = nullptr;
    std::size_t bytes_ = 0;
};

// The mapped range of the shared tables. Outlives the tables.
class NodeRoom {
  public:
    using Tables = std::initializer_list<NodeTable *>;

    NodeRoom() = default;
    ~NodeRoom();
    NodeRoom(const NodeRoom &) = delete;
    NodeRoom &operator=(const NodeRoom &) = delete;

    // Called by the lowest rank of a node, before the others call map_published(). Does nothing if
    // it is alone there.
    void publish(Rank &rank, Tables tables);
    // Called by the others. Does nothing without published tables, or if the rank cannot map them.
    void map_published(const Rank &rank, Tables tables);

  private:
    void use(std::byte *begin, std::uint64_t bytes, Tables tables);

    std::byte *begin_ = nullptr;
    std::uint64_t bytes_ = 0;
};

}  // namespace sennit::transport::fabric
