// SPDX-License-Identifier: BSD-3-Clause
// Tables that all ranks of a node make alike, such as the addresses of all ranks. Each rank makes
// its own at first. The lowest rank of the node copies its tables to a range of its memory file and
// says where; the others map that range instead, and free their own. A rank that can not map it
// keeps its own.
#pragma once

#include <initializer_list>

#include "base/array.hpp"
#include "rank/rank.hpp"

namespace sennit::transport::fabric {

// Filled before anybody else reads it; it goes elsewhere with its readers' lock held.
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
    // The same bytes lie there, for as long as this table is used.
    void use(const std::byte *place) {
        place_ = place;
        own_ = Array<std::byte>();
    }

  private:
    Array<std::byte> own_;
    const std::byte *place_ = nullptr;
    std::size_t bytes_ = 0;
};

// Where the tables lie that are not this rank's alone. It outlives them.
class NodeRoom {
  public:
    using Tables = std::initializer_list<NodeTable *>;

    NodeRoom() = default;
    ~NodeRoom();
    NodeRoom(const NodeRoom &) = delete;
    NodeRoom &operator=(const NodeRoom &) = delete;

    // By the lowest rank of a node, before the others look. Nothing where it is alone there.
    void publish(Rank &rank, Tables tables);
    // By the others. Nothing where there are none, or load and store do not reach them.
    void take(const Rank &rank, Tables tables);

  private:
    void use(std::byte *begin, std::uint64_t bytes, Tables tables);

    std::byte *begin_ = nullptr;
    std::uint64_t bytes_ = 0;
};

}  // namespace sennit::transport::fabric
