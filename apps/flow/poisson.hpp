// The equation of the pressure: lap phi = d, solved by real transforms in x and y and tridiagonal
// systems in z. Owns the pencils and FFTW's plans.
#pragma once

#include "tridiagonal.hpp"

#include <memory>
#include <string>

namespace flow {

class Poisson {
  public:
    // Collective. `way` is a value of --transpose.
    Poisson(Exchange &exchange, const Threads &threads, const Grid &grid, const Layout &layout,
            const std::string &way);
    ~Poisson();
    Poisson(const Poisson &) = delete;
    Poisson &operator=(const Poisson &) = delete;

    // The rank's own cells without halo, x fastest. Before solve() they hold scale() times the
    // right-hand side, after it the solution, whose mean over the channel's last plane is 0.
    double *cells() { return x_pencil_; }
    // The forward and backward transforms together multiply by one over this.
    double scale() const { return scale_; }
    void solve(StepTimes &times);

    double coupled() const { return tridiagonal_->coupled(); }

  private:
    class Transform;
    void solve_in_pieces(StepTimes &times);
    void pipe(Leg leg, const Transform &before, const Transform &after, StepTimes &times);
    std::vector<double> waves_of(const Grid &grid) const;

    Exchange &exchange_;
    const Threads &threads_;
    const Layout &layout_;
    double scale_;
    apps::Pages x_pages_, y_pages_;
    double *x_pencil_ = nullptr, *y_pencil_ = nullptr;
    std::unique_ptr<Transform> x_forth_, x_back_, y_forth_, y_back_;
    std::unique_ptr<Tridiagonal> tridiagonal_;
};

}  // namespace flow
