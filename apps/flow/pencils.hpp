// The blocks that two ranks exchange in a transpose: rows of equal width at equal distances, in an
// x-pencil and in a y-pencil. Both have x fastest, then y, then z, so a block's numbers have the
// same order on both sides.
#pragma once

#include "layout.hpp"

#include <algorithm>
#include <vector>

namespace flow {

struct Block {
    double *begin = nullptr;
    Count width = 0, rows = 0, distance = 0;
    Count size() const { return width * rows; }
};

// The blocks that this rank exchanges with each rank of the same place in z, ordered by place in y:
// their parts of the x-pencil, or of the y-pencil, at `memory`.
inline std::vector<Block> blocks_of_x_pencil(const Layout &layout, double *memory) {
    const Count nx = layout.cells()[0];
    const Count rows = layout.y_share().count * layout.z_share().count;
    std::vector<Block> blocks;
    for (Count place = 0; place < layout.ranks_y(); ++place) {
        const Share x = layout.x_share(place);
        blocks.push_back({memory + x.begin, x.count, rows, nx});
    }
    return blocks;
}

inline std::vector<Block> blocks_of_y_pencil(const Layout &layout, double *memory) {
    const Count own = layout.x_share().count, ny = layout.cells()[1];
    std::vector<Block> blocks;
    for (Count place = 0; place < layout.ranks_y(); ++place) {
        const Share y = layout.y_share(place);
        blocks.push_back({memory + y.begin * own, y.count * own, layout.z_share().count, ny * own});
    }
    return blocks;
}

inline void pack(const Block &block, double *to) {
    for (Count row = 0; row < block.rows; ++row)
        to = std::copy_n(block.begin + row * block.distance, block.width, to);
}

inline void unpack(const double *from, const Block &block) {
    for (Count row = 0; row < block.rows; ++row, from += block.width)
        std::copy_n(from, block.width, block.begin + row * block.distance);
}

// Copies the rank's own block. The row length of one side is a multiple of the row length of the
// other side.
inline void copy_own(const Block &from, const Block &to) {
    const Count width = std::min(from.width, to.width);
    const auto place = [width](const Block &block, Count piece) {
        const Count each = block.width / width;
        return block.begin + piece / each * block.distance + piece % each * width;
    };
    for (Count piece = 0; piece < from.size() / width; ++piece)
        std::copy_n(place(from, piece), width, place(to, piece));
}

}  // namespace flow
