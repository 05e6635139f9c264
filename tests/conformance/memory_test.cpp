// Segments: collective and local allocation, free, pointers.
#include "harness.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

using namespace conformance;

namespace {

void expect_refused(Ranks &test, sennit_gptr stale) {
    std::uint64_t word = 0x5555;
    std::size_t bytes = 77;
    test.is(sennit_put(stale, &word, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_get(&word, stale, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    test.equal(word, 0x5555u);
    sennit_status status = sennit_put_nbi(stale, &word, sizeof word);
    const bool late = status == SENNIT_OK && !test.loads_from(stale.rank);
    // On a network the target notices it, and flush reports it.
    if (late) status = sennit_flush(stale.rank, SENNIT_FOREVER);
    test.is(status, SENNIT_ERR_NOT_REGISTERED);
    test.require(sennit_ptr(stale) == nullptr, "a freed segment has no pointer");
    if (late) return;
    test.is(sennit_last_error()->status, SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_segment_bytes(stale, &bytes), SENNIT_ERR_NOT_REGISTERED);
    test.equal(bytes, 77u);
}

// The memory of all memory files that this process holds, each file counted once.
std::size_t bytes_in_memory_files() {
    std::map<ino_t, std::size_t> files;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        const auto name = std::filesystem::read_symlink(entry.path(), error).string();
        struct stat found {};
        if (name.find("memfd:sennit") == std::string::npos) continue;
        if (stat(entry.path().c_str(), &found) == 0)
            files[found.st_ino] = static_cast<std::size_t>(found.st_blocks) * 512;
    }
    std::size_t sum = 0;
    for (const auto &[number, bytes] : files)
        sum += bytes;
    return sum;
}

// Each rank fills its piece; after the barrier it checks the next rank's piece.
void use_segment(Ranks &test, sennit_gptr segment, std::size_t bytes, std::uint64_t salt) {
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, salt + static_cast<std::uint64_t>(test.rank));
    test.ok(sennit_put(segment, data.data(), bytes));
    test.barrier();
    test.ok(sennit_get(data.data(), sennit_gptr_at(segment, test.next()), bytes));
    check_pattern(test, data.data(), bytes, salt + static_cast<std::uint64_t>(test.next()));
    test.barrier();
}

}  // namespace

// Broken by rounding that loses a byte, memory that is not zeroed, or a rounded size.
RANK_TEST(memory, segments_have_the_size_asked_for_and_are_zero, kAnything) {
    std::vector<std::size_t> sizes = {0, 1, 7, 63, 64, 65, 4095, 4096, 4097, 65537, 1048575};
    if (!test.quick) sizes.push_back(std::size_t{64} << 20);
    for (const std::size_t bytes : sizes) {
        const sennit_gptr segment = test.allocate(bytes);
        test.equal(segment.rank, test.rank);
        test.equal(segment.offset, 0u);
        for (int peer = 0; peer < test.size; ++peer) {
            std::size_t found = 1234;
            test.ok(sennit_segment_bytes(sennit_gptr_at(segment, peer), &found));
            test.equal(found, bytes);
        }
        std::vector<std::uint8_t> data(bytes < 70000 ? bytes : 4096, 1);
        test.ok(sennit_get(data.data(), segment, data.size()));
        for (const std::uint8_t byte : data)
            test.equal(byte, 0);
        if (bytes > 0) {
            test.ok(sennit_get(data.data(),
                               sennit_gptr_add(segment, static_cast<int64_t>(bytes) - 1), 1));
            test.equal(data[0], 0);
        }
        test.barrier();
        use_segment(test, segment, bytes < 70000 ? bytes : 70000, bytes);
        test.free(segment);
    }
}

// Broken by a mapping that is aligned only for its owner. The GiB is address space, not memory.
RANK_TEST(memory, alignment_holds_on_all_ranks, kLoadStore) {
    const std::size_t most = under_sanitizer() ? std::size_t{1} << 24 : std::size_t{1} << 30;
    for (std::size_t alignment = 1; alignment <= most; alignment *= 2) {
        const sennit_gptr segment = test.allocate(100, alignment);
        for (int peer = 0; peer < test.size; ++peer) {
            const void *address = sennit_ptr(sennit_gptr_at(segment, peer));
            test.require(address != nullptr, "load and store reach every rank");
            test.equal(reinterpret_cast<std::uintptr_t>(address) % alignment, 0u);
        }
        test.barrier();
        test.free(segment);
        sennit_gptr local;
        test.ok(sennit_alloc_local(100, alignment, 0, &local));
        test.equal(reinterpret_cast<std::uintptr_t>(sennit_ptr(local)) % alignment, 0u);
        test.ok(sennit_free(local));
    }
    const sennit_gptr by_default = test.allocate(1);
    test.equal(reinterpret_cast<std::uintptr_t>(sennit_ptr(by_default)) % 64, 0u);
    test.free(by_default);
}

// Broken by an offset from the wrong segment, a place beyond the piece, or an owner's slot mistaken
// for the segment's number: they differ while one rank has more segments than another.
RANK_TEST(memory, places_of_own_memory_are_found_on_all_ranks, kAnything) {
    sennit_gptr more;
    if (test.rank == 0) test.ok(sennit_alloc_local(8, 0, 0, &more));
    const sennit_gptr first = test.allocate(100);
    const sennit_gptr second = test.allocate(5000);
    auto *const own = static_cast<std::byte *>(sennit_ptr(second));
    for (const int offset : {0, 1, 4096, 4999}) {
        for (int peer = 0; peer < test.size; ++peer) {
            const sennit_gptr place = sennit_gptr_of(own + offset, peer);
            test.equal(place.rank, peer);
            test.equal(place.segment, second.segment);
            test.equal(place.offset, static_cast<std::uint64_t>(offset));
        }
    }
    const std::uint64_t word = 7 + static_cast<std::uint64_t>(test.rank);
    std::uint64_t came = 0;
    test.ok(sennit_put(sennit_gptr_of(own + 8, test.next()), &word, sizeof word));
    test.barrier();
    std::memcpy(&came, own + 8, sizeof came);
    test.equal(came, 7 + static_cast<std::uint64_t>(test.previous()));
    const auto is_refused = [&](const void *memory, int rank, sennit_status wanted) {
        test.require(sennit_gptr_is_null(sennit_gptr_of(memory, rank)) == 1, "no such place");
        test.is(sennit_last_error()->status, wanted);
    };
    is_refused(static_cast<std::byte *>(sennit_ptr(first)) + 100, 0, SENNIT_ERR_ARG);
    is_refused(own, test.size, SENNIT_ERR_RANGE);
    sennit_gptr local;
    test.ok(sennit_alloc_local(100, 0, 0, &local));
    void *const mine = sennit_ptr(local);
    test.equal(sennit_gptr_of(mine, test.rank).segment, local.segment);
    if (test.size > 1) is_refused(mine, test.next(), SENNIT_ERR_ARG);
    test.ok(sennit_free(local));
    is_refused(mine, test.rank, SENNIT_ERR_ARG);
    if (test.rank == 0) test.ok(sennit_free(more));
    test.free(first);
    test.free(second);
}

// Broken by a flag that changes size, content or alignment.
RANK_TEST(memory, flags_change_neither_size_nor_content, kOnce) {
    for (unsigned flags = 0; flags < 4; ++flags) {
        const std::size_t bytes = test.quick ? 30000 : 300000;
        const sennit_gptr segment = test.allocate(bytes, 4096, flags);
        use_segment(test, segment, bytes, flags);
        test.free(segment);
        sennit_gptr local;
        test.ok(sennit_alloc_local(bytes, 0, flags, &local));
        std::uint8_t byte = 1;
        test.ok(sennit_get(&byte, sennit_gptr_add(local, bytes - 1), 1));
        test.equal(byte, 0);
        test.ok(sennit_free(local));
    }
}

// Broken by segments that share pages, or a table that is too small.
RANK_TEST(memory, thousands_of_segments_live_together, kOnce) {
    const std::size_t count = test.quick ? 200 : test.size > 2 ? 1000 : 5000;
    std::vector<sennit_gptr> segments;
    std::set<std::uint32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        segments.push_back(test.allocate(8 + i % 100));
        ids.insert(segments.back().segment);
    }
    test.equal(ids.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = i * 64 + static_cast<std::uint64_t>(test.rank);
        test.ok(sennit_put(sennit_gptr_at(segments[i], test.next()), &word, sizeof word));
    }
    test.barrier();
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t word = 0;
        test.ok(sennit_get(&word, segments[i], sizeof word));
        test.equal(word, i * 64 + static_cast<std::uint64_t>(test.previous()));
    }
    test.barrier();
    // Freed in a random order, the same on all ranks.
    while (!segments.empty()) {
        const std::size_t place = test.common.below(segments.size());
        test.free(sennit_gptr_at(segments[place], test.next()));
        segments[place] = segments.back();
        segments.pop_back();
    }
}

// Broken by ids that are reused too early, or a second free that waits for the other ranks.
RANK_TEST(memory, freed_segments_are_refused, kAnything) {
    for (int round = 0; round < 10; ++round) {
        const sennit_gptr first = test.allocate(100);
        const sennit_gptr second = test.allocate(100);
        test.free(first);
        for (int peer = 0; peer < test.size; ++peer)
            expect_refused(test, sennit_gptr_at(first, peer));
        test.is(sennit_free(first), SENNIT_ERR_NOT_REGISTERED);
        const sennit_gptr third = test.allocate(100);
        expect_refused(test, first);
        test.is(sennit_free(first), SENNIT_ERR_NOT_REGISTERED);
        use_segment(test, second, 100, 1);
        use_segment(test, third, 100, 2);
        test.free(second);
        test.free(third);
        expect_refused(test, second);
    }
}

// Broken by pages with data of an earlier segment.
RANK_TEST(memory, memory_that_is_used_again_is_zero, kAnything) {
    for (int round = 0; round < 20; ++round) {
        const std::size_t bytes = test.common.between(1, 20000);
        const sennit_gptr segment = test.allocate(bytes);
        std::vector<std::uint8_t> data(bytes, 1);
        test.ok(sennit_get(data.data(), segment, bytes));
        for (const std::uint8_t byte : data)
            test.equal(byte, 0);
        test.barrier();
        std::fill(data.begin(), data.end(), std::uint8_t{0xEE});
        test.ok(sennit_put(sennit_gptr_at(segment, test.next()), data.data(), bytes));
        test.free(segment);
    }
}

// Broken by a free that keeps the pages: the program would run out of memory.
RANK_TEST(memory, the_pages_of_freed_segments_go_back, kOnce) {
    const std::size_t bytes = std::size_t{4} << 20;
    std::vector<std::uint8_t> data(bytes, 1);
    for (int round = 0; round < 6; ++round) {
        const sennit_gptr segment = test.allocate(bytes);
        test.ok(sennit_put(segment, data.data(), bytes));
        test.free(segment);
        sennit_gptr local;
        test.ok(sennit_alloc_local(bytes, 0, 0, &local));
        test.ok(sennit_put(local, data.data(), bytes));
        test.ok(sennit_free(local));
    }
    test.barrier();
    // Half of the memory of one round, for all ranks whose files this process holds.
    test.require(bytes_in_memory_files() < bytes * static_cast<std::size_t>(test.size),
                 "the memory files are nearly empty");
    test.barrier();
}

// Broken by a free that refuses other names of the segment, or accepts an address inside it.
RANK_TEST(memory, any_piece_names_its_segment_and_no_inner_address_does, kAnything) {
    const sennit_gptr segment = test.allocate(100);
    test.is(sennit_free(sennit_gptr_add(segment, 8)), SENNIT_ERR_ARG);
    test.is(sennit_free(sennit_gptr_at(segment, test.size)), SENNIT_ERR_RANGE);
    use_segment(test, segment, 100, 3);
    test.free(sennit_gptr_at(segment, test.next()));
}

// Broken by a free that checks only its own rank's argument.
RANK_TEST(memory, ranks_that_free_different_segments_free_nothing, kTwoRanks) {
    const sennit_gptr one = test.allocate(100);
    const sennit_gptr two = test.allocate(100);
    test.is(sennit_free(test.rank == 0 ? one : two), SENNIT_ERR_ARG);
    use_segment(test, one, 100, 4);
    use_segment(test, two, 100, 5);
    test.free(one);
    test.free(two);
}

// Broken by a peer that does not find the record of a segment without an announcement.
RANK_TEST(memory, a_local_segment_is_reached_through_its_pointer, kAnything) {
    const std::size_t bytes = 5000;
    sennit_gptr mine = SENNIT_GPTR_NULL;
    test.ok(sennit_alloc_local(bytes, 0, 0, &mine));
    test.equal(mine.rank, test.rank);
    const auto all = test.tell_all(mine);
    const sennit_gptr target = all[static_cast<std::size_t>(test.next())];
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, static_cast<std::uint64_t>(test.rank));
    test.ok(sennit_put(target, data.data(), bytes));
    std::size_t found = 0;
    test.ok(sennit_segment_bytes(target, &found));
    test.equal(found, bytes);
    test.barrier();
    test.ok(sennit_get(data.data(), mine, bytes));
    check_pattern(test, data.data(), bytes, static_cast<std::uint64_t>(test.previous()));
    if (test.size > 1) test.is(sennit_free(target), SENNIT_ERR_ARG);
    test.barrier();
    test.ok(sennit_free(mine));
    test.is(sennit_free(mine), SENNIT_ERR_NOT_REGISTERED);
    expect_refused(test, mine);
    test.barrier();
    expect_refused(test, target);
    test.barrier();
}

// Broken by a peer that keeps the old segment of a slot; after 255 more even the id is the same.
RANK_TEST(memory, the_next_tenant_of_a_slot_is_never_mistaken_for_the_last, kOnce) {
    sennit_gptr mine = SENNIT_GPTR_NULL;
    test.ok(sennit_alloc_local(64, 0, 0, &mine));
    sennit_gptr old = SENNIT_GPTR_NULL;
    // The number of segments in the slot that the peers do not see before the next one is
    // announced.
    for (const int unseen : {0, 1, 2, 253, 254, 255, 256, 509}) {
        const auto all = test.tell_all(mine);
        const sennit_gptr target = all[static_cast<std::size_t>(test.next())];
        const std::uint64_t word = 1000 + static_cast<std::uint64_t>(unseen);
        test.ok(sennit_put(target, &word, sizeof word));
        test.barrier();
        std::uint64_t got = 0;
        test.ok(sennit_get(&got, mine, sizeof got));
        test.equal(got, word);
        test.barrier();
        old = mine;
        test.ok(sennit_free(mine));
        for (int i = 0; i < unseen; ++i) {
            test.ok(sennit_alloc_local(64, 0, 0, &mine));
            test.ok(sennit_free(mine));
        }
        test.ok(sennit_alloc_local(64, 0, 0, &mine));
        if (mine.segment != old.segment) expect_refused(test, old);
    }
    test.barrier();
    test.ok(sennit_free(mine));
}

// Broken by a table of local segments that is too small or is searched wrongly.
RANK_TEST(memory, thousands_of_local_segments_live_together, kOnce) {
    const std::size_t count = test.quick ? 300 : 2000;
    std::vector<sennit_gptr> segments(count);
    for (std::size_t i = 0; i < count; ++i) {
        test.ok(sennit_alloc_local(8 + i % 50, 0, 0, &segments[i]));
        const std::uint64_t word = i;
        test.ok(sennit_put(segments[i], &word, sizeof word));
    }
    const sennit_gptr mine = segments[count - 1];
    const auto all = test.tell_all(mine);
    std::uint64_t word = 0;
    test.ok(sennit_get(&word, all[static_cast<std::size_t>(test.next())], sizeof word));
    test.equal(word, count - 1);
    test.barrier();
    while (!segments.empty()) {
        const std::size_t place = test.own.below(segments.size());
        test.ok(sennit_free(segments[place]));
        segments[place] = segments.back();
        segments.pop_back();
    }
}

// Broken by a pointer to another rank's piece, or to other memory than put and get use.
RANK_TEST(memory, every_rank_sees_every_rank_through_pointers, kLoadStore) {
    const std::size_t words = 1000;
    const sennit_gptr segment = test.allocate(words * 8);
    auto *mine = static_cast<std::uint64_t *>(sennit_ptr(segment));
    test.require(mine != nullptr, "a rank has a pointer to its own memory");
    for (std::size_t i = 0; i < words; ++i)
        mine[i] = i * 100 + static_cast<std::uint64_t>(test.rank);
    test.barrier();
    for (int peer = 0; peer < test.size; ++peer) {
        const sennit_gptr there = sennit_gptr_at(segment, peer);
        const auto *theirs = static_cast<const std::uint64_t *>(sennit_ptr(there));
        test.require(theirs != nullptr, "load and store reach every rank");
        for (std::size_t i = 0; i < words; ++i)
            test.equal(theirs[i], i * 100 + static_cast<std::uint64_t>(peer));
        test.require(sennit_ptr(sennit_gptr_add(there, 24)) == theirs + 3,
                     "an offset moves the pointer by bytes");
        test.require(sennit_ptr(sennit_gptr_add(there, words * 8)) == theirs + words,
                     "the end of a piece has an address");
        test.require(sennit_ptr(sennit_gptr_add(there, words * 8 + 1)) == nullptr,
                     "beyond the end there is no address");
        test.is(sennit_last_error()->status, SENNIT_ERR_RANGE);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a free that accepts a pointer to Sennit's internal memory. Ids of segments of one rank
// have ten upper bits of 0, a number of fourteen bits, and a generation that starts at 1.
RANK_TEST(memory, internal_memory_is_not_freed, kOnce) {
    constexpr std::uint32_t kNumbers = 64;
    constexpr std::uint32_t kGenerations = 0xFF;
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    test.ok(sennit_signal_create(1, 1, 0, &signal));
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{};
    test.ok(sennit_queue_create(8, 1, 1, &queue, &address));
    // Long enough that the call allocates slots.
    std::vector<std::uint64_t> words(40000, 1);
    const sennit_reduction sum = sennit_reduction_of(words.size(), SENNIT_UINT64, SENNIT_SUM);
    const auto add_up = [&] {
        std::vector<std::uint64_t> sums(words.size(), 0);
        test.ok(
            sennit_allreduce(SENNIT_TEAM_WORLD, words.data(), sums.data(), sum, SENNIT_FOREVER));
        test.equal(std::count(sums.begin(), sums.end(), static_cast<std::uint64_t>(test.size)),
                   static_cast<std::ptrdiff_t>(sums.size()));
    };
    add_up();
    bool has_met_queue = false;
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
        for (std::uint32_t generation = 1; generation <= kGenerations; ++generation) {
            const sennit_gptr guess{test.rank, number << 8 | generation, 0};
            has_met_queue |= guess.segment == address.gptr.segment;
            const sennit_status status = sennit_free(guess);
            test.require(status == SENNIT_ERR_ARG || status == SENNIT_ERR_NOT_REGISTERED,
                         "only allocated segments are freed");
        }
    }
    test.require(has_met_queue, "the guesses go far enough");
    test.barrier();
    add_up();
    test.ok(sennit_signal_notify(signal, 0));
    test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
    test.ok(sennit_queue_destroy(queue));
    test.ok(sennit_signal_destroy(signal));
}

// Broken by a path without load and store that gives an invalid pointer or no reason.
RANK_TEST(memory, without_load_and_store_the_pointer_is_null_and_has_a_reason, kTwoRanks) {
    const sennit_gptr segment = test.allocate(100);
    test.require(sennit_ptr(segment) != nullptr, "a rank has a pointer to its own memory");
    for (int peer = 0; peer < test.size; ++peer) {
        const bool has_pointer = sennit_ptr(sennit_gptr_at(segment, peer)) != nullptr;
        test.equal(has_pointer, test.loads_from(peer));
        if (has_pointer) continue;
        test.is(sennit_last_error()->status, SENNIT_ERR_UNSUPPORTED);
        test.require(sennit_last_error()->text[0] != '\0', "the reason is in the last error");
    }
    test.barrier();
    test.free(segment);
}

// Broken by 32 bits for a size or an offset anywhere. The pages are not reserved, and few of them
// are touched.
RANK_TEST(memory, a_segment_may_be_larger_than_four_gibibytes, kOnce) {
    if (under_sanitizer()) return;
    constexpr std::uint64_t kLine = std::uint64_t{1} << 32;
    constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    const sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, kLine + 4 * kMebi, 0, 0, &segment);
    if (status == SENNIT_ERR_NOMEM) {
        if (test.rank == 0) std::fprintf(stderr, "left out: this machine has less than 4 GiB\n");
        return;
    }
    test.ok(status);
    std::size_t bytes = 0;
    test.ok(sennit_segment_bytes(sennit_gptr_at(segment, test.next()), &bytes));
    test.equal(bytes, kLine + 4 * kMebi);
    const auto at = [&](std::uint64_t offset) {
        return sennit_gptr_add(sennit_gptr_at(segment, test.next()),
                               static_cast<std::int64_t>(offset));
    };
    const auto salt = static_cast<std::uint64_t>(test.rank);
    std::vector<std::uint8_t> data(100000);
    fill(data.data(), data.size(), salt);
    test.ok(sennit_put(at(kLine - 50000), data.data(), data.size()));
    test.ok(sennit_put(at(kLine + 4 * kMebi - 8), data.data(), 8));
    test.is(sennit_put(at(kLine + 4 * kMebi - 7), data.data(), 8), SENNIT_ERR_RANGE);
    // Two rows of three words: below and above 4 GiB.
    const sennit_box box{8, {3, 2, 1}, {16, static_cast<std::int64_t>(kLine), 0}, {8, 24, 0}};
    test.ok(sennit_put_strided(at(kMebi), data.data(), &box));
    std::vector<std::uint8_t> back(data.size());
    test.ok(sennit_get(back.data(), at(kLine - 50000), back.size()));
    check_pattern(test, back.data(), back.size(), salt);
    test.ok(sennit_get(back.data(), at(kLine + kMebi + 32), 8));
    test.require(std::memcmp(back.data(), data.data() + 40, 8) == 0,
                 "the last word is in its place");
    test.ok(sennit_get(back.data(), at(32), 8));
    test.require(std::all_of(back.begin(), back.begin() + 8, [](auto byte) { return byte == 0; }),
                 "nothing went to the offset cut to 32 bits");
    test.barrier();
    test.free(segment);
}
