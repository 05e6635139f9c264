// The copies of few bytes without the C library: every size, at every distance.
#include "base/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

constexpr std::size_t kRoom = 512;
constexpr std::size_t kPlace = 192;

std::vector<std::byte> pattern() {
    std::vector<std::byte> memory(kRoom);
    std::uint8_t next = 1;
    for (std::byte &each : memory)
        each = std::byte{next++};
    return memory;
}

// Copies within one buffer, as a put to oneself may do, and compares the whole buffer with a copy
// through another buffer.
void expect_move(void (*copy)(void *, const void *, std::size_t), std::size_t bytes,
                 std::size_t to) {
    std::vector<std::byte> memory = pattern();
    std::vector<std::byte> expected = memory;
    const std::vector<std::byte> held(memory.begin() + kPlace,
                                      memory.begin() + kPlace + static_cast<std::ptrdiff_t>(bytes));
    std::copy(held.begin(), held.end(), expected.begin() + static_cast<std::ptrdiff_t>(to));
    copy(memory.data() + to, memory.data() + kPlace, bytes);
    ASSERT_EQ(expected, memory) << bytes << " bytes to " << to;
}

}  // namespace

// Broken by a byte that is left out or one too many, by a size without a matching part, and by a
// store before the last load of overlapping ranges.
TEST(Direct, short_copies_move_every_byte_and_no_other) {
    for (std::size_t bytes = 1; bytes <= sennit::kShortBytes; ++bytes)
        for (std::size_t to = 0; to + bytes <= kRoom; ++to)
            expect_move(sennit::copy_short, bytes, to);
}

TEST(Direct, middle_copies_move_every_byte_and_no_other) {
    for (std::size_t bytes = sennit::kShortBytes; bytes <= sennit::kMiddleBytes; ++bytes)
        for (std::size_t to = 0; to + bytes <= kRoom; ++to)
            expect_move(sennit::copy_middle, bytes, to);
}

// Broken by a size without a copy function or with the wrong one, and by 0 treated as 1.
TEST(Direct, copies_of_any_size_move_every_byte_and_no_other) {
    for (std::size_t bytes = 0; bytes <= 2 * sennit::kMiddleBytes; ++bytes)
        for (std::size_t to = 0; to + bytes <= kRoom; to += 7)
            expect_move(sennit::copy_any, bytes, to);
}
