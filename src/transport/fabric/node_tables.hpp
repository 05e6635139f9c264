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

// A table is filled before anybody reads it. After that, use() needs the lock that readers hold.
class NodeTable {
  public:
    // Makes a zeroed table. Returns false if there is no memory.
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
    // From now on uses the equal bytes at `place`, which must exist as long as this table.
    void use(const std::byte *place) {
        place_ = place;
        own_ = Array<std::byte>();
    }

  private:
    Array<std::byte> own_;
    const std::byte *place_ = nullptr;
    std::size_t bytes_ = 0;
};

// The mapped range of the shared tables. It must exist as long as the tables.
class NodeRoom {
  public:
    using Tables = std::initializer_list<NodeTable *>;

    NodeRoom() = default;
    ~NodeRoom();
    NodeRoom(const NodeRoom &) = delete;
    NodeRoom &operator=(const NodeRoom &) = delete;

    // On the lowest rank of a node: publishes the tables, unless the rank is alone on the node. On
    // other ranks: does nothing.
    void publish(Rank &rank, Tables tables);
    // On the other ranks, after publish() on all: uses the published tables, if there are some and
    // the rank can map them.
    void map_published(const Rank &rank, Tables tables);

  private:
    void use(std::byte *begin, std::uint64_t bytes, Tables tables);

    std::byte *begin_ = nullptr;
    std::uint64_t bytes_ = 0;
};

}  // namespace sennit::transport::fabric
