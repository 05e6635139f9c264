// SPDX-License-Identifier: BSD-3-Clause
// docs/design/fabric.md, "Events", has the guarantees and possible losses.
#include "transport/fabric/events.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {

EventList::~EventList() {
    std::free(rows_);
}

bool EventList::add(const Row &row) {
    if (count_ == room_) {
        constexpr std::size_t kFirstRoom = 64;
        const std::size_t room = std::max(2 * room_, kFirstRoom);
        auto *const rows = static_cast<Row *>(std::realloc(rows_, room * sizeof(Row)));
        if (rows == nullptr) return false;
        rows_ = rows;
        room_ = room;
    }
    rows_[count_++] = row;
    return true;
}

void EventList::remove_those_of(unsigned rail) {
    Row *const end =
        std::remove_if(rows_, rows_ + count_, [&](const Row &row) { return row.rail == rail; });
    count_ = static_cast<std::size_t>(end - rows_);
}

void EventList::swap(EventList &other) {
    std::swap(rows_, other.rows_);
    std::swap(count_, other.count_);
    std::swap(room_, other.room_);
}

bool TrialRoom::confirm(std::uint64_t data, unsigned bits) {
    for (unsigned i = 0; i < kTries; ++i)
        for (Place &place : places[i])
            if (place.put != place.confirmed && low_data(place.put, bits) == data) {
                place.confirmed = place.put;
                return true;
            }
    return false;
}

bool TrialRoom::misses_data() const {
    for (unsigned i = 0; i < kTries; ++i)
        for (const Place &place : places[i])
            if (place.put != place.confirmed) return true;
    return false;
}

unsigned Network::event_bits_to(int peer) {
    if (rail_count_ == 0 || rank_->peers[peer].same_node) return 0;
    return rails_to_node_of(peer).data_arrives ? traits_.event_bits : 0;
}

// Called by a task, with the lock held, before a peer receives the index that its events need.
void Network::expect_events() {
    // relaxed: read with the lock held.
    expects_events_.store(true, std::memory_order_relaxed);
}

void Network::read_events() {
    const MutexLock guard(lock_);
    reads_data_first_ = true;
}

// Notes completion data; the data put with it is already in memory. With the lock held.
void Network::note_data(unsigned rail, std::uint64_t data) {
    unawaited_ns_ = poll_ns_;
    if (traits_.event_bits == 0 || (!has_settled_ && is_of_trial(rail, data))) return;
    // Drop the data: it may be of a trial, or of a peer whose lease has ended.
    if (rails_[rail].must_close) return;
    const std::uint64_t low = low_data(data, traits_.event_bits);
    if (!events_.add({low, rail}))
        log(SENNIT_LOG_WARNING, "the path fabric has no memory for an event, which is lost");
}

// Called by progress() without the lock: the sink may submit.
void Network::deliver_events() {
    for (const EventList::Row &row : delivered_)
        if (sink_.arrived != nullptr) sink_.arrived(sink_.context, EventData{row.data, 0});
    delivered_.clear();
    const MutexLock guard(lock_);
    delivers_events_ = false;
}

// Closes the endpoints at which completion data of trials may still arrive, because it could be
// taken for events. Called with the lock held, when all ranks have ended their trials. Puts that
// were on the way to such an endpoint fail and are repeated.
void Network::end_data_of_trials(int peer, const NodeTrial &found) {
    // There was no trial with this peer.
    if (trials_ == nullptr || links_.find(peer) == nullptr) return;
    unsigned rails = 0;
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if ((found.rails & ~found.dataless & bit(rail)) == 0 ||
            trial_room(rail, rank_->peers[peer].node).misses_data())
            rails |= bit(rail);
    rails &= ~ended_trials_;
    if (traits_.event_bits == 0 || rails == 0) return;
    ended_trials_ = static_cast<std::uint8_t>(ended_trials_ | rails);
    close_passive(rails);
}

}  // namespace sennit::transport::fabric
