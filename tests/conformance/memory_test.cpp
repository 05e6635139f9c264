// Segments: collective and local allocation, free, pointers.
#include "harness.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace conformance;

namespace {

void expect_refused(Ranks &it, sennit_gptr stale) {
    std::uint64_t word = 0x5555;
    std::size_t bytes = 77;
    it.is(sennit_put(stale, &word, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    it.is(sennit_get(&word, stale, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    it.equal(word, 0x5555u);
    sennit_status status = sennit_put_nbi(stale, &word, sizeof word);
    const bool late = status == SENNIT_OK && !it.load_store && stale.rank != it.rank;
    // On a network the target finds out, and flush reports it.
    if (late) status = sennit_flush(stale.rank, SENNIT_FOREVER);
    it.is(status, SENNIT_ERR_NOT_REGISTERED);
    it.require(sennit_ptr(stale) == nullptr, "no pointer to what is freed");
    if (late) return;
    it.is(sennit_last_error()->status, SENNIT_ERR_NOT_REGISTERED);
    it.is(sennit_segment_bytes(stale, &bytes), SENNIT_ERR_NOT_REGISTERED);
    it.equal(bytes, 77u);
}

// What the memory files that this process holds take, each counted once.
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

// Owner fills its piece; after the barrier every rank reads its neighbour's.
void use_segment(Ranks &it, sennit_gptr segment, std::size_t bytes, std::uint64_t salt) {
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, salt + static_cast<std::uint64_t>(it.rank));
    it.ok(sennit_put(segment, data.data(), bytes));
    it.barrier();
    it.ok(sennit_get(data.data(), sennit_gptr_at(segment, it.next()), bytes));
    check_pattern(it, data.data(), bytes, salt + static_cast<std::uint64_t>(it.next()));
    it.barrier();
}

}  // namespace

// Broken by rounding that loses a byte, memory that is not zeroed, a size that is reported rounded.
RANK_TEST(memory, segments_have_the_size_asked_for_and_are_zero, kAnything) {
    std::vector<std::size_t> sizes = {0, 1, 7, 63, 64, 65, 4095, 4096, 4097, 65537, 1048575};
    if (!it.quick) sizes.push_back(std::size_t{64} << 20);
    for (const std::size_t bytes : sizes) {
        const sennit_gptr segment = it.allocate(bytes);
        it.equal(segment.rank, it.rank);
        it.equal(segment.offset, 0u);
        for (int peer = 0; peer < it.size; ++peer) {
            std::size_t found = 1234;
            it.ok(sennit_segment_bytes(sennit_gptr_at(segment, peer), &found));
            it.equal(found, bytes);
        }
        std::vector<std::uint8_t> data(bytes < 70000 ? bytes : 4096, 1);
        it.ok(sennit_get(data.data(), segment, data.size()));
        for (const std::uint8_t byte : data)
            it.equal(byte, 0);
        if (bytes > 0) {
            it.ok(sennit_get(data.data(), sennit_gptr_add(segment, static_cast<int64_t>(bytes) - 1),
                             1));
            it.equal(data[0], 0);
        }
        it.barrier();
        use_segment(it, segment, bytes < 70000 ? bytes : 70000, bytes);
        it.free(segment);
    }
}

// Broken by a mapping that is aligned for its owner only. One GiB is address space, not memory.
RANK_TEST(memory, alignment_holds_on_all_ranks, kLoadStore) {
    const std::size_t most = under_sanitizer() ? std::size_t{1} << 24 : std::size_t{1} << 30;
    for (std::size_t alignment = 1; alignment <= most; alignment *= 2) {
        const sennit_gptr segment = it.allocate(100, alignment);
        for (int peer = 0; peer < it.size; ++peer) {
            const void *address = sennit_ptr(sennit_gptr_at(segment, peer));
            it.require(address != nullptr, "load and store reach every rank");
            it.equal(reinterpret_cast<std::uintptr_t>(address) % alignment, 0u);
        }
        it.barrier();
        it.free(segment);
        sennit_gptr local;
        it.ok(sennit_alloc_local(100, alignment, 0, &local));
        it.equal(reinterpret_cast<std::uintptr_t>(sennit_ptr(local)) % alignment, 0u);
        it.ok(sennit_free(local));
    }
    const sennit_gptr by_default = it.allocate(1);
    it.equal(reinterpret_cast<std::uintptr_t>(sennit_ptr(by_default)) % 64, 0u);
    it.free(by_default);
}

// Broken by a flag that changes size, content or alignment.
RANK_TEST(memory, flags_change_nothing_that_is_seen, kOnce) {
    for (unsigned flags = 0; flags < 4; ++flags) {
        const std::size_t bytes = it.quick ? 30000 : 300000;
        const sennit_gptr segment = it.allocate(bytes, 4096, flags);
        use_segment(it, segment, bytes, flags);
        it.free(segment);
        sennit_gptr local;
        it.ok(sennit_alloc_local(bytes, 0, flags, &local));
        std::uint8_t byte = 1;
        it.ok(sennit_get(&byte, sennit_gptr_add(local, bytes - 1), 1));
        it.equal(byte, 0);
        it.ok(sennit_free(local));
    }
}

// Broken by segments that share pages, or a table that is too small.
RANK_TEST(memory, thousands_of_segments_live_together, kOnce) {
    const std::size_t count = it.quick ? 200 : it.size > 2 ? 1000 : 5000;
    std::vector<sennit_gptr> segments;
    std::set<std::uint32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        segments.push_back(it.allocate(8 + i % 100));
        ids.insert(segments.back().segment);
    }
    it.equal(ids.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = i * 64 + static_cast<std::uint64_t>(it.rank);
        it.ok(sennit_put(sennit_gptr_at(segments[i], it.next()), &word, sizeof word));
    }
    it.barrier();
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t word = 0;
        it.ok(sennit_get(&word, segments[i], sizeof word));
        it.equal(word, i * 64 + static_cast<std::uint64_t>(it.previous()));
    }
    it.barrier();
    // Freed in another order than made, the same on all ranks.
    while (!segments.empty()) {
        const std::size_t place = it.common.below(segments.size());
        it.free(sennit_gptr_at(segments[place], it.next()));
        segments[place] = segments.back();
        segments.pop_back();
    }
}

// Broken by ids that come back too early, or a second free that waits for the other ranks.
RANK_TEST(memory, what_was_freed_is_refused, kAnything) {
    for (int round = 0; round < 10; ++round) {
        const sennit_gptr first = it.allocate(100);
        const sennit_gptr second = it.allocate(100);
        it.free(first);
        for (int peer = 0; peer < it.size; ++peer)
            expect_refused(it, sennit_gptr_at(first, peer));
        it.is(sennit_free(first), SENNIT_ERR_NOT_REGISTERED);
        const sennit_gptr third = it.allocate(100);
        expect_refused(it, first);
        it.is(sennit_free(first), SENNIT_ERR_NOT_REGISTERED);
        use_segment(it, second, 100, 1);
        use_segment(it, third, 100, 2);
        it.free(second);
        it.free(third);
        expect_refused(it, second);
    }
}

// Broken by pages that keep what the last segment held.
RANK_TEST(memory, memory_that_is_used_again_is_zero, kAnything) {
    for (int round = 0; round < 20; ++round) {
        const std::size_t bytes = it.common.between(1, 20000);
        const sennit_gptr segment = it.allocate(bytes);
        std::vector<std::uint8_t> data(bytes, 1);
        it.ok(sennit_get(data.data(), segment, bytes));
        for (const std::uint8_t byte : data)
            it.equal(byte, 0);
        it.barrier();
        std::fill(data.begin(), data.end(), std::uint8_t{0xEE});
        it.ok(sennit_put(sennit_gptr_at(segment, it.next()), data.data(), bytes));
        it.free(segment);
    }
}

// Broken by a free that keeps the pages: a program that allocates and frees would run out of
// memory.
RANK_TEST(memory, the_pages_of_freed_segments_go_back, kOnce) {
    const std::size_t bytes = std::size_t{4} << 20;
    std::vector<std::uint8_t> data(bytes, 1);
    for (int round = 0; round < 6; ++round) {
        const sennit_gptr segment = it.allocate(bytes);
        it.ok(sennit_put(segment, data.data(), bytes));
        it.free(segment);
        sennit_gptr local;
        it.ok(sennit_alloc_local(bytes, 0, 0, &local));
        it.ok(sennit_put(local, data.data(), bytes));
        it.ok(sennit_free(local));
    }
    it.barrier();
    // Half of what one round took, of all ranks whose files this process holds.
    it.require(bytes_in_memory_files() < bytes * static_cast<std::size_t>(it.size),
               "the memory files are nearly empty");
    it.barrier();
}

// Broken by a free that takes other names for the same segment, or one in its middle.
RANK_TEST(memory, any_piece_names_the_segment_but_no_place_inside, kAnything) {
    const sennit_gptr segment = it.allocate(100);
    it.is(sennit_free(sennit_gptr_add(segment, 8)), SENNIT_ERR_ARG);
    it.is(sennit_free(sennit_gptr_at(segment, it.size)), SENNIT_ERR_RANGE);
    use_segment(it, segment, 100, 3);
    it.free(sennit_gptr_at(segment, it.next()));
}

// Broken by a free that believes its own rank alone.
RANK_TEST(memory, ranks_that_free_different_segments_free_nothing, kTwoRanks) {
    const sennit_gptr one = it.allocate(100);
    const sennit_gptr two = it.allocate(100);
    it.is(sennit_free(it.rank == 0 ? one : two), SENNIT_ERR_ARG);
    use_segment(it, one, 100, 4);
    use_segment(it, two, 100, 5);
    it.free(one);
    it.free(two);
}

// Broken by a peer that does not find the record of a segment it was never told of.
RANK_TEST(memory, a_local_segment_is_reached_through_its_pointer, kAnything) {
    const std::size_t bytes = 5000;
    sennit_gptr mine = SENNIT_GPTR_NULL;
    it.ok(sennit_alloc_local(bytes, 0, 0, &mine));
    it.equal(mine.rank, it.rank);
    const auto all = it.tell_all(mine);
    const sennit_gptr target = all[static_cast<std::size_t>(it.next())];
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, static_cast<std::uint64_t>(it.rank));
    it.ok(sennit_put(target, data.data(), bytes));
    std::size_t found = 0;
    it.ok(sennit_segment_bytes(target, &found));
    it.equal(found, bytes);
    it.barrier();
    it.ok(sennit_get(data.data(), mine, bytes));
    check_pattern(it, data.data(), bytes, static_cast<std::uint64_t>(it.previous()));
    if (it.size > 1) it.is(sennit_free(target), SENNIT_ERR_ARG);
    it.barrier();
    it.ok(sennit_free(mine));
    it.is(sennit_free(mine), SENNIT_ERR_NOT_REGISTERED);
    expect_refused(it, mine);
    it.barrier();
    expect_refused(it, target);
    it.barrier();
}

// Broken by a peer that keeps the old tenant of a slot; after 255 tenants even the id is the same.
RANK_TEST(memory, the_next_tenant_of_a_slot_is_never_mistaken_for_the_last, kOnce) {
    sennit_gptr mine = SENNIT_GPTR_NULL;
    it.ok(sennit_alloc_local(64, 0, 0, &mine));
    sennit_gptr old = SENNIT_GPTR_NULL;
    // How many tenants come and go unseen by the peers before the next is shown to them.
    for (const int unseen : {0, 1, 2, 253, 254, 255, 256, 509}) {
        const auto all = it.tell_all(mine);
        const sennit_gptr target = all[static_cast<std::size_t>(it.next())];
        const std::uint64_t word = 1000 + static_cast<std::uint64_t>(unseen);
        it.ok(sennit_put(target, &word, sizeof word));
        it.barrier();
        std::uint64_t got = 0;
        it.ok(sennit_get(&got, mine, sizeof got));
        it.equal(got, word);
        it.barrier();
        old = mine;
        it.ok(sennit_free(mine));
        for (int i = 0; i < unseen; ++i) {
            it.ok(sennit_alloc_local(64, 0, 0, &mine));
            it.ok(sennit_free(mine));
        }
        it.ok(sennit_alloc_local(64, 0, 0, &mine));
        if (mine.segment != old.segment) expect_refused(it, old);
    }
    it.barrier();
    it.ok(sennit_free(mine));
}

// Broken by a table of local segments that is too small or is searched wrongly.
RANK_TEST(memory, thousands_of_local_segments_live_together, kOnce) {
    const std::size_t count = it.quick ? 300 : 2000;
    std::vector<sennit_gptr> segments(count);
    for (std::size_t i = 0; i < count; ++i) {
        it.ok(sennit_alloc_local(8 + i % 50, 0, 0, &segments[i]));
        const std::uint64_t word = i;
        it.ok(sennit_put(segments[i], &word, sizeof word));
    }
    const sennit_gptr mine = segments[count - 1];
    const auto all = it.tell_all(mine);
    std::uint64_t word = 0;
    it.ok(sennit_get(&word, all[static_cast<std::size_t>(it.next())], sizeof word));
    it.equal(word, count - 1);
    it.barrier();
    while (!segments.empty()) {
        const std::size_t place = it.own.below(segments.size());
        it.ok(sennit_free(segments[place]));
        segments[place] = segments.back();
        segments.pop_back();
    }
}

// Broken by a pointer into another rank's piece, or one that is not the memory that put and get
// use.
RANK_TEST(memory, every_rank_sees_every_rank_through_pointers, kLoadStore) {
    const std::size_t words = 1000;
    const sennit_gptr segment = it.allocate(words * 8);
    auto *mine = static_cast<std::uint64_t *>(sennit_ptr(segment));
    it.require(mine != nullptr, "a rank has a pointer to its own memory");
    for (std::size_t i = 0; i < words; ++i)
        mine[i] = i * 100 + static_cast<std::uint64_t>(it.rank);
    it.barrier();
    for (int peer = 0; peer < it.size; ++peer) {
        const sennit_gptr there = sennit_gptr_at(segment, peer);
        const auto *theirs = static_cast<const std::uint64_t *>(sennit_ptr(there));
        it.require(theirs != nullptr, "load and store reach every rank");
        for (std::size_t i = 0; i < words; ++i)
            it.equal(theirs[i], i * 100 + static_cast<std::uint64_t>(peer));
        it.require(sennit_ptr(sennit_gptr_add(there, 24)) == theirs + 3,
                   "an offset moves the pointer by bytes");
        it.require(sennit_ptr(sennit_gptr_add(there, words * 8)) == theirs + words,
                   "the end of a piece has an address");
        it.require(sennit_ptr(sennit_gptr_add(there, words * 8 + 1)) == nullptr,
                   "beyond the end there is no address");
        it.is(sennit_last_error()->status, SENNIT_ERR_RANGE);
    }
    it.barrier();
    it.free(segment);
}

// Broken by a free that believes a pointer to memory that Sennit uses itself. Segments of one rank
// are named by the upper ten bits 0, their number in fourteen, and a generation that begins at 1.
RANK_TEST(memory, what_was_not_allocated_is_not_freed, kOnce) {
    constexpr std::uint32_t kNumbers = 64;
    constexpr std::uint32_t kGenerations = 0xFF;
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    it.ok(sennit_signal_create(1, 1, &signal));
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{};
    it.ok(sennit_queue_create(8, 1, 1, &queue, &address));
    // Long enough for slots that are made for such calls.
    std::vector<std::uint64_t> words(40000, 1);
    const sennit_reduction sum = sennit_reduction_of(words.size(), SENNIT_UINT64, SENNIT_SUM);
    const auto add_up = [&] {
        std::vector<std::uint64_t> sums(words.size(), 0);
        it.ok(sennit_allreduce(SENNIT_TEAM_WORLD, words.data(), sums.data(), sum, SENNIT_FOREVER));
        it.equal(std::count(sums.begin(), sums.end(), static_cast<std::uint64_t>(it.size)),
                 static_cast<std::ptrdiff_t>(sums.size()));
    };
    add_up();
    bool has_met_queue = false;
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
        for (std::uint32_t generation = 1; generation <= kGenerations; ++generation) {
            const sennit_gptr guess{it.rank, number << 8 | generation, 0};
            has_met_queue |= guess.segment == address.gptr.segment;
            const sennit_status status = sennit_free(guess);
            it.require(status == SENNIT_ERR_ARG || status == SENNIT_ERR_NOT_REGISTERED,
                       "nothing that was not allocated is freed");
        }
    }
    it.require(has_met_queue, "the guesses go far enough");
    it.barrier();
    add_up();
    it.ok(sennit_signal_notify(signal, 0));
    it.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
    it.ok(sennit_queue_destroy(queue));
    it.ok(sennit_signal_destroy(signal));
}

// Broken by a path without load and store that makes up a pointer or gives no reason.
RANK_TEST(memory, without_load_and_store_the_pointer_is_null_and_has_a_reason, kTwoRanks) {
    if (it.load_store) return;
    const sennit_gptr segment = it.allocate(100);
    it.require(sennit_ptr(segment) != nullptr, "a rank has a pointer to its own memory");
    it.require(sennit_ptr(sennit_gptr_at(segment, it.next())) == nullptr, "no load and store");
    it.is(sennit_last_error()->status, SENNIT_ERR_UNSUPPORTED);
    it.require(sennit_last_error()->text[0] != '\0', "the reason is in the last error");
    it.barrier();
    it.free(segment);
}

// Broken by a size or an offset of 32 bits anywhere on the way. The pages are not reserved, and few
// are touched.
RANK_TEST(memory, a_segment_may_be_larger_than_four_gibibytes, kOnce) {
    if (under_sanitizer()) return;
    constexpr std::uint64_t kLine = std::uint64_t{1} << 32;
    constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    const sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, kLine + 4 * kMebi, 0, 0, &segment);
    if (status == SENNIT_ERR_NOMEM) {
        if (it.rank == 0) std::fprintf(stderr, "left out: this machine has less than 4 GiB\n");
        return;
    }
    it.ok(status);
    std::size_t bytes = 0;
    it.ok(sennit_segment_bytes(sennit_gptr_at(segment, it.next()), &bytes));
    it.equal(bytes, kLine + 4 * kMebi);
    const auto at = [&](std::uint64_t offset) {
        return sennit_gptr_add(sennit_gptr_at(segment, it.next()),
                               static_cast<std::int64_t>(offset));
    };
    const auto salt = static_cast<std::uint64_t>(it.rank);
    std::vector<std::uint8_t> data(100000);
    fill(data.data(), data.size(), salt);
    it.ok(sennit_put(at(kLine - 50000), data.data(), data.size()));
    it.ok(sennit_put(at(kLine + 4 * kMebi - 8), data.data(), 8));
    it.is(sennit_put(at(kLine + 4 * kMebi - 7), data.data(), 8), SENNIT_ERR_RANGE);
    // Two rows of three words, below the line and above.
    const sennit_box box{8, {3, 2, 1}, {16, static_cast<std::int64_t>(kLine), 0}, {8, 24, 0}};
    it.ok(sennit_put_strided(at(kMebi), data.data(), &box));
    std::vector<std::uint8_t> back(data.size());
    it.ok(sennit_get(back.data(), at(kLine - 50000), back.size()));
    check_pattern(it, back.data(), back.size(), salt);
    it.ok(sennit_get(back.data(), at(kLine + kMebi + 32), 8));
    it.require(std::memcmp(back.data(), data.data() + 40, 8) == 0, "the last word is in its place");
    it.ok(sennit_get(back.data(), at(32), 8));
    it.require(std::all_of(back.begin(), back.begin() + 8, [](auto byte) { return byte == 0; }),
               "nothing went to the place without its upper half");
    it.barrier();
    it.free(segment);
}
