// SPDX-License-Identifier: BSD-3-Clause
// The counters of one rank, in its own memory. With SENNIT_STATS=FILE they are also written into
// that file, beginning in observer_ready(); `sennit stats` may read the file at any time.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "observe/observer_state.hpp"
#include "observe/own_file.hpp"
#include "observe/stats_file.hpp"

namespace sennit::runtime {
namespace {

std::uint64_t load(const std::atomic<std::uint64_t> &counter) {
    // relaxed: a sum on which nothing depends.
    return counter.load(std::memory_order_relaxed);
}

void add_to(sennit_counters *sum, const PeerCounters &one) {
    sum->operations += load(one.operations);
    sum->bytes += load(one.bytes);
    sum->waits += load(one.waits);
    sum->wait_ns += load(one.wait_ns);
}

void print_row(const Rank &rank, int peer, sennit_path path, const sennit_counters &counters) {
    char whom[64];
    if (peer == kNobody) {
        (void)std::snprintf(whom, sizeof whom, "with several");
    } else {
        (void)std::snprintf(whom, sizeof whom, "with rank %d by %s", peer, sennit_path_name(path));
    }
    log(SENNIT_LOG_NONE, "rank %d: %s: %llu operation%s, %llu byte%s, %llu wait%s of %.6f s in all",
        rank.world_rank, whom, static_cast<unsigned long long>(counters.operations),
        plural(counters.operations), static_cast<unsigned long long>(counters.bytes),
        plural(counters.bytes), static_cast<unsigned long long>(counters.waits),
        plural(counters.waits), static_cast<double>(counters.wait_ns) * 1e-9);
}

}  // namespace

void counters_open(Observer &observer, const char *setting) {
    observer.counters = new (std::nothrow) PeerCounters[stats_counters(observer.size)]{};
    if (observer.counters == nullptr) {
        log(SENNIT_LOG_WARNING, "no memory for the counters: nothing is counted");
        return;
    }
    (void)read_switch(setting, &observer.prints);
    if (observer.prints) return;
    if (!file_name(setting, observer.rank->world_rank, "", observer.stats_name)) {
        log(SENNIT_LOG_WARNING, "SENNIT_STATS=%.100s is too long for a name", setting);
        observer.stats_name[0] = '\0';
        return;
    }
    // Removes the file of an earlier job. The other ranks open theirs after a barrier.
    if (observer.rank->world_rank == 0 || names_rank(setting)) remove_own_file(observer.stats_name);
}

void observer_ready(Rank &rank) {
    if (rank.observer == nullptr) return;
    Observer &observer = *rank.observer;
    observer.is_ready = true;
    if (observer.trace != nullptr) observer.trace->job_cookie = rank.job_cookie;
    if (observer.counters == nullptr || observer.stats_name[0] == '\0') return;
    observer.stats_file = stats_file_open(observer);
    if (observer.stats_file != nullptr) return;
    log(SENNIT_LOG_WARNING, "rank %d cannot write its counters into %.200s: %s", rank.world_rank,
        observer.stats_name, file_error(errno));
}

void counters_close(Observer &observer) {
    if (observer.counters == nullptr) return;
    if (observer.prints) (void)observer_print(*observer.rank);
    if (observer.stats_file != nullptr && !stats_file_close(observer.stats_file))
        log(SENNIT_LOG_WARNING, "not all counters of rank %d are in %.200s: %s",
            observer.rank->world_rank, observer.stats_name, file_error(errno));
    delete[] observer.counters;
    observer.counters = nullptr;
    observer.stats_file = nullptr;
}

sennit_status observer_counters(const Rank &rank, int peer, sennit_path path,
                                sennit_counters *counters) {
    const Observer *observer = rank.observer;
    if (observer == nullptr || observer->counters == nullptr)
        return fail(SENNIT_ERR_UNSUPPORTED,
                    "nothing is counted: set SENNIT_STATS before the start");
    sennit_counters sum{};
    const int first = path == SENNIT_PATH_NONE ? 0 : path;
    const int last = path == SENNIT_PATH_NONE ? SENNIT_PATH_END - 1 : path;
    for (int at = first; at <= last; ++at)
        add_to(&sum, observer->counters[stats_index(observer->size, peer, at)]);
    *counters = sum;
    return SENNIT_OK;
}

sennit_status observer_print(const Rank &rank) {
    sennit_counters counters{};
    const sennit_status status = observer_counters(rank, kNobody, SENNIT_PATH_NONE, &counters);
    if (status != SENNIT_OK) return status;
    const Observer &observer = *rank.observer;
    for (int peer = kNobody; peer < observer.size; ++peer) {
        for (int path = SENNIT_PATH_NONE; path < SENNIT_PATH_END; ++path) {
            counters = {};
            add_to(&counters, observer.counters[stats_index(observer.size, peer, path)]);
            if (counters.operations == 0 && counters.waits == 0) continue;
            print_row(rank, peer, static_cast<sennit_path>(path), counters);
        }
    }
    for (unsigned rail = 0; rail < kObservedRails; ++rail) {
        counters = {};
        add_to(&counters, observer.counters[stats_rail_index(observer.size, rail)]);
        if (counters.operations == 0) continue;
        log(SENNIT_LOG_NONE, "rank %d: by rail %u: %llu piece%s, %llu byte%s", rank.world_rank,
            rail, static_cast<unsigned long long>(counters.operations), plural(counters.operations),
            static_cast<unsigned long long>(counters.bytes), plural(counters.bytes));
    }
    for (unsigned kind = 0; kind < kCountedMessages; ++kind) {
        counters = {};
        add_to(&counters, observer.counters[stats_message_index(observer.size, kind)]);
        if (counters.operations == 0) continue;
        log(SENNIT_LOG_NONE, "rank %d: %s: %llu, %llu byte%s", rank.world_rank, kCountedNames[kind],
            static_cast<unsigned long long>(counters.operations),
            static_cast<unsigned long long>(counters.bytes), plural(counters.bytes));
    }
    return SENNIT_OK;
}

}  // namespace sennit::runtime
