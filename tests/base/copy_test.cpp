// Copies in pieces and whole are the same: at all distances within a page, at sizes around those
// where the way changes, and where the two overlap.
#include "base/copy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRoom = 3 << 20;
constexpr std::size_t kSizes[] = {0,
                                  1,
                                  sennit::kCopyPiece - 1,
                                  sennit::kCopyPiece,
                                  sennit::kCopyPiece + 1,
                                  2 * sennit::kCopyPiece,
                                  2 * sennit::kCopyPiece + 1,
                                  100003,
                                  sennit::kCopyWholeFrom - 1,
                                  sennit::kCopyWholeFrom};

struct Free {
    void operator()(unsigned char *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<unsigned char, Free>;

Memory pages() {
    Memory memory(static_cast<unsigned char *>(std::aligned_alloc(kPage, kRoom)));
    for (std::size_t i = 0; i < kRoom; ++i)
        memory.get()[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    return memory;
}

}  // namespace

// Broken by a piece that is left out, or one byte too long.
TEST(Copy, brings_every_byte_and_no_other_whatever_the_distance_is) {
    const Memory source = pages();
    const Memory destination = pages();
    const std::vector<unsigned char> before(destination.get(), destination.get() + kRoom);
    for (const std::size_t behind : {0, 1, 15, 16, 31, 32, 63, 64, 2048, 4095})
        for (const std::size_t bytes : kSizes) {
            unsigned char *to = destination.get() + kPage + behind;
            sennit::copy_bytes(to, source.get() + kPage, bytes);
            ASSERT_EQ(0, std::memcmp(to, source.get() + kPage, bytes)) << behind << " " << bytes;
            std::memcpy(to, before.data() + kPage + behind, bytes);
            ASSERT_EQ(0, std::memcmp(destination.get(), before.data(), kRoom))
                << behind << " " << bytes;
        }
}

// Broken by pieces copied from the beginning where the end must come first.
TEST(Copy, moves_within_one_buffer_in_both_directions) {
    const Memory memory = pages();
    const std::vector<unsigned char> before(memory.get(), memory.get() + kRoom);
    std::vector<unsigned char> expected;
    for (const std::ptrdiff_t distance :
         {1, 16, 31, 63, 4096 + 16, 16 * 4096 + 1, -1, -16, -4080, -4096 * 3 + 16, -65536 + 1})
        for (const std::size_t bytes : kSizes) {
            std::memcpy(memory.get(), before.data(), kRoom);
            expected = before;
            const std::size_t from = 1 << 20;
            const std::size_t to = from + static_cast<std::size_t>(distance);
            std::memmove(expected.data() + to, expected.data() + from, bytes);
            sennit::copy_bytes(memory.get() + to, memory.get() + from, bytes);
            ASSERT_EQ(0, std::memcmp(memory.get(), expected.data(), kRoom))
                << distance << " " << bytes;
        }
}

// The case of a get of a segment's beginning into a large buffer of malloc().
TEST(Copy, is_made_in_pieces_where_rep_movsb_would_be_slow) {
    const Memory a = pages();
    const Memory b = pages();
    EXPECT_TRUE(sennit::is_copied_slowly(b.get() + 16, a.get(), 65536));
    EXPECT_TRUE(sennit::is_copied_slowly(a.get() + 16, b.get(), 65536));
    EXPECT_FALSE(sennit::is_copied_slowly(b.get(), a.get() + 16, 65536));
    EXPECT_FALSE(sennit::is_copied_slowly(b.get() + 16, a.get() + 16, 65536));
    EXPECT_FALSE(sennit::is_copied_slowly(b.get() + 16, a.get(), sennit::kCopyPiece));
    EXPECT_FALSE(sennit::is_copied_slowly(b.get() + 16, a.get(), sennit::kCopyWholeFrom));
    EXPECT_FALSE(sennit::is_copied_slowly(a.get() + 16, a.get(), 65536));
}
