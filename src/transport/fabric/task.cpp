// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives messages: tasks, answers, goodbyes and fence messages. A lost message is not
// reported, so a task is repeated until its answer is received. The task's number, from the engine,
// lets the owner detect a repetition. The message's id, from here, lets the sender detect a second
// answer.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "observe/observer.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::int64_t kFirstPauseNs = 100'000'000;  // before a task is repeated; doubles
constexpr std::int64_t kLastPauseNs = 2'000'000'000;
// After this rank reopened its outgoing endpoint, messages do not go back on old connections for
// this long.
constexpr std::int64_t kNotBackNs = 2'000'000'000;
// The pause kFirstStuckNs is not doubled from this value on.
constexpr std::int64_t kLastStuckNs = 5'000'000'000;

std::size_t length_of(const MessageHeader &header) {
    return sizeof header + header.body_bytes + header.answers * sizeof(LateAnswer);
}

// Whether the sender of the message waits for an answer.
bool is_waited_for(const MessageHeader &header) {
    if (header.kind == MessageKind::task) return header.task.may_wait == 0;
    return header.kind == MessageKind::hurry || header.kind == MessageKind::question;
}

}  // namespace

// Returns null if there is no memory.
Message *Network::take_message() {
    if (free_messages_ == nullptr && (no_more_messages_ || !make_messages())) return nullptr;
    Message *const message = free_messages_;
    free_messages_ = static_cast<Message *>(message->next);
    return message;
}

void Network::give_back(Message *message) {
    message->kind = Posted::Kind::unused;
    message->is_in_flight = false;
    if (message->is_room) return;
    message->next = free_messages_;
    free_messages_ = message;
}

// Lends the body of a message to the engine, for a payload of this length. Returns null if there is
// none, or if the payload is so short that a copy is cheaper. Half of all messages are reserved for
// arrivals and answers, which are needed to get rooms back.
std::byte *Network::take_room(std::size_t bytes) {
    constexpr std::size_t kLeastBytes = 4096;
    if (bytes < kLeastBytes || bytes > longest_payload_) return nullptr;
    const MutexLock guard(lock_);
    if (2 * rooms_in_use_ >= messages_made_) return nullptr;
    Message *const message = take_message();
    if (message == nullptr) return nullptr;
    message->is_room = true;
    ++rooms_in_use_;
    return message->body();
}

Message *Network::message_of(std::byte *room) const {
    Message &any = pools_->at(0);
    return std::launder(
        reinterpret_cast<Message *>(room - (any.body() - reinterpret_cast<std::byte *>(&any))));
}

// If the provider still uses the message, finish_send() gives it back later.
void Network::give_room_back(std::byte *room) {
    const MutexLock guard(lock_);
    Message *const message = message_of(room);
    message->is_room = false;
    --rooms_in_use_;
    if (message->kind == Posted::Kind::unused) give_back(message);
}

// Returns the message whose body is the payload, or another message if there is no such message or
// the provider still uses it. Returns null if there is no memory.
Message *Network::take_message_for(const Operation &operation) {
    if (operation.is_in_room) {
        Message *const message = message_of(static_cast<std::byte *>(operation.local));
        if (message->kind == Posted::Kind::unused) return message;
    }
    return take_message();
}

// Two ranks that send to each other use one connection, which the lower rank makes. The higher rank
// sends back on it, from its incoming to the other's outgoing endpoint. Fence messages must
// not depend on this connection, and nobody repeats a goodbye if it ends. So both use another one.
bool Network::uses_peers_connection(const Message &message, const RailLink &link) const {
    const MessageKind kind = message.header.kind;
    return link.back.is_open && kind != MessageKind::question && kind != MessageKind::endpoint &&
           kind != MessageKind::goodbye;
}

// Lets messages to the sender of this message go back on its connection, if the message permits it.
void Network::open_back(RailLink &link, const Message &message) {
    const int peer = message.header.from;
    const std::uint16_t port = message.header.back_port;
    Rail &rail = rails_[message.rail].rail;
    if (port == 0 || peer >= rank_->world_rank || !rail.is_two_way()) return;
    if (port != link.back.port) {
        link.back.is_open = false;
        link.back.not_before_ns = 0;
        // The old address is in use while messages to it are in progress.
        if (link.back.in_flight != 0) return;
        if (link.back.address != FI_ADDR_UNSPEC) rail.remove(&link.back.address);
        sockaddr_in name = messages_name(peer, message.rail);
        name.sin_port = port;
        link.back.port = rail.insert(&name, &link.back.address) == SENNIT_OK ? port : 0;
    }
    if (link.back.is_open || link.back.port == 0) return;
    link.back.is_open = link.back.not_before_ns == 0 || boot_ns() >= link.back.not_before_ns;
    link.longest = 0;
}

// Returns 0, or an error of libfabric.
ssize_t Network::post_back(Message *message, std::size_t length, RailLink *link) {
    message->header.back_port = 0;
    const ssize_t code = rails_[message->rail].rail.send(Rail::Use::receive, link->back.address,
                                                         iovec{&message->header, length}, nullptr,
                                                         &message->context);
    if (code == 0) ++link->back.in_flight;
    // The connection has ended; the peer must make the next one.
    if (code != 0) link->back.is_open = false;
    return code;
}

ssize_t Network::post_message(Message *message, std::size_t length, RailLink *link) {
    if (this->link(message->peer, message->rail) != SENNIT_OK) return -FI_EINVAL;
    Rail &rail = rails_[message->rail].rail;
    if (!rail.make_ready(Rail::Use::send)) return -FI_EAGAIN;
    const bool peer_may_use_connection = message->peer > rank_->world_rank;
    message->header.back_port = peer_may_use_connection ? rail.port_to_send_from() : 0;
    // Get the descriptor last: it belongs to the endpoint, which may have been reopened above.
    return rail.send(Rail::Use::send, link->messages, iovec{&message->header, length},
                     message->pool->sent[message->rail].descriptor(), &message->context);
}

// Returns false if the provider has no room now; the message then still belongs to the caller.
bool Network::send(Message *message) {
    message->kind = Posted::Kind::send;
    message->error = 0;
    RailLink &link = link_of(message->peer, message->rail);
    add_held(message);
    const std::size_t length = length_of(message->header);
    message->is_back =
        uses_peers_connection(*message, link) && post_back(message, length, &link) == 0;
    const ssize_t code = message->is_back ? 0 : post_message(message, length, &link);
    if (code == -FI_EAGAIN) {
        link.message_refusals.add(boot_ns());
        link.failed_by = FI_EAGAIN;
        some_are_unsent_ = true;
        return false;
    }
    if (!message->is_back) link.message_refusals.since_ns = 0;
    message->is_in_flight = code == 0;
    if (code == 0) links_[message->peer].is_contacted = true;
    if (code == 0) {
        if (rank_->observer != nullptr) [[unlikely]]
            count_message(*message, length);
        if (message->header.answers != 0) note_carried(*message);
        return true;
    }
    note_failing(message->peer, message->rail, static_cast<int>(-code));
    give_back(message);
    return true;
}

// Sends a message, or stores it while the provider refuses it. At most kMostQueuedMessages are
// stored for all peers together. More are dropped, since tasks and questions are repeated, and
// answers with them. Goodbyes are always stored, because nobody repeats them, and there is only one
// per peer.
void Network::send_or_queue(Message *message) {
    if (send(message)) return;
    // The provider always refuses messages to a process that has ended.
    const int peer = message->peer;
    if (links_[peer].is_lost || known_gone(*rank_, peer) == Gone::died) return give_back(message);
    if (message->header.kind != MessageKind::goodbye) {
        if (queued_messages_ == kMostQueuedMessages) return give_back(message);
        ++queued_messages_;
    }
    outbox_.append(message);
}

// If a connection breaks while it is made, `net` of libfabric 1.17 never makes it again: each send
// returns "again", and the peer's provider refuses new connections from the same endpoint. So this
// rank sends from a new endpoint. Messages in progress to other peers must then be resent. So this
// is done rarely, and with growing pauses while it does not help.
void Network::check_stuck_messages(std::int64_t now) {
    some_are_unsent_ = false;
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if (check_stuck_messages(rail, now)) some_are_unsent_ = true;
}

// Returns true if the provider still refuses messages. Skips peers for which the rail was left out:
// reconnect_left_out() handles them.
bool Network::check_stuck_messages(unsigned rail, std::int64_t now) {
    RailState &state = rails_[rail];
    std::int64_t since = INT64_MAX;
    for (const int peer : links_.used()) {
        const RailLink &link = link_of(peer, rail);
        const bool gone = known_gone(*rank_, peer) != Gone::no;
        if (link.message_refusals.length(now) == 0 || gone || link.is_left_out) continue;
        const bool is_first = rails_to_node_of(peer).is_settled && !links_[peer].is_reached;
        since =
            std::min(since, link.message_refusals.since_ns + (is_first ? kFirstConnectionNs : 0));
    }
    if (since == INT64_MAX) {
        state.outgoing_pause_ns = kFirstStuckNs;
        return false;
    }
    if (now - std::max(since, state.outgoing_opened_ns) < state.outgoing_pause_ns) return true;
    log(SENNIT_LOG_INFO, "the path fabric sends messages from a new endpoint");
    state.outgoing_opened_ns = now;
    if (state.outgoing_pause_ns < kLastStuckNs) state.outgoing_pause_ns *= 2;
    reopen_outgoing(rail);
    return true;
}

// Opens a new outgoing endpoint. Messages that had not completed at the old one may be lost. Tasks
// and questions are repeated anyway, and answers with them; goodbyes are sent again here.
void Network::reopen_outgoing(unsigned rail) {
    RailState &state = rails_[rail];
    if (!state.rail.close(Rail::Use::send)) return;
    if (state.rail.is_two_way()) read_leftover_completions(rail);
    const std::int64_t not_before_ns = boot_ns() + kNotBackNs;
    for (const int peer : links_.used()) {
        RailLink &link = link_of(peer, rail);
        link.back.is_open = false;
        link.back.not_before_ns = not_before_ns;
        link.longest = 0;
    }
    (void)state.rail.make_ready(Rail::Use::send);
    wake_thread();
    for (MessagePool *pool = pools_; pool != nullptr; pool = pool->next)
        for (std::size_t i = 0; i < MessagePool::kMessages; ++i) {
            Message &message = pool->at(i);
            if (!message.is_in_flight || message.rail != rail || !was_outgoing(message)) continue;
            message.is_in_flight = false;
            if (message.kind == Posted::Kind::receive) --state.receives_back;
            if (message.kind == Posted::Kind::send && message.header.kind == MessageKind::goodbye)
                outbox_.append(&message);
            else
                give_back(&message);
        }
}

// Whether the operation used the outgoing endpoint.
bool Network::was_outgoing(const Message &message) {
    return (message.kind == Posted::Kind::receive) == message.is_back;
}

// Empties the queue that the closed outgoing endpoint shared with the incoming one: a completion
// left there could be taken for that of a reused record. Completed messages go to late_.
void Network::read_leftover_completions(unsigned rail) {
    RailCompletion completion;
    while (rails_[rail].rail.poll_messages(&completion, 1) != 0) {
        const auto *const message = static_cast<const Message *>(completion.context);
        if (message == nullptr) continue;
        const bool is_receive = message->kind == Posted::Kind::receive;
        // Skip all operations of the outgoing endpoint but received messages: reopen_outgoing()
        // handles them as not completed.
        if (was_outgoing(*message) && (completion.error != 0 || !is_receive)) continue;
        if (Posted *const posted = mark_completed(completion)) late_.append(posted);
    }
}

void Network::finish_send(Message *message) {
    RailLink &link = link_of(message->peer, message->rail);
    if (message->is_back) {
        --link.back.in_flight;
        if (message->error != 0) link.back.is_open = false;
    } else {
        rails_[message->rail].rail.end_send();
        if (message->error != 0)
            note_failing(message->peer, message->rail, message->error);
        else
            link.failing_since_ns = 0;
    }
    give_back(message);
}

// A peer sends a hurry also if this rank's next call is only a little late. A hurry soon after a
// call is ignored: the thread would only take the processor from the rank that the peer waits for.
void Network::note_arrival(const MessageHeader &header) {
    constexpr std::int64_t kAwayNs = 1'500'000;  // less than the wait before a hurry
    if (!is_waited_for(header))
        unawaited_ns_ = poll_ns_;
    else if (header.kind != MessageKind::hurry || poll_ns_ - called_ns_ > kAwayNs)
        is_awaited_.store(true, std::memory_order_relaxed);  // relaxed: a hint
}

// The thread that polls handles fence messages at once, because they do not need the engine.
void Network::finish_receive(Message *message) {
    RailState &state = rails_[message->rail];
    --(message->is_back ? state.receives_back : state.receives);
    if (message->error != 0 || !is_well_formed(*message)) return give_back(message);
    PeerLink &sender = use(message->header.from);
    if (sender.is_refused) return give_back(message);
    sender.is_contacted = true;
    RailLink &link = link_of(message->header.from, message->rail);
    link.failing_since_ns = 0;
    ++link.received;
    ++sender.messages;
    open_back(link, *message);
    note_length(link, *message);
    note_arrival(message->header);
    if (message->header.kind == MessageKind::question)
        answer_question(*message);
    else if (message->header.kind == MessageKind::endpoint)
        handle_endpoint(*message);
    else {
        reads_data_first_ = reads_data_first_ || message->header.after_events != 0;
        return done_.append(message);
    }
    give_back(message);
}

Submit Network::start_task(Operation *operation) {
    PeerLink &peer = links_[operation->peer];
    if (!has_share(peer.open_tasks, open_tasks_, kOpenTasks)) return Submit::again;
    Message *message = take_message_for(*operation);
    if (message == nullptr) return retry_later(nullptr);
    // id % kOpenTasks is the index in tasks_. last_task_ starts at 0, so no id is 0.
    do
        ++last_task_;
    while (tasks_[last_task_ % kOpenTasks].operation != nullptr);
    OpenTask *const open = &tasks_[last_task_ % kOpenTasks];
    open->operation = operation;
    open->id = last_task_;
    open->first_rail = open->rail = operation->rail;
    open->events_put = peer.events_put;
    fill_task(message, *open);
    if (!send(message)) {
        give_back(message);
        open->operation = nullptr;
        return retry_later(nullptr);
    }
    open->pause_ns = kFirstPauseNs;
    open->resend_ns = 0;
    ++open_tasks_;
    ++peer.open_tasks;
    return Submit::accepted;
}

// Counts a message for SENNIT_STATS.
void Network::count_message(const Message &message, std::size_t bytes) {
    using runtime::CountedMessage;
    const MessageHeader &header = message.header;
    const bool is_task = header.kind == MessageKind::task;
    const bool is_answer = header.kind == MessageKind::answer;
    CountedMessage kind = CountedMessage::other;
    if (is_task) kind = message.is_again ? CountedMessage::task_again : CountedMessage::task;
    if (is_answer) kind = CountedMessage::answer;
    runtime::note_message(*rank_, kind, bytes);
    // Count the answers that needed no message of their own.
    unsigned along = 0;
    for (unsigned i = 0; i < header.answers; ++i)
        along += (late_answer(message, i).id & kOfSubject) == 0 ? 1 : 0;
    if (is_answer && header.id == 0 && along != 0) --along;
    for (unsigned i = 0; i < along; ++i)
        runtime::note_message(*rank_, CountedMessage::answer_along, sizeof(LateAnswer));
}

void Network::fill_header(Message *message, int peer, unsigned rail, MessageKind kind) {
    message->peer = peer;
    message->rail = static_cast<std::uint8_t>(rail);
    message->header = MessageHeader{};
    message->header.job_cookie = cookie_for(rank_->job_cookie, peer);
    message->header.kind = kind;
    message->header.from = rank_->world_rank;
}

void Network::fill_task(Message *message, const OpenTask &open) {
    const Operation &operation = *open.operation;
    fill_header(message, operation.peer, open.rail, MessageKind::task);
    message->is_again = false;
    message->header.id = open.id;
    message->header.handle = operation.remote.handle;
    message->header.offset = operation.offset;
    message->header.bytes = operation.bytes;
    message->header.body_bytes = operation.task.payload_bytes;
    message->header.task = operation.task;
    const PeerLink &peer = links_[operation.peer];
    message->header.after_events = peer.events_put != peer.events_known;
    if (operation.task.payload_bytes != 0 && operation.local != message->body())
        std::memcpy(message->body(), operation.local, operation.task.payload_bytes);
}

void Network::resend_tasks(std::int64_t now) {
    for (OpenTask &open : tasks_) {
        if (open.operation == nullptr) continue;
        if (open.resend_ns == 0) open.resend_ns = now + open.pause_ns;
        if (now < open.resend_ns) continue;
        Message *message = take_message_for(*open.operation);
        if (message == nullptr) return;
        open.rail = static_cast<std::uint8_t>(rail_after(usable(open.operation->peer), open.rail));
        fill_task(message, open);
        message->header.task.may_wait = 0;
        message->is_again = true;
        const bool is_sent = send(message);
        if (!is_sent) give_back(message);
        if (is_sent && open.pause_ns < kLastPauseNs) open.pause_ns *= 2;
        open.resend_ns = now + open.pause_ns;
    }
}

bool Network::is_well_formed(const Message &message) const {
    const MessageHeader &header = message.header;
    if (message.bytes < sizeof header ||
        header.job_cookie != cookie_for(rank_->job_cookie, rank_->world_rank))
        return false;
    if (header.from < 0 || header.from >= world_size(*rank_)) return false;
    if (header.rail >= rail_count_) return false;
    // No part may be longer than its room.
    if (message.bytes != length_of(header) || header.answers > kMostLateAnswers) return false;
    if (header.answers != 0 && !may_bring_answers(header)) return false;
    if (header.kind == MessageKind::task)
        return header.task.payload_bytes == header.body_bytes &&
               header.task.reply_bytes <= kMostTaskBytes;
    const bool is_endpoint = header.kind == MessageKind::endpoint;
    if (!is_endpoint && header.kind != MessageKind::question) return true;
    const std::size_t name = is_endpoint ? kNameBytes : 0;
    const std::size_t each = is_endpoint ? row_bytes(header.rail) : sizeof(std::uint64_t);
    return header.body_bytes >= name && (header.body_bytes - name) % each == 0;
}

// Handles a received task or answer. `answered` must have room. The lock is held all the time,
// because each locking delays the next put of a caller that waits for this message by 20 ns. If a
// message has a task and answers, the answers wait for finish_postponed(), because a caller may
// wait for the task and then send. The progress thread handles them at once.
void Network::handle_task_or_answer(Message *message, Answered *answered) {
    const bool is_task = message->header.kind == MessageKind::task;
    if (is_task) execute_and_answer(*message);
    if (is_task && message->header.answers != 0 && !is_progress_thread())
        return answers_.append(message);
    end_answered(*message, answered);
    give_back(message);
}

// Handles the tasks and answers at the head of the list, while `answered` has room.
void Network::handle_leading_tasks_and_answers(PostedList *done, Answered *answered) {
    while (done->first != nullptr && done->first->kind != Posted::Kind::transfer &&
           answered->has_room()) {
        auto *const message = static_cast<Message *>(done->first);
        if (!may_bring_answers(message->header)) return;
        (void)done->take();
        handle_task_or_answer(message, answered);
    }
}

void Network::handle_hurry_or_goodbye(const Message &message) {
    const int from = message.header.from;
    if (message.header.kind == MessageKind::hurry) return send_hurried(from);
    if (message.header.kind != MessageKind::goodbye) return;
    const MutexLock guard(lock_);
    links_[from].received_goodbye = some_leave_ = true;
    links_[from].left_ns = boot_ns();
    note_gone(*rank_, from, Gone::left);
}

// The record of the live segment with this handle, or null.
const SegmentRecord *Network::live_record(std::uint64_t handle) const {
    const std::uint64_t slot = handle >> 32;
    if (slot >= kSegmentsPerTeam) return nullptr;
    const SegmentRecord &record = rank_->control->records[slot];
    // SYNC segment-live: pairs with the release of the owner that makes or ends the segment.
    const std::uint32_t live = record.live.load(std::memory_order_acquire);
    return live != 0 && live == static_cast<std::uint32_t>(handle) ? &record : nullptr;
}

// The memory of a task; null: there is no such live segment, or the range exceeds it. *segment: its
// record; unchanged for the control block.
std::byte *Network::memory_of(const MessageHeader &header, const SegmentRecord **segment) const {
    std::byte *base = reinterpret_cast<std::byte *>(rank_->control);
    std::uint64_t size = rank_->control->header.control_bytes;
    if (header.handle != kControlHandle) {
        const SegmentRecord *const record = live_record(header.handle);
        if (record == nullptr) return nullptr;
        base = reinterpret_cast<std::byte *>(record->owner_address);
        size = record->bytes;
        *segment = record;
    }
    const bool inside = header.bytes <= size && header.offset <= size - header.bytes;
    return inside ? base + header.offset : nullptr;
}

sennit_status Network::execute(const Message &message, std::byte *reply) const {
    const MessageHeader &header = message.header;
    const SegmentRecord *segment = nullptr;
    std::byte *const memory = memory_of(header, &segment);
    const Arrived arrived{header.from,  &header.task,   segment, memory,
                          header.bytes, message.body(), reply};
    return sink_.execute(sink_.context, arrived);
}

// Executes a task, and holds or sends its answer.
void Network::execute_and_answer(const Message &task) {
    // Check the leases again: this rank may have been stopped since the task arrived, and the lease
    // of the sender may have ended meanwhile.
    if (watch::watch_has_news(*rank_, boot_ns(), &news_seen_)) read_watch_news();
    const MessageHeader &header = task.header;
    if (links_[header.from].is_refused) return;
    // Without memory for an answer, do nothing: the task is repeated.
    Message *const answer = take_message();
    if (answer == nullptr) return;
    const sennit_status status = execute(task, answer->body());
    const std::uint32_t subject = status == SENNIT_OK ? subject_of(task) : 0;
    if (status == SENNIT_OK && hold(task, subject, answer->body())) return give_back(answer);
    fill_header(answer, header.from, rail_to_use(header.from, task.rail), MessageKind::answer);
    answer->header.id = header.id;
    answer->header.status = static_cast<std::uint16_t>(status);
    answer->header.body_bytes = status == SENNIT_OK ? header.task.reply_bytes : 0;
    if (subject != 0) {
        std::uint64_t reply = 0;
        std::memcpy(&reply, answer->body(), sizeof reply);
        links_[header.from].known.note(subject, reply);
    }
    send_or_queue(answer);
}

// Ends the tasks answered by the message: first those of delayed answers.
void Network::end_answered(const Message &message, Answered *answered) {
    const MessageHeader &header = message.header;
    const std::byte *const late_ones = message.body() + header.body_bytes;
    for (unsigned i = 0; i < header.answers; ++i) {
        const LateAnswer late = late_answer(message, i);
        if ((late.id & kOfSubject) != 0) {
            sink_.renewed(sink_.context, header.from, static_cast<std::uint32_t>(late.id),
                          late.reply);
            continue;
        }
        const std::byte *const reply = late_ones + i * sizeof late + offsetof(LateAnswer, reply);
        end_task(header.from, late.id, {SENNIT_OK, reply, sizeof late.reply}, answered);
    }
    if (header.kind != MessageKind::answer || header.id == 0) return;
    auto status = static_cast<sennit_status>(header.status);
    if (header.status >= SENNIT_STATUS_END) status = SENNIT_ERR_FABRIC;
    end_task(header.from, header.id, {status, message.body(), header.body_bytes}, answered);
}

void Network::end_task(int from, std::uint64_t id, const Answer &answer, Answered *answered) {
    OpenTask &open = tasks_[id % kOpenTasks];
    // Ignore a second answer to a repeated task.
    if (open.operation == nullptr || open.id != id || open.operation->peer != from) return;
    Operation *const operation = std::exchange(open.operation, nullptr);
    PeerLink &peer = links_[from];
    --open_tasks_;
    --peer.open_tasks;
    const auto further = static_cast<std::int32_t>(open.events_put - peer.events_known);
    if (further > 0) peer.events_known = open.events_put;
    sennit_status status = answer.status;
    if (status == SENNIT_OK && answer.bytes != operation->task.reply_bytes)
        status = SENNIT_ERR_FABRIC;
    if (status == SENNIT_OK && answer.bytes != 0)
        std::memcpy(operation->reply, answer.reply, answer.bytes);
    answered->ended[answered->count++] = {operation, status};
}

// Called without the lock, because the called functions may submit again. Returns the number of
// operations.
int Network::complete(const Answered &answered) {
    for (std::size_t i = 0; i < answered.count; ++i)
        answered.ended[i].operation->completed(answered.ended[i].operation,
                                               answered.ended[i].status);
    return static_cast<int>(answered.count);
}

int Network::end_tasks_of_the_lost() {
    int completed = 0;
    for (OpenTask &open : tasks_) {
        Operation *operation = nullptr;
        {
            const MutexLock guard(lock_);
            if (open.operation == nullptr || known_gone(*rank_, open.operation->peer) == Gone::no)
                continue;
            operation = open.operation;
            open.operation = nullptr;
            --open_tasks_;
            --links_[operation->peer].open_tasks;
        }
        operation->completed(operation, SENNIT_ERR_PEER_LOST);
        ++completed;
    }
    return completed;
}

}  // namespace sennit::transport::fabric
