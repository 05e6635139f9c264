// SPDX-License-Identifier: BSD-3-Clause
// Start and end of the watch, and the rank's queries.
#include "runtime/watch/watch.hpp"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/own_thread.hpp"
#include "runtime/watch/watcher.hpp"

namespace sennit::watch {
namespace {

constexpr std::int64_t kShortest_ns = 1'000'000'000;
// If ranks share processors, a watcher may get no processor for 0.33 s. With a timeout of 1 s it
// would answer too late after 0.125 s, and lose its role after 0.25 s.
constexpr std::int64_t kShortestCrowded_ns = 3'000'000'000;
// Up to this many nodes, all watch each other. With more nodes, each watches those at the distances
// 1, 2, 4 and so on.
constexpr std::size_t kAllWatched = 16;
// Each rank renews looked_ns and unheard_ns every 0.25 s (kOutageCheckNs), perhaps late. The
// watcher asks other nodes for looked_ns every 1/16 of the timeout.
constexpr std::int64_t kFresh_ns = 600'000'000;
// How many connections from other nodes are accepted in addition to two per node.
constexpr std::size_t kMoreGuests = 224;

sennit_status no_memory() {
    return fail(SENNIT_ERR_NOMEM, "no memory for the watch of other nodes");
}

}  // namespace

NodeWatch::~NodeWatch() {
    if (listener_ >= 0) (void)close(listener_);
    if (wake_ >= 0) (void)close(wake_);
    delete[] nodes_;
    delete[] guests_;
}

sennit_status NodeWatch::open(std::uint16_t *port) {
    size_ = world_size(*rank_);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    socklen_t bytes = sizeof name;
    auto *any = reinterpret_cast<sockaddr *>(&name);
    if (listener_ < 0 || wake_ < 0 || bind(listener_, any, sizeof name) != 0 ||
        listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, any, &bytes) != 0)
        return fail_os(SENNIT_ERR_OS, errno, "a port for the watch of other nodes");
    *port = name.sin_port;
    return SENNIT_OK;
}

void NodeWatch::set_hosts(HostOf host_of, const void *context) {
    host_of_ = host_of;
    network_ = context;
}

sennit_status NodeWatch::make_nodes() {
    const int own = first_of(rank_->world_rank);
    std::size_t mates = 0;
    for (int r = 0; r < size_; ++r) {
        if (first_of(r) == own)
            ++mates;
        else if (first_of(r) == r)
            ++node_count_;
    }
    nodes_ = new (std::nothrow) Node[node_count_];
    guest_count_ = 2 * node_count_ + kMoreGuests;
    guests_ = new (std::nothrow) Guest[guest_count_];
    // The listener, the eventfd, the ranks of this node, the other nodes twice, and the guests.
    polls_ = Array<pollfd>(2 + mates + 2 * node_count_ + guest_count_);
    if (nodes_ == nullptr || guests_ == nullptr || polls_ == nullptr) return no_memory();
    std::size_t next = 0;
    for (int r = 0; r < size_; ++r)
        if (first_of(r) == r && r != own) nodes_[next++].first = r;
    for (std::size_t i = 0; i < node_count_; ++i)
        for (int r = nodes_[i].first; r < size_; ++r)
            if (first_of(r) == nodes_[i].first)
                nodes_[i].is_reached |= rank_->peers[r].path != SENNIT_PATH_NONE;
    return SENNIT_OK;
}

void NodeWatch::watch_neighbours() {
    const std::size_t all = node_count_ + 1;
    const int own = first_of(rank_->world_rank);
    std::size_t here = 0;
    while (here < node_count_ && nodes_[here].first < own)
        ++here;
    for (std::size_t i = 0; i < node_count_; ++i) {
        const std::size_t place = i < here ? i : i + 1;
        if (are_neighbours(here, place, all)) (void)watch_node(nodes_[i].first);
    }
}

// Watches the node permanently from now on. False: it was already watched.
bool NodeWatch::watch_node(int first) const {
    std::int64_t never = 0;
    // relaxed: the word stands alone.
    return table_.places[first].watched_since_ns.compare_exchange_strong(never, boot_ns(),
                                                                         std::memory_order_relaxed);
}

// Wakes the watcher, which may be another rank of the node, by a connection to its port. No message
// is sent on it.
void NodeWatch::wake_watcher() const {
    // relaxed: a new watcher soon checks the nodes anyway.
    const int watcher = static_cast<int>(table_.head->watcher.load(std::memory_order_relaxed)) - 1;
    WatchConnection connection;
    if (watcher < 0) return;
    const Host place = host(watcher);
    (void)connection.connect(place.addresses[0], place.port);
}

void NodeWatch::set_times(bool crowded) {
    const std::int64_t wanted = runtime::knobs().peer_timeout;
    const std::int64_t timeout = std::max(wanted, crowded ? kShortestCrowded_ns : kShortest_ns);
    if (timeout != wanted)
        log(SENNIT_LOG_WARNING, "SENNIT_PEER_TIMEOUT is raised to %lld s%s",
            static_cast<long long>(timeout / 1'000'000'000),
            crowded ? ", because ranks share processors" : "");
    const std::int64_t part = timeout / 16;
    times_ = {timeout,  part,     13 * part, 2 * part,
              2 * part, 3 * part, 11 * part, std::max(3 * part, kFresh_ns),
              8 * part};
}

sennit_status NodeWatch::start(bool crowded) {
    if (host_of_ == nullptr) return SENNIT_OK;
    const sennit_status status = make_nodes();
    if (status != SENNIT_OK) return status;
    set_times(crowded);
    // If load and store do not reach the node's lowest rank, this rank watches for itself.
    ControlBlock *shared = control_of(*rank_, first_of(rank_->world_rank));
    table_ = table_in(shared != nullptr ? *shared : *rank_->control, size_);
    watch_neighbours();
    const int code = create_own_thread(&thread_, thread_main, this);
    if (code != 0) return fail_os(SENNIT_ERR_OS, code, "the thread that watches other nodes");
    has_thread_ = true;
    // SYNC watch-table: pairs with the acquire in each query below; the table and the times come
    // before.
    is_running_.store(true, std::memory_order_release);
    return SENNIT_OK;
}

void NodeWatch::stop() {
    // relaxed: the callers of the queries have ended, or are this thread.
    is_running_.store(false, std::memory_order_relaxed);
    if (!has_thread_) return;
    // relaxed: the eventfd orders it.
    stop_.store(true, std::memory_order_relaxed);
    const std::uint64_t one = 1;
    (void)!write(wake_, &one, sizeof one);
    (void)pthread_join(thread_, nullptr);
    has_thread_ = false;
    (void)close(std::exchange(listener_, -1));
}

// Called in a forked child. A port stays open as long as any process has it. If the child kept the
// port of a dead parent, connections to it would not be refused: other nodes would detect the death
// only by a report from the parent's node, or by the lease.
void NodeWatch::forked() {
    if (listener_ >= 0) (void)close(std::exchange(listener_, -1));
    for (std::size_t i = 0; i < guest_count_ && guests_ != nullptr; ++i)
        guests_[i].connection.close();
    for (std::size_t i = 0; i < node_count_ && nodes_ != nullptr; ++i)
        nodes_[i].close();
}

bool NodeWatch::has_lease(int peer) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire) || rank_->peers[peer].same_node) return true;
    // relaxed: the value alone says that the peer's lease has begun, and data is sent only after
    // this load.
    if (place_of_node(peer).answered_ns.load(std::memory_order_relaxed) != 0) return true;
    if (watch_node(first_of(peer))) wake_watcher();
    return false;
}

Gone NodeWatch::gone(int peer) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return Gone::no;
    // relaxed: the word stands alone.
    return static_cast<Gone>(table_.places[peer].gone.load(std::memory_order_relaxed));
}

std::uint32_t NodeWatch::ended() const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return 0;
    // SYNC watch-ended: pairs with the releases in note_gone_elsewhere() and end_if_silent(); the
    // words that gone() reads are stored before these releases.
    return table_.head->ended.load(std::memory_order_acquire);
}

bool NodeWatch::has_news(std::int64_t now, std::uint32_t *seen) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return false;
    // relaxed: an old time only delays settle(), which the watcher calls too.
    const std::int64_t end = table_.head->first_end_ns.load(std::memory_order_relaxed);
    if (end != 0 && now >= end) settle(now);
    // SYNC watch-news: pairs with the releases in note_gone_elsewhere() and lease.cpp; the changed
    // words are stored before these releases.
    const std::uint32_t changes = table_.head->changes.load(std::memory_order_acquire);
    if (changes == *seen) return false;
    *seen = changes;
    return true;
}

bool NodeWatch::refuses(int peer) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return false;
    // relaxed: the word stands alone.
    const std::int64_t end = place_of_node(peer).lease_end_ns.load(std::memory_order_relaxed);
    // A lease may be over before settle() has stored its end.
    return end < 0 || (end > 0 && boot_ns() >= end);
}

bool NodeWatch::is_silent(int peer) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return false;
    // relaxed: the word stands alone.
    return place_of_node(peer).answered_ns.load(std::memory_order_relaxed) == kEnded;
}

void NodeWatch::note_look() const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return;
    // relaxed: the word stands alone.
    table_.places[rank_->world_rank].looked_ns.store(boot_ns(), std::memory_order_relaxed);
}

void NodeWatch::note_hearing(int peer, Hearing hearing) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return;
    const std::int64_t now = hearing == Hearing::heard ? 0 : boot_ns();
    std::atomic<std::int64_t> &word = table_.places[peer].unheard_ns;
    // All relaxed: the word stands alone.
    std::int64_t before = word.load(std::memory_order_relaxed);
    if (hearing != Hearing::missing) {
        word.store(hearing == Hearing::mute ? -now : now, std::memory_order_relaxed);
    } else if (before >= 0 || now + before >= times_.fresh_ns) {  // a recent `mute` stays
        (void)word.compare_exchange_strong(before, now, std::memory_order_relaxed);
    }
}

bool NodeWatch::looks(int peer) const {
    // SYNC watch-table: pairs with the release in start().
    if (!is_running_.load(std::memory_order_acquire)) return false;
    // relaxed: the word stands alone.
    const std::int64_t looked = table_.places[peer].looked_ns.load(std::memory_order_relaxed);
    return looked != 0 && boot_ns() - looked < times_.fresh_ns;
}

bool NodeWatch::is_unheard(int peer) const {
    if (!is_silent(peer)) return false;
    for (int r = first_of(peer); r < size_; ++r)
        // relaxed: only the text of an error depends on the words.
        if (first_of(r) == first_of(peer) &&
            table_.places[r].unheard_ns.load(std::memory_order_relaxed) < 0)
            return true;
    return false;
}

// The nodes form a ring, in the order of their lowest ranks. The relation is symmetric.
bool are_neighbours(std::size_t one, std::size_t other, std::size_t count) {
    const std::size_t ahead = (other + count - one) % count;
    const std::size_t behind = count - ahead;
    return count <= kAllWatched || (ahead & (ahead - 1)) == 0 || (behind & (behind - 1)) == 0;
}

sennit_status watch_open(Rank &rank, std::uint16_t *port) {
    auto *made = new (std::nothrow) NodeWatch(rank);
    if (made == nullptr) return no_memory();
    rank.watch = made;
    rank.close_in_child = [](Rank &forked) { forked.watch->forked(); };
    return made->open(port);
}

void watch_set_hosts(Rank &rank, HostOf host_of, const void *context) {
    rank.watch->set_hosts(host_of, context);
}

sennit_status watch_start(Rank &rank, bool crowded) {
    return rank.watch != nullptr ? rank.watch->start(crowded) : SENNIT_OK;
}

void watch_stop(Rank &rank) {
    if (rank.watch != nullptr) rank.watch->stop();
}

void watch_free(Rank &rank) {
    rank.close_in_child = nullptr;
    delete rank.watch.get();
    rank.watch = nullptr;
}

bool watch_has_lease(const Rank &rank, int peer) {
    return rank.watch == nullptr || rank.watch->has_lease(peer);
}

Gone watch_gone(const Rank &rank, int peer) {
    return rank.watch != nullptr ? rank.watch->gone(peer) : Gone::no;
}

std::uint32_t watch_ended(const Rank &rank) {
    return rank.watch != nullptr ? rank.watch->ended() : 0;
}

bool watch_has_news(const Rank &rank, std::int64_t now, std::uint32_t *seen) {
    return rank.watch != nullptr && rank.watch->has_news(now, seen);
}

bool watch_refuses(const Rank &rank, int peer) {
    return rank.watch != nullptr && rank.watch->refuses(peer);
}

bool watch_silent(const Rank &rank, int peer) {
    return rank.watch != nullptr && rank.watch->is_silent(peer);
}

void watch_note_look(const Rank &rank) {
    if (rank.watch != nullptr) rank.watch->note_look();
}

void watch_note_hearing(const Rank &rank, int peer, Hearing hearing) {
    if (rank.watch != nullptr) rank.watch->note_hearing(peer, hearing);
}

bool watch_looks(const Rank &rank, int peer) {
    return rank.watch != nullptr && rank.watch->looks(peer);
}

bool watch_unheard(const Rank &rank, int peer) {
    return rank.watch != nullptr && rank.watch->is_unheard(peer);
}

}  // namespace sennit::watch
