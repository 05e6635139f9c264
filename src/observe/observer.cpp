// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/array.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/thread_callback.hpp"
#include "bootstrap/bootstrap.hpp"
#include "observe/clocks.hpp"
#include "observe/observer_state.hpp"

namespace sennit {

// Declared in rank/rank.hpp.
void make_progress_observed(Rank &rank) {
    using runtime::Observed;
    runtime::Observer &observer = *rank.observer;
    Observed turn(rank, "progress", runtime::kNobody, 0, runtime::Noted::progress);
    // All relaxed: only the counts matter; no other data depends on them.
    const std::uint64_t pieces = observer.pieces.load(std::memory_order_relaxed);
    const unsigned requests = rank.polled_requests.load(std::memory_order_relaxed);
    poll_progress(rank);
    const std::uint64_t moved = observer.pieces.load(std::memory_order_relaxed) - pieces;
    const unsigned left = rank.polled_requests.load(std::memory_order_relaxed);
    turn.set_bytes(moved + (requests > left ? requests - left : 0));
    if (moved == 0 && requests == left) turn.drop();
}

namespace runtime {
namespace {

// A thread's own state. It is small, because thread-local storage is scarce in a library that is
// opened at run time.
struct ThreadLane {
    Observed *innermost = nullptr;
    std::uint32_t observer = 0;  // number of the observer for which `thread` is valid
    std::uint16_t thread = 0;    // number of the thread
};
static_assert(sizeof(ThreadLane) == 16);
constinit thread_local ThreadLane lane [[gnu::tls_model("initial-exec")]];

std::atomic<std::uint32_t> observers{0};

std::uint16_t thread_number(Observer &observer) {
    if (lane.observer != observer.number) {
        lane.observer = observer.number;
        // relaxed: numbers only have to differ.
        lane.thread =
            static_cast<std::uint16_t>(observer.threads.fetch_add(1, std::memory_order_relaxed));
    }
    return lane.thread;
}

// A free place among the open operations, or -1 if all are taken.
int claim_place(Observer &observer) {
    // relaxed: a guess; the exchange below confirms it.
    std::uint64_t used = observer.open_places.load(std::memory_order_relaxed);
    while (used != UINT64_MAX) {
        const int place = __builtin_ctzll(~used);
        // SYNC trace-place: pairs with the release in release_place(); the last thread's writes
        // come before.
        const std::uint64_t with_place = used | std::uint64_t{1} << place;
        // relaxed: after a failure the loop checks again.
        if (observer.open_places.compare_exchange_weak(used, with_place, std::memory_order_acquire,
                                                       std::memory_order_relaxed))
            return place;
    }
    return -1;
}

void release_place(Observer &observer, int place) {
    // relaxed: no other data depends on it.
    observer.trace->open[place].in_use.store(0, std::memory_order_relaxed);
    // SYNC trace-place: pairs with the acquire in claim_place(); this thread's writes come before.
    observer.open_places.fetch_and(~(std::uint64_t{1} << place), std::memory_order_release);
}

// Whether the thread seems to be inside the program's operator of a reduction. The program may have
// left that operator by longjmp. Then the outer Observed objects are on a part of the stack that is
// in use again.
bool may_have_left_frames() {
    const Callback *callback = thread_callback();
    return callback != nullptr && *callback == Callback::combine;
}

bool is_operation(Noted kind) {
    return kind == Noted::operation || kind == Noted::allocation;
}

void add(std::atomic<std::uint64_t> &counter, std::uint64_t value) {
    // relaxed: a sum on which nothing depends.
    if (value != 0) counter.fetch_add(value, std::memory_order_relaxed);
}

}  // namespace

void count_piece(Observer &observer, unsigned rail, std::uint64_t bytes) {
    add(observer.pieces, 1);
    if (rail >= kObservedRails) return;
    // relaxed: a sum on which nothing depends.
    observer.rail_pieces[rail].fetch_add(1, std::memory_order_relaxed);
    if (observer.counters == nullptr) return;
    PeerCounters &counters = observer.counters[stats_rail_index(observer.size, rail)];
    add(counters.operations, 1);
    add(counters.bytes, bytes);
}

void count_message(Observer &observer, CountedMessage kind, std::uint64_t bytes) {
    if (observer.counters == nullptr) return;
    PeerCounters &counters =
        observer.counters[stats_message_index(observer.size, static_cast<unsigned>(kind))];
    add(counters.operations, 1);
    add(counters.bytes, bytes);
}

int Observed::innermost_open(const Observer &observer) {
    for (const Observed *one = lane.innermost; one != nullptr; one = one->outer_) {
        if (one->observer_ == &observer && one->open_ >= 0 && is_operation(one->kind_))
            return one->open_;
    }
    return -1;
}

void Observed::show_awaited(Observer &observer, const Awaited &awaited) {
    const int place = innermost_open(observer);
    if (place < 0) return;
    OpenOperation &open = observer.trace->open[place];
    open.epoch = awaited.epoch;
    open.events = awaited.events;
    // SYNC trace-open: pairs with the acquire in cli/trace/part.cpp; epoch and events come before.
    open.signal.store(awaited.handle, std::memory_order_release);
}

void Observed::show_text(Observer &observer, const char *text) {
    if (observer.trace == nullptr) return;  // only counted
    const int place = innermost_open(observer);
    // The last place is for notes outside of calls. A call without a place has no note.
    if (place < 0 && lane.innermost != nullptr) return;
    const std::size_t at = place < 0 ? kOpenOperations : static_cast<std::size_t>(place);
    TraceNote &note = observer.trace->notes[at];
    (void)std::snprintf(note.text, sizeof note.text, "%s", text);
    if (place < 0) return;
    // SYNC trace-open: pairs with the acquire in cli/trace/part.cpp; the text comes before. A
    // reader may see a later text half written, which is no problem in a text for people.
    observer.trace->open[place].has_note.store(1, std::memory_order_release);
}

void show_awaited(Observer &observer, const Awaited &awaited) {
    if (observer.trace != nullptr) Observed::show_awaited(observer, awaited);
}

void show_sent(Observer &observer, sennit_signal signal, std::uint64_t epoch,
               const std::uint64_t *owners) {
    if (observer.trace == nullptr) return;
    const MutexLock lock(observer.lock);
    for (SentEvent &one : observer.trace->events) {
        // relaxed: under the lock.
        const bool is_new = one.in_use.load(std::memory_order_relaxed) == 0;
        if (!is_new && (one.rank != signal.rank || one.handle != signal.handle)) continue;
        if (is_new) {
            one.rank = signal.rank;
            one.handle = signal.handle;
        }
        // relaxed: only the numbers matter; no other data depends on them.
        const auto set = [](auto &word, std::uint64_t value) {
            word.store(value, std::memory_order_relaxed);
        };
        if (owners == nullptr) set(one.sent, epoch + 1);
        set(one.refused, owners == nullptr ? 0 : epoch + 1);
        set(one.owners, owners == nullptr ? 0 : *owners);
        // SYNC trace-open: pairs with the acquire in cli/trace/part.cpp; rank and handle come
        // before.
        one.in_use.store(1, std::memory_order_release);
        return;
    }
}

void Observed::begin(const char *name, int peer, std::uint64_t bytes, Noted kind) {
    Observer &observer = *observer_;
    const Rank &rank = *observer.rank;
    if (may_have_left_frames()) lane.innermost = nullptr;
    outer_ = lane.innermost;
    lane.innermost = this;
    bytes_ = bytes;
    bytes_of_parts_ = 0;
    waits_ = wait_ns_ = 0;
    peer_ = peer >= 0 && peer < observer.size ? peer : kNobody;
    path_ = SENNIT_PATH_NONE;
    if (peer_ >= 0 && rank.peers.exists())
        path_ = static_cast<std::uint8_t>(rank.peers[peer_].path);
    if (!is_operation(kind) && outer_ != nullptr) {
        peer_ = outer_->peer_;
        path_ = outer_->path_;
    }
    kind_ = kind;
    is_dropped_ = false;
    open_ = -1;
    name_ = 0;
    if (observer.trace != nullptr) {
        const MutexLock lock(observer.lock);
        name_ = trace_name(observer, name);
        for (unsigned rail = 0; rail < kObservedRails; ++rail)
            // relaxed: a sum on which nothing depends.
            rail_pieces_[rail] = observer.rail_pieces[rail].load(std::memory_order_relaxed);
    }
    start_ns_ = now_ns();
    if (observer.trace == nullptr || kind == Noted::progress) return;
    open_ = claim_place(observer);
    if (open_ < 0) return;
    OpenOperation &open = observer.trace->open[open_];
    open.start_ns = start_ns_;
    open.bytes = bytes;
    open.peer = peer_;
    open.name = name_;
    open.thread = thread_number(observer);
    // relaxed twice: the release below orders them.
    open.signal.store(0, std::memory_order_relaxed);
    open.has_note.store(0, std::memory_order_relaxed);
    // SYNC trace-open: pairs with the acquire in cli/trace/part.cpp; the fields come before.
    open.in_use.store(1, std::memory_order_release);
}

void Observed::add_part(int peer, sennit_path path, std::uint64_t bytes) {
    bytes_of_parts_ += bytes;
    if (observer_->counters == nullptr) return;
    PeerCounters &counters = observer_->counters[stats_index(observer_->size, peer, path)];
    add(counters.operations, 1);
    add(counters.bytes, bytes);
}

void Observed::end() {
    const std::int64_t duration_ns = now_ns() - start_ns_;
    Observer &observer = *observer_;
    lane.innermost = outer_;
    if (open_ >= 0) release_place(observer, open_);
    if (is_dropped_) return;
    if (observer.counters != nullptr && kind_ != Noted::progress) {
        const auto time_ns = static_cast<std::uint64_t>(duration_ns);
        PeerCounters &counters = observer.counters[stats_index(observer.size, peer_, path_)];
        if (is_operation(kind_)) {
            add(counters.operations, 1);
            if (kind_ == Noted::operation) add(counters.bytes, bytes_);
            add(counters.waits, waits_);
            add(counters.wait_ns, wait_ns_);
        } else if (outer_ != nullptr && is_operation(outer_->kind_)) {
            // Counted with the operation, whose path is known only at its end.
            ++outer_->waits_;
            outer_->wait_ns_ += time_ns;
        } else {
            add(counters.waits, 1);
            add(counters.wait_ns, time_ns);
        }
    }
    if (observer.trace == nullptr) return;
    std::uint8_t rails = 0;
    for (unsigned rail = 0; rail < kObservedRails; ++rail)
        // relaxed: a sum on which nothing depends.
        if (observer.rail_pieces[rail].load(std::memory_order_relaxed) != rail_pieces_[rail])
            rails = static_cast<std::uint8_t>(rails | 1u << rail);
    const TraceRecord record{start_ns_, duration_ns, bytes_ + bytes_of_parts_,
                             peer_,     name_,       thread_number(observer),
                             path_,     rails,       {}};
    const MutexLock lock(observer.lock);
    trace_append(observer, record);
}

bool names_rank(const char *pattern) {
    return std::strstr(pattern, "%r") != nullptr;
}

bool file_name(const char *pattern, int rank, const char *suffix, char name[kFileNameBytes]) {
    std::size_t used = 0;
    if (pattern[0] != '/' && getcwd(name, kFileNameBytes - 1) != nullptr) {
        used = std::strlen(name);
        name[used++] = '/';
    }
    while (*pattern != '\0' && used < kFileNameBytes) {
        const bool is_rank = pattern[0] == '%' && pattern[1] == 'r';
        const std::size_t room = kFileNameBytes - used;
        const int wrote = is_rank ? std::snprintf(name + used, room, "%d", rank)
                                  : std::snprintf(name + used, room, "%c", *pattern);
        used += static_cast<std::size_t>(wrote);
        pattern += is_rank ? 2 : 1;
    }
    if (used + std::strlen(suffix) >= kFileNameBytes) return false;
    (void)std::snprintf(name + used, kFileNameBytes - used, "%s", suffix);
    return true;
}

void observer_open(Rank &rank, int size, std::int64_t started_ns) {
    const Knobs &wishes = knobs();
    const bool traces = wishes.trace.text[0] != '\0';
    const char *stats = wishes.stats.text;
    bool counts = *stats != '\0';
    (void)read_switch(stats, &counts);  // another text is the name of a file
    if (!traces && !counts) return;
    auto *observer = new (std::nothrow) Observer;
    if (observer == nullptr) {
        log(SENNIT_LOG_WARNING, "no memory for traces and counters: nothing is recorded");
        return;
    }
    observer->rank = &rank;
    observer->size = size;
    // relaxed: numbers only have to differ.
    observer->number = observers.fetch_add(1, std::memory_order_relaxed) + 1;
    if (traces) trace_open(*observer, wishes.trace.text, started_ns);
    if (counts) counters_open(*observer, stats);
    if (observer->trace == nullptr && observer->counters == nullptr) {
        delete observer;
        return;
    }
    rank.observer = observer;
}

bool observer_traces(const Rank &rank) {
    return rank.observer != nullptr && rank.observer->trace != nullptr;
}

void observer_align(Rank &rank, const Deadline &deadline) {
    constexpr std::size_t kRounds = 8;
    const auto size = static_cast<std::size_t>(rank.bootstrap.size);
    // A row has each rank's sample at the start of a round: the time when it enters this round, and
    // the time when it left the last one. So there is one row more than rounds.
    const Array<ClockSample> samples(size * (kRounds + 1));
    ClockSample mine{0, 0};
    bool gathered = samples != nullptr;
    for (std::size_t round = 0; round <= kRounds && gathered; ++round) {
        mine.entered_ns = now_ns();
        gathered = bootstrap_allgather(rank.bootstrap, &mine, samples + size * round, sizeof mine,
                                       deadline) == SENNIT_OK;
        mine.left_ns = now_ns();
    }
    if (gathered && observer_traces(rank)) {
        std::size_t leader = 0;  // the lowest rank of this node
        while (!rank.peers[leader].same_node)
            ++leader;
        ClockSample first[kRounds];
        ClockSample other[kRounds];
        for (std::size_t round = 0; round < kRounds; ++round) {
            const ClockSample *row = samples + size * round;
            const ClockSample *next = row + size;
            first[round] = {row[0].entered_ns, next[0].left_ns};
            other[round] = {row[leader].entered_ns, next[leader].left_ns};
        }
        const ClockOffset offset =
            leader == 0 ? ClockOffset{0, 0} : clock_offset(first, other, static_cast<int>(kRounds));
        rank.observer->trace->clock_offset_ns = offset.offset_ns;
        rank.observer->trace->clock_error_ns = offset.error_ns;
    }
    if (!gathered) log(SENNIT_LOG_WARNING, "the clocks of the nodes could not be compared");
}

void observer_close(Rank &rank) {
    Observer *observer = rank.observer;
    if (observer == nullptr) return;
    trace_close(*observer);
    counters_close(*observer);
    rank.observer = nullptr;
    delete observer;
}

}  // namespace runtime
}  // namespace sennit
