// Put and get of all kinds, sizes, places and overlaps.
#include "harness.hpp"

#include <sched.h>

#include <algorithm>
#include <iterator>

using namespace conformance;

namespace {

// The ways to move data and know that it has arrived. A get has no local form.
enum class Way { blocking, request, implicit, local };
constexpr Way kWays[] = {Way::blocking, Way::request, Way::implicit, Way::local};

Way way_of(std::uint64_t number) {
    return kWays[number % std::size(kWays)];
}

void finish(Ranks &test, Way way, sennit_request *request, int peer) {
    if (way == Way::request) test.ok(sennit_wait(request, SENNIT_FOREVER));
    if (way == Way::implicit || way == Way::local) test.ok(sennit_flush(peer, SENNIT_FOREVER));
}

void put(Ranks &test, Way way, sennit_gptr to, const void *from, std::size_t bytes) {
    sennit_request request = SENNIT_REQUEST_NULL;
    switch (way) {
        case Way::blocking:
            test.ok(sennit_put(to, from, bytes));
            break;
        case Way::request:
            test.ok(sennit_put_nb(to, from, bytes, &request));
            break;
        case Way::implicit:
            test.ok(sennit_put_nbi(to, from, bytes));
            break;
        case Way::local:
            test.ok(sennit_put_local(to, from, bytes));
            break;
    }
    finish(test, way, &request, to.rank);
}

void get(Ranks &test, Way way, void *to, sennit_gptr from, std::size_t bytes) {
    sennit_request request = SENNIT_REQUEST_NULL;
    switch (way) {
        case Way::blocking:
        case Way::local:
            test.ok(sennit_get(to, from, bytes));
            break;
        case Way::request:
            test.ok(sennit_get_nb(to, from, bytes, &request));
            break;
        case Way::implicit:
            test.ok(sennit_get_nbi(to, from, bytes));
            break;
    }
    finish(test, way, &request, from.rank);
}

// A range of a piece, and the misalignment of the private buffer.
struct Place {
    sennit_gptr piece;
    std::size_t room;
    std::size_t offset;
    std::size_t bytes;
    std::size_t skew;
};

// Puts data, gets it back, and checks that the bytes around it are unchanged. No other rank writes
// the piece meanwhile.
void round_trip(Ranks &test, const Place &place, Way way) {
    const auto [piece, room, offset, bytes, skew] = place;
    const std::uint64_t salt = bytes * 31 + offset * 7 + skew;
    std::vector<std::uint8_t> out(room + 64);
    fill(out.data(), room, ~salt);
    test.ok(sennit_put(piece, out.data(), room));
    fill(out.data() + skew, bytes, salt);
    put(test, way, sennit_gptr_add(piece, static_cast<int64_t>(offset)), out.data() + skew, bytes);
    std::vector<std::uint8_t> in(room + 64, 0xAB);
    get(test, way, in.data() + skew, sennit_gptr_add(piece, static_cast<int64_t>(offset)), bytes);
    check_pattern(test, in.data() + skew, bytes, salt);
    for (std::size_t i = 0; i < skew; ++i)
        test.equal(in[i], 0xAB);
    test.equal(in[skew + bytes], 0xAB);
    test.ok(sennit_get(in.data(), piece, room));
    for (std::size_t i = 0; i < room; ++i) {
        const bool inside = i >= offset && i < offset + bytes;
        const std::uint8_t wanted =
            inside ? pattern_byte(salt, i - offset) : pattern_byte(~salt, i);
        if (in[i] != wanted)
            test.fail(Ranks::Where::current(), "byte " + std::to_string(i) + " around a put of " +
                                                   std::to_string(bytes) + " at " +
                                                   std::to_string(offset) + " is wrong");
    }
}

}  // namespace

// Broken by a put that returns before its data arrives, or a barrier that does not order it.
RANK_TEST(transfer, put_is_seen_after_the_barrier, kAnything) {
    const sennit_gptr segment = test.allocate(4096);
    for (std::uint64_t round = 0; round < 100; ++round) {
        const std::size_t bytes = test.common.between(1, 4096);
        std::vector<std::uint8_t> data(bytes);
        fill(data.data(), bytes, round * 64 + static_cast<std::uint64_t>(test.rank));
        put(test, way_of(round), sennit_gptr_at(segment, test.next()), data.data(), bytes);
        test.barrier();
        test.ok(sennit_get(data.data(), segment, bytes));
        check_pattern(test, data.data(), bytes,
                      round * 64 + static_cast<std::uint64_t>(test.previous()));
        test.barrier();
    }
    test.free(segment);
}

// Broken by a size that takes another branch of the copy: words, pieces, tails.
RANK_TEST(transfer, all_small_sizes_move_exactly_their_bytes, kAnything) {
    const std::size_t room = 256;
    const sennit_gptr segment = test.allocate(room);
    for (const Way way : kWays) {
        for (std::size_t bytes = 0; bytes <= 130; bytes += test.quick ? 3 : 1)
            round_trip(test,
                       {sennit_gptr_at(segment, test.next()), room, bytes % 9, bytes, bytes % 5},
                       way);
    }
    test.barrier();
    test.free(segment);
}

// Broken by wrong cuts at the edge of a piece, a page or a power of two.
RANK_TEST(transfer, sizes_around_powers_of_two_move_exactly_their_bytes, kAnything) {
    const std::size_t most = test.quick ? std::size_t{1} << 15 : std::size_t{1} << 22;
    const sennit_gptr segment = test.allocate(most + 64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(most + 64);
    std::vector<std::uint8_t> in(most + 64);
    fill(out.data(), out.size(), static_cast<std::uint64_t>(test.rank));
    unsigned number = 0;
    for (std::size_t power = 64; power <= most; power *= 2) {
        for (const std::size_t bytes : {power - 1, power, power + 1}) {
            const Way way = way_of(number++);
            const std::size_t skew = number % 7;
            put(test, way, sennit_gptr_add(there, number % 3), out.data() + skew, bytes);
            std::fill(in.begin(), in.end(), std::uint8_t{0});
            get(test, way, in.data() + skew, sennit_gptr_add(there, number % 3), bytes);
            test.require(std::memcmp(in.data() + skew, out.data() + skew, bytes) == 0,
                         "a get returns the bytes that were put");
            test.equal(in[skew + bytes], 0);
        }
    }
    test.barrier();
    test.free(segment);
}

// Broken by a put that reads its buffer after it has returned, with and without free copy buffers.
RANK_TEST(transfer, a_local_put_leaves_its_buffer_to_the_caller, kAnything) {
    sennit_path path = SENNIT_PATH_NONE;
    test.ok(sennit_peer_path(test.next(), &path));
    // On a simulated network with pieces of 64 bytes, a megabyte takes too long.
    const std::size_t largest = path == SENNIT_PATH_SIM ? 9000 : 1100000;
    const std::size_t sizes[] = {1, 8, 9, 512, 4096, 4097, 70000, largest};
    const std::uint64_t puts = test.quick ? 48 : 400;
    std::size_t room = 0;
    for (std::uint64_t i = 0; i < puts; ++i)
        room += sizes[i % std::size(sizes)];
    const sennit_gptr segment = test.allocate(room);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> buffer(*std::max_element(std::begin(sizes), std::end(sizes)));
    std::size_t offset = 0;
    for (std::uint64_t i = 0; i < puts; ++i) {
        const std::size_t bytes = sizes[i % std::size(sizes)];
        fill(buffer.data(), bytes, i);
        test.ok(sennit_put_local(sennit_gptr_add(there, static_cast<std::int64_t>(offset)),
                                 buffer.data(), bytes));
        std::fill_n(buffer.begin(), bytes, std::uint8_t{0xEE});
        offset += bytes;
    }
    test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    test.barrier();
    const auto *mine = static_cast<const std::uint8_t *>(sennit_ptr(segment));
    offset = 0;
    for (std::uint64_t i = 0; i < puts; ++i) {
        const std::size_t bytes = sizes[i % std::size(sizes)];
        check_pattern(test, mine + offset, bytes, i);
        offset += bytes;
    }
    test.barrier();
    test.free(segment);
}

// Broken by a local flush that returns while a buffer is in use or a get is pending, or that
// forgets puts on their way to the target.
RANK_TEST(transfer, a_local_flush_gives_private_buffers_back, kAnything) {
    constexpr std::size_t kBytes = 20000;
    const sennit_gptr segment = test.allocate(3 * kBytes);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(kBytes);
    std::vector<std::uint8_t> in(kBytes);
    const auto me = static_cast<std::uint64_t>(test.rank);
    fill(static_cast<std::uint8_t *>(sennit_ptr(segment)) + 2 * kBytes, kBytes, me);
    test.barrier();
    for (std::int64_t half = 0; half < 2; ++half) {
        const std::int64_t place = half * static_cast<std::int64_t>(kBytes);
        fill(out.data(), kBytes, me + 100);
        test.ok(sennit_put_nbi(sennit_gptr_add(there, place), out.data(), kBytes));
        test.ok(sennit_get_nbi(in.data(), sennit_gptr_add(there, 2 * kBytes), kBytes));
        test.ok(sennit_put_local(sennit_gptr_add(there, place), out.data(), 8));
        test.ok(half == 0 ? sennit_flush_local(test.next(), SENNIT_FOREVER)
                          : sennit_flush_local_all(SENNIT_FOREVER));
        std::fill(out.begin(), out.end(), std::uint8_t{0xEE});
        check_pattern(test, in.data(), kBytes, static_cast<std::uint64_t>(test.next()));
        std::fill(in.begin(), in.end(), std::uint8_t{0xEE});
    }
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    const auto *mine = static_cast<const std::uint8_t *>(sennit_ptr(segment));
    const auto from = static_cast<std::uint64_t>(test.previous()) + 100;
    check_pattern(test, mine, kBytes, from);
    check_pattern(test, mine + kBytes, kBytes, from);
    test.barrier();
    test.free(segment);
}

// Broken by word copies at misaligned addresses.
RANK_TEST(transfer, no_address_needs_to_be_aligned, kAnything) {
    const std::size_t room = 96;
    const sennit_gptr segment = test.allocate(room);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const std::size_t step = test.quick ? 3 : 1;
    for (std::size_t offset = 0; offset < 16; offset += step)
        for (std::size_t skew = 0; skew < 16; skew += step)
            for (const std::size_t bytes : {2, 4, 8, 16, 33})
                round_trip(test, {there, room, offset, bytes, skew}, way_of(offset + skew));
    test.barrier();
    test.free(segment);
}

// Broken by memcpy in place of memmove, at any size that has its own code.
RANK_TEST(transfer, source_and_destination_may_overlap, kAnything) {
    const std::size_t room = 15000;
    const sennit_gptr segment = test.allocate(room);
    auto *mine = static_cast<std::uint8_t *>(sennit_ptr(segment));
    test.require(mine != nullptr, "a rank has a pointer to its own memory");
    std::vector<std::uint8_t> expected(room);
    for (int round = 0; round < 200; ++round) {
        const std::size_t most = round % 10 == 0 ? 14000 : round % 2 == 0 ? 100 : 2000;
        const std::size_t bytes = test.own.between(1, most);
        const std::size_t from = test.own.below(room - bytes + 1);
        const std::size_t distance = test.own.below(40);
        std::size_t to = test.own.one_in(2) ? from + distance : from - std::min(from, distance);
        to = std::min(to, room - bytes);
        fill(mine, room, static_cast<std::uint64_t>(round));
        fill(expected.data(), room, static_cast<std::uint64_t>(round));
        std::memmove(expected.data() + to, expected.data() + from, bytes);
        if (test.own.one_in(2)) {
            put(test, way_of(round), sennit_gptr_add(segment, static_cast<int64_t>(to)),
                mine + from, bytes);
        } else {
            get(test, way_of(round), mine + to,
                sennit_gptr_add(segment, static_cast<int64_t>(from)), bytes);
        }
        test.require(std::memcmp(mine, expected.data(), room) == 0, "it moved as by memmove");
    }
    test.barrier();
    test.free(segment);
}

// Broken by a fast path that assumes a private buffer: here it is a peer's memory.
RANK_TEST(transfer, a_peers_memory_may_serve_as_buffer, kLoadStore) {
    const sennit_gptr segment = test.allocate(2000);
    auto *theirs = static_cast<std::uint8_t *>(sennit_ptr(sennit_gptr_at(segment, test.next())));
    test.barrier();
    fill(theirs, 1000, static_cast<std::uint64_t>(test.rank));
    // Within the peer's piece, with overlap.
    test.ok(sennit_put(sennit_gptr_add(sennit_gptr_at(segment, test.next()), 500), theirs, 1000));
    check_pattern(test, theirs + 500, 1000, static_cast<std::uint64_t>(test.rank));
    test.barrier();
    test.free(segment);
}

// Broken by a size of zero that is an error, or that accesses the buffer.
RANK_TEST(transfer, zero_bytes_are_legal_everywhere_in_the_segment, kAnything) {
    const sennit_gptr segment = test.allocate(10);
    const sennit_gptr empty = test.allocate(0);
    for (int peer = 0; peer < test.size; ++peer) {
        const sennit_gptr end = sennit_gptr_add(sennit_gptr_at(segment, peer), 10);
        for (const sennit_gptr place : {end, sennit_gptr_at(empty, peer)}) {
            std::uint8_t byte = 9;
            for (const Way way : kWays) {
                put(test, way, place, &byte, 0);
                get(test, way, &byte, place, 0);
                put(test, way, place, nullptr, 0);
                get(test, way, nullptr, place, 0);
            }
            test.equal(byte, 9);
            test.is(sennit_put(place, &byte, 1), SENNIT_ERR_RANGE);
        }
        test.is(sennit_put(sennit_gptr_add(end, 1), nullptr, 0), SENNIT_ERR_RANGE);
    }
    test.barrier();
    test.free(segment);
    test.free(empty);
}

// Broken by a bounds check that overflows.
RANK_TEST(transfer, a_range_past_the_end_moves_nothing, kAnything) {
    const sennit_gptr segment = test.allocate(100);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> data(200, 0x77);
    struct {
        std::uint64_t offset;
        std::size_t bytes;
    } const wrong[] = {{0, 101},
                       {100, 1},
                       {99, 2},
                       {101, 0},
                       {1, 100},
                       {UINT64_MAX, 1},
                       {1, SIZE_MAX},
                       {UINT64_MAX, 2},
                       {UINT64_MAX - 7, 8},
                       {50, SIZE_MAX - 20},
                       {UINT64_MAX, SIZE_MAX}};
    for (const auto &range : wrong) {
        sennit_gptr place = there;
        place.offset = range.offset;
        sennit_request request{42};
        test.is(sennit_put(place, data.data(), range.bytes), SENNIT_ERR_RANGE);
        test.is(sennit_put_nbi(place, data.data(), range.bytes), SENNIT_ERR_RANGE);
        test.is(sennit_put_nb(place, data.data(), range.bytes, &request), SENNIT_ERR_RANGE);
        test.is(sennit_get(data.data(), place, range.bytes), SENNIT_ERR_RANGE);
        test.is(sennit_get_nbi(data.data(), place, range.bytes), SENNIT_ERR_RANGE);
        test.is(sennit_get_nb(data.data(), place, range.bytes, &request), SENNIT_ERR_RANGE);
        test.equal(request.handle, 42u);
        test.equal(sennit_last_error()->peer, test.next());
    }
    for (const std::uint8_t byte : data)
        test.equal(byte, 0x77);
    test.barrier();
    test.ok(sennit_get(data.data(), segment, 100));
    for (std::size_t i = 0; i < 100; ++i)
        test.equal(data[i], 0);
    test.free(segment);
}

// Broken by operations of different ranks that disturb each other.
RANK_TEST(transfer, all_ranks_put_to_all_ranks_at_once, kAnything) {
    const std::size_t part = 3001;
    const auto size = static_cast<std::size_t>(test.size);
    const sennit_gptr segment = test.allocate(part * size);
    std::vector<std::vector<std::uint8_t>> out(size, std::vector<std::uint8_t>(part));
    for (int round = 0; round < 5; ++round) {
        const auto salt = [&](int from, int to) {
            return static_cast<std::uint64_t>(round * 10000 + from * 100 + to);
        };
        for (int peer = 0; peer < test.size; ++peer) {
            auto &data = out[static_cast<std::size_t>(peer)];
            fill(data.data(), part, salt(test.rank, peer));
            const sennit_gptr place =
                sennit_gptr_add(sennit_gptr_at(segment, peer),
                                static_cast<int64_t>(part) * static_cast<int64_t>(test.rank));
            test.ok(sennit_put_nbi(place, data.data(), part));
        }
        if (round % 2 == 0) test.ok(sennit_flush_all(SENNIT_FOREVER));
        test.barrier();
        std::vector<std::uint8_t> in(part);
        for (int peer = 0; peer < test.size; ++peer) {
            test.ok(sennit_get(
                in.data(),
                sennit_gptr_add(segment, static_cast<int64_t>(part) * static_cast<int64_t>(peer)),
                part));
            check_pattern(test, in.data(), part, salt(peer, test.rank));
        }
        test.barrier();
    }
    test.free(segment);
}

// Broken by a flush that returns while data is on its way: only a third rank can see that.
RANK_TEST(transfer, flushed_data_is_visible_to_a_third_rank, kTwoRanks | kAtomics) {
    const int rounds = test.quick ? 20 : 100;
    const int third = (test.size - 1) % test.size;
    const std::size_t bytes = 5000;
    const sennit_gptr data = sennit_gptr_at(test.allocate(bytes), 1);
    const sennit_gptr told = sennit_gptr_at(test.allocate(8), third);
    const sennit_gptr taken = sennit_gptr_at(test.allocate(8), 0);
    std::vector<std::uint8_t> buffer(bytes);
    if (test.rank == third) test.ok(sennit_atomic_set_u64(told, 0));
    if (test.rank == 0) test.ok(sennit_atomic_set_u64(taken, 0));
    test.barrier();
    const auto wait_for = [&](sennit_gptr word, int round) {
        test.ok(sennit_signal_wait_word(static_cast<std::uint64_t *>(sennit_ptr(word)),
                                        SENNIT_EQUAL, static_cast<std::uint64_t>(round),
                                        60 * kSecond));
    };
    for (int round = 1; round <= rounds; ++round) {
        if (test.rank == 0) {
            fill(buffer.data(), bytes, static_cast<std::uint64_t>(round));
            test.ok(sennit_put_nbi(data, buffer.data(), bytes));
            test.ok(sennit_flush(1, SENNIT_FOREVER));
            test.ok(sennit_atomic_inc_u64(told));
        }
        if (test.rank == third) {
            wait_for(told, round);
            std::vector<std::uint8_t> in(bytes);
            test.ok(sennit_get(in.data(), data, bytes));
            check_pattern(test, in.data(), bytes, static_cast<std::uint64_t>(round));
            test.ok(sennit_atomic_inc_u64(taken));
        }
        if (test.rank == 0) wait_for(taken, round);
    }
    test.barrier();
    test.free(data);
    test.free(told);
    test.free(taken);
}

// Broken by a fence that does not order, or rails that overtake across it. The reader polls the
// flag of the last put.
RANK_TEST(transfer, puts_before_a_fence_arrive_before_puts_after_it, kTwoRanks | kFences) {
    const std::size_t bytes = 1000;
    const sennit_gptr segment = test.allocate(2048);
    const sennit_gptr flag = sennit_gptr_add(segment, 2040);
    const std::uint64_t rounds = test.quick ? 20 : 100;
    std::vector<std::uint8_t> data(bytes);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        if (test.rank == 0) {
            fill(data.data(), bytes, round);
            test.ok(sennit_put_nbi(sennit_gptr_at(segment, 1), data.data(), bytes));
            test.ok(sennit_fence());
            test.ok(sennit_put_nbi(sennit_gptr_at(flag, 1), &round, sizeof round));
            test.ok(sennit_flush(1, SENNIT_FOREVER));
        } else if (test.rank == 1) {
            std::uint64_t seen = 0;
            while (seen != round) {
                test.ok(sennit_get(&seen, flag, sizeof seen));
                // Makes progress for a simulated network.
                std::uint64_t word = 0;
                test.ok(sennit_get(&word, sennit_gptr_at(segment, 0), sizeof word));
                (void)sched_yield();
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            test.ok(sennit_get(data.data(), segment, bytes));
            check_pattern(test, data.data(), bytes, round);
        }
        test.barrier();
    }
    test.free(segment);
}

// Broken by a word that is stored in halves: a reader would see a value that nobody wrote.
RANK_TEST(transfer, an_aligned_word_is_never_seen_in_halves, kLoadStore | kTwoRanks) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr word = sennit_gptr_at(segment, 0);
    const int rounds = test.quick ? 2000 : 50000;
    if (test.rank == 0) {
        for (int i = 0; i < rounds; ++i) {
            const std::uint64_t value = i % 2 == 0 ? 0 : UINT64_MAX;
            test.ok(sennit_put(word, &value, sizeof value));
        }
    } else {
        for (int i = 0; i < rounds; ++i) {
            std::uint64_t value = 1;
            test.ok(sennit_get(&value, word, sizeof value));
            test.require(value == 0 || value == UINT64_MAX, "the word is whole");
        }
    }
    test.barrier();
    test.free(segment);
}
