// Copies by vectors, in pieces and whole give the same result: at many distances within a page, at
// sizes around the limits between the methods, and with overlapping ranges.
#include "base/copy_vectors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRoom = 3 << 20;
constexpr std::size_t kSizes[] = {0,
                                  1,
                                  sennit::kCopyVectorsFrom - 1,
                                  sennit::kCopyPiece - 1,
                                  sennit::kCopyPiece,
                                  sennit::kCopyPiece + 1,
                                  2 * sennit::kCopyPiece,
                                  2 * sennit::kCopyPiece + 1,
                                  sennit::kCopyAheadFrom,
                                  sennit::kCopyAheadFrom + 1,
                                  sennit::kCopyOneAheadFrom + 1,
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

using Copy = void (*)(void *, const void *, std::size_t);

void expect_all_bytes_and_no_other(Copy copy, const unsigned char *source, Memory &destination,
                                   std::size_t behind, std::size_t bytes) {
    constexpr unsigned char kOther = 0xA5;
    constexpr std::size_t kAround = 256;
    unsigned char *to = destination.get() + kPage + behind;
    std::memset(to - kAround, kOther, bytes + 2 * kAround);
    copy(to, source, bytes);
    ASSERT_EQ(0, std::memcmp(to, source, bytes)) << behind << " " << bytes;
    for (std::size_t i = 0; i < kAround; ++i)
        ASSERT_TRUE(to[i - kAround] == kOther && to[bytes + i] == kOther) << behind << " " << bytes;
}

}  // namespace

// Broken by a line or a step that is left out, or one byte too many: every size up to 8 steps, at
// 22 places in a line, and sizes around those where the loop changes.
TEST(Copy, a_copy_by_vectors_moves_exactly_its_bytes) {
    if (!sennit::has_copy_by_vectors) GTEST_SKIP() << "made for processors of AMD with AVX2";
    const Memory source = pages();
    Memory destination = pages();
    constexpr std::size_t kStep = 2 * sennit::kCopyLine;
    for (std::size_t bytes = sennit::kCopyVectorsFrom; bytes <= 8 * kStep; ++bytes)
        for (std::size_t behind = 0; behind < sennit::kCopyLine; behind += 3)
            expect_all_bytes_and_no_other(sennit::copy_by_vectors, source.get() + 5 * behind,
                                          destination, behind, bytes);
    for (const std::size_t bytes : {sennit::kCopyAheadFrom, sennit::kCopyOneAheadFrom})
        for (std::size_t more = 0; more < 4 * kStep; ++more)
            expect_all_bytes_and_no_other(sennit::copy_by_vectors, source.get() + more, destination,
                                          7 * more, bytes + more);
}

// Broken by a piece that is left out or is one byte too long.
TEST(Copy, copies_move_exactly_their_bytes_at_any_distance) {
    const Memory source = pages();
    Memory destination = pages();
    for (const std::size_t behind : {0, 1, 15, 16, 31, 32, 63, 64, 2048, 4095})
        for (const std::size_t bytes : kSizes)
            for (const Copy copy : {sennit::copy_bytes, sennit::copy_by_the_c_library})
                expect_all_bytes_and_no_other(copy, source.get() + kPage, destination, behind,
                                              bytes);
}

// Broken by pieces copied from the beginning where the end must come first.
TEST(Copy, overlapping_copies_are_right_in_both_directions) {
    const Memory memory = pages();
    const std::vector<unsigned char> before(memory.get(), memory.get() + kRoom);
    std::vector<unsigned char> expected;
    for (const std::ptrdiff_t distance :
         {1, 16, 31, 63, 4096 + 16, 16 * 4096 + 1, -1, -16, -4080, -4096 * 3 + 16, -65536 + 1})
        for (const std::size_t bytes : kSizes) {
            expected = before;
            const std::size_t from = 1 << 20;
            const std::size_t to = from + static_cast<std::size_t>(distance);
            std::memmove(expected.data() + to, expected.data() + from, bytes);
            for (const Copy copy : {sennit::copy_bytes, sennit::copy_by_the_c_library}) {
                std::memcpy(memory.get(), before.data(), kRoom);
                copy(memory.get() + to, memory.get() + from, bytes);
                ASSERT_EQ(0, std::memcmp(memory.get(), expected.data(), kRoom))
                    << distance << " " << bytes;
            }
        }
}

// A get of a segment's beginning into a large buffer of malloc() is such a case.
TEST(Copy, slow_cases_of_rep_movsb_are_recognised) {
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

// Broken by a choice that is never made, or is made on a processor without measurements.
TEST(Copy, vectors_are_used_on_measured_processors_only) {
    std::ifstream file("/proc/cpuinfo");
    const std::string info{std::istreambuf_iterator<char>(file), {}};
    if (info.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
    const bool is_amd = info.find("AuthenticAMD") != std::string::npos;
    const bool has_avx2 = info.find(" avx2") != std::string::npos;
    EXPECT_EQ(sennit::has_copy_by_vectors, is_amd && has_avx2);
}
