// SPDX-License-Identifier: BSD-3-Clause
// Handles failed transfers. After an error the data may still be in flight, and the error may be
// another transfer's: one stale key makes the provider drop a connection with everything on it. So
// a transfer is not repeated or reported before the target has closed the endpoint to which it was
// sent. This rank asks the target for the close; the answer names the endpoint that is now open,
// and the segments that are gone. docs/design/fabric.md has the protocol, tests/models/fence.pml
// its model.
//
// Everything here runs with the lock held.
#include <sys/random.h>

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

// After this many failures of one transfer, the transfers to its peer are posted one by one.
constexpr int kMostTogether = 2;
constexpr int kMostAttempts = 8;  // failures of a transfer posted alone; then it ends with an error
// A rank closes its endpoints within this time after its goodbye.
constexpr std::int64_t kLeavingNs = 2'000'000'000;
// The least pause between two closes of an endpoint, so that transfers can complete in between.
constexpr std::int64_t kClosingPauseNs = 20'000'000;
constexpr std::int64_t kFirstQuestionNs = 20'000'000;  // before a question is repeated; doubles
constexpr std::int64_t kLastQuestionNs = 500'000'000;
constexpr std::int64_t kHangsNs = 100'000'000;  // limit of a transfer to an endpoint that is gone

}  // namespace

void Network::request_service(RailLink &link) {
    if (link.needs_service) return;
    link.needs_service = true;
    ++links_to_service_;
}

void Network::ask(RailLink &link) {
    request_service(link);
    if (link.awaits_answer) return;
    link.awaits_answer = true;
    link.questions_sent = 0;
    link.next_question_ns = 0;
    link.question_pause_ns = kFirstQuestionNs;
}

// Called when a put or get at the peer's endpoint has failed. A failed get needs a new endpoint
// too, because the connection may stay broken as long as the endpoint exists.
void Network::set_in_doubt(RailLink &link) {
    if (!link.in_doubt) link.awaits_answer = false;  // the question differs from the last one
    link.in_doubt = true;
    ask(link);
}

// Called when a message was not delivered. Nothing is repeated here, because tasks and questions
// are repeated anyway.
void Network::note_failing(int peer, unsigned rail, int error) {
    RailLink &link = link_of(peer, rail);
    link.failed_by = error;
    if (link.failing_since_ns == 0) link.failing_since_ns = boot_ns();
}

void Network::service_links(std::int64_t now) {
    for (const int peer : links_.used())
        for (unsigned rail = 0; rail < rail_count_; ++rail)
            if (link_of(peer, rail).needs_service) service_link(peer, rail, now);
}

void Network::service_link(int peer, unsigned rail, std::int64_t now) {
    RailLink &link = link_of(peer, rail);
    if (known_gone(*rank_, peer) != Gone::no) abandon(link);
    if (link.is_left_out) reconnect_left_out(peer, rail, now);
    if (link.awaits_answer && now >= link.next_question_ns) send_question(peer, rail, now);
    if (link.awaits_answer) check_reachability(peer, now);
    if (!link.in_doubt) repeat(peer, rail);
    const std::uint64_t number = links_[peer].is_lost ? UINT64_MAX : link.number;
    const bool hangs = is_older_in_flight(peer, rail, number);
    if (!hangs)
        link.is_cut = false;
    else if (now - link.fenced_ns > kHangsNs)
        end_older(peer, rail, number, now);
    forget_address(rail, &link.former);
    link.needs_service = link.awaits_answer || !link.to_repeat.empty() || hangs ||
                         link.is_left_out || link.has_waiting_transfer ||
                         link.former != FI_ADDR_UNSPEC;
    if (!link.needs_service) --links_to_service_;
}

// Called after the doubt: posts failed transfers again, to the endpoint that is now open or on
// another rail. After repeated failures, posts them one by one to find the wrong transfer.
void Network::repeat(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    bool one_by_one = false;
    for (const Posted *posted = link.to_repeat.first; posted != nullptr; posted = posted->next)
        one_by_one |= posted->failures >= kMostTogether;
    bool is_next = !link.is_left_out && link.alone == nullptr &&
                   (!one_by_one || !is_older_in_flight(peer, rail, UINT64_MAX));
    PostedList failed = link.to_repeat.take_all();
    while (Posted *posted = failed.take()) {
        if (is_lost_event(*posted)) {
            posted->verdict = SENNIT_ERR_FABRIC;
            done_.append(posted);
            continue;
        }
        if (link.is_left_out && move_to_another(posted)) continue;
        posted->is_alone = false;
        if (posted->attempts == kMostAttempts || carries_nothing(link)) {
            posted->verdict = SENNIT_ERR_FABRIC;
            done_.append(posted);
        } else if (!is_next || start_transfer(posted) == Submit::again) {
            link.to_repeat.append(posted);
        } else if (one_by_one) {
            posted->is_alone = true;
            link.alone = posted;
            is_next = false;
        }
    }
}

// The rail by which to ask about `rail`:
//   - If `rail` is in use, the first question goes by `rail`, and every second one by another rail.
//   - If `rail` is left out, questions go by another rail until the peer knows that and no transfer
//     is in doubt. Then they go by `rail`, because only an answer by `rail` restores it.
unsigned Network::rail_for_question(int peer, unsigned rail) const {
    const RailLink &link = link_of(peer, rail);
    const bool by_itself =
        link.is_left_out ? link.is_left_out_known && !link.in_doubt : link.questions_sent % 2 == 0;
    if (by_itself) return rail;
    unsigned other = rail;
    for (unsigned i = 0; i <= link.questions_sent / 2u % rail_count_; ++i)
        other = rail_after(usable(peer), other);
    return other != rail ? other : rail_after(usable(peer), rail);
}

void Network::send_question(int peer, unsigned rail, std::int64_t now) {
    RailLink &link = link_of(peer, rail);
    Message *message = take_message();
    if (message == nullptr) return;
    fill_header(message, peer, rail_for_question(peer, rail), MessageKind::question);
    message->header.rail = static_cast<std::uint8_t>(rail);
    message->header.id = link.in_doubt ? link.number : 0;
    message->header.status = link.is_left_out ? kIsLeftOut : 0;
    message->header.body_bytes = static_cast<std::uint32_t>(fill_question(link, message->body()));
    // The provider refuses the question while it makes a connection, which may break before it is
    // used. So retry soon if there is no other rail.
    const bool is_sent = send(message);
    if (!is_sent) give_back(message);
    if (!is_sent && rail_after(usable(peer), rail) == rail) return;
    ++link.questions_sent;
    link.next_question_ns = now + link.question_pause_ns;
    if (link.question_pause_ns < kLastQuestionNs) link.question_pause_ns *= 2;
}

// The tag has 12 random bits, and 4 bits that differ from those of the last 15 tags.
void Network::draw_tag(unsigned rail) {
    RailState &state = rails_[rail];
    std::uint64_t drawn = 0;
    (void)getrandom(&drawn, sizeof drawn, 0);
    state.tag = static_cast<std::uint16_t>(drawn << 4 | (state.number & 15));
}

// Closes the endpoint, drops its undelivered events, and opens a new endpoint. Returns false if
// events are being delivered now, or if libfabric fails; the peer then asks again.
bool Network::reopen_passive(unsigned rail) {
    RailState &state = rails_[rail];
    if (delivers_events_) return false;
    for (std::size_t place = 0; place < kPlaces; ++place)
        withdraw_from_rail(place, rail);
    wake_thread();
    if (state.rail.reopen_passive() != SENNIT_OK) {
        log(SENNIT_LOG_WARNING, "the path fabric cannot open an endpoint again: %s",
            thread_error()->text);
        some_are_hidden_ = state.rail.has_passive();
        return false;
    }
    ++state.number;
    draw_tag(rail);
    events_.remove_those_of(rail);
    expose_again();
    if (some_are_hidden_)
        log(SENNIT_LOG_WARNING, "the path fabric cannot register memory again now: %s",
            thread_error()->text);
    return true;
}

// Handles a peer's question, which may ask to close an endpoint. Nothing is polled between the
// close and the answer, so data sent to the endpoint either has arrived or never arrives. If the
// endpoint could not be opened again before, any question makes this rank try once more.
void Network::answer_question(const Message &question) {
    const MessageHeader &asked = question.header;
    const unsigned rail = asked.rail;
    RailState &state = rails_[rail];
    if ((asked.status & kIsLeftOut) != 0 && question.rail != rail) {
        leave_out(asked.from, rail);
        link_of(asked.from, rail).is_left_out_known = true;
    }
    const bool is_open = asked.id == state.number;
    if (is_open || !state.rail.has_passive()) {
        const std::int64_t now = boot_ns();
        if (now - state.closed_ns < kClosingPauseNs || !reopen_passive(rail)) return;
        state.closed_ns = now;
        log(SENNIT_LOG_INFO, "rank %d does not know whether its transfers have arrived: fence %llu",
            asked.from, static_cast<unsigned long long>(asked.id));
        announce_endpoint(asked.from, rail);
    }
    send_endpoint(asked.from, rail, question.rail, &question, is_open);
}

// Sends the new endpoint to the other peers, so that their transfers need not fail first. A peer
// that misses this message asks.
void Network::announce_endpoint(int except, unsigned rail) {
    for (const int peer : links_.used())
        if (peer != except && links_[peer].is_contacted && !links_[peer].is_refused)
            send_endpoint(peer, rail, rail_to_use(peer, rail), nullptr);
}

// Sends the peer the open endpoint of `rail`, by the rail `by`. For each handle in the question,
// also sends its key, or that its memory is gone.
void Network::send_endpoint(int peer, unsigned rail, unsigned by, const Message *question,
                            bool is_new) {
    Message *answer = take_message();
    if (answer == nullptr) return;
    fill_header(answer, peer, by, MessageKind::endpoint);
    answer->header.rail = static_cast<std::uint8_t>(rail);
    answer->header.id = rails_[rail].number;
    answer->header.handle = rails_[rail].tag;
    answer->header.status = is_new ? kIsNew : 0;
    if (question != nullptr) answer->header.status |= question->header.status & kIsLeftOut;
    answer->header.bytes = rails_[rail].rail.gives_keys() ? 1 : 0;
    std::uint8_t name[kNameBytes];
    if (rails_[rail].rail.passive_name(name) != SENNIT_OK) return give_back(answer);
    std::memcpy(answer->body(), name, kNameBytes);
    std::size_t bytes = kNameBytes;
    const std::size_t asked = question != nullptr ? question->header.body_bytes : 0;
    const std::size_t each = row_bytes(rail);
    // The peer asks again for handles without a row.
    for (std::size_t at = 0; at < asked && bytes + each <= kMostTaskBytes;
         at += sizeof(std::uint64_t)) {
        std::uint64_t handle = 0;
        std::memcpy(&handle, question->body() + at, sizeof handle);
        if (fill_row(rail, handle, answer->body() + bytes)) bytes += each;
    }
    answer->header.body_bytes = static_cast<std::uint32_t>(bytes);
    send_or_queue(answer);
}

void Network::handle_endpoint(const Message &answer) {
    const MessageHeader &header = answer.header;
    const unsigned rail = header.rail;
    const bool arrived_by_it = answer.rail == rail;
    RailLink &link = link_of(header.from, rail);
    if (header.id > link.number) {
        std::uint8_t name[kNameBytes];
        std::memcpy(name, answer.body(), kNameBytes);
        fi_addr_t address = FI_ADDR_UNSPEC;
        if (rails_[rail].rail.insert(name, &address) != SENNIT_OK) return;
        // Remove the old one even if it is equal: the table counts insertions of an address.
        fi_addr_t old = std::exchange(link.passive, address);
        if (link.former == FI_ADDR_UNSPEC)
            link.former = old;
        else
            forget_address(rail, &old);
        link.number = header.id;
        link.tag = static_cast<std::uint16_t>(header.handle);
        link.gives_keys = header.bytes != 0;
        forget_keys(link, rail);
        link.fenced_ns = boot_ns();
        link.is_cut = false;
        link.transfer_refusals.since_ns = 0;
    } else if (link.in_doubt) {
        return;  // the answer to an earlier question
    } else if (arrived_by_it && link.transfer_refusals.length(boot_ns()) > link.patience_ns) {
        // The peer answers, but the provider makes no connection to its endpoint. Wait longer next
        // time: a close of that endpoint also breaks connections that others are making.
        if (link.patience_ns < kMostPatienceNs) link.patience_ns *= 2;
        return set_in_doubt(link);
    }
    note_reached(header.from);
    link.in_doubt = false;
    if (!arrived_by_it) link.heard_elsewhere = true;
    if (link.is_left_out && arrived_by_it) restore_rail(header.from, rail);
    if ((header.status & kIsLeftOut) != 0) link.is_left_out_known = true;
    link.awaits_answer = link.is_left_out;
    // The peer has answered, so refused questions on other rails do not matter.
    for (unsigned other = 0; other < rail_count_ && !link.awaits_answer; ++other)
        link_of(header.from, other).message_refusals.since_ns = 0;
    request_service(link);  // transfers to the earlier endpoint may be in flight
    if (header.id == link.number) store_keys(link, answer);
    PostedList failed = link.to_repeat.take_all();
    while (Posted *posted = failed.take()) {
        // repeat() reports an event that may have arrived before the memory was freed.
        if (is_lost_event(*posted) || !is_dead(answer, handle_for(link, *posted->operation))) {
            // The target closed the endpoint for this question: no earlier close caused the
            // failure.
            if (posted->is_alone && (header.status & kIsNew) != 0) ++posted->attempts;
            link.to_repeat.append(posted);
            continue;
        }
        posted->verdict = SENNIT_ERR_NOT_REGISTERED;
        done_.append(posted);
    }
}

// Does nothing while a transfer to the address is in flight.
void Network::forget_address(unsigned rail, fi_addr_t *address) {
    if (*address == FI_ADDR_UNSPEC) return;
    for (std::size_t i = 0; i < post_count_; ++i)
        if (posts_[i].is_in_flight && posts_[i].rail == rail && posts_[i].to == *address) return;
    rails_[rail].rail.remove(address);
}

// Whether the provider still has transfers to an endpoint before this number.
bool Network::is_older_in_flight(int peer, unsigned rail, std::uint64_t number) const {
    if (link_of(peer, rail).posted == 0) return false;
    for (std::size_t i = 0; i < post_count_; ++i) {
        const Posted &posted = posts_[i];
        if (posted.is_in_flight && posted.peer == peer && posted.rail == rail &&
            posted.number < number)
            return true;
    }
    return false;
}

// Cuts the connections of the provider's transfers to endpoints before this number.
void Network::cut_older(int peer, unsigned rail, std::uint64_t number) {
    fi_addr_t cut = FI_ADDR_UNSPEC;
    for (std::size_t i = 0; i < post_count_; ++i) {
        const Posted &posted = posts_[i];
        if (!posted.is_in_flight || posted.peer != peer || posted.rail != rail ||
            posted.number >= number || posted.to == cut)
            continue;
        cut = posted.to;
        rails_[rail].rail.cut(cut);
    }
}

// Ends the provider's transfers to endpoints before this number: first cuts their connections; if
// that has not ended them after kHangsNs, closes the endpoint for all transfers of the rail.
void Network::end_older(int peer, unsigned rail, std::uint64_t number, std::int64_t now) {
    RailLink &link = link_of(peer, rail);
    const bool was_cut = std::exchange(link.is_cut, true);
    link.fenced_ns = now;
    if (was_cut) reset_active(rail);
    // After reset_active() there is nothing to cut, unless libfabric has refused the close. Then
    // the next try comes after kHangsNs.
    cut_older(peer, rail, number);
}

// Ends all transfers of the provider before the endpoints are closed.
void Network::end_all() {
    const auto is_open = [this](unsigned rail) {
        return std::any_of(posts_, posts_ + post_count_, [rail](const Posted &posted) {
            return posted.is_in_flight && posted.rail == rail;
        });
    };
    for (const int peer : links_.used())
        for (unsigned rail = 0; rail < rail_count_; ++rail)
            if (link_of(peer, rail).posted != 0) cut_older(peer, rail, UINT64_MAX);
    const Deadline limit = Deadline::after(kHangsNs);
    for (bool are_open = true; are_open && !limit.over();) {
        are_open = false;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            if (!is_open(rail)) continue;
            (void)handle_completions(rail, true);
            are_open = true;
        }
    }
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        if (is_open(rail)) reset_active(rail);
}

// Ends all transfers of this rank on the rail. They are then in doubt. Do not poll before they are
// marked, because an answer would make this rank post transfers on the new endpoint.
void Network::reset_active(unsigned rail) {
    if (!end_transfers(rail)) return;
    (void)rails_[rail].rail.make_ready(Rail::Use::transfer);
    wake_thread();
    for (std::size_t i = 0; i < post_count_; ++i) {
        Posted &posted = posts_[i];
        if (!posted.is_in_flight || posted.rail != rail) continue;
        posted.is_in_flight = false;
        posted.error = FI_ECANCELED;
        done_.append(&posted);
    }
}

// Reads the changes that the watch has recorded. Called before each poll: after the end of a host's
// lease, nothing from that host is accepted.
void Network::read_watch_news() {
    bool refuses = false;
    for (const int peer : links_.used())
        refuses = read_watch_news_of(peer) || refuses;
    if (refuses) close_passive((1u << rail_count_) - 1);
}

// Closes the passive endpoints of these rails for all peers, as soon as possible.
void Network::close_passive(unsigned rails) {
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        if ((rails & bit(rail)) == 0) continue;
        rails_[rail].must_close = true;
        rails_[rail].closed_ns = 0;
    }
    close_marked_passive();
}

// Reads the watch's changes for a used peer. True: the lease of its host has just ended.
bool Network::read_watch_news_of(int peer) {
    PeerLink &link = links_[peer];
    if (rank_->peers[peer].same_node) return false;
    const bool was_refused = std::exchange(link.is_refused, watch::watch_refuses(*rank_, peer));
    if (!link.is_lost && peer_gone(*rank_, peer) == Gone::died) mark_lost(peer);
    return link.is_refused && !was_refused;
}

// Closes the endpoints marked by close_passive(). libfabric does not always close an endpoint at
// the first try.
void Network::close_marked_passive() {
    some_must_close_ = false;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailState &state = rails_[rail];
        if (!state.must_close) continue;
        const std::int64_t now = boot_ns();
        if (now - state.closed_ns >= kClosingPauseNs) {
            state.closed_ns = now;
            const std::uint64_t number = state.number;
            if (reopen_passive(rail)) announce_endpoint(-1, rail);
            state.must_close = number == state.number && state.rail.has_passive();
        }
        some_must_close_ = some_must_close_ || state.must_close;
    }
}

// Counts a peer as lost some time after its goodbye: it answers nothing more, and TCP may need
// minutes to detect a cut cable.
void Network::lose_departed_peers(std::int64_t now) {
    some_leave_ = false;
    for (const int peer : links_.used()) {
        const PeerLink &link = links_[peer];
        if (link.left_ns == 0 || link.is_lost) continue;
        if (now - link.left_ns > kLeavingNs)
            mark_lost(peer);
        else
            some_leave_ = true;
    }
}

// Marks the peer as lost; service_link() then ends the operations to it.
void Network::mark_lost(int peer) {
    links_[peer].is_lost = some_are_lost_ = true;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailLink &link = link_of(peer, rail);
        link.is_cut = false;  // transfers to the present endpoint must end too
        request_service(link);
    }
}

void Network::abandon(RailLink &link) {
    while (Posted *posted = link.to_repeat.take()) {
        posted->verdict = SENNIT_ERR_PEER_LOST;
        done_.append(posted);
    }
    link.awaits_answer = link.in_doubt = link.is_left_out = link.has_waiting_transfer = false;
}

}  // namespace sennit::transport::fabric
