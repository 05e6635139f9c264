// Tests the places of slabs. Breaks when a rank would send cells other than those that the
// neighbour's ghost cells represent, when an edge or a corner is not filled, or when a copy mixes
// up rows.
#include "../slab.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace ghost {
namespace {

constexpr Extent kExtent{5, 3, 4};

std::vector<double> numbered(std::size_t cells) {
    std::vector<double> values(cells);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

TEST(Slab, the_inner_slab_has_own_cells_and_the_outer_slab_lies_next_to_it) {
    for (const Width width : {Width::narrow, Width::wide}) {
        for (const apps::Side side : apps::kAllSides) {
            const Slab inner = inner_slab(kExtent, side, width);
            const Slab outer = outer_slab(kExtent, side, width);
            const std::size_t steps[] = {1, kExtent.row(), kExtent.plane()};
            const std::size_t step = steps[apps::axis_of(side)];
            EXPECT_EQ(outer.first, apps::is_upper(side) ? inner.first + step : inner.first - step);
            EXPECT_EQ(inner.cells(), outer.cells());
        }
    }
    EXPECT_EQ(inner_slab(kExtent, apps::east, Width::narrow).first, kExtent.at(5, 1, 1));
    EXPECT_EQ(inner_slab(kExtent, apps::north, Width::narrow).first, kExtent.at(1, 3, 1));
    EXPECT_EQ(inner_slab(kExtent, apps::up, Width::narrow).first, kExtent.at(1, 1, 4));
    EXPECT_EQ(inner_slab(kExtent, apps::down, Width::narrow).first, kExtent.at(1, 1, 1));
    EXPECT_EQ(inner_slab(kExtent, apps::up, Width::wide).first, kExtent.at(0, 0, 4));
}

// Marks the ghost cells that are filled by slabs in the order x, y, z.
std::vector<double> filled(Width width) {
    std::vector<double> cells(kExtent.cells());
    for (const apps::Side side : apps::kAllSides) {
        const Slab slab = outer_slab(kExtent, side, width);
        const std::vector<double> ones(slab.cells(), 1.0);
        unpack(slab, ones.data(), cells.data());
    }
    return cells;
}

TEST(Slab, narrow_slabs_fill_faces_and_wide_slabs_edges_and_corners_too) {
    const std::vector<double> narrow = filled(Width::narrow), wide = filled(Width::wide);
    for (std::size_t k = 0; k < kExtent.nz + 2; ++k) {
        for (std::size_t j = 0; j < kExtent.ny + 2; ++j) {
            for (std::size_t i = 0; i < kExtent.nx + 2; ++i) {
                const int outside = (i == 0 || i == kExtent.nx + 1) +
                                    (j == 0 || j == kExtent.ny + 1) +
                                    (k == 0 || k == kExtent.nz + 1);
                const std::size_t at = kExtent.at(i, j, k);
                EXPECT_EQ(narrow[at], outside == 1 ? 1 : 0) << i << ' ' << j << ' ' << k;
                EXPECT_EQ(wide[at], outside > 0 ? 1 : 0) << i << ' ' << j << ' ' << k;
            }
        }
    }
}

TEST(Slab, packing_and_unpacking_bring_every_cell_across) {
    // A neighbour that is longer in the direction across the side, as shares may be.
    const Extent longer{6, 3, 4}, deeper{5, 4, 4}, higher{5, 3, 6};
    const Extent peers[] = {longer, deeper, higher};
    for (const Width width : {Width::narrow, Width::wide}) {
        for (const apps::Side side : apps::kAllSides) {
            const Extent peer = peers[apps::axis_of(side)];
            const std::vector<double> theirs = numbered(peer.cells());
            const Slab source = inner_slab(peer, apps::opposite(side), width);
            const Slab target = outer_slab(kExtent, side, width);
            ASSERT_EQ(source.row_cells, target.row_cells);
            ASSERT_EQ(source.rows, target.rows);
            std::vector<double> expected(kExtent.cells()), copied = expected, packed = expected;
            for (std::size_t r = 0; r < source.rows; ++r) {
                for (std::size_t c = 0; c < source.row_cells; ++c) {
                    expected[target.first + c * target.cell_stride + r * target.row_stride] =
                        theirs[source.first + c * source.cell_stride + r * source.row_stride];
                }
            }
            copy(source, theirs.data(), target, copied.data());
            EXPECT_EQ(copied, expected) << side;
            std::vector<double> buffer(source.cells());
            pack(source, theirs.data(), buffer.data());
            unpack(target, buffer.data(), packed.data());
            EXPECT_EQ(packed, expected) << side;
        }
    }
}

TEST(Slab, only_a_wide_slab_across_z_is_one_run) {
    for (const apps::Side side : apps::kAllSides) {
        EXPECT_FALSE(inner_slab(kExtent, side, Width::narrow).is_one_run());
        EXPECT_EQ(inner_slab(kExtent, side, Width::wide).is_one_run(), apps::axis_of(side) == 2);
    }
}

TEST(Layout, variables_do_not_overlap_nor_share_their_place_in_a_page) {
    for (std::size_t length = 1; length < 70; ++length) {
        const Layout layout = layout_of({length, 8, 8}, 3);
        EXPECT_GE(layout.distance, layout.extent.cells());
        EXPECT_EQ(layout.distance % 16, 0u);
        EXPECT_GE(layout.distance % 512, 160u);
        EXPECT_EQ(layout.at(1, 0), 3 * layout.distance);
        EXPECT_EQ(layout.cells(), 6 * layout.distance);
    }
}

}  // namespace
}  // namespace ghost
