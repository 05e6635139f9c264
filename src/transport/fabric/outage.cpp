// Rails that carry nothing to a peer while others do: found by silence, left out, fenced by another
// rail, and taken back when they carry again. Nothing here where a rank has one rail.
// docs/design/fabric.md has the protocol.
//
// A provider gives no sign of a cut cable for minutes. So a rail counts as dead if something is
// under way on it, nothing comes by it for six looks, and the peer meanwhile answers by another.
// A peer that is stopped answers by none.
//
// All of it with the lock held.
#include <algorithm>
#include <bit>

#include "base/log.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::uint8_t kOverdueLooks = 4;  // then the peer is asked
constexpr std::uint8_t kDeadLooks = 6;
constexpr std::uint8_t kMostLooks = 100;
// A rail that was left out is not taken back before; the next time for twice as long, if it was
// soon.
constexpr std::int64_t kFirstOutNs = 250'000'000;
constexpr std::int64_t kLastOutNs = 16'000'000'000;
constexpr std::int64_t kSoonNs = 60'000'000'000;
// TCP waits for long before it sends again what a dead rail has lost, so questions go from a new
// endpoint; seldom where others lose by it what is under way to them.
constexpr std::int64_t kKnockNs = 1'000'000'000;
constexpr std::int64_t kSeldomKnockNs = 30'000'000'000;

constexpr std::uint8_t bit(unsigned rail) {
    return static_cast<std::uint8_t>(1u << rail);
}

}  // namespace

std::uint8_t Network::usable(int peer) const {
    // relaxed: the set stands alone.
    return links_[peer].usable.load(std::memory_order_relaxed);
}

// The next one of the set, around its end; the rail itself if there is no other.
unsigned Network::rail_after(std::uint8_t usable, unsigned rail) {
    for (unsigned i = 1; i < kMostRails; ++i) {
        const unsigned next = (rail + i) % kMostRails;
        if ((usable & bit(next)) != 0) return next;
    }
    return rail;
}

// The rail, or if it carries nothing another one.
unsigned Network::way_to(int peer, unsigned rail) const {
    return (usable(peer) & bit(rail)) != 0 ? rail : rail_after(usable(peer), rail);
}

void Network::look_for_outages() {
    ++outage_look_;
    for (std::size_t i = 0; i < post_count_; ++i)
        if (posts_[i].kind == Posted::Kind::transfer) note_waiting(posts_[i].peer, posts_[i].rail);
    // A task that was sent again is not answered by its first rail.
    for (const OpenTask &open : tasks_)
        if (open.operation != nullptr && open.rail != open.first_rail)
            note_waiting(open.operation->peer, open.first_rail);
}

void Network::note_waiting(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (link.last_look == outage_look_ || links_[peer].is_lost) return;
    link.last_look = outage_look_;
    // The last rail is not left out: what fails on it waits, as where there is one alone.
    if ((usable(peer) & bit(rail)) == 0 || usable(peer) == bit(rail)) return;
    if (link.silent_looks == 0) link.heard_elsewhere = false;
    link.silent_looks = std::min<std::uint8_t>(link.silent_looks + 1, kMostLooks);
    if (link.silent_looks >= kDeadLooks && link.heard_elsewhere)
        leave_out(peer, rail);
    else if (link.silent_looks >= kOverdueLooks)
        ask(link);
}

// What is under way on it is in doubt; the engine gives it nothing more.
void Network::leave_out(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    const auto others = static_cast<std::uint8_t>(usable(peer) & ~bit(rail));
    if (link.is_out || others == 0) return;
    const std::int64_t now = now_ns();
    const bool is_soon = link.back_after_ns != 0 && now - link.back_after_ns < kSoonNs;
    link.out_pause_ns = is_soon ? std::min(2 * link.out_pause_ns, kLastOutNs) : kFirstOutNs;
    link.back_after_ns = now + link.out_pause_ns;
    link.is_out = true;
    link.is_out_known = link.asks = false;
    links_[peer].usable.store(others, std::memory_order_relaxed);  // relaxed: it stands alone
    log(SENNIT_LOG_INFO, "rail %u carries nothing to rank %d and is left out", rail, peer);
    if (link.posted != 0)
        doubt(link);
    else
        ask(link);
}

// The peer has answered by it.
void Network::take_back(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (now_ns() < link.back_after_ns) return;
    link.is_out = false;
    link.silent_looks = 0;
    links_[peer].usable.store(static_cast<std::uint8_t>(usable(peer) | bit(rail)),
                              std::memory_order_relaxed);  // relaxed: it stands alone
    log(SENNIT_LOG_INFO, "rail %u carries to rank %d again", rail, peer);
}

bool Network::is_out_for_all(unsigned rail) const {
    for (int peer = 0; peer < world_size(*rank_); ++peer)
        if ((usable(peer) & bit(rail)) != 0) return false;
    return true;
}

// The next question about a rail that was left out finds a fresh connection.
void Network::knock(int peer, unsigned rail, std::int64_t now) {
    RailLink &link = link_of(peer, rail);
    RailState &state = rails_[rail];
    if (!link.is_out_known) return;
    if (now - state.outgoing_opened_ns < (is_out_for_all(rail) ? kKnockNs : kSeldomKnockNs)) return;
    state.outgoing_opened_ns = now;
    reopen_outgoing(rail);
    link.next_question_ns = now;
}

// Only what is fenced on its rail comes here. It waits before what is new on the other one. False:
// no other rail takes anything now.
bool Network::move_to_another(Posted *posted) {
    const std::uint8_t set = usable(posted->peer);
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailLink &link = link_of(posted->peer, rail);
        if ((set & bit(rail)) == 0 || link.number == 0 || link.in_doubt) continue;
        take_off_rail(*posted);
        put_on_rail(posted, rail);
        posted->failures = posted->attempts = 0;
        posted->is_alone = false;
        if (start_transfer(posted) == Submit::again) {
            link.doubtful.append(posted);
            unsettle(link);
        }
        return true;
    }
    return false;
}

}  // namespace sennit::transport::fabric
