// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/node_tables.hpp"

#include <cstring>

#include "base/log.hpp"
#include "memory/segments.hpp"
#include "runtime/watch/table.hpp"

namespace sennit::transport::fabric {
namespace {

std::uint64_t room_of(const NodeTable &table) {
    return memory::round_up(table.bytes(), kLineBytes);
}

std::uint64_t room_of(NodeRoom::Tables tables) {
    std::uint64_t bytes = 0;
    for (const NodeTable *table : tables)
        bytes += room_of(*table);
    return memory::round_up(bytes, memory::kLargestSmallPage);
}

// Whether this rank and another one of its node have each other's memory files.
bool has_mates(const Rank &rank) {
    for (int peer = 0; peer < world_size(rank); ++peer)
        if (rank.peers[peer].memory_file >= 0) return true;
    return false;
}

}  // namespace

NodeRoom::~NodeRoom() {
    memory::file_unmap(begin_, bytes_);
}

void NodeRoom::use(std::byte *begin, std::uint64_t bytes, Tables tables) {
    begin_ = begin;
    bytes_ = bytes;
    for (NodeTable *table : tables) {
        if (table->exists()) table->use(begin);
        begin += room_of(*table);
    }
}

void NodeRoom::publish(Rank &rank, Tables tables) {
    if (rank.peers[rank.world_rank].first_of_node != rank.world_rank || !has_mates(rank)) return;
    const std::uint64_t bytes = room_of(tables);
    std::uint64_t offset = 0;
    std::byte *begin = nullptr;
    // If there is no room, each rank keeps its own tables.
    if (memory::range_create(rank, bytes, &offset, &begin) != SENNIT_OK) return;
    std::byte *place = begin;
    for (const NodeTable *table : tables) {
        if (table->exists()) std::memcpy(place, table->begin(), table->bytes());
        place += room_of(*table);
    }
    use(begin, bytes, tables);
    watch::TableHead &head = *watch::table_in(*rank.control, world_size(rank)).head;
    // relaxed: the release below orders it.
    head.tables_bytes.store(bytes, std::memory_order_relaxed);
    // SYNC node-tables: pairs with the acquire in map_published(); the complete tables come before.
    head.tables_offset.store(offset, std::memory_order_release);
}

void NodeRoom::map_published(const Rank &rank, Tables tables) {
    const int first = rank.peers[rank.world_rank].first_of_node;
    const Peer &owner = rank.peers[first];
    if (first == rank.world_rank || owner.control == nullptr || owner.memory_file < 0) return;
    const watch::TableHead &head = *watch::table_in(*owner.control, world_size(rank)).head;
    // SYNC node-tables: pairs with the release in publish().
    const std::uint64_t offset = head.tables_offset.load(std::memory_order_acquire);
    const std::uint64_t bytes = room_of(tables);
    // relaxed: the acquire above orders it.
    if (offset == 0 || head.tables_bytes.load(std::memory_order_relaxed) != bytes) return;
    std::byte *begin = nullptr;
    if (memory::file_map(owner.memory_file, offset, bytes, memory::page_bytes(), &begin) !=
        SENNIT_OK)
        return;
    use(begin, bytes, tables);
    log(SENNIT_LOG_INFO, "the addresses of other ranks lie in the memory of rank %d", first);
}

}  // namespace sennit::transport::fabric
