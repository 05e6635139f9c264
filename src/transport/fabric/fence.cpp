// What is done about transfers that fail. An error says little: the data may still be on its way,
// and one stale key makes the provider drop a connection with everything on it. So nothing is
// repeated or reported before the target has closed the endpoint that it was sent to: this rank
// asks for that and learns the endpoint that is open now, and which of the segments are gone.
// docs/design/fabric.md has the protocol, tests/models/fence.pml its model.
//
// All of it with the lock held.
#include <sys/random.h>

#include <cstring>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// So often a transfer may fail together with others; then those of its peer go one by one. And so
// often alone.
constexpr int kMostTogether = 2;
constexpr int kMostAttempts = 8;
// Between two ends of an endpoint, so that something can be done in between.
constexpr std::int64_t kClosingPauseNs = 20'000'000;
constexpr std::int64_t kFirstQuestionNs = 20'000'000;  // before it is asked again; doubles
constexpr std::int64_t kLastQuestionNs = 500'000'000;
constexpr std::int64_t kHangsNs = 100'000'000;  // of a transfer to an endpoint that is gone
constexpr std::int64_t kStuckNs = 300'000'000;  // of a provider that takes no transfer

bool has(const std::byte *handles, std::size_t bytes, std::uint64_t handle) {
    for (std::size_t at = 0; at < bytes; at += sizeof handle)
        if (std::memcmp(handles + at, &handle, sizeof handle) == 0) return true;
    return false;
}

}  // namespace

void Network::unsettle(PeerLink &link) {
    if (link.uneasy) return;
    link.uneasy = true;
    ++uneasy_links_;
}

void Network::ask(PeerLink &link) {
    unsettle(link);
    if (link.asks) return;
    link.asks = true;
    link.next_question_ns = 0;
    link.question_pause_ns = kFirstQuestionNs;
}

// A transfer to the peer's endpoint has failed. Also one that reads: its connection may stay broken
// for as long as the endpoint is there.
void Network::doubt(PeerLink &link) {
    if (!link.in_doubt) link.asks = false;  // another question than before
    link.in_doubt = true;
    ask(link);
}

// A message has not reached the peer. Questions will tell.
void Network::note_failing(int peer, int error) {
    PeerLink &link = links_[peer];
    link.failed_by = error;
    if (link.failing_since_ns == 0) link.failing_since_ns = now_ns();
    ask(link);
}

void Network::look_after_links(std::int64_t now) {
    const int size = world_size(*rank_);
    for (int peer = 0; peer < size; ++peer)
        if (links_[peer].uneasy) look_after(peer, now);
}

void Network::look_after(int peer, std::int64_t now) {
    PeerLink &link = links_[peer];
    // relaxed: the word stands alone.
    if (rank_->peers[peer].gone.load(std::memory_order_relaxed) != 0) abandon(link);
    if (link.asks && now >= link.next_question_ns) send_question(peer, now);
    if (!link.in_doubt) repeat(link);
    const bool hangs = is_older_out(peer, link.number);
    if (hangs && now - link.fenced_ns > kHangsNs) end_older(peer, link.number);
    link.uneasy = link.asks || !link.doubtful.empty() || hangs;
    if (!link.uneasy) --uneasy_links_;
}

// The doubt is over: what has failed goes to the endpoint that is open now. Whose fault it is that
// transfers fail again and again shows when they go one by one.
void Network::repeat(PeerLink &link) {
    bool one_by_one = false;
    for (const Posted *posted = link.doubtful.first; posted != nullptr; posted = posted->next)
        one_by_one |= posted->failures >= kMostTogether;
    bool is_next = !one_by_one || !is_older_out(static_cast<int>(&link - links_), UINT64_MAX);
    PostedList failed = link.doubtful.take_all();
    while (Posted *posted = failed.take()) {
        posted->is_alone = one_by_one;
        if (posted->attempts == kMostAttempts) {
            posted->verdict = SENNIT_ERR_FABRIC;
            done_.append(posted);
        } else if (!is_next || start_transfer(posted) == Submit::again) {
            link.doubtful.append(posted);
        } else {
            is_next = !one_by_one;
        }
    }
}

void Network::send_question(int peer, std::int64_t now) {
    PeerLink &link = links_[peer];
    Message *message = take_message();
    if (message == nullptr) return;
    fill_header(message, peer, MessageKind::question);
    message->header.id = link.in_doubt ? link.number : 0;
    std::size_t count = 0;
    for (const Posted *posted = link.doubtful.first; posted != nullptr && count < kMostHandles;
         posted = posted->next, ++count)
        std::memcpy(message->body + count * sizeof(std::uint64_t),
                    &posted->operation->remote.handle, sizeof(std::uint64_t));
    message->header.body_bytes = static_cast<std::uint32_t>(count * sizeof(std::uint64_t));
    // Not taken: the provider makes a connection, which may break again while nobody uses it.
    if (!send(message)) return give_back(message);
    link.next_question_ns = now + link.question_pause_ns;
    if (link.question_pause_ns < kLastQuestionNs) link.question_pause_ns *= 2;
}

// 12 bits by chance and 4 that differ from those of the last 15.
void Network::draw_tag() {
    std::uint64_t drawn = 0;
    (void)getrandom(&drawn, sizeof drawn, 0);
    tag_ = static_cast<std::uint16_t>(drawn << 4 | (number_ & 15));
}

// False: there is none now, and the peer asks again.
bool Network::reopen_passive() {
    for (std::size_t place = 0; place <= kSegmentsPerTeam; ++place)
        withdraw_from(place);
    wake_thread();
    if (rail_.reopen_passive() != SENNIT_OK) {
        log(SENNIT_LOG_WARNING, "the path fabric cannot open an endpoint again: %s",
            thread_error()->text);
        return false;
    }
    ++number_;
    draw_tag();
    expose_again();
    if (some_are_hidden_)
        log(SENNIT_LOG_WARNING, "the path fabric cannot register memory again now: %s",
            thread_error()->text);
    return true;
}

// A peer asks for the end of an endpoint. Nothing is polled between the end and the answer, so what
// it has sent there has landed before or never lands.
void Network::answer_question(const Message &question) {
    const MessageHeader &asked = question.header;
    const bool is_open = asked.id == number_;
    if (is_open) {
        const std::int64_t now = now_ns();
        if (now - closed_ns_ < kClosingPauseNs || !reopen_passive()) return;
        closed_ns_ = now;
        log(SENNIT_LOG_INFO, "rank %d is in doubt about what it has sent: fence %llu", asked.from,
            static_cast<unsigned long long>(number_ - 1));
        announce_endpoint(asked.from);
    }
    send_endpoint(asked.from, &question, is_open);
}

// The others need not find out. What is lost of this they ask for.
void Network::announce_endpoint(int except) {
    for (int peer = 0; peer < world_size(*rank_); ++peer)
        if (peer != except && links_[peer].number != 0 && !links_[peer].is_refused)
            send_endpoint(peer, nullptr);
}

// Tells the peer the endpoint that is open, and which of the handles in its question are dead.
void Network::send_endpoint(int peer, const Message *question, bool is_new) {
    Message *answer = take_message();
    if (answer == nullptr) return;
    fill_header(answer, peer, MessageKind::endpoint);
    answer->header.id = number_;
    answer->header.handle = tag_;
    answer->header.status = is_new ? 1 : 0;
    std::uint8_t name[kNameBytes];
    if (link(peer) != SENNIT_OK || rail_.passive_name(name) != SENNIT_OK) return give_back(answer);
    std::memcpy(answer->body, name, kNameBytes);
    std::size_t bytes = kNameBytes;
    const std::size_t asked = question != nullptr ? question->header.body_bytes : 0;
    for (std::size_t at = 0; at < asked; at += sizeof(std::uint64_t)) {
        std::uint64_t handle = 0;
        std::memcpy(&handle, question->body + at, sizeof handle);
        if (handle == kControlHandle || live_record(handle) != nullptr) continue;
        std::memcpy(answer->body + bytes, &handle, sizeof handle);
        bytes += sizeof handle;
    }
    answer->header.body_bytes = static_cast<std::uint32_t>(bytes);
    send_or_keep(answer);
}

void Network::take_endpoint(const Message &answer) {
    const MessageHeader &header = answer.header;
    PeerLink &link = links_[header.from];
    if (header.id > link.number) {
        std::uint8_t name[kNameBytes];
        std::memcpy(name, answer.body, kNameBytes);
        if (rail_.insert(name, &link.passive) != SENNIT_OK) return;
        link.number = header.id;
        link.tag = static_cast<std::uint16_t>(header.handle);
        link.fenced_ns = now_ns();
    } else if (link.in_doubt) {
        return;  // the answer to an earlier question
    } else if (link.again_since_ns != 0 && now_ns() - link.again_since_ns > kStuckNs) {
        return doubt(link);  // it answers, but the provider makes no connection to its endpoint
    }
    link.asks = link.in_doubt = false;
    unsettle(link);  // some may be out still that were sent to the endpoint before
    const std::byte *const dead = answer.body + kNameBytes;
    const std::size_t bytes = header.body_bytes - kNameBytes;
    PostedList failed = link.doubtful.take_all();
    while (Posted *posted = failed.take()) {
        if (!has(dead, bytes, posted->operation->remote.handle)) {
            // Nobody else has ended the endpoint, so it failed by itself.
            if (posted->is_alone && header.status == 1) ++posted->attempts;
            link.doubtful.append(posted);
            continue;
        }
        posted->verdict = SENNIT_ERR_NOT_REGISTERED;
        done_.append(posted);
    }
    repeat(link);
}

// Has the provider still got what was sent to an endpoint before this number?
bool Network::is_older_out(int peer, std::uint64_t number) const {
    for (std::size_t i = 0; i < post_count_; ++i) {
        const Posted &posted = posts_[i];
        if (posted.is_out && posted.peer == peer && posted.number < number) return true;
    }
    return false;
}

// Ends what was sent to an endpoint before this number, so that the provider has it no more. What
// comes of that is polled here.
void Network::end_older(int peer, std::uint64_t number) {
    fi_addr_t cut = FI_ADDR_UNSPEC;
    for (std::size_t i = 0; i < post_count_; ++i) {
        const Posted &posted = posts_[i];
        if (!posted.is_out || posted.peer != peer || posted.number >= number || posted.to == cut)
            continue;
        cut = posted.to;
        rail_.cut(cut);
    }
    const Deadline limit = Deadline::after(kHangsNs);
    while (is_older_out(peer, number) && !limit.over())
        (void)take_events(true);
    if (is_older_out(peer, number)) reset_active();
}

// Ends all that this rank has under way. Each of these transfers is in doubt then. Nothing is
// polled before they are marked: an answer that arrived would post others, which the new endpoint
// has.
void Network::reset_active() {
    (void)rail_.reopen_active();
    wake_thread();
    for (std::size_t i = 0; i < post_count_; ++i) {
        Posted &posted = posts_[i];
        if (!posted.is_out) continue;
        posted.is_out = false;
        posted.error = FI_ECANCELED;
        done_.append(&posted);
    }
}

// What the watch of other nodes has found, before the next look at the network: nothing that a host
// has sent is taken once it was silent for too long.
void Network::take_news() {
    bool refuses = false;
    for (int peer = 0; peer < world_size(*rank_); ++peer) {
        PeerLink &link = links_[peer];
        if (rank_->peers[peer].same_node) continue;
        if (!link.is_refused && watch::watch_refuses(*rank_, peer))
            link.is_refused = refuses = true;
        if (!link.is_lost && peer_gone(*rank_, peer) == Gone::died) lose(peer);
    }
    if (refuses && reopen_passive()) announce_endpoint(-1);
}

// Nothing may reach a private buffer any more.
void Network::lose(int peer) {
    links_[peer].is_lost = true;
    abandon(links_[peer]);
    if (is_older_out(peer, UINT64_MAX)) end_older(peer, UINT64_MAX);
    some_are_lost_ = true;
}

void Network::abandon(PeerLink &link) {
    while (Posted *posted = link.doubtful.take()) {
        posted->verdict = SENNIT_ERR_PEER_LOST;
        done_.append(posted);
    }
    link.asks = link.in_doubt = false;
    link.failing_since_ns = link.unsent_since_ns = 0;
}

}  // namespace sennit::transport::fabric
