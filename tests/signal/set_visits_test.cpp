// The number of signals of a set that a wait reads, counted as pages: all are protected, and each
// becomes accessible again when it is touched. Broken by a wait, or a reset, that goes through the
// whole set.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "rank/process.hpp"
#include "signal/signal.hpp"

namespace sennit::test {
namespace {

// A protected range: the owner's entries, or the records that senders see.
struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
};
constexpr std::size_t kMostRanges = 2 * kSignalChunks;
Range taken[kMostRanges];
std::size_t taken_count = 0;
std::atomic<unsigned> visits{0};
std::uintptr_t page_bytes = 0;

void come_back(int, siginfo_t *info, void *) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (std::size_t i = 0; i < taken_count; ++i) {
        if (address < taken[i].begin || address >= taken[i].end) continue;
        ++visits;
        (void)mprotect(reinterpret_cast<void *>(address / page_bytes * page_bytes), page_bytes,
                       PROT_READ | PROT_WRITE);
        return;
    }
    (void)::signal(SIGSEGV, SIG_DFL);  // another fault
}

// Protects the whole pages from `begin` on.
void take_away(const void *begin, std::size_t bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const Range range{(first + page_bytes - 1) / page_bytes * page_bytes,
                      (first + bytes) / page_bytes * page_bytes};
    if (range.end <= range.begin) return;
    ASSERT_LT(taken_count, kMostRanges);
    taken[taken_count++] = range;
    ASSERT_EQ(mprotect(reinterpret_cast<void *>(range.begin), range.end - range.begin, PROT_NONE),
              0);
}

void give_all_back() {
    for (; taken_count != 0; --taken_count) {
        const Range &range = taken[taken_count - 1];
        ASSERT_EQ(mprotect(reinterpret_cast<void *>(range.begin), range.end - range.begin,
                           PROT_READ | PROT_WRITE),
                  0);
    }
}

// The number of pages that waits for a set of this size touch if `fired` of its signals have
// fired, including the resets of these.
unsigned pages_of_waits(std::uint32_t members, std::uint32_t fired) {
    sennit_waitset set = SENNIT_WAITSET_NULL;
    EXPECT_EQ(sennit_waitset_create(&set), SENNIT_OK);
    std::vector<sennit_signal> all(members);
    for (sennit_signal &one : all) {
        EXPECT_EQ(sennit_signal_create(1, 1, 0, &one), SENNIT_OK);
        EXPECT_EQ(sennit_waitset_add(set, one, one.handle), SENNIT_OK);
    }
    for (std::uint32_t i = 0; i < fired; ++i)
        EXPECT_EQ(sennit_signal_notify(all[members / 3 + i * (members / 2 / fired)], 0), SENNIT_OK);
    signal::Signals &own = *signal::signals_of(*current_rank());
    for (std::uint32_t chunk = 0; chunk < own.table.chunk_count(); ++chunk) {
        const std::uint32_t count = signal::signals_in(chunk);
        const signal::Own *entries = own.table.at(signal::first_index(chunk));
        take_away(entries, count * sizeof *entries);
        take_away(own.chunks[chunk] + signal::records_offset(chunk),
                  count * sizeof(signal::SignalRecord));
    }
    visits = 0;
    sennit_fired got[16] = {};
    std::size_t count = 0;
    EXPECT_EQ(sennit_waitset_wait_any(set, SENNIT_FOREVER, got), SENNIT_OK);
    EXPECT_EQ(sennit_waitset_wait_some(set, SENNIT_FOREVER, 16, got, &count), SENNIT_OK);
    EXPECT_EQ(count, fired);
    EXPECT_EQ(sennit_waitset_wait_all(set, 0), SENNIT_ERR_TIMEOUT);
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(sennit_signal_reset(got[i].signal), SENNIT_OK);
    EXPECT_EQ(sennit_waitset_wait_any(set, 0, got), SENNIT_ERR_TIMEOUT);
    const unsigned pages = visits;
    give_all_back();
    EXPECT_EQ(sennit_waitset_destroy(set), SENNIT_OK);
    for (const sennit_signal one : all)
        EXPECT_EQ(sennit_signal_destroy(one), SENNIT_OK);
    return pages;
}

TEST(set_visits, waits_look_at_as_many_of_a_hundred_thousand_signals_as_have_fired) {
    page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    struct sigaction before {};
    action.sa_sigaction = come_back;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    for (const std::uint32_t fired : {1u, 10u}) {
        const unsigned few = pages_of_waits(100, fired);
        const unsigned many = pages_of_waits(100000, fired);
        EXPECT_GT(many, 0u) << "pages are not counted";
        // For each fired signal: its entry and its record.
        EXPECT_LE(few, 2 * fired);
        EXPECT_LE(many, 2 * fired);
    }
    EXPECT_EQ(sennit_finalize(), SENNIT_OK);
    ASSERT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
}

}  // namespace
}  // namespace sennit::test
