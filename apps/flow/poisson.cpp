// Transforms and transposes; see poisson.hpp. Both pencils have x fastest, then y, then z, so that
// where one rank has all of y they are the same array and nothing moves.
#include "poisson.hpp"

#include <fftw3.h>

#include <algorithm>

namespace flow {

// A real transform of all lines of a plane, one plane after the other. By estimate: a plan that was
// found by measuring may be another one in the next run.
class Poisson::Transform {
  public:
    struct Lines {
        Count length = 0, lines = 0, stride = 0, distance = 0;
        Count plane = 0, planes = 0;
    };
    Transform(double *memory, const Lines &lines, fftw_r2r_kind kind)
        : memory_(memory), lines_(lines) {
        const int length = static_cast<int>(lines.length);
        // Planes that begin at other places of a vector than the first one want another plan.
        const bool is_even = lines.plane % 2 == 0;
        plan_ = fftw_plan_many_r2r(
            1, &length, static_cast<int>(lines.lines), memory, nullptr,
            static_cast<int>(lines.stride), static_cast<int>(lines.distance), memory, nullptr,
            static_cast<int>(lines.stride), static_cast<int>(lines.distance), &kind,
            FFTW_ESTIMATE | (is_even ? 0u : static_cast<unsigned>(FFTW_UNALIGNED)));
        if (plan_ == nullptr) throw apps::Lost("FFTW made no plan");
    }
    ~Transform() { fftw_destroy_plan(plan_); }
    Transform(const Transform &) = delete;
    Transform &operator=(const Transform &) = delete;

    void run() const { run({0, lines_.planes}); }
    void run(Share planes) const {
        for (Count plane = planes.begin; plane < planes.end(); ++plane) {
            double *const at = memory_ + plane * lines_.plane;
            fftw_execute_r2r(plan_, at, at);
        }
    }

  private:
    double *memory_;
    Lines lines_;
    fftw_plan plan_;
};

Poisson::Poisson(Exchange &exchange, const Grid &grid, const Layout &layout, const std::string &way)
    : exchange_(exchange), layout_(layout) {
    const Triple &cells = layout.cells();
    const Count nx = cells[0], ny = cells[1];
    const Count own_x = layout.x_share().count, own_y = layout.y_share().count;
    const Count nz = layout.z_share().count;
    scale_ = 1 / (static_cast<double>(nx) * static_cast<double>(ny));
    const auto x_numbers = static_cast<std::size_t>(nx * own_y * nz);
    const auto y_numbers = static_cast<std::size_t>(own_x * ny * nz);
    x_pencil_ = x_pages_.take(x_numbers);
    std::fill_n(x_pencil_, x_numbers, 0.0);
    y_pencil_ = x_pencil_;
    if (layout.ranks_y() > 1) {
        y_pencil_ = y_pages_.take(y_numbers);
        std::fill_n(y_pencil_, y_numbers, 0.0);
        exchange.open_transposes(x_pencil_, y_pencil_, way);
    }
    const Transform::Lines x_lines{nx, own_y, 1, nx, nx * own_y, nz};
    const Transform::Lines y_lines{ny, own_x, own_x, 1, own_x * ny, nz};
    x_forth_ = std::make_unique<Transform>(x_pencil_, x_lines, FFTW_R2HC);
    x_back_ = std::make_unique<Transform>(x_pencil_, x_lines, FFTW_HC2R);
    y_forth_ = std::make_unique<Transform>(y_pencil_, y_lines, FFTW_R2HC);
    y_back_ = std::make_unique<Transform>(y_pencil_, y_lines, FFTW_HC2R);
    tridiagonal_ = std::make_unique<Tridiagonal>(exchange, grid, layout, waves_of(grid), y_pencil_);
}

Poisson::~Poisson() = default;

// A half-complex line has the real part of wave m at m, and the imaginary one at n - m.
std::vector<double> Poisson::waves_of(const Grid &grid) const {
    const Count nx = layout_.cells()[0], ny = layout_.cells()[1];
    const Share x = layout_.x_share();
    std::vector<double> waves;
    for (Count j = 0; j < ny; ++j) {
        const double of_y =
            squared_wave_number(std::min(j, ny - j), ny, grid.dy(), layout_.order());
        for (Count i = x.begin; i < x.end(); ++i) {
            waves.push_back(
                of_y + squared_wave_number(std::min(i, nx - i), nx, grid.dx(), layout_.order()));
        }
    }
    return waves;
}

void Poisson::solve(StepTimes &times) {
    const bool moves = layout_.ranks_y() > 1;
    if (moves && exchange_.pieces() > 0) {
        solve_in_pieces(times);
        return;
    }
    x_forth_->run();
    times.passed(Part::pressure_compute);
    if (moves) exchange_.to_y();
    times.passed(Part::pressure_transpose);
    y_forth_->run();
    tridiagonal_->solve(times);
    y_back_->run();
    times.passed(Part::pressure_compute);
    if (moves) exchange_.to_x();
    times.passed(Part::pressure_transpose);
    x_back_->run();
    times.passed(Part::pressure_compute);
}

void Poisson::solve_in_pieces(StepTimes &times) {
    const Count planes = layout_.z_share().count, pieces = exchange_.pieces();
    for (Count piece = 0; piece < pieces; ++piece) {
        x_forth_->run(share_of(planes, pieces, piece));
        times.passed(Part::pressure_compute);
        exchange_.send_to_y(piece);
        times.passed(Part::pressure_transpose);
    }
    for (Count piece = 0; piece < pieces; ++piece) {
        exchange_.await_in_y(piece);
        times.passed(Part::pressure_transpose);
        y_forth_->run(share_of(planes, pieces, piece));
        times.passed(Part::pressure_compute);
    }
    tridiagonal_->solve(times);
    for (Count piece = 0; piece < pieces; ++piece) {
        y_back_->run(share_of(planes, pieces, piece));
        times.passed(Part::pressure_compute);
        exchange_.send_to_x(piece);
        times.passed(Part::pressure_transpose);
    }
    for (Count piece = 0; piece < pieces; ++piece) {
        exchange_.await_in_x(piece);
        times.passed(Part::pressure_transpose);
        x_back_->run(share_of(planes, pieces, piece));
        times.passed(Part::pressure_compute);
    }
}

}  // namespace flow
