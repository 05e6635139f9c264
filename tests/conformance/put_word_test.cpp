// Puts followed by an operation on a word.
#include <cstring>
#include <vector>

#include "harness.hpp"

using namespace conformance;

namespace {

constexpr std::size_t kRoomBytes = 100000;
constexpr std::size_t kBytes[] = {0,   1,    8,    40,    41,    440,       488,
                                  489, 4096, 8193, 49152, 49153, kRoomBytes};

}  // namespace

// Broken by an operation that overtakes its data, is done twice or never, or by a buffer that is
// read too late. The word is near the data, or in another segment.
RANK_TEST(atomic, the_data_of_a_put_is_visible_with_its_word, kAtomics) {
    const std::size_t half = (kRoomBytes + 63) / 64 * 64;
    const sennit_gptr memory = test.allocate(half + 64);
    const sennit_gptr apart = test.allocate(64);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_gptr there = sennit_gptr_at(memory, test.next());
    const sennit_gptr near = sennit_gptr_add(there, static_cast<std::int64_t>(half) + 8);
    const sennit_gptr far = sennit_gptr_add(sennit_gptr_at(apart, test.next()), 16);
    const auto *own_near = reinterpret_cast<const std::uint64_t *>(own + half + 8);
    const auto *own_far = static_cast<const std::uint64_t *>(sennit_ptr(apart)) + 2;
    std::memset(own, 0, half + 64);
    std::memset(sennit_ptr(apart), 0, 64);
    std::vector<std::uint8_t> data(kRoomBytes);
    std::uint64_t expected = 0;
    std::uint64_t round = 0;
    test.barrier();
    for (const std::size_t bytes : kBytes)
        for (int form = 0; form < 8; ++form, ++round) {
            const bool adds = form % 2 != 0;
            const auto op = adds ? SENNIT_SUM : SENNIT_REPLACE;
            const bool is_near = form % 4 < 2;
            const auto call = form < 4 ? sennit_put_word : sennit_put_word_nbi;
            // A call that adds follows one that sets the same word.
            const std::uint64_t value = adds ? 7 : round * 100 + 1;
            expected = adds ? expected + 7 : value;
            fill(data.data(), bytes, round + static_cast<std::uint64_t>(test.rank));
            test.ok(call(there, data.data(), bytes, is_near ? near : far, op, value));
            if (form < 4) std::memset(data.data(), 0xEE, bytes);
            test.ok(sennit_signal_wait_word(is_near ? own_near : own_far, SENNIT_EQUAL, expected,
                                            SENNIT_FOREVER));
            check_pattern(test, own, bytes, round + static_cast<std::uint64_t>(test.previous()));
            test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
            test.barrier();
            test.equal(*(is_near ? own_near : own_far), expected);
            test.barrier();
        }
    test.free(apart);
    test.free(memory);
}

// Broken by an operation that is lost or repeated when many on one word are pending.
RANK_TEST(atomic, all_puts_with_a_word_add_to_it, kAtomics) {
    const auto size = static_cast<std::size_t>(test.size);
    const std::uint64_t rounds = test.quick ? 40 : 400;
    const sennit_gptr memory = test.allocate(64 + 512 * size * rounds);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    std::memset(own, 0, 64);
    test.barrier();
    std::vector<std::uint8_t> data(512);
    for (std::uint64_t round = 0; round < rounds; ++round)
        for (int peer = 0; peer < test.size; ++peer) {
            const sennit_gptr word = sennit_gptr_at(memory, peer);
            // Each put has its own word, as such puts have no order.
            const auto from = static_cast<std::uint64_t>(test.rank);
            const auto place = static_cast<std::int64_t>(64 + 512 * (rounds * from + round));
            fill(data.data(), data.size(), round);
            test.ok(sennit_put_word(sennit_gptr_add(word, place), data.data(),
                                    round % 3 == 0 ? 512 : 24, word, SENNIT_SUM, 1));
        }
    test.ok(sennit_signal_wait_word(own, SENNIT_EQUAL, rounds * size, SENNIT_FOREVER));
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    test.equal(own[0], rounds * size);
    for (std::size_t i = 0; i < size * rounds; ++i)
        check_pattern(test, reinterpret_cast<std::uint8_t *>(own + 8 + 64 * i), 24, i % rounds);
    test.barrier();
    test.free(memory);
}

// Broken by a call that moves its data before it finds that the word is invalid.
RANK_TEST(atomic, a_put_with_a_wrong_word_moves_nothing, kAtomics) {
    const sennit_gptr memory = test.allocate(4096);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    std::memset(own, 0xAA, 4096);
    test.barrier();
    const sennit_gptr there = sennit_gptr_at(memory, test.next());
    const std::uint64_t data[64] = {};
    const auto put = [&](sennit_gptr word, std::size_t bytes, sennit_operator op = SENNIT_SUM) {
        return sennit_put_word(there, data, bytes, word, op, 1);
    };
    for (const std::size_t bytes : {std::size_t{8}, sizeof data}) {
        test.is(put(sennit_gptr_add(there, 1028), bytes), SENNIT_ERR_ARG);
        test.is(put(sennit_gptr_add(there, std::int64_t{1} << 30), bytes), SENNIT_ERR_RANGE);
        test.is(put(there, bytes, SENNIT_MAX), SENNIT_ERR_ARG);
        if (test.size > 1) test.is(put(sennit_gptr_at(memory, test.rank), bytes), SENNIT_ERR_ARG);
        test.is(sennit_put_word(there, nullptr, bytes, there, SENNIT_SUM, 1), SENNIT_ERR_ARG);
    }
    // Here the offset of the word is aligned, but not its address.
    alignas(8) std::uint8_t buffer[44] = {};
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(buffer + 4, 40, 0, &mine));
    for (const std::size_t bytes : {std::size_t{8}, sizeof data})
        test.is(sennit_put_word(sennit_gptr_at(memory, test.rank), data, bytes,
                                sennit_gptr_add(mine.gptr, 8), SENNIT_SUM, 1),
                SENNIT_ERR_ARG);
    test.ok(sennit_deregister(mine));
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    for (std::size_t i = 0; i < 512; ++i)
        test.equal(own[i], 0xAAAAAAAAAAAAAAAAu);
    test.barrier();
    test.free(memory);
}
