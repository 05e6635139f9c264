// SPDX-License-Identifier: BSD-3-Clause
// Finds failures that no provider reports. docs/design/fabric.md has the protocol ("Overdue",
// "Rails").
//   - Transfers do not complete although the peer answers. They are ended like those of a broken
//     connection. If that does not help, the rail counts as carrying no data, and they fail.
//   - A rail carries nothing while others do. It is found by its silence, since a provider may take
//     minutes to report a cut cable. It is left out, fenced by another rail, and used again later.
//   - A peer sends nothing by any rail. The watch, which asks the peer's node, decides whether the
//     peer is lost. This rank waits for a peer that is only stopped.
//
// Everything here runs with the lock held.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::uint8_t kSilentChecks = 4;  // after this many checks the peer is asked
constexpr std::uint8_t kDeadChecks = 6;
constexpr std::uint8_t kMostChecks = 100;
// After this many checks the peer is asked; later checks count only if the peer answers.
constexpr std::uint16_t kIdleChecks = 2;
// After transfers were overdue this many times in a row, the rail carries no data.
constexpr std::uint8_t kMostOverdue = 2;
// Transfers to a peer complete roughly in the order in which they were posted. If this many later
// ones have completed, the completion of an earlier one is lost.
constexpr std::uint32_t kPassedOver = 128;
// After this many checks without a message from a peer that was asked, the watch looks for the
// reason. After mute_after_checks_ checks this rank asks by a new endpoint, and again by another
// one every kReopenChecks checks.
constexpr std::uint8_t kMuteChecks = 2;
constexpr std::uint32_t kReopenChecks = 8;
// A rail that was left out is not used for this time. The time doubles, up to kLastLeftOutNs, if
// the rail fails again within kSoonNs.
constexpr std::int64_t kFirstLeftOutNs = 250'000'000;
constexpr std::int64_t kLastLeftOutNs = 16'000'000'000;
constexpr std::int64_t kSoonNs = 60'000'000'000;
// TCP waits long before it resends data that a dead rail has lost. So questions about a rail that
// was left out go from new endpoints, at this interval. The longer interval is for rails that still
// carry messages to other peers, which a new endpoint disturbs.
constexpr std::int64_t kReconnectNs = 1'000'000'000;
constexpr std::int64_t kSeldomReconnectNs = 30'000'000'000;

}  // namespace

std::uint8_t Network::usable(int peer) const {
    // relaxed twice: no other data depends on a set.
    const unsigned own = peer_rails_[peer].load(std::memory_order_relaxed);
    if (own == 0) return rails_to_node_of(peer).usable.load(std::memory_order_relaxed);
    return static_cast<std::uint8_t>(own);
}

void Network::set_usable(int peer, unsigned rails) {
    // relaxed: no other data depends on the set.
    peer_rails_[peer].store(static_cast<std::uint16_t>(kOfPeer | rails), std::memory_order_relaxed);
}

// The next rail in the set, cyclically; `rail` itself if there is no other.
unsigned Network::rail_after(std::uint8_t usable, unsigned rail) {
    for (unsigned i = 1; i < kMostRails; ++i) {
        const unsigned next = (rail + i) % kMostRails;
        if ((usable & bit(next)) != 0) return next;
    }
    return rail;
}

// `rail`, or another one if `rail` was left out.
unsigned Network::rail_to_use(int peer, unsigned rail) const {
    return (usable(peer) & bit(rail)) != 0 ? rail : rail_after(usable(peer), rail);
}

void Network::check_outages() {
    ++outage_check_;
    watch::watch_note_look(*rank_);
    for (std::size_t i = 0; i < post_count_; ++i) {
        Posted &posted = posts_[i];
        if (posted.kind != Posted::Kind::transfer) continue;
        note_waiting(posted.peer, posted.rail, true);
        if (is_passed_over(&posted)) end_overdue(posted.peer, posted.rail);
    }
    for (const int peer : links_.used())
        for (unsigned rail = 0; rail < rail_count_ && links_to_service_ != 0; ++rail) {
            RailLink &link = link_of(peer, rail);
            if (std::exchange(link.has_waiting_transfer, false)) note_waiting(peer, rail, true);
            // A rail that was left out is not expected to bring an answer.
            if (link.awaits_answer && (!link.is_left_out || link.in_doubt)) note_asked(peer, rail);
        }
    for (const OpenTask &open : tasks_) {
        if (open.operation == nullptr) continue;
        const int peer = open.operation->peer;
        note_asked(peer, rail_to_use(peer, open.rail));
        // The answer to a repeated task does not use the first rail.
        if (open.rail != open.first_rail) note_waiting(peer, open.first_rail, false);
    }
}

// Whether many transfers that were posted later have completed.
bool Network::is_passed_over(Posted *posted) const {
    if (!posted->is_in_flight) return false;
    if (posted->checks < overdue_after_checks_) ++posted->checks;
    return posted->checks >= overdue_after_checks_ &&
           link_of(posted->peer, posted->rail).completed - posted->completed > kPassedOver;
}

// Asks the detector, because the job's launcher may have ended, or a goodbye may be lost. Returns
// true if the peer has died; then operations to it end now. If it has left, they end soon.
bool Network::has_died(int peer) {
    PeerLink &link = links_[peer];
    const Gone how = peer_gone(*rank_, peer);
    if (how == Gone::left && link.left_ns == 0) {
        link.left_ns = boot_ns();
        some_leave_ = true;
    }
    if (how == Gone::died && !link.is_lost) mark_lost(peer);
    return how == Gone::died;
}

// Called for an operation in progress to the peer on the rail.
void Network::note_waiting(int peer, unsigned rail, bool is_transfer) {
    RailLink &link = link_of(peer, rail);
    const PeerLink &there = links_[peer];
    if (link.last_check == outage_check_ || has_died(peer)) return;
    const bool is_in_a_row = link.last_check + 1 == outage_check_;
    const bool has_moved = std::exchange(link.completed_before, link.completed) != link.completed;
    const bool is_heard = std::exchange(link.received_before, link.received) != link.received;
    const bool has_answered = std::exchange(link.heard_before, there.messages) != there.messages;
    link.last_check = outage_check_;
    if (has_moved) link.overdue_times = 0;
    if (has_moved || !is_in_a_row) link.idle_checks = 0;
    if (has_moved || is_heard || !is_in_a_row) link.silent_checks = 0;
    if (is_transfer) note_idle(peer, rail, has_answered);
    note_silent(peer, rail);
}

void Network::note_silent(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if ((usable(peer) & bit(rail)) == 0) return;
    if (link.silent_checks == 0) link.heard_elsewhere = false;
    link.silent_checks = std::min<std::uint8_t>(link.silent_checks + 1, kMostChecks);
    if (link.silent_checks < kSilentChecks) return;
    const bool is_over = link.silent_checks >= kDeadChecks && link.heard_elsewhere;
    const bool moves = (is_over || link.silent_checks == kSilentChecks) &&
                       has_moved(link, rail, &link.silent_bytes);
    if (!is_over) return ask(link);
    if (!moves) return leave_out(peer, rail);
    link.silent_checks = kSilentChecks;  // the peer is only slow
}

// Whether bytes have moved on the connection since `*count`, which is updated.
bool Network::has_moved(const RailLink &link, unsigned rail, std::uint64_t *count) const {
    const std::uint64_t moved = rails_[rail].rail.bytes_moved(link.passive);
    return std::exchange(*count, moved) != moved;
}

// Counts checks without a completed transfer. A rank that answers also serves transfers in the same
// poll. So transfers are overdue if the rank keeps answering while none completes and no byte
// moves.
void Network::note_idle(int peer, unsigned rail, bool has_answered) {
    RailLink &link = link_of(peer, rail);
    if (link.is_left_out || link.in_doubt) return;
    const bool counts = link.idle_checks < kIdleChecks || has_answered;
    if (counts && link.idle_checks < overdue_after_checks_) ++link.idle_checks;
    if (link.idle_checks < kIdleChecks) return;
    ask(link);
    const bool is_over = link.idle_checks == overdue_after_checks_;
    if (!counts || (link.idle_checks != kIdleChecks && !is_over)) return;
    const bool moves = has_moved(link, rail, &link.moved_bytes);
    if (!is_over) return;
    if (moves)
        link.idle_checks = kIdleChecks;
    else
        end_overdue(peer, rail);
}

// Handles overdue transfers like those of a broken connection: service_link() ends them soon after
// the peer's answer.
void Network::end_overdue(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    link.idle_checks = 0;
    if (link.overdue_times < kMostOverdue) ++link.overdue_times;
    log(SENNIT_LOG_INFO, "transfers to rank %d by rail %u are overdue, though it answers", peer,
        rail);
    if (carries_nothing(link))
        log(SENNIT_LOG_WARNING,
            "rail %u carries no data to rank %d, though messages come: a firewall, or a broken "
            "card?",
            rail, peer);
    leave_out(peer, rail);
    if (link.is_left_out) link.left_out_until_ns = boot_ns() + kLastLeftOutNs;
    set_in_doubt(link);
}

// Whether transfers were overdue kMostOverdue times and none has completed since.
bool Network::carries_nothing(const RailLink &link) {
    return link.overdue_times == kMostOverdue && link.completed == link.completed_before;
}

// Called for a message to the peer that needs an answer.
void Network::note_asked(int peer, unsigned rail) {
    PeerLink &there = links_[peer];
    if (there.last_check == outage_check_ || has_died(peer)) return;
    const bool is_heard = std::exchange(there.messages_before, there.messages) != there.messages;
    there.last_check = outage_check_;
    const bool was_missing = there.mute_checks >= kMuteChecks;
    // A message counts even if the peer was not asked at the last check.
    if (is_heard) {
        there.mute_checks = 0;
        there.unpolled_checks = there.polled_checks = 0;
    }
    if (there.mute_checks <= mute_after_checks_) ++there.mute_checks;
    if (there.mute_checks >= kMuteChecks)
        note_mute(peer, rail);
    else if (was_missing)
        watch::watch_note_hearing(*rank_, peer, watch::Hearing::heard);
}

// A peer that does not poll is stopped, or its host is unreachable. After an outage TCP may wait
// for the length of the outage again before it resends. So a peer is mute only after it has polled
// for longer than it had not polled before.
void Network::note_mute(int peer, unsigned rail) {
    PeerLink &there = links_[peer];
    if (there.is_refused) return;  // the lease has ended
    // Ask: a task may wait for the peer's engine, a question only for a poll.
    ask(link_of(peer, rail));
    const bool is_long = there.mute_checks >= mute_after_checks_;
    const bool is_just_long = there.mute_checks == mute_after_checks_;
    if (!watch::watch_looks(*rank_, peer)) {
        there.unpolled_checks += there.polled_checks + 1;
        there.polled_checks = 0;
    } else {
        ++there.polled_checks;
        const bool is_turn = is_just_long || there.polled_checks % kReopenChecks == 1;
        if (there.is_reached && is_long && is_turn) reopen_all_outgoing(peer);
    }
    // A peer that was never reached is not reported as mute: a report ends the lease of its whole
    // node. check_reachability() ends the operations that wait for this peer.
    const bool is_mute = there.is_reached && is_long && polls_without_messages(there);
    watch::watch_note_hearing(*rank_, peer,
                              is_mute ? watch::Hearing::mute : watch::Hearing::missing);
}

// Whether the peer has polled for longer than it had not polled before, still without a message.
bool Network::polls_without_messages(const PeerLink &link) {
    return link.polled_checks > link.unpolled_checks;
}

// Sends from new endpoints, because TCP waits before it resends on old connections.
void Network::reopen_all_outgoing(int peer) {
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        if ((usable(peer) & bit(rail)) == 0) continue;
        rails_[rail].outgoing_opened_ns = boot_ns();
        reopen_outgoing(rail);
    }
}

// Stops using a rail to the peer, unless there is no other one. Transfers on it are then in doubt.
void Network::leave_out(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    const auto others = static_cast<std::uint8_t>(usable(peer) & ~bit(rail));
    if (link.is_left_out || others == 0) return;
    const std::int64_t now = boot_ns();
    const bool is_soon = link.left_out_until_ns != 0 && now - link.left_out_until_ns < kSoonNs;
    link.left_out_pause_ns =
        is_soon ? std::min(2 * link.left_out_pause_ns, kLastLeftOutNs) : kFirstLeftOutNs;
    link.left_out_until_ns = now + link.left_out_pause_ns;
    link.is_left_out = true;
    link.is_left_out_known = link.awaits_answer = false;
    set_usable(peer, others);
    log(SENNIT_LOG_INFO, "rail %u carries nothing to rank %d and is left out", rail, peer);
    if (link.posted != 0)
        set_in_doubt(link);
    else
        ask(link);
}

// Called when the peer has answered by the rail: uses the rail again, if its pause is over.
void Network::restore_rail(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (boot_ns() < link.left_out_until_ns) return;
    link.is_left_out = false;
    link.silent_checks = 0;
    set_usable(peer, usable(peer) | bit(rail));
    log(SENNIT_LOG_INFO, "rail %u carries to rank %d again", rail, peer);
}

// Whether the rail is left out for all reached peers.
bool Network::is_left_out_for_all(unsigned rail) const {
    for (const int peer : links_.used())
        if (links_[peer].is_reached && (usable(peer) & bit(rail)) != 0) return false;
    return true;
}

// From time to time, lets the next question about a rail that was left out use a new connection.
void Network::reconnect_left_out(int peer, unsigned rail, std::int64_t now) {
    RailLink &link = link_of(peer, rail);
    RailState &state = rails_[rail];
    if (!link.is_left_out_known) return;
    if (now - state.outgoing_opened_ns <
        (is_left_out_for_all(rail) ? kReconnectNs : kSeldomReconnectNs))
        return;
    state.outgoing_opened_ns = now;
    reopen_outgoing(rail);
    link.next_question_ns = now;
}

// Moves a transfer that is fenced on its rail to another rail. Returns false if no other rail
// accepts transfers now.
bool Network::move_to_another(Posted *posted) {
    const std::uint8_t set = usable(posted->peer);
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailLink &link = link_of(posted->peer, rail);
        if ((set & bit(rail)) == 0 || link.number == 0 || link.in_doubt) continue;
        take_off_rail(*posted);
        put_on_rail(posted, rail);
        posted->failures = posted->attempts = 0;
        posted->is_alone = false;
        if (start_transfer(posted) == Submit::again) {
            link.to_repeat.append(posted);
            request_service(link);
        }
        return true;
    }
    return false;
}

}  // namespace sennit::transport::fabric
