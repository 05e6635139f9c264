// The common part of the one-sided variants of heat3d: the layers that a rank needs from each
// neighbour, their places in the neighbour's memory, and buffers for them. Each variant adds the
// way to fetch the cells.
//
// A layer is fetched in one of two ways. `pieces`: a get for every run of cells, as in figure 7 of
// Zhou and Gracia 2017; a run is a row of cells across y and z and a single cell across x. `whole`:
// one get that describes the layer with its strides.
#pragma once

#include "../exchange.hpp"

#include <string>
#include <vector>

namespace heat3d {

// A side with a neighbour.
struct Face {
    Side side;
    int peer;
    LayerShape shape;
    Place place;                // in the neighbour's block
    std::vector<double> cells;  // the copy, packed
};

std::vector<Face> faces_of(const Decomposition &decomposition, int rank);

// Calls get(first cell in the neighbour's block, destination, cells) for every run of cells.
template <typename Get>
void for_each_run(Face &face, const Get &get) {
    double *to = face.cells.data();
    const bool rows = face.place.cell_stride == 1;
    const std::size_t run = rows ? face.shape.row_cells : 1;
    for (std::size_t r = 0; r < face.shape.rows; ++r) {
        std::size_t from = face.place.offset + r * static_cast<std::size_t>(face.place.row_stride);
        for (std::size_t c = 0; c < face.shape.row_cells; c += run) {
            get(from, to, run);
            to += run;
            from += static_cast<std::size_t>(face.place.cell_stride);
        }
    }
}

// Both fields of a rank in one run of memory, at the same places for all ranks.
class FieldLayout {
  public:
    FieldLayout() = default;
    explicit FieldLayout(const Decomposition &decomposition);
    std::size_t bytes() const { return 2 * distance_ * sizeof(double); }
    std::size_t cell_of(int field, std::size_t offset) const {
        return static_cast<std::size_t>(field) * distance_ + offset;
    }

  private:
    std::size_t distance_ = 0;  // cells
};

// The part of Exchange that is the same for all these variants. `Ranks` implements the collective
// operations.
template <typename Ranks>
class FaceExchange : public Ranks {
  public:
    std::vector<std::string> modes() const override { return {"pieces", "whole"}; }
    double *field(int field) override { return own_ + layout_.cell_of(field, 0); }
    double *ends(int, Side) override { return nullptr; }
    Layer outer_layer(int, Side side) override {
        for (const Face &face : faces_) {
            if (face.side == side) return packed_layer(face.cells.data(), face.shape);
        }
        return {};
    }

  protected:
    // The first part of every variant's open().
    void prepare(const Decomposition &decomposition, const std::string &mode) {
        whole_ = mode.starts_with("whole");
        layout_ = FieldLayout(decomposition);
        faces_ = faces_of(decomposition, this->rank());
    }

    bool whole_ = false;
    FieldLayout layout_;
    double *own_ = nullptr;  // set by open()
    std::vector<Face> faces_;
};

}  // namespace heat3d
