// SPDX-License-Identifier: BSD-3-Clause
// Starts puts and gets, and polls for their completions. fence.cpp handles failed ones.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::size_t kMostPolled = 64;
// If the provider refuses transfers for this long, the peer is asked: its endpoint may be closed,
// or the peer dead.
constexpr std::int64_t kStalledNs = 10'000'000;
// The largest pause between such questions. The connection is stuck if an answer comes by this rail
// and the refusals have lasted longer than RailLink::patience_ns.
constexpr std::int64_t kMostPauseNs = 300'000'000;
// The pause between transfers that try a rail which carries no data.
constexpr std::int64_t kTryNs = 1'000'000'000;
// RailLink::patience_ns after a transfer was first refused and then accepted.
constexpr std::int64_t kStuckNs = 300'000'000;

}  // namespace

void Network::put_on_rail(Posted *posted, unsigned rail) {
    posted->rail = static_cast<std::uint8_t>(rail);
    ++rails_[rail].transfers;
    ++link_of(posted->peer, rail).posted;
}

void Network::take_off_rail(const Posted &posted) {
    --rails_[posted.rail].transfers;
    --link_of(posted.peer, posted.rail).posted;
}

// Returns null if the rail's endpoint is full.
Posted *Network::take_posted(Operation *operation) {
    Posted *posted = free_posts_;
    const RailState &state = rails_[operation->rail];
    if (posted == nullptr || state.transfers >= state.rail.depth()) return nullptr;
    free_posts_ = posted->next;
    posted->kind = Posted::Kind::transfer;
    posted->operation = operation;
    posted->peer = operation->peer;
    posted->failures = posted->attempts = 0;
    posted->is_alone = posted->was_in_flight = false;
    posted->verdict = SENNIT_OK;
    put_on_rail(posted, operation->rail);
    return posted;
}

void Network::give_back(Posted *posted) {
    if (posted->kind == Posted::Kind::transfer) take_off_rail(*posted);
    end_lent(posted);
    posted->kind = Posted::Kind::unused;
    posted->operation = nullptr;
    posted->next = free_posts_;
    free_posts_ = posted;
}

Submit Network::submit(Operation *operation) {
    const MutexLock guard(lock_);
    const bool is_event = operation->kind == Operation::Kind::put_event;
    const bool is_trial = operation->remote.handle == kTrialHandle;
    if (is_event && !is_trial && event_bits_to(operation->peer) == 0)
        return refuse_event(operation->peer);
    // Call use() first: changes of the peer's lease are read only for peers with a link.
    const PeerLink &there = use(operation->peer);
    if (link(operation->peer, operation->rail) != SENNIT_OK) return Submit::failed;
    if (!watch::watch_has_lease(*rank_, operation->peer)) return retry_later(nullptr);
    RailLink &peer = link_of(operation->peer, operation->rail);
    if (!there.is_reached) return contact(operation->peer, operation->rail);
    // After the engine chose the rail, the progress thread may have left the rail out, or found
    // that the peer is lost. An operation posted on the rail now would never end.
    if (peer.is_left_out || there.is_lost) return retry_later(nullptr);
    if (operation->kind == Operation::Kind::execute) return start_task(operation);
    if (carries_nothing(peer)) {
        const std::int64_t now = boot_ns();
        if (peer.posted != 0 || now - peer.tried_ns < kTryNs) {
            (void)fail(SENNIT_ERR_FABRIC, "rail %u carries no data", unsigned{operation->rail});
            return Submit::failed;
        }
        peer.tried_ns = now;
    }
    if (peer.number == 0) ask(peer);
    if (peer.number == 0 || peer.in_doubt || peer.alone != nullptr || !peer.to_repeat.empty())
        return retry_later(&peer);
    const RailState &state = rails_[operation->rail];
    if (!has_share(peer.posted, state.transfers, state.rail.depth())) return Submit::again;
    Posted *posted = take_posted(operation);
    if (posted == nullptr) return Submit::again;
    if (start_transfer(posted) == Submit::accepted) {
        send_held_after_transfer(operation->peer);
        return Submit::accepted;
    }
    give_back(posted);
    return retry_later(&peer);
}

Submit Network::refuse_event(int peer) const {
    (void)fail_peer(SENNIT_ERR_UNSUPPORTED, peer, traits_.name,
                    "completion data does not reach rank %d", peer);
    return Submit::failed;
}

// Whether the transfer is a put with an event that may have arrived. Such a put is not repeated
// after a failure, since the event could then arrive twice.
bool Network::is_lost_event(const Posted &posted) {
    return posted.was_in_flight && posted.operation->kind == Operation::Kind::put_event;
}

// Returns `again`. The progress thread then makes the engine retry, since there may be no
// completion that does. Checks for overdue operations include `link`, even if no transfer is posted
// on it.
Submit Network::retry_later(RailLink *link) {
    some_wait_ = true;
    if (link != nullptr) {
        link->has_waiting_transfer = true;
        request_service(*link);
    }
    return Submit::again;
}

// Posts the transfer. `again`: the provider refused it for now.
Submit Network::start_transfer(Posted *posted) {
    const Operation &operation = *posted->operation;
    RailLink &peer = link_of(posted->peer, posted->rail);
    Rail &rail = rails_[posted->rail].rail;
    RemoteKey key{0, key_of(operation.remote.handle, peer.tag)};
    const KeyTable::State known = find_key(*posted, &key);
    if (known == KeyTable::State::asked) return Submit::again;
    if (known == KeyTable::State::gone) return end_unstarted(posted, SENNIT_ERR_NOT_REGISTERED);
    Rail::Transfer transfer{peer.passive,    key.key,          key.base + operation.offset,
                            operation.local, operation.bytes,  &posted->context,
                            nullptr,         operation.is_hint};
    transfer.has_data = operation.kind == Operation::Kind::put_event;
    transfer.data = low_data(operation.event.low, traits_.event_bits);
    posted->error = 0;
    posted->number = peer.number;
    posted->to = peer.passive;
    // Open the endpoint first: registrations are bound to it.
    if (!rail.make_ready(Rail::Use::transfer)) return Submit::again;
    ssize_t code = lend_to(posted, &transfer);
    if (code == -FI_EAGAIN) return Submit::again;
    if (code != 0) {
        log(SENNIT_LOG_WARNING, "the path fabric cannot register %zu bytes for a transfer: %s",
            operation.bytes, interfaces_.library().strerror(static_cast<int>(-code)));
        return end_unstarted(posted, SENNIT_ERR_FABRIC);
    }
    code = operation.kind == Operation::Kind::get ? rail.get(transfer) : rail.put(transfer);
    if (code != 0) end_lent(posted);
    // There is no descriptor for the connection, and nothing was sent. describe_trouble() reports
    // the reason.
    if (code == -FI_EMFILE) return end_unstarted(posted, SENNIT_ERR_FABRIC);
    if (code != 0 && code != -FI_EAGAIN && transfer.is_injected) {
        rail.disable_inject();
        return Submit::again;
    }
    const bool is_trial = operation.remote.handle == kTrialHandle;
    const bool is_refused = code == -FI_ENOSYS || code == -FI_EOPNOTSUPP || code == -FI_EINVAL;
    if (is_refused && transfer.has_data && is_trial)
        return end_unstarted(posted, SENNIT_ERR_UNSUPPORTED);
    if (code == -FI_EAGAIN) {
        const std::int64_t now = boot_ns();
        peer.transfer_refusals.add(now);
        peer.failed_by = FI_EAGAIN;
        const std::int64_t length = peer.transfer_refusals.length(now);
        const std::int64_t asked = peer.transfer_refusals.asked_ns;
        if (length > kStalledNs && length >= asked + std::min(asked, kMostPauseNs)) {
            peer.transfer_refusals.asked_ns = length;
            ask(peer);
        }
        return Submit::again;
    }
    if (peer.transfer_refusals.since_ns != 0) peer.patience_ns = kStuckNs;
    peer.transfer_refusals.since_ns = 0;
    peer.has_waiting_transfer = false;
    posted->is_in_flight = code == 0;
    posted->was_in_flight = posted->was_in_flight || code == 0;
    posted->checks = 0;
    posted->completed = peer.completed;
    if (code == 0) return Submit::accepted;
    posted->error = static_cast<int>(-code);
    done_.append(posted);
    return Submit::accepted;
}

// Ends a transfer that was not posted.
Submit Network::end_unstarted(Posted *posted, sennit_status verdict) {
    posted->verdict = verdict;
    done_.append(posted);
    return Submit::accepted;
}

bool Network::awaits_completions() const {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if (rails_[rail].rail.is_busy()) return true;
    return false;
}

bool Network::awaits_data() const {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if (rails_[rail].rail.awaits_data()) return true;
    return false;
}

// Whether to read the rail in this poll. A rail that awaits a completion is read in every poll. The
// other rails take turns: one in each poll, or one in every fourth poll while some rail
// awaits a completion.
bool Network::is_read_now(unsigned rail, bool is_any_busy) const {
    constexpr unsigned kSeldom = 4;
    if (rails_[rail].rail.is_busy()) return true;
    if (!is_any_busy) return poll_number_ % rail_count_ == rail;
    return poll_number_ % (kSeldom * rail_count_) == kSeldom * rail;
}

// Reads completions of a rail and handles them. Returns their number.
std::size_t Network::handle_completions(unsigned rail, bool all) {
    Rail &own = rails_[rail].rail;
    constexpr std::size_t kBatch = 16;
    RailCompletion completions[kBatch];
    std::size_t seen = 0;
    for (std::size_t count = kBatch; seen < kMostPolled && count == kBatch; seen += count) {
        count = all ? own.poll_all(completions, kBatch) : own.poll(completions, kBatch);
        for (std::size_t i = 0; i < count; ++i)
            handle_completion(rail, completions[i]);
    }
    return seen;
}

void Network::handle_completion(unsigned rail, const RailCompletion &completion) {
    if (completion.has_data) note_data(rail, completion.data);
    Posted *const posted = mark_completed(completion);
    if (posted == nullptr) return;
    if (posted->kind == Posted::Kind::transfer && posted->error == 0)
        ++link_of(posted->peer, rail).completed;
    if (posted->kind == Posted::Kind::transfer)
        done_.append(posted);
    else
        finish(static_cast<Message *>(posted));
}

// Marks the operation as completed and returns it. Returns null if the completion has no operation,
// or is a duplicate.
Posted *Network::mark_completed(const RailCompletion &completion) {
    // The context is the first member of Posted.
    auto *const posted = static_cast<Posted *>(completion.context);
    if (posted == nullptr || !posted->is_in_flight) return nullptr;
    posted->error = completion.error;
    posted->bytes = completion.bytes;
    posted->is_in_flight = false;
    return posted;
}

void Network::finish(Message *message) {
    if (message->kind == Posted::Kind::send)
        finish_send(message);
    else
        finish_receive(message);
}

// Reads all events before tasks are executed: a task may refer to events that arrived earlier by
// any rail. Message numbers repeat, so an owner that missed an event could later take it for an
// event of another message. Done only after a task whose header says that there may be such events,
// or after read_events().
void Network::read_data_before_tasks() {
    // relaxed: the lock is held at the store too.
    const bool expects_events = expects_events_.load(std::memory_order_relaxed);
    if (!std::exchange(reads_data_first_, false) || !expects_events) return;
    constexpr std::size_t kBatch = 16;
    RailCompletion completions[kBatch];
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        for (bool is_empty = false; !is_empty;) {
            // 0 events does not mean that the queue is empty: read until *is_empty.
            const std::size_t count = rails_[rail].rail.poll_data(completions, kBatch, &is_empty);
            for (std::size_t i = 0; i < count; ++i)
                handle_completion(rail, completions[i]);
        }
}

// Returns the number of completions that were read.
std::size_t Network::poll_rails(bool all) {
    const std::int64_t now = poll_ns_ = boot_ns();
    if (watch::watch_has_news(*rank_, now, &news_seen_)) read_watch_news();
    std::size_t seen = 0;
    ++poll_number_;
    PostedList late = late_.take_all();
    while (Posted *posted = late.take())
        finish(static_cast<Message *>(posted));
    const bool is_any_busy = awaits_completions();
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if (all || rail_count_ == 1 || is_read_now(rail, is_any_busy))
            seen += handle_completions(rail, all);
    if (now - retry_check_ns_ >= kRetryCheckNs) {
        retry_check_ns_ = now;
        if (open_tasks_ != 0) resend_tasks(now);
        if (links_to_service_ != 0) service_links(now);
        if (some_must_close_) close_marked_passive();
        if (some_are_hidden_) expose_again();
        if (some_are_unsent_) check_stuck_messages(now);
        if (some_leave_) lose_departed_peers(now);
        if (some_want_windows_ && now >= windows_ns_) limit_windows(now);
        if (now - outage_check_ns_ >= kOutageCheckNs) {
            outage_check_ns_ = now;
            check_outages();
        }
    }
    if (held_peers_ != 0) send_due(now);
    // After a poll with completions, reposting may wait for the next poll.
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        post_receives(rail, seen != 0);
    PostedList held = outbox_.take_all();
    queued_messages_ = 0;
    while (Posted *first = held.take())
        send_or_queue(static_cast<Message *>(first));
    return seen;
}

int Network::progress() {
    PostedList done;
    Answered answered;
    bool has_lost = false;
    bool has_new = false;
    {
        const MutexLock guard(lock_);
        // relaxed twice: a count that only has to change, written only under the lock.
        polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        // SYNC fabric-engine: pairs with the acquire in serve_rank(); the engine's hook comes
        // before.
        has_engine_.store(true, std::memory_order_release);
        if (rail_count_ == 0) return 0;
        some_wait_ = false;
        poll_rails();
        if (!is_progress_thread()) called_ns_ = poll_ns_;
        read_data_before_tasks();
        if (!has_arrivals()) return 0;
        done = done_.take_all();
        has_lost = std::exchange(some_are_lost_, false);
        delivers_events_ = has_events();
        has_new = delivers_events_;
        if (has_new) delivered_.swap(events_);
        // Tasks may refer to events, so new events are delivered first, without the lock.
        if (!has_new) handle_leading_tasks_and_answers(&done, &answered);
    }
    if (has_new) deliver_events();
    int completed = complete(answered);
    while (Posted *posted = done.take())
        completed += process_completed(posted);
    // Operations to lost peers end after those whose answers have arrived.
    if (has_lost) completed += finish_postponed();
    if (has_lost) completed += end_tasks_of_the_lost();
    return completed;
}

// Called without the lock, because the called functions may submit again. Returns the number of
// completed operations.
int Network::process_completed(Posted *posted) {
    if (posted->kind == Posted::Kind::transfer) return finish_transfer(posted);
    auto *message = static_cast<Message *>(posted);
    if (may_bring_answers(message->header)) {
        Answered answered;
        {
            const MutexLock guard(lock_);
            handle_task_or_answer(message, &answered);
        }
        return complete(answered);
    }
    handle_hurry_or_goodbye(*message);
    const MutexLock guard(lock_);
    give_back(message);
    return 0;
}

int Network::finish_transfer(Posted *posted) {
    Operation *operation = posted->operation;
    sennit_status status = posted->verdict;
    {
        const MutexLock guard(lock_);
        if (operation->kind == Operation::Kind::put_event) ++links_[posted->peer].events_put;
        RailLink &link = link_of(posted->peer, posted->rail);
        const bool gone = known_gone(*rank_, posted->peer) != Gone::no;
        if (link.alone == posted) link.alone = nullptr;
        if (posted->error != 0 && status == SENNIT_OK && !gone) {
            if (posted->failures < UINT8_MAX) ++posted->failures;
            end_lent(posted);
            link.to_repeat.append(posted);
            request_service(link);
            // A transfer to an earlier endpoint is already fenced.
            if (posted->number == link.number) set_in_doubt(link);
            return 0;
        }
        if (posted->error != 0 && status == SENNIT_OK) status = SENNIT_ERR_PEER_LOST;
        if (status == SENNIT_OK) copy_out(*posted);
        give_back(posted);
    }
    operation->completed(operation, status);
    return 1;
}

}  // namespace sennit::transport::fabric
