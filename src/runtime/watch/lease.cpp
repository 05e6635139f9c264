// SPDX-License-Identifier: BSD-3-Clause
// Questions between nodes, and the consequences of silence. Node A asks node B, and B answers. Then
// A accepts data from B for one lease, from the time of its question by A's clock. B counts the
// lease from the time of its answer, which is later, by B's clock. B reports A as lost only after
// this lease and a margin. So when B reports A as lost, A no longer accepts data from B.
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watcher.hpp"

namespace sennit::watch {
namespace {

constexpr std::int64_t kRetry_ns = 20'000'000;

}  // namespace

// Whether all ranks of the node have left, announced that, or died: their last data is still
// accepted.
bool NodeWatch::has_left(const Node &node) const {
    for (int r = node.first; r < size_; ++r) {
        if (first_of(r) != node.first) continue;
        if (is_present(table_.places[r])) return false;
    }
    return true;
}

// Whether no further messages to the node are needed.
bool NodeWatch::is_over(const Node &node) const {
    const TablePlace &place = table_.places[node.first];
    // relaxed: a final value stays.
    return place.answered_ns.load(std::memory_order_relaxed) == kEnded ||
           place.lease_end_ns.load(std::memory_order_relaxed) == kEnded || has_left(node);
}

bool NodeWatch::is_watched(const Node &node) const {
    // relaxed: the word stands alone.
    return table_.places[node.first].watched_since_ns.load(std::memory_order_relaxed) != 0;
}

// Ends expired leases. Called by the watcher, and by other threads that find an expired lease
// (has_news()). If this node was stopped, an expired lease is only paused: it may start again
// within the length of a lease.
void NodeWatch::settle(std::int64_t now) const {
    // SYNC watch-awake: pairs with the release in note_awake(); pauses are stored before the time.
    const std::int64_t watched = table_.head->watched_ns.load(std::memory_order_acquire);
    const bool was_stopped = now - watched >= times_.stop_ns;
    for (std::size_t i = 0; i < node_count_; ++i) {
        std::atomic<std::int64_t> &lease = table_.places[nodes_[i].first].lease_end_ns;
        // relaxed: the exchange below compares it again.
        std::int64_t end = lease.load(std::memory_order_relaxed);
        const std::int64_t limit = is_pause(end) ? times_.lease_ns - end : end;
        if (limit <= 0 || now < limit) continue;
        // SYNC watch-lease: pairs with the acquire in take_answer(); an ended lease is not
        // extended.
        std::int64_t next = was_stopped && !is_pause(end) ? -now : kEnded;
        if (has_left(nodes_[i])) next = 0;
        if (!lease.compare_exchange_strong(end, next, std::memory_order_acq_rel) || next == 0)
            continue;
        if (next == kEnded)
            log(SENNIT_LOG_WARNING, "the node of rank %d is silent: nothing is accepted from it",
                nodes_[i].first);
        // SYNC watch-news: pairs with the acquire in has_news(); the word above comes before.
        table_.head->changes.fetch_add(1, std::memory_order_release);
    }
    note_first_end();
}

void NodeWatch::note_first_end() const {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < node_count_; ++i) {
        // relaxed: leases only get longer, so the least of old values is too early, never too late.
        std::int64_t end =
            table_.places[nodes_[i].first].lease_end_ns.load(std::memory_order_relaxed);
        if (is_pause(end)) end = 1;  // settle() checks whether the pause is over
        if (end > 0 && (first == 0 || end < first)) first = end;
    }
    // relaxed: an old value is too early, never too late.
    table_.head->first_end_ns.store(first, std::memory_order_relaxed);
}

// Called after all ranks of this node, or the whole machine, were stopped, for example by a frozen
// control group. This node has read no answers meanwhile, so the times of other nodes start again.
// Their leases pause, because they may have reported this node as lost: this node asks them before
// it accepts more data.
void NodeWatch::resume(std::int64_t now) {
    settle(now);
    resumed_ns_ = now;
    for (std::size_t i = 0; i < node_count_; ++i) {
        Node &node = nodes_[i];
        TablePlace &place = table_.places[node.first];
        node.since_ns = now;
        // A time that is too late only delays the report.
        for (std::atomic<std::int64_t> *word : {&place.answered_ns, &place.watched_since_ns}) {
            // relaxed: the exchange below compares it again.
            std::int64_t then = word->load(std::memory_order_relaxed);
            // relaxed: each word stands alone.
            if (then > 0) (void)word->compare_exchange_strong(then, now, std::memory_order_relaxed);
        }
        // relaxed: the exchange below compares it again.
        std::int64_t end = place.lease_end_ns.load(std::memory_order_relaxed);
        // Skips leases with enough time left for an answer.
        if (end <= 0 || end >= now + times_.stop_ns) continue;
        // relaxed: the count below orders it.
        if (!place.lease_end_ns.compare_exchange_strong(end, -now, std::memory_order_relaxed))
            continue;
        // SYNC watch-news: pairs with the acquire in has_news(); the word above comes before.
        table_.head->changes.fetch_add(1, std::memory_order_release);
    }
    note_first_end();
    log(SENNIT_LOG_INFO,
        "this node was stopped: it asks other nodes before it accepts more data from them");
}

void NodeWatch::check_nodes(std::int64_t now) {
    settle(now);
    for (std::size_t i = 0; i < node_count_; ++i) {
        Node &node = nodes_[i];
        if (!has_left(node)) end_if_silent(node, now);
        if (is_over(node))
            node.close();
        else if (is_watched(node))
            drive(node, now);
    }
}

// Whether that node accepts no data from this node, for one of two reasons. Its lease and the
// margin have ended. Or it has asked nothing since this node began to watch it, for first_ns; then
// nothing was sent to it.
bool NodeWatch::accepts_nothing(const Node &node, std::int64_t answered, std::int64_t now) const {
    const TablePlace &place = table_.places[node.first];
    // relaxed: the acquire in end_if_silent() orders it.
    const std::int64_t lease = place.their_lease_ns.load(std::memory_order_relaxed);
    if (answered > 0) return now - answered >= lease + times_.margin_ns;
    // relaxed: the word stands alone.
    const std::int64_t since = place.watched_since_ns.load(std::memory_order_relaxed);
    return answered == 0 && node.is_reached && since != 0 && now - since >= times_.first_ns;
}

void NodeWatch::end_if_silent(const Node &node, std::int64_t now) {
    TablePlace &place = table_.places[node.first];
    // SYNC watch-answered: pairs with the release in answer(); its lease comes before.
    std::int64_t answered = place.answered_ns.load(std::memory_order_acquire);
    // If the word is kEnded already, a watcher died before it marked the ranks as lost.
    if (answered != kEnded) {
        if (!accepts_nothing(node, answered, now)) return;
        // relaxed: a concurrent answer makes it fail by the word's value.
        if (!place.answered_ns.compare_exchange_strong(answered, kEnded, std::memory_order_relaxed))
            return;
    }
    // The argument is a time before the end of this node's own lease. After that end this node asks
    // nothing, so the state of the ranks is not renewed.
    const bool is_unheard = withholds(node.first, now - times_.margin_ns - 2 * times_.pause_ns);
    log(SENNIT_LOG_WARNING, "the node of rank %d is silent%s: its ranks are lost", node.first,
        is_unheard ? " by the network, though its watch answers" : "");
    // Not reported to other nodes: each one knows its own lease on the silent node.
    for (int r = node.first; r < size_; ++r) {
        if (first_of(r) != node.first) continue;
        // All relaxed: the count below orders them.
        if (!is_unheard) table_.places[r].unheard_ns.store(0, std::memory_order_relaxed);
        table_.places[r].gone.store(static_cast<std::uint32_t>(Gone::died),
                                    std::memory_order_relaxed);
    }
    // SYNC watch-ended: pairs with the acquire in ended(); the words above come before.
    table_.head->ended.fetch_add(1, std::memory_order_release);
    // SYNC watch-news: pairs with the acquire in has_news(); the words above come before.
    table_.head->changes.fetch_add(1, std::memory_order_release);
}

// Whether a rank of this node receives nothing over the network from a rank of that node, although
// that rank polls its network. Then this node sends that node no answers and no questions, as if
// this node were silent. So the leases of both nodes end, and no data from here can arrive after
// the report. A withheld question is answered as soon as messages of that rank arrive again, or if
// the rank no longer polls.
bool NodeWatch::withholds(int first, std::int64_t now) const {
    for (int r = first; r < size_; ++r) {
        if (first_of(r) != first) continue;
        const TablePlace &place = table_.places[r];
        // relaxed twice: each word stands alone.
        const std::int64_t unheard = place.unheard_ns.load(std::memory_order_relaxed);
        const std::int64_t looked = place.looked_ns.load(std::memory_order_relaxed);
        if (unheard < 0 && looked != 0 && now + unheard < times_.fresh_ns &&
            now - looked < times_.fresh_ns)
            return true;
    }
    return false;
}

// For ranks whose messages do not arrive, asks when they last polled their network: a stopped rank
// does not poll. False: the connection has ended.
bool NodeWatch::ask_who_polls(Node &node, std::int64_t now) {
    if (now < node.next_poll_question_ns) return true;
    node.next_poll_question_ns = now + times_.pause_ns;
    for (int r = node.first; r < size_; ++r) {
        if (first_of(r) != node.first) continue;
        // relaxed: the word stands alone.
        const std::int64_t unheard = table_.places[r].unheard_ns.load(std::memory_order_relaxed);
        if (unheard != 0 && now - std::abs(unheard) < times_.fresh_ns &&
            !node.connection.send(make(NoteKind::looks, r)))
            return false;
    }
    return true;
}

// Handles a message about the time of a rank's last poll: a question about a rank of this node, or
// an answer about a rank of another node.
bool NodeWatch::take_poll_time(const Note &message, WatchConnection &from, std::int64_t now) {
    std::atomic<std::int64_t> &word = table_.places[message.rank].looked_ns;
    // relaxed: the word stands alone.
    const std::int64_t looked = word.load(std::memory_order_relaxed);
    const int speaker = message.value == 0 ? rank_->world_rank : message.from;
    if (first_of(message.rank) != first_of(speaker)) return true;
    if (message.value == 0) {
        if (looked == 0) return true;  // unknown
        Note reply = make(NoteKind::looks, message.rank);
        reply.value = std::max<std::int64_t>(now - looked, 0) + 1;
        return from.send(reply);
    }
    const std::int64_t then = now - (message.value - 1);
    // relaxed: there is one watcher, and an earlier time of a second one does no harm.
    if (then > looked) word.store(then, std::memory_order_relaxed);
    return true;
}

// The time limit of an answer by the current rail. It is short enough to ask another rank of the
// node before the lease ends, since a stopped rank answers by none of its rails. It grows if no
// rank has answered by any rail, because the rail's queue may be long.
std::int64_t NodeWatch::answer_limit(const Node &node) const {
    const std::int64_t first =
        std::min(times_.answer_ns, times_.lease_ns / 2 / host(node.connection.rank).count);
    return first << std::min(node.rounds, node.connection.is_open() ? 2u : 1u);
}

void NodeWatch::drive(Node &node, std::int64_t now) {
    WatchConnection &connection = node.connection;
    if (node.is_unanswered && now - std::max(node.question_ns, resumed_ns_) > times_.quiet_ns)
        note_quiet(node.first);
    if (node.slow.exists()) drive_slow(node, now);
    if (!connection.exists()) {
        if (now >= node.next_ns) connect_to(node, now);
        return;
    }
    if (!connection.is_open()) {
        const int error = connection.connected();
        if (error == EINPROGRESS && now - node.since_ns > answer_limit(node))
            return end_connection(node, ETIMEDOUT, now);
        if (error == EINPROGRESS) return;
        if (error != 0) return end_connection(node, error, now);
        send_known(connection);
        node.waits = false;
        node.next_ns = node.is_unanswered ? now : node.next_ns;
    }
    if (!receive(node, connection, now)) return end_connection(node, 0, now);
    if (!node.is_unanswered) node.slow.close();
    if (node.waits && now - node.since_ns > answer_limit(node))
        return end_connection(node, ETIMEDOUT, now);
    if (!ask_who_polls(node, now)) return end_connection(node, 0, now);
    const std::int64_t next_ns = node.waits ? node.again_ns : node.next_ns;
    if (now >= next_ns && !withholds(node.first, now)) ask(node, now);
}

// Reads the older connection, which replaces the newer one if the answer arrives on it.
void NodeWatch::drive_slow(Node &node, std::int64_t now) {
    const bool is_there = receive(node, node.slow, now);
    if (is_there && !node.is_unanswered) node.connection.take_over(node.slow);
    if (!is_there) return node.slow.close();
    // The new connection is not open yet.
    if (node.is_unanswered && !node.waits && now >= node.again_ns) repeat(node, now);
}

// The next rank of the node, after the last one that was asked, that may answer; -1: none.
int NodeWatch::next_rank(const Node &node) const {
    int found = -1;
    for (int r = node.first; r < size_; ++r) {
        if (first_of(r) != node.first || !is_present(table_.places[r])) continue;
        if (host(r).port == 0) continue;
        if (r > node.connection.rank) return r;
        if (found < 0) found = r;
    }
    return found;
}

void NodeWatch::connect_to(Node &node, std::int64_t now) {
    RankConnection &next = node.connection;
    if (next.rank < 0) next.rank = next_rank(node);
    if (next.rank < 0) return;
    node.since_ns = now;
    const Host place = host(next.rank);
    const int error = next.connect(place.addresses[next.way], place.port);
    if (error != 0) end_connection(node, error, now);
}

// Whether all ranks of this node are in sennit_finalize. Then ranks of other nodes may have left,
// because all ranks may have arrived in the last barrier. A rank whose state this rank cannot read
// does not count.
bool NodeWatch::all_mates_leave() const {
    for (int r = 0; r < size_; ++r)
        if (is_mate(r) && is_staying(*rank_, r) && peer_gone(*rank_, r) == Gone::no) return false;
    return true;
}

// Ends the connection and chooses the next one:
// - `error` 0: the other side has closed the connection and may have died. The next connection is
//   to the same rank, to find out.
// - ECONNREFUSED: the rank has died, or has left and its messages did not arrive.
// - Another error: the rail may be broken, or the rank may be stopped. The next connection is by
//   the rank's next rail, and after the last rail to another rank of its node.
void NodeWatch::end_connection(Node &node, int error, std::int64_t now) {
    RankConnection &ended = node.connection;
    if (node.waits && error == ETIMEDOUT && !node.slow.exists()) node.slow.take_over(ended);
    ended.close();
    node.waits = false;
    node.next_ns = now + kRetry_ns;
    const bool leaves = !is_present(table_.places[ended.rank]);
    if (error == ECONNREFUSED && !leaves)
        note_gone_elsewhere(ended.rank, all_mates_leave() ? Gone::left : Gone::died);
    if (error == 0 && !leaves) return;
    const bool has_owner = error != ECONNREFUSED && !leaves;
    ended.way = has_owner ? (ended.way + 1) % host(ended.rank).count : 0;
    if (ended.way != 0) return;
    const int next = next_rank(node);
    if (next <= ended.rank) ++node.rounds;
    ended.rank = next;
}

// False: the connection has ended.
bool NodeWatch::receive(Node &node, WatchConnection &from, std::int64_t now) {
    Note message;
    for (;;) {
        const WatchConnection::Read read = from.read(&message);
        if (read != WatchConnection::Read::whole) return read == WatchConnection::Read::none;
        if (!is_well_formed(message) || first_of(message.from) != node.first) return false;
        if (message.kind == NoteKind::answer)
            take_answer(node, message, now);
        else if (!take(message, from, now))
            return false;
    }
}

void NodeWatch::ask(Node &node, std::int64_t now) {
    if (!node.is_unanswered) node.question_ns = now;
    node.is_unanswered = true;
    if (!node.waits) node.since_ns = now;
    node.waits = true;
    repeat(node, now);
}

// Sends the question, perhaps again: later packets let TCP detect that a packet was dropped.
// Otherwise it does so by a timer, which is long if the queue is long.
void NodeWatch::repeat(Node &node, std::int64_t now) {
    node.again_ns = now + times_.pause_ns;
    Note question = make(NoteKind::question, rank_->world_rank);
    question.time_ns = node.question_ns;
    // A question contains the length of the lease only after the lease has begun. The other node
    // computes the end from this length. relaxed: only this thread stores the beginning.
    const bool has_begun =
        table_.places[node.first].lease_end_ns.load(std::memory_order_relaxed) != 0;
    if (has_begun) question.value = times_.lease_ns;
    if (node.slow.exists() && !node.slow.send(question)) node.slow.close();
    if (node.waits && !node.connection.send(question)) end_connection(node, 0, now);
}

// Stores the time of the answer before it sends the answer. So this node knows when it may report
// the other node as lost before the other node accepts data because of the answer.
bool NodeWatch::answer(const Note &question, WatchConnection &to, std::int64_t now) {
    const int first = first_of(question.from);
    TablePlace &place = table_.places[first];
    // relaxed: the exchange below compares it again.
    std::int64_t answered = place.answered_ns.load(std::memory_order_relaxed);
    // relaxed: a final value stays.
    if (answered == kEnded || place.lease_end_ns.load(std::memory_order_relaxed) == kEnded)
        return false;
    // A node that asks this one watches it; then this node watches that one too.
    (void)watch_node(first);
    // relaxed: a time later than that of the latest question only delays the report.
    if (question.value > 0 &&
        question.time_ns > place.question_ns.load(std::memory_order_relaxed)) {
        // relaxed twice: the release below orders them.
        place.question_ns.store(question.time_ns, std::memory_order_relaxed);
        place.their_lease_ns.store(question.value, std::memory_order_relaxed);
        // SYNC watch-answered: pairs with the acquire in end_if_silent(); the lease comes before.
        while (!place.answered_ns.compare_exchange_weak(answered, now, std::memory_order_release,
                                                        std::memory_order_relaxed))
            if (answered == kEnded) return false;
    }
    Note reply = make(NoteKind::answer, rank_->world_rank);
    reply.time_ns = question.time_ns;
    return to.send(reply);
}

void NodeWatch::take_answer(Node &node, const Note &answer, std::int64_t now) {
    if (!node.is_unanswered || answer.time_ns != node.question_ns) return;
    std::atomic<std::int64_t> &lease = table_.places[node.first].lease_end_ns;
    const std::int64_t end = node.question_ns + times_.lease_ns;
    // SYNC watch-lease: pairs with the acq_rel in settle(); an ended lease is not extended.
    std::int64_t seen = lease.load(std::memory_order_acquire);
    bool begins_again = false;
    while (seen != kEnded && seen < end && now < end) {
        // relaxed: the word's value decides.
        if (!lease.compare_exchange_weak(seen, end, std::memory_order_relaxed)) continue;
        begins_again = is_pause(seen) || (seen > 0 && seen <= now);
        break;
    }
    note_first_end();
    // SYNC watch-news: pairs with the acquire in has_news(); the word above comes before.
    if (begins_again) table_.head->changes.fetch_add(1, std::memory_order_release);
    if (now - node.question_ns <= times_.answer_ns) node.rounds = 0;
    node.is_unanswered = node.waits = false;
    node.next_ns = seen <= 0 ? now : now + times_.pause_ns;
}

}  // namespace sennit::watch
