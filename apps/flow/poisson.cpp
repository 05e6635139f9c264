// Transforms and transposes. Both pencils have x fastest, then y, then z. So if one rank has all of
// y they are the same array and nothing moves.
#include "poisson.hpp"

#include <fftw3.h>

#include <algorithm>

namespace flow {

// A real transform of all lines of a plane, one plane after another. The plan is estimated, because
// a measured plan may differ from run to run.
class Poisson::Transform {
  public:
    struct Lines {
        Count length = 0, lines = 0, stride = 0, distance = 0;
        Count plane = 0, planes = 0;
    };
    Transform(double *memory, const Lines &lines, fftw_r2r_kind kind)
        : memory_(memory), lines_(lines) {
        const int length = static_cast<int>(lines.length);
        // The plan serves all planes. If their alignments differ, it must not assume any.
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

    // Several threads may execute the same plan of FFTW.
    void run(const Threads &threads) const {
        threads.share(lines_.planes, [this](const Share &planes) { run(planes); });
    }
    void run(const Share &planes) const {
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

Poisson::Poisson(Exchange &exchange, const Threads &threads, const Grid &grid, const Layout &layout,
                 const std::string &way)
    : exchange_(exchange), threads_(threads), layout_(layout) {
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
    tridiagonal_ =
        std::make_unique<Tridiagonal>(exchange, threads, grid, layout, waves_of(grid), y_pencil_);
}

Poisson::~Poisson() = default;

// A half-complex line has the real part of wave m at m, and the imaginary part at n - m.
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
    if (moves && exchange_.pieces(Leg::to_y) > 0) return solve_in_pieces(times);
    x_forth_->run(threads_);
    times.passed(Part::pressure_compute);
    if (moves) exchange_.to_y();
    times.passed(Part::pressure_transpose);
    y_forth_->run(threads_);
    tridiagonal_->solve(times);
    y_back_->run(threads_);
    times.passed(Part::pressure_compute);
    if (moves) exchange_.to_x();
    times.passed(Part::pressure_transpose);
    x_back_->run(threads_);
    times.passed(Part::pressure_compute);
}

// Figure 3e of the UNR paper.
void Poisson::solve_in_pieces(StepTimes &times) {
    pipe(Leg::to_y, *x_forth_, *y_forth_, times);
    tridiagonal_->solve(times);
    pipe(Leg::to_x, *y_back_, *x_back_, times);
}

// The loops have the same schedule in one team: a thread has the same pieces in both, and sends all
// of them before it waits for one. So a thread never waits for another thread of its rank to send,
// whatever the numbers of threads here and on other ranks. OpenMP tasks would not have such an
// order.
void Poisson::pipe(Leg leg, const Transform &before, const Transform &after, StepTimes &times) {
    const Count planes = layout_.z_share().count, pieces = exchange_.pieces(leg);
    times.passed(Part::pressure_compute);
    Unhidden sent;
#pragma omp parallel num_threads(threads_.count())
    {
#pragma omp for schedule(static, 1) nowait
        for (Count piece = 0; piece < pieces; ++piece) {
            before.run(share_of(planes, pieces, piece));
            sent.spend([&] { exchange_.start(leg, piece); });
        }
#pragma omp for schedule(static, 1)
        for (Count piece = 0; piece < pieces; ++piece) {
            sent.spend([&] { exchange_.finish(leg, piece); });
            after.run(share_of(planes, pieces, piece));
        }
    }
    times.passed(Part::pressure_compute, Part::pressure_transpose, sent.mean_ns(threads_));
}

}  // namespace flow
