// Runs in payloads: packing and spreading moves the same bytes as a plain copy. Broken by a run
// that is lost or cut at the end of a payload, a size that differs from the filled bytes, or an
// offset with the wrong origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "op/packed.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kSide = 60000;

struct Draw {
    std::mt19937_64 numbers;
    std::size_t between(std::size_t least, std::size_t most) {
        return least + numbers() % (most - least + 1);
    }
};

std::vector<std::byte> pattern(Draw &draw) {
    std::vector<std::byte> made(kSide);
    for (std::byte &one : made)
        one = static_cast<std::byte>(draw.numbers() | 1);
    return made;
}

// The named places are in the middle of both sides.
void expect_as_copied(const op::Layout &layout, std::size_t room, Draw &draw) {
    const std::vector<std::byte> local = pattern(draw);
    std::vector<std::byte> wanted(kSide);
    std::vector<std::byte> found(kSide);
    ASSERT_EQ(op::layout_move(layout, op::Direction::put, wanted.data() + kSide / 2,
                              const_cast<std::byte *>(local.data()) + kSide / 2),
              SENNIT_OK);
    const op::PackedSize size = op::packed_size(layout, room);
    ASSERT_NE(size.tasks, 0u);
    op::RunPacker packer(layout, room, local.data() + kSide / 2);
    std::vector<std::byte> payload(room);
    std::byte *const memory = found.data() + kSide / 2 + layout.remote.begin;
    for (std::uint64_t i = 0; i < size.tasks; ++i) {
        std::uint32_t runs = 0;
        const std::size_t bytes = packer.fill(payload.data(), &runs);
        ASSERT_NE(bytes, 0u);
        ASSERT_LE(bytes, size.longest);
        ASSERT_TRUE(
            op::runs_are_sound({payload.data(), bytes}, runs, op::hull_bytes(layout.remote)));
        op::spread_runs(memory, payload.data(), runs);
    }
    std::uint32_t runs = 7;
    EXPECT_EQ(packer.fill(payload.data(), &runs), 0u);
    EXPECT_EQ(runs, 0u);
    EXPECT_TRUE(found == wanted);
}

TEST(packed, packed_boxes_arrive_as_by_a_copy) {
    Draw draw{std::mt19937_64(1)};
    for (int i = 0; i < 300; ++i) {
        sennit_box box{};
        box.element_bytes = draw.between(1, 50);
        auto remote = static_cast<std::int64_t>(box.element_bytes);
        for (int d = 0; d < 3; ++d) {
            box.counts[d] = draw.between(1, 6);
            remote += static_cast<std::int64_t>(draw.between(0, 9));
            box.remote_strides[d] = draw.between(0, 1) == 0 ? remote : -remote;
            box.local_strides[d] = static_cast<std::int64_t>(draw.between(0, 100)) - 50;
            remote *= static_cast<std::int64_t>(box.counts[d]);
        }
        op::Layout layout;
        ASSERT_EQ(op::layout_of_box(box, op::Direction::put, &layout), SENNIT_OK);
        const std::size_t least = std::max<std::size_t>(64, layout.run_bytes + 8);
        expect_as_copied(layout, draw.between(least, least + 900), draw);
    }
}

TEST(packed, packed_lists_arrive_as_by_a_copy_and_long_runs_are_cut) {
    Draw draw{std::mt19937_64(2)};
    for (int i = 0; i < 300; ++i) {
        std::vector<sennit_piece> list(draw.between(1, 60));
        std::int64_t place = -20000;
        for (sennit_piece &piece : list) {
            piece.bytes = draw.between(0, 4) == 0 ? 0 : draw.between(1, i % 2 == 0 ? 20 : 600);
            piece.remote_offset = place += static_cast<std::int64_t>(draw.between(0, 9));
            piece.local_offset = static_cast<std::int64_t>(draw.between(0, 40000)) - 20000;
            place += static_cast<std::int64_t>(piece.bytes);
        }
        list[0].bytes = 5;
        list[0].remote_offset = -20005;
        std::shuffle(list.begin(), list.end(), draw.numbers);
        op::Layout layout;
        ASSERT_EQ(op::layout_of_list(list.data(), list.size(), &layout), SENNIT_OK);
        expect_as_copied(layout, draw.between(64, 1000), draw);
    }
}

TEST(packed, layouts_that_do_not_fit_a_payload_take_no_tasks) {
    op::Layout layout;
    const sennit_box line = sennit_box_line(8, 2, 16, 8);
    ASSERT_EQ(op::layout_of_box(line, op::Direction::put, &layout), SENNIT_OK);
    EXPECT_EQ(op::packed_size(layout, 0).tasks, 0u);
    EXPECT_EQ(op::packed_size(layout, 8192).tasks, 1u);
    EXPECT_EQ(op::packed_size(layout, 8192).longest, 32u);
    const sennit_box far = sennit_box_line(8, 2, std::int64_t{1} << 48, 8);
    ASSERT_EQ(op::layout_of_box(far, op::Direction::put, &layout), SENNIT_OK);
    EXPECT_EQ(op::packed_size(layout, 8192).tasks, 0u) << "the offset has 48 bits";
    const sennit_box large = sennit_box_line(8185, 2, 10000, 8185);
    ASSERT_EQ(op::layout_of_box(large, op::Direction::put, &layout), SENNIT_OK);
    EXPECT_EQ(op::packed_size(layout, 8192).tasks, 0u) << "a run of a box is not cut";
    EXPECT_EQ(op::packed_size(layout, 8193).tasks, 2u);
}

TEST(packed, the_count_of_pieces_matches_the_cuts) {
    op::Layout layout;
    const sennit_piece list[] = {{0, 0, 100}, {200, 0, 0}, {300, 0, 64}, {400, 0, 65}};
    ASSERT_EQ(op::layout_of_list(list, 4, &layout), SENNIT_OK);
    EXPECT_EQ(op::run_count(layout), 3u);
    EXPECT_EQ(op::piece_count(layout, 64), 5u);
    const sennit_box line = sennit_box_line(100, 7, 200, 200);
    ASSERT_EQ(op::layout_of_box(line, op::Direction::put, &layout), SENNIT_OK);
    EXPECT_EQ(op::run_count(layout), 7u);
    EXPECT_EQ(op::piece_count(layout, 30), 28u);
}

}  // namespace
}  // namespace sennit::test
