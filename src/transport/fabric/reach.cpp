// Which rails lead to which peers: the trial of other nodes at start, and the first use of a peer.
// docs/design/fabric.md, "Start", has the reasons.
//
// The lowest rank of each node that has a rail is its *speaker*. Speakers try each other, by every
// rail, and their nodes go by what they have found. All other pairs make their connections when
// one of the two first uses the other; then nothing is sent to a peer, but the question for its
// endpoint, before it has answered one.
#include <arpa/inet.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/tcp_connect.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// Between trials of a peer that fails.
constexpr std::int64_t kTrialPauseNs = 1'000'000;
// For so long the first probes of a peer may fail, and of others after one that is out of reach.
constexpr std::int64_t kFirstUnreachedNs = 10'000'000'000;
constexpr std::int64_t kNextUnreachedNs = 1'000'000'000;
// The same on a rail that did not reach another peer, once another rail has reached this one.
constexpr std::int64_t kKnownUnreachedNs = 100'000'000;
// So long a connection to a port may take.
constexpr std::int64_t kProbeNs = 1'000'000'000;

void pause(std::int64_t ns) {
    const timespec length{0, static_cast<long>(ns)};
    (void)nanosleep(&length, nullptr);
}

// As far as a NodeTrial has room for it.
std::uint8_t short_error(int error) {
    if (error == 0) return ETIMEDOUT;
    return error > 0 && error < NodeTrial::kNotTried ? static_cast<std::uint8_t>(error) : EIO;
}

}  // namespace

// Of the node whose lowest rank is `first`; -1: none of its ranks has a rail.
int Network::speaker_of(int first) const {
    for (int r = first; r < world_size(*rank_); ++r)
        if (rank_->peers[r].first_of_node == first && lack_of(r).code == Reason::Code::taken)
            return r;
    return -1;
}

NodeTrial Network::try_node(int first) {
    const int own_first = rank_->peers[rank_->world_rank].first_of_node;
    if (rail_count_ == 0 || speaker_of(own_first) != rank_->world_rank) return {};
    const int peer = speaker_of(first);
    if (peer < 0) return {};
    try_rails(peer);
    const MutexLock guard(lock_);
    NodeTrial found{usable(peer), 0};
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if ((found.rails & bit(rail)) == 0)
            found.error = short_error(link_of(peer, rail).failed_by);
    return found;
}

// The trial of one rail to a peer.
struct Network::RailTrial {
    Trial *trial = nullptr;
    bool is_open = false;  // submitted
    bool is_decided = false;
    std::int64_t started_ns = now_ns();
};

// The header of the peer's control block is really read: it is at this step of start-up too, and
// its thread answers. All rails at a time: one that carries nothing costs a second more, and later
// ones less.
void Network::try_rails(int peer) {
    if (unreached_limit_ns_ == 0) unreached_limit_ns_ = kFirstUnreachedNs;
    RailTrial trials[kMostRails];
    std::int64_t first_taken_ns = 0;
    for (bool all = false; !all;) {
        bool fails = false;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            RailTrial &there = trials[rail];
            if (there.is_decided || there.is_open) continue;
            if (there.trial == nullptr) there.trial = make_trial(peer, rail);
            there.is_open =
                there.trial != nullptr && submit(&there.trial->operation) == Submit::accepted;
        }
        PostedList done;
        {
            const MutexLock guard(lock_);
            poll_rails();
            done = done_.take_all();
        }
        // Before the engine is there nothing else can be over.
        while (Posted *posted = done.take())
            (void)work_off(posted);
        const MutexLock guard(lock_);
        all = true;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            if (!trials[rail].is_decided)
                trials[rail].is_decided = look_at_trial(peer, rail, &trials[rail], first_taken_ns);
            all = all && trials[rail].is_decided;
            fails = fails || link_of(peer, rail).failing_since_ns != 0;
        }
        if (first_taken_ns == 0 && usable(peer) != 0) first_taken_ns = now_ns();
        // What fails is tried again every 20 ms and more.
        if (!all && fails) pause(kTrialPauseNs);
        if (!all) (void)sched_yield();
    }
    end_trials(peer, trials);
}

// Is it decided whether the rail is taken? With the lock held.
bool Network::look_at_trial(int peer, unsigned rail, RailTrial *trial,
                            std::int64_t first_taken_ns) {
    Trial *const made = trial->trial;
    if (made == nullptr) return true;
    // One that was left out meanwhile, as the peer has told, may have gone by another rail.
    if (made->over && made->status == SENNIT_OK && !link_of(peer, rail).is_out) {
        links_[peer].usable.fetch_or(bit(rail),
                                     std::memory_order_relaxed);  // relaxed: it stands alone
        return true;
    }
    if (made->over) made->over = trial->is_open = false;
    const std::int64_t now = now_ns();
    const std::int64_t limit = rails_[rail].was_out_of_reach ? kKnownUnreachedNs : kNextUnreachedNs;
    // Also of one that makes a connection and then says nothing, as a process that was stopped.
    return is_silent(link_of(peer, rail), now) || start_limit_.over() ||
           now - trial->started_ns > 2 * unreached_limit_ns_ ||
           (first_taken_ns != 0 && now - first_taken_ns > limit);
}

void Network::end_trials(int peer, RailTrial trials[]) {
    const MutexLock guard(lock_);
    const std::uint8_t taken = usable(peer);
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        Trial *const trial = trials[rail].trial;
        if (trial != nullptr && trials[rail].is_open && !trial->over)
            trial->abandoned = true;
        else
            delete trial;
        if ((taken & bit(rail)) == 0) rails_[rail].was_out_of_reach = true;
    }
    if (taken != 0) return leave_out_others(peer);
    unreached_limit_ns_ = kNextUnreachedNs;
    log(SENNIT_LOG_WARNING,
        "rank %d does not answer by the network and counts as out of reach, with its node", peer);
}

// A read of the peer's header. Null: no memory.
Network::Trial *Network::make_trial(int peer, unsigned rail) {
    auto *trial = new (std::nothrow) Trial;
    if (trial == nullptr) return nullptr;
    trial->operation.kind = Operation::Kind::get;
    trial->operation.rail = static_cast<std::uint8_t>(rail);
    trial->operation.peer = peer;
    trial->operation.remote.handle = kControlHandle;
    trial->operation.local = trial->header;
    trial->operation.bytes = sizeof trial->header;
    trial->operation.completed = [](Operation *operation, sennit_status status) {
        auto *ended = reinterpret_cast<Trial *>(operation);  // its first member
        ended->status = status;
        ended->over = true;
        if (ended->abandoned) delete ended;
    };
    return trial;
}

// Has the peer not been reached for so long that it counts as out of reach? With the lock held.
bool Network::is_silent(const RailLink &link, std::int64_t now) const {
    const std::int64_t failing =
        link.failing_since_ns != 0 ? now - link.failing_since_ns : std::int64_t{0};
    return std::max({failing, link.again.length(now), link.unsent.length(now)}) >
               unreached_limit_ns_ ||
           link.patience_ns > kMostPatienceNs;
}

// With the lock held.
void Network::leave_out_others(int peer) {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if ((usable(peer) & bit(rail)) == 0) leave_out(peer, rail);
}

void Network::settle(int peer, const NodeTrial &found) {
    const MutexLock guard(lock_);
    PeerLink &link = links_[peer];
    // A rail that this rank has tried may have been left out since.
    const unsigned known = link.is_reached ? usable(peer) : (1u << rail_count_) - 1;
    link.usable.store(static_cast<std::uint8_t>(found.rails & known),
                      std::memory_order_relaxed);  // relaxed: it stands alone
    link.error = found.is_tried() ? found.error : 0;
    link.is_settled = true;
    link.asked_since_ns = 0;
    if (link.is_reached) leave_out_others(peer);
}

Reason Network::reach(int peer) {
    if (rank_->peers[peer].same_node) return Reason{Reason::Code::same_node};
    if (rail_count_ == 0) return missing_;
    // Each of the two knows what the other lacks.
    const Reason lacks[] = {lack_of(rank_->world_rank), lack_of(peer)};
    for (const Reason &lack : lacks)
        if (lack.code != Reason::Code::taken) return lack;
    const PeerLink &link = links_[peer];
    if (link.is_settled && usable(peer) == 0) return Reason{Reason::Code::no_answer, link.error};
    rank_->peers[peer].control_handle = kControlHandle;
    return Reason{Reason::Code::taken};
}

void Network::forget(int peer) {
    rank_->peers[peer].control_handle = 0;
}

// ---- The first use. With the lock held.

// Nothing has come from the peer yet that was asked for.
Submit Network::meet(int peer, unsigned rail) {
    PeerLink &link = links_[peer];
    if (link.asked_since_ns == 0) link.asked_since_ns = now_ns();
    ask(link_of(peer, rail));
    if (!link.is_unreachable) return comes_again(nullptr);
    (void)fail(SENNIT_ERR_FABRIC, "rank %d is out of reach", peer);  // describe_trouble() says more
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
    if (link.is_settled) leave_out_others(peer);
}

// A peer that has not answered for SENNIT_PEER_TIMEOUT may be stopped, or compute without a thread
// for progress: then its kernel takes connections for it, and it is waited for. Where nobody takes
// one, by any rail, or its node says that it looks at its network, it is out of reach. Questions go
// on, and their first answer ends that.
void Network::look_for_unreached(int peer, std::int64_t now) {
    PeerLink &link = links_[peer];
    if (!link.is_settled || link.is_reached || link.is_unreachable || link.asked_since_ns == 0 ||
        now - link.asked_since_ns < runtime::knobs().peer_timeout)
        return;
    int error = 0;
    if (link.probe < 0) {
        // Where endpoints have no port, that of its watch.
        const bool by_names = told_ != nullptr;
        const RailCard card = by_names ? told_card(peer) : cards_.of(peer);
        const unsigned interface = by_names ? 0 : choice_.of(card, link.probe_rail);
        link.probe_ns = now;
        link.probe =
            start_connection(card.addresses[interface], by_names ? card.watch_port : card.port);
        if (link.probe < 0) error = errno;
    }
    if (link.probe >= 0) error = connection_error(link.probe);
    if (error == EINPROGRESS && now - link.probe_ns < kProbeNs) return;
    end_probe(link);
    if (error == 0 && looks_in_vain(link)) error = ETIMEDOUT;
    if (error == 0) {
        link.asked_since_ns = now;
        link.probe_rail = 0;
        return;
    }
    link.error = short_error(error == EINPROGRESS ? ETIMEDOUT : error);
    if (++link.probe_rail < rail_count_) return;
    link.probe_rail = 0;
    link.is_unreachable = true;
    char text[96];
    log(SENNIT_LOG_WARNING, "rank %d does not answer by the network and counts as out of reach: %s",
        peer, strerror_r(link.error, text, sizeof text));
}

// ---- For people.

void Network::describe_trouble(int peer, char *text, std::size_t bytes) {
    const MutexLock guard(lock_);
    const PeerLink &link = links_[peer];
    if (link.is_unreachable) {
        char reason[64];
        (void)std::snprintf(text, bytes, "it has not answered since it was first used: %s",
                            strerror_r(link.error, reason, sizeof reason));
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
    const PeerLink &link = links_[peer];
    const char *reason = link.is_reached
                             ? "the peer has answered by it"
                             : "it carries between the nodes; the peer was not used yet";
    if (choice_.is_trap(mine, number))
        reason = "another machine has the same address there, as bridges of containers have";
    else if (rail == rail_count_)
        reason = "it is not on all nodes, is slower than others, or no more are wanted";
    else if (rank_->peers[peer].same_node)
        reason = "the peer is on this node";
    else if (lack_of(peer).code != Reason::Code::taken)
        reason = "the peer has no rail like it";
    else if ((usable(peer) & bit(rail)) == 0 || link.is_unreachable)
        reason = "the peer does not answer by it";
    else
        out->is_used = 1;
    (void)std::snprintf(out->reason, sizeof out->reason, "%s", reason);
    out->number = out->is_used != 0 ? static_cast<int>(rail) : -1;
    if (out->is_used == 0) return true;
    if (told_ != nullptr) {
        const Rail &used = rails_[rail].rail;
        used.print(told_name(rank_->world_rank, rail), out->address, sizeof out->address);
        used.print(told_name(peer, rail), out->peer_address, sizeof out->peer_address);
        return true;
    }
    (void)inet_ntop(AF_INET, &theirs.addresses[choice_.of(theirs, rail)], out->peer_address,
                    sizeof out->peer_address);
    return true;
}

}  // namespace sennit::transport::fabric
