// SPDX-License-Identifier: BSD-3-Clause
#include "team/long_wait.hpp"

#include <cstdio>
#include <cstring>

#include "base/fail.hpp"
#include "base/log.hpp"

namespace sennit::team {
namespace {

constexpr std::int64_t kLongNs = 1'000'000'000;

// The word in ArrivalLine::waiting has four fields: call (8 bits), low bits of the team's
// generation (8), number of synchronisations started (24), number of other calls started (24). The
// numbers of two waiting members differ little, so it is enough to compare them modulo 2^24.
constexpr unsigned kNumberBits = 24;
constexpr std::uint64_t kNumberMask = (UINT64_C(1) << kNumberBits) - 1;

std::uint64_t make_note(std::uint8_t call, std::uint64_t generation, std::uint64_t synchronisations,
                        std::uint64_t calls) {
    return static_cast<std::uint64_t>(call) << 56 | (generation & 0xff) << 48 |
           (synchronisations & kNumberMask) << kNumberBits | (calls & kNumberMask);
}

std::uint8_t call_of(std::uint64_t note) {
    return static_cast<std::uint8_t>(note >> 56);
}

// a - b, modulo 2^24.
int difference(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t distance = (a - b) & kNumberMask;
    return distance > kNumberMask / 2 ? static_cast<int>(distance) - (1 << kNumberBits)
                                      : static_cast<int>(distance);
}

// All members make the same calls in the same order. So of two waiting members, the one that has
// started more synchronisations has not started fewer other calls; with equal numbers they are in
// the same call.
bool can_not_match(std::uint64_t mine, std::uint64_t theirs) {
    const int synchronisations = difference(mine >> kNumberBits, theirs >> kNumberBits);
    const int calls = difference(mine, theirs);
    if (synchronisations == 0 && calls == 0) return call_of(mine) != call_of(theirs);
    return (synchronisations > 0 && calls < 0) || (synchronisations < 0 && calls > 0);
}

}  // namespace

const char *call_name(std::uint8_t call) {
    static constexpr const char *kPosted[] = {
        "no call",          "sennit_barrier_nb",     "sennit_broadcast", "sennit_scatter",
        "sennit_gather",    "sennit_allgather",      "sennit_alltoall",  "sennit_scatterv",
        "sennit_gatherv",   "sennit_allgatherv",     "sennit_alltoallv", "sennit_reduce",
        "sennit_allreduce", "sennit_reduce_scatter", "sennit_scan",      "sennit_scan_exclusive"};
    if (call >= kFirstPosted) {
        const std::size_t index = call - std::size_t{kFirstPosted};
        return index < sizeof kPosted / sizeof kPosted[0] ? kPosted[index] : "an unknown call";
    }
    switch (static_cast<Purpose>(call)) {
        case Purpose::offer:
        case Purpose::outcome:
            return "sennit_alloc";
        case Purpose::free:
            return "sennit_free";
        case Purpose::propose:
        case Purpose::propose_again:
        case Purpose::conclude:
            return "a call that makes a team";
        case Purpose::destroy:
        case Purpose::part:
            return "sennit_team_destroy";
        case Purpose::regions:
        case Purpose::region_votes:
            return "sennit_region_attach";
        case Purpose::barrier:
            return "sennit_barrier";
        case Purpose::leave:
            return "sennit_finalize";
        case Purpose::none:
            break;
    }
    return "an unknown call";
}

std::uint64_t LongWait::own_note() const {
    return make_note(call_, team_.generation, synchronisations_, team_.calls);
}

void LongWait::check() {
    const std::int64_t now = now_ns();
    if (started_ns_ == 0) started_ns_ = now;
    if (now - started_ns_ < kLongNs || other_ >= 0) return;
    const std::uint64_t mine = own_note();
    // All relaxed: each word stands alone.
    team_.own->arrived.waiting.store(mine, std::memory_order_relaxed);
    is_published_ = true;
    for_each_here(team_, [&](std::uint32_t member) {
        const TeamSync *sync = sync_of(rank_, team_, member);
        if (sync == nullptr || member == team_.rank || other_ >= 0) return;
        const std::uint64_t theirs = sync->arrived.waiting.load(std::memory_order_relaxed);
        const bool is_of_team = theirs != 0 && (theirs >> 48 & 0xff) == (team_.generation & 0xff);
        if (!is_of_team || !can_not_match(mine, theirs)) return;
        other_ = static_cast<int>(member);
        other_call_ = call_of(theirs);
    });
}

// If the calls differ, the word stays in ArrivalLine::waiting, so that the other rank sees it too.
LongWait::~LongWait() {
    // relaxed: the word stands alone.
    if (is_published_ && other_ < 0) team_.own->arrived.waiting.store(0, std::memory_order_relaxed);
}

sennit_status LongWait::fail_differs() const {
    const int peer = team_.world_ranks[other_];
    return fail_peer(SENNIT_ERR_ARG, peer, "",
                     "rank %d waits in %s, this rank in %s: all ranks of a team make the same "
                     "collective calls in the same order",
                     peer, call_name(other_call_), call_name(call_));
}

void LateRanks::add(int world_rank) {
    if (count_++ == 0) first_ = world_rank;
    const std::size_t length = std::strlen(text_);
    // After a rank that did not fit, no rank is named, so that the list has no gap.
    constexpr std::size_t kLongestNumber = 13;
    if (named_ + 1 != count_ || sizeof text_ - length <= kLongestNumber) return;
    ++named_;
    (void)std::snprintf(text_ + length, sizeof text_ - length, "%s%d", named_ > 1 ? ", " : "",
                        world_rank);
}

void LateRanks::write(char *text, std::size_t bytes) const {
    char more[32] = "";
    if (named_ != count_) (void)std::snprintf(more, sizeof more, " and %u more", count_ - named_);
    (void)std::snprintf(text, bytes,
                        count_ == 1 ? "rank %s%s has not arrived" : "ranks %s%s have not arrived",
                        text_, more);
}

void LateRanks::report() const {
    if (count_ == 0) return;
    char late[160];
    write(late, sizeof late);
    sennit_error &error = *thread_error();
    error.peer = first_;
    const std::size_t length = std::strlen(error.text);
    (void)std::snprintf(error.text + length, sizeof error.text - length, "; %s", late);
}

void LateRanks::warn(const char *call, int seconds) const {
    char late[160];
    write(late, sizeof late);
    log(SENNIT_LOG_WARNING, "%s has waited for %d s: %s", call, seconds, late);
}

void report_late_elsewhere() {
    sennit_error &error = *thread_error();
    const std::size_t length = std::strlen(error.text);
    (void)std::snprintf(error.text + length, sizeof error.text - length,
                        "; ranks of other nodes have not arrived");
}

void warn_of_late_elsewhere(const char *call, int seconds) {
    log(SENNIT_LOG_WARNING, "%s has waited for %d s: ranks of other nodes have not arrived", call,
        seconds);
}

}  // namespace sennit::team
