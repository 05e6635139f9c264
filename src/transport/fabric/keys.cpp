// SPDX-License-Identifier: BSD-3-Clause
// Slots are small consecutive numbers, so the slot itself is a good hash.
#include "transport/fabric/keys.hpp"

#include <cstdlib>

namespace sennit::transport::fabric {
namespace {

constexpr std::uint32_t kFirstRoom = 16;

constexpr std::uint64_t slot_of(std::uint64_t handle) {
    return handle >> 32;
}

}  // namespace

// The row of the handle's slot, or the free row for it. There is always a free row.
KeyTable::Row *KeyTable::place_of(std::uint64_t handle) {
    std::uint32_t at = static_cast<std::uint32_t>(slot_of(handle)) & (room_ - 1);
    while (rows_[at].state != State::free && slot_of(rows_[at].handle) != slot_of(handle))
        at = (at + 1) & (room_ - 1);
    return rows_ + at;
}

KeyTable::Row *KeyTable::find(std::uint64_t handle) {
    if (room_ == 0) return nullptr;
    Row *const row = place_of(handle);
    return row->state != State::free && row->handle == handle ? row : nullptr;
}

bool KeyTable::grow() {
    const std::uint32_t room = room_ == 0 ? kFirstRoom : 2 * room_;
    auto *const rows = static_cast<Row *>(std::calloc(room, sizeof(Row)));
    if (rows == nullptr) return false;
    Row *const old = rows_;
    const std::uint32_t old_room = room_;
    rows_ = rows;
    room_ = room;
    for (std::uint32_t i = 0; i < old_room; ++i)
        if (old[i].state != State::free) *place_of(old[i].handle) = old[i];
    std::free(old);
    return true;
}

KeyTable::Row *KeyTable::place_to_fill(std::uint64_t handle) {
    if (2 * (used_ + 1) > room_ && !grow()) return nullptr;
    Row *const row = place_of(handle);
    if (row->state == State::free) ++used_;
    return row;
}

void KeyTable::clear() {
    for (std::uint32_t i = 0; i < room_; ++i)
        rows_[i] = Row{};
    used_ = 0;
}

void KeyTable::free_memory() {
    std::free(rows_);
    *this = KeyTable{};
}

}  // namespace sennit::transport::fabric
