// Keys that the owner's provider has given, or places that only the owner knows: they come with the
// answers of the fence, since a new endpoint has new ones. Where the keys are chosen here
// (key_of()), nothing of this is used.
//
// All of it with the lock held.
#include <cstring>

#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {

// What the peer calls the memory of the operation.
std::uint64_t Network::handle_for(const RailLink &link, const Operation &operation) {
    if (!link.gives_keys || operation.remote.handle != kControlHandle)
        return operation.remote.handle;
    return control_handle(control_piece_at(operation.offset));
}

// `asked`: the peer has not said yet. *key is set if it is `known`.
KeyTable::State Network::find_key(const Posted &posted, RemoteKey *key) {
    RailLink &link = link_of(posted.peer, posted.rail);
    if (!link.gives_keys) return KeyTable::State::known;
    const std::uint64_t handle = handle_for(link, *posted.operation);
    const KeyTable::Row *row = link.keys.find(handle);
    if (row == nullptr) {
        row = link.keys.add(handle);
        ask(link);
        if (row != nullptr) send_question(posted.peer, posted.rail, now_ns());
        return KeyTable::State::asked;
    }
    if (row->state == KeyTable::State::asked) ask(link);
    if (row->state == KeyTable::State::known) *key = row->key;
    return row->state;
}

// What this rank wants to know of: transfers in doubt, and keys. How many bytes.
std::size_t Network::fill_question(const RailLink &link, std::byte *handles) const {
    std::size_t bytes = 0;
    const auto add = [&](std::uint64_t handle) {
        for (std::size_t at = 0; at < bytes; at += sizeof handle)
            if (std::memcmp(handles + at, &handle, sizeof handle) == 0) return;
        if (bytes == kMostHandles * sizeof handle) return;
        std::memcpy(handles + bytes, &handle, sizeof handle);
        bytes += sizeof handle;
    };
    link.keys.each_asked(add);
    for (const Posted *posted = link.doubtful.first; posted != nullptr; posted = posted->next)
        add(handle_for(link, *posted->operation));
    return bytes;
}

// kPlaces: there is no such memory now.
std::size_t Network::place_for(std::uint64_t handle) {
    if ((handle & kControlHandle) == 0)
        return live_record(handle) != nullptr ? handle >> 32 : kPlaces;
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

// What a peer is told of the handle; false: nothing, now.
bool Network::fill_row(unsigned rail, std::uint64_t handle, KeyRow *row) {
    const std::size_t place = place_for(handle);
    *row = KeyRow{handle, 0, kDeadKey};
    if (place == kPlaces) return true;
    const RailState &state = rails_[rail];
    fid_mr *const registration = state.registrations[place];
    const Exposed &exposed = exposed_[place];
    if (!state.rail.gives_keys() || registration == nullptr || exposed.handle != handle)
        return false;
    const RemoteKey known = state.rail.remote_key(registration, exposed.memory);
    // Offsets into the control block count from its beginning.
    const std::uint64_t begin =
        place > kControlPlace ? control_piece_begin(static_cast<unsigned>(place - kControlPlace))
                              : 0;
    row->base = known.base - begin;
    row->key = known.key;
    return true;
}

void Network::take_rows(RailLink &link, const Message &answer) {
    for (std::size_t at = kNameBytes; at < answer.header.body_bytes; at += sizeof(KeyRow)) {
        KeyRow row;
        std::memcpy(&row, answer.body + at, sizeof row);
        KeyTable::Row *const known = link.gives_keys ? link.keys.add(row.handle) : nullptr;
        if (known == nullptr) continue;
        known->key = RemoteKey{row.base, row.key};
        known->state = row.key == kDeadKey ? KeyTable::State::gone : KeyTable::State::known;
    }
}

}  // namespace sennit::transport::fabric
