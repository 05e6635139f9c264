// SPDX-License-Identifier: BSD-3-Clause
// The thread of the watch: it chooses the watcher, detects deaths on this node and handles messages
// of other watches. It sleeps in poll(). With the default timeout, and if nothing happens, it wakes
// about six times a second in the watcher, and twice in other ranks.
#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watcher.hpp"

namespace sennit::watch {
namespace {

constexpr std::int64_t kFirstNote_ns = 2'000'000'000;  // time limit of a guest's first message
constexpr int kCheckMs = 20;           // interval of checks for changes without a wake-up
constexpr int kCandidateMs = 500;      // interval in which other ranks check the watcher
constexpr int kMessagesPerRound = 64;  // from one connection
// The longest lease that is accepted: this node would report nothing for that long.
constexpr std::int64_t kLongestLease_ns = 3'600'000'000'000;

NoteKind kind_of(Gone how) {
    return how == Gone::left ? NoteKind::left : NoteKind::gone;
}

}  // namespace

void *NodeWatch::thread_main(void *watch) {
    static_cast<NodeWatch *>(watch)->run();
    return nullptr;
}

void NodeWatch::run() {
    // relaxed: the eventfd wakes, and the word stands alone.
    while (!stop_.load(std::memory_order_relaxed)) {
        const std::int64_t now = boot_ns();
        take_role(now);
        if (is_watcher_) {
            check_mates();
            check_nodes(now);
        }
        sleep();
        take_guests(boot_ns());
    }
    announce_end();
}

// One rank of the node is the watcher. A rank that finds no watcher, or one that was not awake in
// time, becomes the watcher. Two watchers for a while do no harm.
void NodeWatch::take_role(std::int64_t now) {
    TableHead &head = *table_.head;
    const std::uint32_t mine = static_cast<std::uint32_t>(rank_->world_rank) + 1;
    // All relaxed: two watchers for a while do no harm, and no data depends on the order.
    std::uint32_t watcher = head.watcher.load(std::memory_order_relaxed);
    if (watcher != mine) {
        const int other = static_cast<int>(watcher) - 1;
        const bool is_awake =
            watcher != 0 && peer_gone(*rank_, other) == Gone::no &&
            now - head.watched_ns.load(std::memory_order_relaxed) < times_.timeout_ns / 4;
        if (!is_awake &&
            head.watcher.compare_exchange_strong(watcher, mine, std::memory_order_relaxed)) {
            watcher = mine;
            log(SENNIT_LOG_INFO, "rank %d watches other nodes for its own", rank_->world_rank);
        }
    }
    is_watcher_ = watcher == mine;
    if (is_watcher_) note_awake(now);
    for (std::size_t i = 0; i < node_count_ && !is_watcher_; ++i)
        nodes_[i].close();
}

void NodeWatch::note_awake(std::int64_t now) {
    std::atomic<std::int64_t> &watched = table_.head->watched_ns;
    // relaxed: the word stands alone.
    const std::int64_t before = watched.load(std::memory_order_relaxed);
    if (before != 0 && now - before >= times_.stop_ns) resume(now);
    // SYNC watch-awake: pairs with the acquire in settle(); the pauses that resume() has stored
    // come before.
    watched.store(now, std::memory_order_release);
}

void NodeWatch::check_mates() {
    for (int r = 0; r < size_; ++r) {
        if (!is_mate(r) || r == rank_->world_rank) continue;
        const Gone how = peer_gone(*rank_, r);
        // relaxed: the word stands alone.
        if (how != Gone::no && table_.places[r].gone.load(std::memory_order_relaxed) == 0)
            note_gone_elsewhere(r, how);
    }
}

bool NodeWatch::all_mates_have_pidfds() const {
    for (int r = 0; r < size_; ++r)
        if (is_mate(r) && !rank_->peers[r].same_process && rank_->peers[r].pid_fd < 0) return false;
    return true;
}

// Sleeps until something happens, or until the time of the next check.
void NodeWatch::sleep() {
    std::size_t count = 0;
    const auto add = [&](int descriptor, int events) {
        polls_[count++] = pollfd{descriptor, static_cast<short>(events), 0};
    };
    add(wake_, POLLIN);
    add(listener_, POLLIN);
    // relaxed: two watchers for a while do no harm.
    const int watcher = static_cast<int>(table_.head->watcher.load(std::memory_order_relaxed)) - 1;
    for (int r = 0; r < size_; ++r)
        if (is_mate(r) && known_gone(*rank_, r) == Gone::no && (is_watcher_ || r == watcher))
            add(rank_->peers[r].pid_fd, POLLIN);
    bool must_check = is_watcher_ && !all_mates_have_pidfds();
    for (std::size_t i = 0; i < node_count_; ++i) {
        const Node &node = nodes_[i];
        add(node.connection.socket(), node.connection.is_open() ? POLLIN : POLLOUT);
        if (node.slow.exists()) add(node.slow.socket(), POLLIN);
        must_check |=
            is_watcher_ && is_watched(node) && !node.connection.is_open() && !is_over(node);
    }
    for (std::size_t i = 0; i < guest_count_; ++i) {
        if (!guests_[i].connection.exists()) continue;
        add(guests_[i].connection.socket(), POLLIN);
        must_check |= guests_[i].has_withheld;
    }
    const int pause_ms = static_cast<int>(times_.pause_ns / 4'000'000);
    const int limit_ms =
        is_watcher_ ? std::max(1, pause_ms) : std::min(kCandidateMs, 4 * std::max(1, pause_ms));
    (void)poll(polls_, count, must_check ? std::min(kCheckMs, limit_ms) : limit_ms);
}

void NodeWatch::take_guests(std::int64_t now) {
    bool may_be_more = true;
    for (std::size_t i = 0; i < guest_count_; ++i) {
        Guest &guest = guests_[i];
        if (!guest.connection.exists()) {
            may_be_more = may_be_more && guest.connection.accept(listener_);
            if (!may_be_more) continue;
            guest.from = -1;
            guest.since_ns = now;
            guest.has_withheld = false;
        }
        if (!serve(guest, now)) guest.connection.close();
    }
}

// False: the connection is useless.
bool NodeWatch::serve(Guest &guest, std::int64_t now) {
    Note message;
    if (guest.has_withheld && !withholds(first_of(guest.from), now)) {
        guest.has_withheld = false;
        if (!answer(guest.withheld, guest.connection, now)) return false;
    }
    for (int i = 0; i < kMessagesPerRound; ++i) {
        const WatchConnection::Read read = guest.connection.read(&message);
        if (read == WatchConnection::Read::ended) return false;
        if (read == WatchConnection::Read::none)
            return guest.from >= 0 || now - guest.since_ns < kFirstNote_ns;
        if (!is_well_formed(message)) return false;
        if (guest.from < 0) identify(guest, message.from);
        if (message.kind == NoteKind::question && withholds(first_of(guest.from), now)) {
            guest.withheld = message;
            guest.has_withheld = true;
        } else if (!take(message, guest.connection, now)) {
            return false;
        }
    }
    return true;
}

// Notes the rank of a guest at its first message. A rank that connects again has lost its earlier
// connection.
void NodeWatch::identify(Guest &guest, int from) {
    for (std::size_t i = 0; i < guest_count_; ++i)
        if (guests_[i].from == from) guests_[i].connection.close();
    guest.from = from;
    send_known(guest.connection);
}

bool NodeWatch::is_well_formed(const Note &message) const {
    const auto is_rank = [&](std::int32_t rank) { return rank >= 0 && rank < size_; };
    return message.cookie == rank_->job_cookie && message.kind >= NoteKind::question &&
           message.kind <= NoteKind::left && is_rank(message.from) && is_rank(message.rank) &&
           !is_mate(message.from) && message.time_ns >= 0 && message.value >= 0 &&
           (message.kind != NoteKind::question ||
            message.value <= std::max(kLongestLease_ns, times_.lease_ns));
}

// Handles the messages that both sides of a connection may send. False: the connection has ended.
bool NodeWatch::take(const Note &message, WatchConnection &from, std::int64_t now) {
    if (message.kind == NoteKind::question) return answer(message, from, now);
    if (message.kind == NoteKind::looks) return take_poll_time(message, from, now);
    // Reports on this node's own ranks are ignored: this node watches them itself.
    if (is_mate(message.rank)) return true;
    if (message.kind == NoteKind::gone) note_gone_elsewhere(message.rank, Gone::died);
    if (message.kind == NoteKind::left) note_gone_elsewhere(message.rank, Gone::left);
    if (message.kind == NoteKind::leaving) note_leaving(message.rank);
    if (message.kind == NoteKind::quiet) note_quiet(message.rank);
    return true;
}

Note NodeWatch::make(NoteKind kind, int rank) const {
    return Note{rank_->job_cookie, kind, rank_->world_rank, rank, 0, 0, 0};
}

// Records that a rank of any node has died or left. If that is new on this node, reports it to the
// other nodes.
void NodeWatch::note_gone_elsewhere(int rank, Gone how) {
    std::uint32_t none = 0;
    // relaxed: the counts below order it.
    const bool is_news = table_.places[rank].gone.compare_exchange_strong(
        none, static_cast<std::uint32_t>(how), std::memory_order_relaxed);
    // Counts a known end too: the rank that set the word may be stopped before it counts.
    // SYNC watch-ended: pairs with the acquire in ended(); the word above comes before.
    table_.head->ended.fetch_add(1, std::memory_order_release);
    if (!is_news) return;
    // SYNC watch-news: pairs with the acquire in has_news(); the word above comes before. A rank
    // that has left has no pending operations; a rank that waits for it checks itself.
    if (how == Gone::died) table_.head->changes.fetch_add(1, std::memory_order_release);
    send_to_all(kind_of(how), rank);
}

// Records that a rank is leaving: its closed port then does not mean a death.
void NodeWatch::note_leaving(int rank) {
    // relaxed: the word stands alone.
    if (table_.places[rank].leaving.exchange(1, std::memory_order_relaxed) == 0)
        send_to_all(NoteKind::leaving, rank);
}

// Called if a node does not answer a node that watches it. Then all nodes watch the quiet node, and
// each of them decides by itself whether that node is lost: perhaps only the first watching node
// has no connection to it. Each quiet node is reported once.
void NodeWatch::note_quiet(int rank) {
    for (std::size_t i = 0; i < node_count_; ++i) {
        Node &node = nodes_[i];
        if (node.first != first_of(rank) || node.is_quiet) continue;
        node.is_quiet = true;
        (void)watch_node(node.first);
        send_to_all(NoteKind::quiet, node.first);
    }
}

void NodeWatch::send_to_all(NoteKind kind, int rank) {
    const Note message = make(kind, rank);
    for (std::size_t i = 0; i < guest_count_; ++i)
        if (guests_[i].connection.is_open() && guests_[i].from >= 0 &&
            !guests_[i].connection.send(message))
            guests_[i].connection.close();
    for (std::size_t i = 0; i < node_count_; ++i)
        for (WatchConnection *connection : {&nodes_[i].connection, &nodes_[i].slow})
            if (connection->is_open() && !connection->send(message)) connection->close();
}

// Repeats the reports that other nodes received before this connection existed.
void NodeWatch::send_known(WatchConnection &connection) {
    for (int r = 0; r < size_; ++r) {
        const TablePlace &place = table_.places[r];
        // relaxed twice: a change that is missed here is sent when it is recorded.
        const auto gone = static_cast<Gone>(place.gone.load(std::memory_order_relaxed));
        const bool leaves = place.leaving.load(std::memory_order_relaxed) != 0;
        if (gone != Gone::no || leaves)
            (void)connection.send(make(gone != Gone::no ? kind_of(gone) : NoteKind::leaving, r));
    }
    for (std::size_t i = 0; i < node_count_; ++i)
        if (nodes_[i].is_quiet) (void)connection.send(make(NoteKind::quiet, nodes_[i].first));
}

// Reports that this rank ends, and gives up the role of the watcher.
void NodeWatch::announce_end() {
    if (is_watcher_) {
        check_mates();
        for (int r = 0; r < size_; ++r)
            if (is_mate(r) && r != rank_->world_rank && is_leaving(*rank_, r)) note_leaving(r);
    }
    const std::uint32_t state =
        // relaxed: this rank's own word.
        rank_->control->header.state.load(std::memory_order_relaxed);
    const bool has_left = state == static_cast<std::uint32_t>(RankState::left);
    send_to_all(has_left ? NoteKind::left : NoteKind::leaving, rank_->world_rank);
    std::uint32_t mine = static_cast<std::uint32_t>(rank_->world_rank) + 1;
    // relaxed: two watchers for a while do no harm.
    (void)table_.head->watcher.compare_exchange_strong(mine, 0, std::memory_order_relaxed);
}

}  // namespace sennit::watch
