// Tridiagonal systems in z, one for each pair of wave numbers, cut over ranks: the parallel
// diagonal dominant algorithm. README.md has the formulas. A rank's part of all systems is a
// y-pencil: a plane of numbers for each of its cells in z. The systems are solved side by side.
//
// The algorithm omits terms below kNothing. A pair with larger terms is coupled: one rank computes
// the pair's first and last unknowns on all ranks from the exact system.
#pragma once

#include "exchange.hpp"
#include "grid.hpp"
#include "threads.hpp"
#include "times.hpp"

#include "common/pages.hpp"

#include <vector>

namespace flow {

class Tridiagonal {
  public:
    // Smaller terms are omitted.
    static constexpr double kNothing = 1e-14;

    // `waves` are the squared wave numbers in x and y of a plane's pairs. The system of a pair is
    // that of d2/dz2 - wave, with no gradient at the walls. Collective.
    Tridiagonal(Exchange &exchange, const Threads &threads, const Grid &grid, const Layout &layout,
                const std::vector<double> &waves, double *unknowns);

    // `unknowns` holds the right-hand sides before the call, and the solutions after it.
    void solve(StepTimes &times);

    // The number of coupled pairs of all ranks.
    double coupled() const { return coupled_; }

  private:
    void factor(const Grid &grid, const std::vector<double> &waves);
    void meet_neighbours();
    void find_coupled();
    void share_coupled();
    void tell_ends();
    void solve_in_pieces(StepTimes &times);
    // These four functions work on some pairs of the plane; eliminate() uses the rank's rows only.
    void eliminate(double *unknowns, const Share &some) const;
    void join_above(const Share &some);
    void take_answers(const Share &some);
    void substitute(const Share &some);
    // Called by one thread of a team.
    void exchange_coupled(Unhidden &sent);
    void pack_ends();
    void solve_coupled();

    std::size_t pairs() const { return static_cast<std::size_t>(plane_); }

    Exchange &exchange_;
    const Threads &threads_;
    const Layout &layout_;
    Share z_;
    Count plane_;
    double *unknowns_;
    apps::Pages inverse_pages_, upper_pages_, v_pages_, w_pages_, above_pages_, below_pages_,
        last_pages_;
    // For each row: one over the pivot, the coefficient of the next unknown after elimination, and
    // the responses to a unit beyond the first row and beyond the last row.
    double *inverse_ = nullptr, *upper_ = nullptr, *v_ = nullptr, *w_ = nullptr;
    double *above_ = nullptr, *below_ = nullptr, *last_ = nullptr;
    std::vector<double> lower_, next_;  // of each row: coefficients of the unknowns around it
    std::vector<double> v_above_;       // v of the rank above at its first row
    std::vector<double> x_above_;       // the first unknowns of the rank above

    double coupled_ = 0;
    // Coupled pairs of this plane, the same on all ranks with the same place in y.
    std::vector<std::size_t> coupled_pairs_;
    std::size_t owned_ = 0;
    TridiagonalBuffers buffers_;
    apps::Pages coupled_pages_[4];
    // For each owned pair and rank: v and w at the rank's first row, and at its last.
    struct Ends {
        double v_first = 0, w_first = 0, v_last = 0, w_last = 0;
    };
    std::vector<Ends> ends_;
};

}  // namespace flow
