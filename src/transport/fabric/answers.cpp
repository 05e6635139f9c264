// SPDX-License-Identifier: BSD-3-Clause
// Delayed answers. The sender of some tasks continues without the answer, so the answer may wait
// for the next message to that rank. If two ranks send to each other alternately, this saves a
// message between an arrival and the next send. An answer gets a message of its own at the first
// poll after kLongestWaitNs, or earlier: for example, if the sender of the task asks for it
// (Transport::hurry), or if earlier answers have waited in vain. If an answer is lost, the sender
// repeats the task, and the owner answers again.
//
// The reply in an answer may be the state of a *subject* of the task, such as a signal. This state
// changes later, so messages to a peer also carry the new state of the subjects of its latest
// tasks. A new state never gets a message of its own, and it may be lost.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/detector.hpp"
#include "transport/fabric/network.hpp"
#include "transport/fabric/thread.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::int64_t kLongestWaitNs = 20'000;
// After n consecutive waits in vain, the next 2^n answers do not wait. These are the limits of n:
// if a caller sends the answers, and if the progress thread does. A wait in vain costs the sender
// of the task 3 us if the owner polls, and up to a millisecond if the owner's program is not in a
// call of Sennit.
constexpr std::uint8_t kMostWhilePolled = 1;
constexpr std::uint8_t kMostElse = 10;

}  // namespace

// The answers held for a peer, or null. Functions of this file that do not take the lock need it.
HeldAnswers *Network::held_for(int peer) {
    for (std::size_t i = 0; i < kHeldPeers && held_peers_ != 0; ++i)
        if (held_[i].peer == peer) return &held_[i];
    return nullptr;
}

// Puts the subject first. If the list is full, drops the one that was noted longest ago.
void KnownSubjects::note(std::uint32_t subject, std::uint64_t reply) {
    if (subject == 0) return;
    std::size_t at = 0;
    while (at < count_ && known_[at].subject != subject)
        ++at;
    if (at == std::size(known_)) --at;
    if (at == count_) ++count_;
    std::rotate(known_, known_ + at, known_ + at + 1);
    known_[0] = {subject, reply};
}

// The subject of an executed task; 0: none, or the reply is not one word.
std::uint32_t Network::subject_of(const Message &task) const {
    const Task &what = task.header.task;
    return what.reply_bytes == sizeof(std::uint64_t) ? sink_.subject(what, task.body()) : 0;
}

// Holds the answer to an executed task. Returns false if the answer must be sent now. The progress
// thread holds no answers, because the computing program sends no messages that could carry them.
// Without a progress thread no answers are held, because the program might not call Sennit again.
bool Network::hold(const Message &task, std::uint32_t subject, const std::byte *reply) {
    const MessageHeader &header = task.header;
    if (header.task.may_wait == 0 || header.task.reply_bytes != sizeof(std::uint64_t) ||
        !progress_.is_on || is_progress_thread())
        return false;
    PeerLink &peer = links_[header.from];
    if (peer.not_to_wait != 0) {
        --peer.not_to_wait;
        return false;
    }
    HeldAnswers *held = held_for(header.from);
    const bool is_full =
        held == nullptr ? held_peers_ == kHeldPeers : held->count == kMostLateAnswers;
    if (is_full) return false;
    if (held == nullptr) {
        held = held_;
        while (held->peer >= 0)
            ++held;
        ++held_peers_;
        held->peer = header.from;
        held->count = 0;
        held->is_in_vain = false;
        held->since_ns = poll_ns_;
    }
    held->rail = task.rail;
    LateAnswer &late = held->answers[held->count];
    late.id = header.id;
    std::memcpy(&late.reply, reply, sizeof late.reply);
    held->subjects[held->count] = subject;
    if (++held->count == kMostLateAnswers) send_held(held, false);
    return true;
}

// Adds two things to the message, while it has room: the answers held for its peer, with the
// present state of their subjects; and new states of subjects of earlier answers. The answers stay
// held until the provider accepts the message.
void Network::add_held(Message *message) {
    MessageHeader &header = message->header;
    header.answers = 0;
    if (!may_bring_answers(header)) return;
    std::byte *place = message->body() + header.body_bytes;
    const auto add = [&](const LateAnswer &late) {
        std::memcpy(place + header.answers++ * sizeof late, &late, sizeof late);
    };
    HeldAnswers *const held = held_for(message->peer);
    const unsigned count = held == nullptr ? 0 : held->count;
    for (unsigned i = 0; i < count; ++i) {
        LateAnswer &late = held->answers[i];
        if (held->subjects[i] != 0)
            late.reply = sink_.renew(sink_.context, held->subjects[i], late.reply);
        add(late);
    }
    const auto is_renewed = [&](std::uint32_t subject) {
        return count != 0 &&
               std::find(held->subjects, held->subjects + count, subject) != held->subjects + count;
    };
    for (const auto &[subject, known] : links_[message->peer].known.all()) {
        if (header.answers == kMostLateAnswers) return;
        if (is_renewed(subject)) continue;
        const std::uint64_t reply = sink_.renew(sink_.context, subject, known);
        if (reply != known) add({kOfSubject | subject, reply});
    }
}

// Called when the provider has accepted the message: releases its answers.
void Network::note_carried(const Message &message) {
    PeerLink &peer = links_[message.peer];
    const MessageHeader &header = message.header;
    for (unsigned i = 0; i < header.answers; ++i) {
        const LateAnswer late = late_answer(message, i);
        if ((late.id & kOfSubject) != 0)
            peer.known.note(static_cast<std::uint32_t>(late.id), late.reply);
    }
    HeldAnswers *const held = held_for(message.peer);
    if (held == nullptr) return;
    for (unsigned i = 0; i < held->count; ++i)
        peer.known.note(held->subjects[i], held->answers[i].reply);
    const std::uint8_t most = is_progress_thread() ? kMostElse : kMostWhilePolled;
    if (!held->is_in_vain) peer.vain_waits = 0;
    if (held->is_in_vain && peer.vain_waits < most) ++peer.vain_waits;
    if (held->is_in_vain) peer.not_to_wait = static_cast<std::uint16_t>(1u << peer.vain_waits);
    release_held(held);
}

void Network::release_held(HeldAnswers *held) {
    held->peer = -1;
    --held_peers_;
}

// Sends the answers in a message of their own. If that is not possible now, they stay held.
void Network::send_held(HeldAnswers *held, bool is_in_vain) {
    Message *const message = take_message();
    if (message == nullptr) return;
    const int peer = held->peer;
    fill_header(message, peer, rail_to_use(peer, held->rail), MessageKind::answer);
    held->is_in_vain = is_in_vain;
    const bool is_over = send(message);
    if (!is_over) give_back(message);
    if (held->peer != peer) return;
    // If the message is lost, the tasks are repeated.
    if (is_over) return release_held(held);
    held->is_in_vain = false;
    held->since_ns = boot_ns();
}

void Network::send_due(std::int64_t now) {
    for (HeldAnswers &held : held_) {
        if (held.peer < 0 || now - held.since_ns < kLongestWaitNs) continue;
        const bool is_gone = known_gone(*rank_, held.peer) != Gone::no;
        // If a caller polls, the wait was short, so it does not count as a wait in vain.
        const bool is_in_vain = is_progress_thread();
        if (is_gone || links_[held.peer].is_refused)
            release_held(&held);
        else
            send_held(&held, is_in_vain);
    }
}

void Network::send_hurried(int peer) {
    const MutexLock guard(lock_);
    HeldAnswers *const held = held_for(peer);
    if (held != nullptr) send_held(held, true);
}

// Called after a put or get, which carries no answers and takes longer than a message.
void Network::send_held_after_transfer(int peer) {
    HeldAnswers *const held = held_for(peer);
    if (held != nullptr) send_held(held, false);
}

// Ends this rank's tasks whose answers have come with tasks of peers. Called without the lock,
// since this calls the engine.
int Network::finish_postponed() {
    int completed = 0;
    while (!answers_.empty()) {
        Answered answered;
        {
            const MutexLock guard(lock_);
            while (!answers_.empty() && answered.has_room()) {
                auto *const message = static_cast<Message *>(answers_.take());
                end_answered(*message, &answered);
                give_back(message);
            }
        }
        completed += complete(answered);
    }
    return completed;
}

// Sends on the rail of the last task, so that the message arrives after that task.
void Network::hurry(int peer) {
    const MutexLock guard(lock_);
    const PeerLink *const link = links_.find(peer);
    if (link == nullptr || !link->is_contacted) return;
    const OpenTask *last = nullptr;
    for (const OpenTask &open : tasks_)
        if (open.operation != nullptr && open.operation->peer == peer &&
            (last == nullptr || open.id > last->id))
            last = &open;
    Message *const message = take_message();
    if (message == nullptr) return;
    fill_header(message, peer, last == nullptr ? rail_to_use(peer, 0) : last->rail,
                MessageKind::hurry);
    // A refused message is dropped: a waiting rank sends the next one soon.
    if (!send(message)) give_back(message);
}

}  // namespace sennit::transport::fabric
