// Puts and gets, what their completions mean, and what is done about those that fail.
//
// One stale key makes the provider drop a connection with everything on it, so an error says little
// about the operation that has it. A transfer that failed waits for a probe, a read of the record
// of its segment at the owner: the segment is gone (NOT_REGISTERED), or the transfer is repeated,
// or the owner can not be reached any more (PEER_LOST).
#include <cstring>

#include "base/fail.hpp"
#include "runtime/detector.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr int kMostAttempts = 8;
constexpr std::size_t kMostPolled = 64;
constexpr std::int64_t kLookNs = 1'000'000;  // at what is overdue
constexpr std::int64_t kProbePauseNs = 10'000'000;
constexpr std::int64_t kLostNs = 1'000'000'000;     // of probes that fail
constexpr std::int64_t kSilentNs = 10'000'000'000;  // of a provider that takes nothing

}  // namespace

Posted *Network::take_posted() {
    Posted *posted = free_posts_;
    if (posted != nullptr) free_posts_ = posted->next;
    return posted;
}

void Network::give_back(Posted *posted) {
    posted->kind = Posted::Kind::unused;
    posted->operation = nullptr;
    posted->next = free_posts_;
    free_posts_ = posted;
}

Submit Network::submit(Operation *operation) {
    if (operation->kind == Operation::Kind::put_event) {
        (void)fail_peer(SENNIT_ERR_UNSUPPORTED, operation->peer, traits().name,
                        "the path fabric carries no completion data");
        return Submit::failed;
    }
    const MutexLock guard(lock_);
    if (link(operation->peer) != SENNIT_OK) return Submit::failed;
    if (operation->kind == Operation::Kind::execute) return start_task(operation);
    Posted *posted = take_posted();
    if (posted == nullptr) return Submit::again;
    posted->kind = Posted::Kind::transfer;
    posted->operation = operation;
    posted->peer = operation->peer;
    posted->attempts = 0;
    posted->verdict = SENNIT_OK;
    const Submit answer = start_transfer(posted);
    if (answer != Submit::accepted) give_back(posted);
    return answer;
}

// Gives the transfer to the provider. `again`: it did not take it.
Submit Network::start_transfer(Posted *posted) {
    const Operation &operation = *posted->operation;
    PeerLink &peer = links_[posted->peer];
    const Rail::Transfer transfer{peer.address,    operation.remote.handle, operation.offset,
                                  operation.local, operation.bytes,         &posted->context};
    posted->error = 0;
    const ssize_t code =
        operation.kind == Operation::Kind::put ? rail_.put(transfer) : rail_.get(transfer);
    if (code == 0) {
        peer.again_since_ns = 0;
        return Submit::accepted;
    }
    if (code == -FI_EAGAIN) {
        const std::int64_t now = now_ns();
        if (peer.again_since_ns == 0) peer.again_since_ns = now;
        if (now - peer.again_since_ns > kSilentNs) suspect(posted->peer, peer.again_since_ns);
        return Submit::again;
    }
    posted->error = static_cast<int>(-code);
    done_.append(posted);
    return Submit::accepted;
}

void Network::poll_rail() {
    Event events[16];
    for (std::size_t seen = 0; seen < kMostPolled;) {
        const std::size_t count = rail_.poll(events, sizeof events / sizeof events[0]);
        if (count == 0) break;
        seen += count;
        for (std::size_t i = 0; i < count; ++i) {
            // The context is the first member of what was posted.
            auto *posted = static_cast<Posted *>(events[i].context);
            if (posted == nullptr) continue;
            posted->error = events[i].error;
            posted->bytes = events[i].bytes;
            if (posted->kind == Posted::Kind::receive) --receives_posted_;
            if (posted->kind != Posted::Kind::send) {
                done_.append(posted);
                continue;
            }
            // A task whose message is lost is sent again; of the others nothing hangs on it.
            if (posted->error != 0) suspect(posted->peer, now_ns());
            give_back(static_cast<Message *>(posted));
        }
    }
    post_receives();
    while (Posted *first = outbox_.take()) {
        if (send(static_cast<Message *>(first))) continue;
        outbox_.put_first(first);
        break;
    }
}

int Network::progress() {
    PostedList done;
    {
        const MutexLock guard(lock_);
        // relaxed twice: a count that only has to move; the engine was there before, see
        // run_thread().
        polls_.fetch_add(1, std::memory_order_relaxed);
        // SYNC fabric-engine: pairs with the acquire in run_thread(); the hook that leads to the
        // engine comes before.
        has_engine_.store(true, std::memory_order_release);
        if (!rail_.is_open()) return 0;
        poll_rail();
        look_at_what_is_overdue();
        done = done_.take_all();
    }
    int completed = 0;
    while (Posted *posted = done.take())
        completed += work_off(posted);
    if (some_are_lost_) completed += end_tasks_of_the_lost();
    return completed;
}

// Without the lock: what is called here may submit again. Returns how many operations are over.
int Network::work_off(Posted *posted) {
    if (posted->kind == Posted::Kind::transfer) return finish_transfer(posted);
    if (posted->kind == Posted::Kind::probe) {
        finish_probe(posted);
        return 0;
    }
    auto *message = static_cast<Message *>(posted);
    const int completed = message->error == 0 ? take_in(*message) : 0;
    const MutexLock guard(lock_);
    give_back(message);
    return completed;
}

int Network::finish_transfer(Posted *posted) {
    Operation *operation = posted->operation;
    sennit_status status = posted->verdict;
    {
        const MutexLock guard(lock_);
        if (posted->error != 0 && status == SENNIT_OK) {
            if (++posted->attempts < kMostAttempts) {
                suspect(posted->peer, now_ns());
                links_[posted->peer].failed.append(posted);
                return 0;
            }
            status = SENNIT_ERR_FABRIC;
        }
        give_back(posted);
    }
    operation->completed(operation, status);
    return 1;
}

// The peer may be out of reach: probes will tell.
void Network::suspect(int peer, std::int64_t since_ns) {
    PeerLink &link = links_[peer];
    if (link.failing_since_ns != 0) return;
    link.failing_since_ns = since_ns;
    link.next_probe_ns = 0;
    ++failing_peers_;
}

void Network::look_at_what_is_overdue() {
    const std::int64_t now = now_ns();
    if (now - looked_ns_ < kLookNs) return;
    looked_ns_ = now;
    if (open_tasks_ != 0) resend_tasks(now);
    if (failing_peers_ == 0 || probed_peer_ >= 0) return;
    const int size = world_size(*rank_);
    for (int peer = 0; peer < size && probed_peer_ < 0; ++peer) {
        PeerLink &link = links_[peer];
        if (link.failing_since_ns == 0 || now < link.next_probe_ns) continue;
        probe(peer, now);
    }
}

// Reads the record of the segment that the first failed transfer names, or the header.
void Network::probe(int peer, std::int64_t now) {
    PeerLink &link = links_[peer];
    link.next_probe_ns = now + kProbePauseNs;
    if (link.failing_since_ns != 0 && now - link.failing_since_ns > kLostNs) return give_up(peer);
    Posted *posted = take_posted();
    if (posted == nullptr) return;
    std::uint64_t offset = 0;
    if (!link.failed.empty()) {
        const std::uint64_t key = link.failed.first->operation->remote.handle;
        if (key != kControlKey)
            offset = offsetof(ControlBlock, records) + sizeof(SegmentRecord) * (key >> 32);
    }
    posted->kind = Posted::Kind::probe;
    posted->peer = peer;
    const ssize_t code =
        rail_.get({link.address, kControlKey, offset, probed_, sizeof probed_, &posted->context});
    if (code != 0) {
        link.probe_error = static_cast<int>(-code);
        return give_back(posted);
    }
    probed_peer_ = peer;
}

void Network::finish_probe(Posted *posted) {
    const MutexLock guard(lock_);
    const int peer = posted->peer;
    PeerLink &link = links_[peer];
    link.probe_error = posted->error;
    link.probed = link.probe_error == 0;
    give_back(posted);
    probed_peer_ = -1;
    if (!link.probed || link.failing_since_ns == 0) return;
    if (Posted *first = link.failed.take()) {
        const std::uint64_t key = first->operation->remote.handle;
        SegmentRecord record;
        std::memcpy(static_cast<void *>(&record), probed_, sizeof record);
        // relaxed: a private copy.
        const std::uint32_t live = record.live.load(std::memory_order_relaxed);
        if (key != kControlKey && live != static_cast<std::uint32_t>(key)) {
            first->verdict = SENNIT_ERR_NOT_REGISTERED;
            done_.append(first);
        } else if (start_transfer(first) == Submit::again) {
            link.failed.put_first(first);
        }
    }
    link.next_probe_ns = 0;
    link.failing_since_ns = now_ns();
    if (!link.failed.empty()) return;
    link.failing_since_ns = 0;
    --failing_peers_;
}

// The peer is out of reach for good.
void Network::give_up(int peer) {
    PeerLink &link = links_[peer];
    note_gone(*rank_, peer, link.said_goodbye ? Gone::left : Gone::died);
    while (Posted *posted = link.failed.take()) {
        posted->verdict = SENNIT_ERR_PEER_LOST;
        done_.append(posted);
    }
    link.failing_since_ns = 0;
    --failing_peers_;
    some_are_lost_ = true;
}

}  // namespace sennit::transport::fabric
