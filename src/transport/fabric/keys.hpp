// SPDX-License-Identifier: BSD-3-Clause
// The keys of one peer's memory on one rail, if the peer's provider chooses them. Owned by the
// transport and used with its lock held.
#pragma once

#include <cstdint>

#include "rank/control_block.hpp"

namespace sennit::transport::fabric {

// The base to add to offsets, and the libfabric key, of a transfer.
struct RemoteKey {
    std::uint64_t base = 0;
    std::uint64_t key = 0;
};

// A rank's control block has holes where chunks of team slots are not mapped yet. A provider that
// chooses keys may refuse memory with holes. So each piece of the control block has its own key:
// the part before the chunks, each chunk, and the part after the chunks.
inline constexpr unsigned kControlPieces = kTeamChunks + 2;
inline constexpr unsigned kLastPiece = kControlPieces - 1;

constexpr std::uint64_t control_piece_begin(unsigned piece) {
    if (piece == 0) return 0;
    return offsetof(ControlBlock, more_teams) + (piece - 1) * kTeamChunkBytes;
}
static_assert(control_piece_begin(kLastPiece) == sizeof(ControlBlock));

constexpr unsigned control_piece_at(std::uint64_t offset) {
    if (offset < control_piece_begin(1)) return 0;
    const std::uint64_t piece = 1 + (offset - control_piece_begin(1)) / kTeamChunkBytes;
    return piece < kLastPiece ? static_cast<unsigned>(piece) : kLastPiece;
}

class KeyTable {
  public:
    enum class State : std::uint8_t { free, asked, known, gone };
    struct Row {
        std::uint64_t handle;
        RemoteKey key;
        State state;
    };

    // find() returns null if there is no such row, add() if there is no memory. A slot has one row.
    // If the row is in use, perhaps by an earlier handle, add() calls `replaced` with the row
    // before it overwrites the row.
    Row *find(std::uint64_t handle);
    template <class Visit>
    Row *add(std::uint64_t handle, const Visit &replaced) {
        Row *const row = place_to_fill(handle);
        if (row == nullptr) return nullptr;
        if (row->state != State::free) replaced(*row);
        *row = Row{handle, RemoteKey{}, State::asked};
        return row;
    }
    void clear();
    void free_memory();

    template <class Visit>
    void each(State state, const Visit &visit) const {
        for (std::uint32_t i = 0; i < room_; ++i)
            if (rows_[i].state == state) visit(rows_[i]);
    }

  private:
    bool grow();
    Row *place_of(std::uint64_t handle);
    Row *place_to_fill(std::uint64_t handle);

    Row *rows_ = nullptr;     // [room_], by the slot in the handle; linear probing
    std::uint32_t room_ = 0;  // a power of two, or 0
    std::uint32_t used_ = 0;
};

}  // namespace sennit::transport::fabric
