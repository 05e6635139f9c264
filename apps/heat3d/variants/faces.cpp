#include "faces.hpp"

namespace heat3d {

std::vector<Face> faces_of(const Decomposition &decomposition, int rank) {
    std::vector<Face> faces;
    for (const Side side : kAllSides) {
        const int peer = decomposition.neighbour(rank, side);
        if (peer < 0) continue;
        const Shape theirs = decomposition.box(peer).shape();
        const LayerShape shape = layer_shape(theirs, side);
        faces.push_back({side, peer, shape, inner_place(theirs, opposite(side)),
                         std::vector<double>(shape.cells())});
    }
    return faces;
}

// Rank 0's box is the longest in every direction. The distance is a whole number of cache lines and
// not a multiple of a page; otherwise a cell and its successor in the other field would compete for
// the same cache set.
FieldLayout::FieldLayout(const Decomposition &decomposition) {
    constexpr std::size_t line = 16, page = 512;
    distance_ = (decomposition.box(0).shape().cells() + line - 1) / line * line;
    if (distance_ % page < 10 * line) distance_ += 10 * line;
}

}  // namespace heat3d
