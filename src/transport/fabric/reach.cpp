// SPDX-License-Identifier: BSD-3-Clause
// The usable rails to peers: results of the trial of other nodes (trial.cpp), and the first use of
// a peer. docs/design/fabric.md, "Start", has the reasons.
//
// Two ranks connect when one first uses the other. Until the peer has answered, only the question
// for its endpoint is sent to it.
#include <arpa/inet.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/tcp_connect.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::int64_t kProbeNs = 1'000'000'000;

}  // namespace

// Makes the links of a peer, and reads earlier news of the watch. Called with the lock held.
PeerLink &Network::make_link(int peer) {
    PeerLink &link = links_.make(peer);
    const int first = peer * static_cast<int>(rail_count_);
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        (void)rail_links_.make(first + static_cast<int>(rail));
    set_usable(peer, usable(peer));
    (void)read_watch_news_of(peer);
    return link;
}

bool Network::is_lossy(int peer, unsigned rail) const {
    return (rails_to_node_of(peer).lossy & bit(rail)) != 0;
}

// Leaves out the unusable rails, except lossy ones, which are never used again. With the lock held.
void Network::leave_out_others(int peer) {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if ((usable(peer) & bit(rail)) == 0 && !is_lossy(peer, rail)) leave_out(peer, rail);
}

void Network::settle(int peer, const NodeTrial &found) {
    const MutexLock guard(lock_);
    // By now all ranks have called start() and ended their trials.
    if (!has_settled_) {
        node_room_.map_published(*rank_, {&cards_.places(), &named_cards_.places(), &names_});
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            (void)handle_completions(rail, true);
            rails_[rail].rail.expect_data(false);
        }
        has_settled_ = true;
    }
    NodeRails &to_node = rails_to_node_of(peer);
    PeerLink *const link = links_.find(peer);
    const bool is_reached = link != nullptr && link->is_reached;
    // A tried rail may have been left out since its trial.
    const unsigned known = is_reached ? usable(peer) : (1u << rail_count_) - 1;
    const auto carry = static_cast<std::uint8_t>(found.rails & ((1u << rail_count_) - 1));
    to_node.usable.store(carry, std::memory_order_relaxed);  // relaxed: no other data depends on it
    if (link != nullptr) set_usable(peer, found.rails & known);
    to_node.lossy = found.lossy;
    to_node.error = found.is_tried() ? found.error : 0;
    to_node.is_settled = true;
    // Every rail must bring completion data, even one that did not work in the trial: it may work
    // later, and nobody has tested its completion data.
    const unsigned arrives = (found.rails & ~found.dataless) | found.lossy;
    to_node.data_arrives = found.rails != 0 && (~arrives & ((1u << rail_count_) - 1)) == 0;
    if (link != nullptr) link->asked_since_ns = 0;
    if (is_reached) leave_out_others(peer);
    end_data_of_trials(peer, found);
}

Reason Network::reach(int peer) {
    // A peer on this node must reach this rank's memory while this rank computes, as loads and
    // stores do. Over rails this needs the progress thread.
    if (rank_->peers[peer].same_node && (rank_->rail_share == 0 || !progress_.is_on))
        return Reason{Reason::Code::same_node};
    if (rail_count_ == 0) return missing_;
    // Both ranks check both cards, so they agree.
    const Reason lacks[] = {why_unusable(rank_->world_rank), why_unusable(peer)};
    for (const Reason &lack : lacks)
        if (lack.code != Reason::Code::taken) return lack;
    const NodeRails &to_node = rails_to_node_of(peer);
    if (to_node.is_settled && usable(peer) == 0)
        return to_node.lossy != 0 ? Reason{Reason::Code::lossy}
                                  : Reason{Reason::Code::no_answer, to_node.error};
    rank_->peers[peer].control_handle = kControlHandle;
    return Reason{Reason::Code::taken};
}

void Network::forget(int peer) {
    rank_->peers[peer].control_handle = 0;
}

// ---- The first use of a peer. With the lock held.

// Sends a question to a peer that has not answered yet.
Submit Network::contact(int peer, unsigned rail) {
    PeerLink &link = links_[peer];
    if (link.asked_since_ns == 0) link.asked_since_ns = boot_ns();
    ask(link_of(peer, rail));
    if (!link.is_unreachable) return retry_later(nullptr);
    (void)fail(SENNIT_ERR_FABRIC, "rank %d is out of reach",
               peer);  // describe_trouble() reports more
    return Submit::failed;
}

void Network::end_probe(PeerLink &link) {
    const int probe = std::exchange(link.probe, -1);
    if (probe >= 0) (void)::close(probe);
}

void Network::note_reached(int peer) {
    PeerLink &link = links_[peer];
    if (link.is_reached) return;
    if (link.is_unreachable) log(SENNIT_LOG_WARNING, "rank %d answers by the network now", peer);
    link.is_reached = true;
    link.is_unreachable = false;
    end_probe(link);
    if (rails_to_node_of(peer).is_settled) leave_out_others(peer);
}

// A peer that has not answered for SENNIT_PEER_TIMEOUT may be stopped, or compute without a
// progress thread. Then its kernel still accepts connections, and this rank waits. The peer counts
// as unreachable if no rail's port accepts a connection, or if its node reports that the peer
// polls. This rank goes on asking, and the first answer makes the peer reachable again.
void Network::check_reachability(int peer, std::int64_t now) {
    PeerLink &link = links_[peer];
    if (!rails_to_node_of(peer).is_settled || link.is_reached || link.is_unreachable ||
        link.asked_since_ns == 0 || now - link.asked_since_ns < runtime::knobs().peer_timeout)
        return;
    int error = 0;
    if (link.probe < 0) {
        // If endpoints have no port, tries the port of the peer's watch.
        const bool by_names = names_.exists();
        const RailCard card = (by_names ? named_cards_ : cards_).of(peer);
        const unsigned interface = by_names ? 0 : choice_.of(card, link.probe_rail);
        link.probe_ns = now;
        link.probe =
            start_connection(card.addresses[interface], by_names ? card.watch_port : card.port);
        if (link.probe < 0) error = errno;
    }
    if (link.probe >= 0) error = connection_error(link.probe);
    if (error == EINPROGRESS && now - link.probe_ns < kProbeNs) return;
    end_probe(link);
    if (error == 0 && polls_without_messages(link)) error = ETIMEDOUT;
    if (error == 0) {
        link.asked_since_ns = now;
        link.probe_rail = 0;
        return;
    }
    link.error = NodeTrial::short_error(error == EINPROGRESS ? ETIMEDOUT : error);
    if (++link.probe_rail < rail_count_) return;
    link.probe_rail = 0;
    link.is_unreachable = true;
    char text[96];
    log(SENNIT_LOG_WARNING, "rank %d does not answer by the network and counts as out of reach: %s",
        peer, strerror_r(link.error, text, sizeof text));
}

// ---- For users.

namespace {

const char *text_of(bool data_arrives) {
    return data_arrives ? "the peer has answered by it, and completion data comes"
                        : "the peer has answered by it; completion data is not known to come by "
                          "each rail, so events go by messages";
}

}  // namespace

void Network::describe_trouble(int peer, char *text, std::size_t bytes) {
    const MutexLock guard(lock_);
    std::uint64_t limit = 0;
    if (lacks_descriptors(&limit)) {
        (void)std::snprintf(
            text, bytes,
            "no room for connections: near the limit of %llu open files (RLIMIT_NOFILE, ulimit -n)",
            static_cast<unsigned long long>(limit));
        return;
    }
    const PeerLink *const link = links_.find(peer);
    if (link == nullptr) return;
    if (link->is_unreachable) {
        char reason[64];
        (void)std::snprintf(text, bytes, "it has not answered since it was first used: %s",
                            strerror_r(link->error, reason, sizeof reason));
        return;
    }
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        if (!carries_nothing(link_of(peer, rail))) continue;
        sennit_rail own{};
        interfaces_.describe(choice_.of(cards_.of(rank_->world_rank), rail), &own);
        (void)std::snprintf(text, bytes, "rail %u (%s) carries no data to it, though messages come",
                            rail, own.interface_name);
        return;
    }
}

bool Network::describe_rail(int peer, unsigned number, sennit_rail *out) {
    if (rail_count_ == 0) return false;
    const RailCard mine = cards_.of(rank_->world_rank);
    const RailCard theirs = cards_.of(peer);
    if (number >= mine.interfaces) return false;
    *out = sennit_rail{};
    interfaces_.describe(number, out);
    unsigned rail = 0;
    while (rail < rail_count_ && choice_.of(mine, rail) != number)
        ++rail;
    const MutexLock guard(lock_);
    const PeerLink *const link = links_.find(peer);
    const char *reason = nullptr;
    if (choice_.is_local_only(mine, number))
        reason = "another machine has the same address there, as bridges of containers have";
    else if (rail == rail_count_)
        reason = "it is not on all nodes, is slower than others, or no more are wanted";
    else if (rank_->peers[peer].same_node && rank_->peers[peer].rail_path != SENNIT_PATH_FABRIC)
        reason = "the peer is on this node";
    else if (why_unusable(peer).code != Reason::Code::taken)
        reason = "the peer has no rail like it";
    else if (is_lossy(peer, rail))
        reason = "puts to the peer's node by it do not arrive";
    else if ((usable(peer) & bit(rail)) == 0 || (link != nullptr && link->is_unreachable))
        reason = "the peer does not answer by it";
    else
        out->is_used = 1;
    if (out->is_used != 0 && rank_->peers[peer].same_node)
        reason = "it carries a part of large puts and gets";
    else if (out->is_used != 0)
        reason = link != nullptr && link->is_reached
                     ? text_of(rails_to_node_of(peer).data_arrives)
                     : "it carries between the nodes; the peer was not used yet";
    (void)std::snprintf(out->reason, sizeof out->reason, "%s", reason);
    out->number = out->is_used != 0 ? static_cast<int>(rail) : -1;
    if (out->is_used == 0) return true;
    out->level = support_level(event_bits_to(peer));
    if (names_.exists()) {
        const Rail &used = rails_[rail].rail;
        used.print(name_of(rank_->world_rank, rail), out->address, sizeof out->address);
        used.print(name_of(peer, rail), out->peer_address, sizeof out->peer_address);
        return true;
    }
    (void)inet_ntop(AF_INET, &theirs.addresses[choice_.of(theirs, rail)], out->peer_address,
                    sizeof out->peer_address);
    return true;
}

}  // namespace sennit::transport::fabric
