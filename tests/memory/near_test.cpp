// A rank's cache of entries (memory::find_near()). Broken by a put that uses an entry of another
// segment, of a freed segment, or of a rank that has ended.
#include <sennit/sennit.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "../engine/job.hpp"
#include "memory/entry.hpp"

namespace sennit::test {
namespace {

// True if put, get and an atomic operation refuse the pointer and write nothing.
bool is_refused(sennit_gptr gptr, sennit_status wanted) {
    std::uint64_t word = 7;
    return sennit_put(gptr, &word, sizeof word) == wanted &&
           sennit_get(&word, gptr, sizeof word) == wanted &&
           sennit_atomic_fetch_add_u64(gptr, 1, &word) == wanted && word == 7;
}

// More names than places in the cache, used in an order that makes them evict each other.
TEST(near, every_one_of_many_names_leads_to_its_own_memory) {
    constexpr int kRanks = 4;
    constexpr std::size_t kSegments = 3 * kNearEntries / kRanks;
    Job job(kRanks, "inproc");
    job.run([&](int rank) {
        std::vector<sennit_gptr> segments(kSegments);
        for (sennit_gptr &segment : segments)
            job.expect(
                sennit_alloc(SENNIT_TEAM_WORLD, kRanks * sizeof(std::uint64_t), 0, 0, &segment),
                "alloc");
        const auto value = [](std::size_t segment, int from, int to) {
            return segment * 100 + static_cast<std::size_t>(from * 10 + to);
        };
        for (std::size_t i = 0; i < kSegments * kRanks; ++i) {
            const std::size_t segment = i * 7 % kSegments;
            const int to = static_cast<int>(i / kSegments);
            const std::uint64_t word = value(segment, rank, to);
            const sennit_gptr place = sennit_gptr_add(sennit_gptr_at(segments[segment], to),
                                                      rank * static_cast<int>(sizeof word));
            job.expect(sennit_put(place, &word, sizeof word), "put");
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        for (std::size_t i = 0; i < kSegments * kRanks; ++i) {
            const std::size_t segment = i * 11 % kSegments;
            const int at = static_cast<int>(i / kSegments);
            std::uint64_t words[kRanks] = {};
            const sennit_gptr place = sennit_gptr_at(segments[segment], at);
            job.expect(sennit_get(words, place, sizeof words), "get");
            for (int from = 0; from < kRanks; ++from)
                if (words[from] != value(segment, from, at)) job.note("another segment's word");
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        for (std::size_t i = 0; i < kSegments * kRanks; ++i) {
            const std::size_t segment = i * 13 % kSegments;
            const int at = static_cast<int>(i / kSegments);
            const sennit_gptr place = sennit_gptr_at(segments[segment], at);
            std::uint64_t old = 0;
            job.expect(sennit_atomic_fetch_add_u64(place, 0, &old), "fetch_add");
            if (old != value(segment, 0, at)) job.note("another segment's word, atomically");
        }
    });
    EXPECT_EQ(job.fault, "");
}

// A zeroed pointer has the same name as an entry without a segment.
TEST(near, a_freed_segment_and_a_zeroed_pointer_at_its_place_are_refused) {
    constexpr sennit_gptr kZeroed{0, 0, 0};
    constexpr std::size_t kSegments = kNearEntries;  // some share the zeroed pointer's place
    Job job(2, "inproc");
    std::atomic<int> shared{0};
    job.run([&](int rank) {
        std::vector<sennit_gptr> segments(kSegments);
        const std::uint64_t word = 5;
        const auto &zeroed_place = memory::near_place(*current_rank(), kZeroed);
        for (sennit_gptr &segment : segments) {
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &segment), "alloc");
            const sennit_gptr first = sennit_gptr_at(segment, 0);
            // Keep that place for the first segment that takes it.
            if (&memory::near_place(*current_rank(), first) == &zeroed_place &&
                zeroed_place.load(std::memory_order_relaxed) != nullptr)
                continue;
            job.expect(sennit_put(first, &word, sizeof word), "put");
        }
        if (zeroed_place.load(std::memory_order_relaxed) != nullptr) ++shared;
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        for (const sennit_gptr segment : segments)
            job.expect(sennit_free(segment), "free");
        for (const sennit_gptr segment : segments)
            if (!is_refused(sennit_gptr_at(segment, 0), SENNIT_ERR_NOT_REGISTERED))
                job.note("a freed segment was used");
        if (!is_refused(kZeroed, SENNIT_ERR_ARG) || !is_refused(SENNIT_GPTR_NULL, SENNIT_ERR_ARG))
            job.note("a null pointer was followed");
        // Other segments use their addresses now.
        for (sennit_gptr &segment : segments) {
            const sennit_gptr before = segment;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &segment), "alloc");
            job.expect(sennit_put(sennit_gptr_at(segment, 1 - rank), &word, sizeof word), "put");
            if (!is_refused(before, SENNIT_ERR_NOT_REGISTERED))
                job.note("a freed segment was used after another got its place");
        }
    });
    EXPECT_EQ(job.fault, "");
    EXPECT_EQ(shared, 2) << "no segment had the zeroed pointer's place: the test is of no use";
}

TEST(near, no_entry_of_an_ended_rank_is_used) {
    const std::uint64_t word = 5;
    sennit_gptr before = SENNIT_GPTR_NULL;
    std::atomic<int> step{0};
    const auto wait_for = [&](int wanted) {
        while (step != wanted)
            std::this_thread::yield();
    };
    // Another thread, which lives longer than the rank.
    std::thread other([&] {
        wait_for(1);
        EXPECT_EQ(sennit_thread_attach(0), SENNIT_OK);
        EXPECT_EQ(sennit_put(before, &word, sizeof word), SENNIT_OK);
        step = 2;
        wait_for(3);
        EXPECT_TRUE(is_refused(before, SENNIT_ERR_STATE));
        step = 4;
        wait_for(5);
        EXPECT_TRUE(is_refused(before, SENNIT_ERR_NOT_REGISTERED));
        step = 6;
    });
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    ASSERT_EQ(sennit_init(&options), SENNIT_OK);
    ASSERT_EQ(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &before), SENNIT_OK);
    ASSERT_EQ(sennit_put(before, &word, sizeof word), SENNIT_OK);
    step = 1;
    wait_for(2);
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
    step = 3;
    EXPECT_TRUE(is_refused(before, SENNIT_ERR_STATE));
    wait_for(4);
    ASSERT_EQ(sennit_init(&options), SENNIT_OK);
    step = 5;
    wait_for(6);
    EXPECT_TRUE(is_refused(before, SENNIT_ERR_NOT_REGISTERED));
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
    other.join();
}

}  // namespace
}  // namespace sennit::test
