// The grid of the whole channel: equal cells along x and y, cells of different heights along z; and
// the wave numbers of its differences. Owns its heights; made once, the same on every rank.
#pragma once

#include "layout.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace flow {

class Grid {
  public:
    // Lengths are in the units of the problem. `stretching` 0: equal heights; a larger value makes
    // the cells at the walls thinner.
    Grid(const Triple &cells, const std::array<double, 3> &lengths, double stretching)
        : cells_(cells), lengths_(lengths) {
        const Count nz = cells[2];
        faces_.resize(static_cast<std::size_t>(nz + 1));
        for (Count k = 0; k <= nz; ++k) {
            const double even = static_cast<double>(k) / static_cast<double>(nz);
            const double bent =
                stretching == 0
                    ? even
                    : 0.5 + 0.5 * std::tanh(stretching * (2 * even - 1)) / std::tanh(stretching);
            faces_[static_cast<std::size_t>(k)] = lengths[2] * bent;
        }
        heights_.resize(static_cast<std::size_t>(nz + 2));
        for (Count k = 0; k < nz; ++k)
            heights_[static_cast<std::size_t>(k + 1)] = face(k + 1) - face(k);
        heights_.front() = heights_[1];
        heights_.back() = heights_[static_cast<std::size_t>(nz)];
        for (std::size_t k = 0; k + 1 < heights_.size(); ++k)
            distances_.push_back(0.5 * (heights_[k] + heights_[k + 1]));
        distances_.push_back(heights_.back());
    }

    const Triple &cells() const { return cells_; }
    const std::array<double, 3> &lengths() const { return lengths_; }
    double dx() const { return lengths_[0] / static_cast<double>(cells_[0]); }
    double dy() const { return lengths_[1] / static_cast<double>(cells_[1]); }
    // The height of cell k, from -1 to nz: the mirror images beyond the walls have the height of
    // the cells at the walls.
    double height(Count k) const { return heights_[static_cast<std::size_t>(k + 1)]; }
    // The distance from the centre of cell k to the centre of cell k + 1.
    double distance(Count k) const { return distances_[static_cast<std::size_t>(k + 1)]; }
    // The lower face of cell k, which is the upper face of cell k - 1.
    double face(Count k) const { return faces_[static_cast<std::size_t>(k)]; }
    double centre(Count k) const { return 0.5 * (face(k) + face(k + 1)); }

  private:
    Triple cells_;
    std::array<double, 3> lengths_;
    std::vector<double> faces_, heights_, distances_;
};

// The squared wave number of divergence after gradient, for wave `number` in a direction with
// `cells` cells that are `step` apart.
inline double squared_wave_number(Count number, Count cells, double step, int order) {
    const double half = std::numbers::pi * static_cast<double>(number) / static_cast<double>(cells);
    const double second = 2 * std::sin(half);
    const double fourth = (27 * second - 2 * std::sin(3 * half)) / 24;
    const double root = (order == 4 ? fourth : second) / step;
    return root * root;
}

}  // namespace flow
