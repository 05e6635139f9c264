// SPDX-License-Identifier: BSD-3-Clause
// Exchanges keys that the owner's provider chooses, and bases that only the owner knows. They
// change with each passive endpoint, so they are in the answers that name the endpoint (fence.cpp).
// If keys are computed instead (key_of()), these answers only report memory that is gone.
//
// Everything here runs with the lock held.
#include <cstring>

#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// The start of the handle's piece of the control block; 0 for a segment.
std::uint64_t begin_of(std::uint64_t handle) {
    const std::uint64_t piece = (handle & ~kControlHandle) >> 32;
    if ((handle & kControlHandle) == 0 || piece >= kControlPieces) return 0;
    return control_piece_begin(static_cast<unsigned>(piece));
}

}  // namespace

// The peer's handle of the operation's memory.
std::uint64_t Network::handle_for(const RailLink &link, const Operation &operation) {
    if (!link.gives_keys || operation.remote.handle != kControlHandle)
        return operation.remote.handle;
    return control_handle(control_piece_at(operation.offset));
}

// Sets *key if it returns `known` and the peer gives keys. `asked`: the peer has not answered yet.
KeyTable::State Network::find_key(const Posted &posted, RemoteKey *key) {
    RailLink &link = link_of(posted.peer, posted.rail);
    if (!link.gives_keys) return KeyTable::State::known;
    const std::uint64_t handle = handle_for(link, *posted.operation);
    const KeyTable::Row *row = link.keys.find(handle);
    if (row == nullptr) {
        row = add_key(link, posted.rail, handle);
        ask(link);
        if (row != nullptr) send_question(posted.peer, posted.rail, boot_ns());
        return KeyTable::State::asked;
    }
    if (row->state == KeyTable::State::asked) ask(link);
    if (row->state == KeyTable::State::known) *key = row->key;
    return row->state;
}

// Writes the handles for a question: those of transfers in doubt, and those without a key. Returns
// the number of bytes.
std::size_t Network::fill_question(const RailLink &link, std::byte *handles) const {
    std::size_t bytes = 0;
    const auto add = [&](std::uint64_t handle) {
        for (std::size_t at = 0; at < bytes; at += sizeof handle)
            if (std::memcmp(handles + at, &handle, sizeof handle) == 0) return;
        if (bytes == kMostHandles * sizeof handle) return;
        std::memcpy(handles + bytes, &handle, sizeof handle);
        bytes += sizeof handle;
    };
    link.keys.each(KeyTable::State::asked, [&](const KeyTable::Row &row) { add(row.handle); });
    for (const Posted *posted = link.to_repeat.first; posted != nullptr; posted = posted->next)
        add(handle_for(link, *posted->operation));
    return bytes;
}

// Returns kPlaces if there is no such memory.
std::size_t Network::place_for(std::uint64_t handle) {
    if ((handle & kControlHandle) == 0)
        return live_record(handle) != nullptr ? handle >> 32 : kPlaces;
    if (handle == kTrialHandle) return kTrialPlace;
    const std::uint64_t piece = (handle & ~kControlHandle) >> 32;
    if (piece >= kControlPieces || handle != control_handle(static_cast<unsigned>(piece)))
        return kPlaces;
    if (piece == 0 || piece == kLastPiece) return kControlPlace + piece;
    // SYNC team-chunk: pairs with the release in control_grow(); the chunk is mapped.
    const bool is_mapped =
        rank_->control->chunk_offsets[piece - 1].load(std::memory_order_acquire) != 0;
    if (is_mapped && exposed_[kControlPlace + piece].memory == nullptr)
        (void)expose_piece(static_cast<unsigned>(piece));
    return kControlPlace + piece;
}

std::size_t Network::row_bytes(unsigned rail) const {
    return sizeof(KeyRow) + rails_[rail].rail.raw_key_bytes();
}

// Writes the handle's row for a peer, row_bytes() long. Returns false if there is no row now.
bool Network::fill_row(unsigned rail, std::uint64_t handle, std::byte *out) {
    const std::size_t place = place_for(handle);
    KeyRow row{handle, 0, kDeadKey};
    std::byte *const raw = out + sizeof row;
    std::memset(out, 0, row_bytes(rail));
    if (place != kPlaces) {
        const RailState &state = rails_[rail];
        fid_mr *const registration = state.registrations[place];
        const Exposed &exposed = exposed_[place];
        if (!state.rail.gives_keys() || registration == nullptr || exposed.handle != handle)
            return false;
        const RemoteKey key = state.rail.remote_key(registration, exposed.memory);
        row.base = key.base;
        row.key = key.key;
        if (state.rail.raw_key_bytes() != 0) {
            if (state.rail.raw_key(registration, raw, &row.base) != 0) return false;
            row.key = 0;
        }
    }
    std::memcpy(out, &row, sizeof row);
    return true;
}

bool Network::is_dead(const Message &answer, std::uint64_t handle) const {
    const std::size_t each = row_bytes(answer.header.rail);
    for (std::size_t at = kNameBytes; at < answer.header.body_bytes; at += each) {
        KeyRow row;
        std::memcpy(&row, answer.body() + at, sizeof row);
        if (row.handle == handle && row.key == kDeadKey) return true;
    }
    return false;
}

KeyTable::Row *Network::add_key(RailLink &link, unsigned rail, std::uint64_t handle) {
    return link.keys.add(handle, [&](const KeyTable::Row &replaced) {
        if (replaced.state == KeyTable::State::known)
            rails_[rail].rail.forget_key(replaced.key.key);
    });
}

// Called for a new endpoint of the peer: all keys have changed.
void Network::forget_keys(RailLink &link, unsigned rail) {
    link.keys.each(KeyTable::State::known,
                   [&](const KeyTable::Row &row) { rails_[rail].rail.forget_key(row.key.key); });
    link.keys.clear();
}

void Network::store_keys(RailLink &link, const Message &answer) {
    const unsigned rail = answer.header.rail;
    const std::size_t each = row_bytes(rail);
    for (std::size_t at = kNameBytes; at < answer.header.body_bytes; at += each) {
        KeyRow row;
        std::memcpy(&row, answer.body() + at, sizeof row);
        KeyTable::Row *const known = link.gives_keys ? add_key(link, rail, row.handle) : nullptr;
        if (known == nullptr) continue;
        const bool is_gone = row.key == kDeadKey;
        // If the key cannot be mapped now, the row stays `asked`, and this rank asks again.
        if (!is_gone && each != sizeof row &&
            rails_[rail].rail.map_raw_key(answer.body() + at + sizeof row, row.base, &row.key) != 0)
            continue;
        // Offsets into the control block count from its start.
        known->key = RemoteKey{row.base - begin_of(row.handle), row.key};
        known->state = is_gone ? KeyTable::State::gone : KeyTable::State::known;
    }
}

}  // namespace sennit::transport::fabric
