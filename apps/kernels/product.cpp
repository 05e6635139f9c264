#include "product.hpp"

#include "values.hpp"

#include "common/failure.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernels {
namespace {

constexpr std::int64_t kPaperSize = 160'000;
enum Seed : std::uint64_t { kOfA = 3, kOfB = 4 };

// Matrices stored by rows: `rows` x `inner` times `inner` x `columns`; the product is added to c,
// or with beta 0 replaces it.
struct Sizes {
    std::size_t rows, columns, inner;
};
void call_blas(CBLAS_TRANSPOSE of_a, Sizes sizes, const double *a, const double *b, double beta,
               double *c) {
    const int rows = static_cast<int>(sizes.rows), columns = static_cast<int>(sizes.columns),
              inner = static_cast<int>(sizes.inner);
    cblas_dgemm(CblasRowMajor, of_a, CblasNoTrans, rows, columns, inner, 1, a,
                of_a == CblasTrans ? rows : inner, b, columns, beta, c, columns);
}

double norm_of(const std::vector<double> &values) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // lengths are ints
    double norm = 0;
    for (std::size_t at = 0; at < values.size(); at += kMost) {
        const auto count = static_cast<int>(std::min(kMost, values.size() - at));
        norm = std::hypot(norm, cblas_dnrm2(count, values.data() + at, 1));
    }
    return norm;
}

// Each run flips the sign of A or of B, in turn, so the sign of the product changes in every run.
bool is_a_changed_by(int run) {
    return run % 2 == 1;
}
double sign_of(int run) {
    return run % 2 == 1 ? -1 : 1;
}

std::array<std::size_t, 3> shape_of(const Options &options, int ranks) {
    if (options.shape[0] > 0) {
        return {static_cast<std::size_t>(options.shape[0]),
                static_cast<std::size_t>(options.shape[1]),
                static_cast<std::size_t>(options.shape[2])};
    }
    const auto size = static_cast<double>(options.size > 0 ? options.size : kPaperSize);
    const auto order = static_cast<std::size_t>(std::lround(std::ceil(std::sqrt(size * ranks))));
    return {order, order, order};
}

}  // namespace

RanksGrid grid_of(const Options &options, int ranks) {
    int rows = static_cast<int>(std::lround(std::floor(std::sqrt(ranks))));
    if (options.kernel == "cannon") {
        if (rows * rows != ranks)
            throw apps::Failure(
                fmt::format("cannon needs a square number of ranks, and {} is none", ranks));
        return {rows, rows};
    }
    while (ranks % rows != 0)
        --rows;
    if (options.rows > 0) {
        rows = static_cast<int>(options.rows);
    } else if (options.columns > 0) {
        rows = std::max(1, ranks / static_cast<int>(options.columns));
    }
    const int columns =
        options.columns > 0 ? static_cast<int>(options.columns) : std::max(1, ranks / rows);
    if (std::int64_t{rows} * columns != ranks) {
        throw apps::Failure(
            fmt::format("a grid of {} x {} does not fit {} ranks", rows, columns, ranks));
    }
    return {rows, columns};
}

Product::Product(const Options &options, int rank_here, int ranks_in_all)
    : Product(options, rank_here, grid_of(options, ranks_in_all)) {}

Product::Product(const Options &options, int rank_here, RanksGrid grid)
    : Kernel(rank_here, grid.rows * grid.columns),
      rows(grid.rows),
      columns(grid.columns),
      row(rank / columns),
      column(rank % columns),
      panels(std::lcm(rows, columns)),
      is_cannon_(options.kernel == "cannon"),
      shape_(shape_of(options, ranks)),
      height_(divided_up(shape_[0], static_cast<std::size_t>(rows))),
      inner_(divided_up(shape_[1], static_cast<std::size_t>(panels))),
      width_(divided_up(shape_[2], static_cast<std::size_t>(columns))) {
    openblas_set_num_threads(1);
    a_panel = height_ * inner_;
    b_panel = inner_ * width_;
    a_block = a_panel * static_cast<std::size_t>(panels / columns);
    b_block = b_panel * static_cast<std::size_t>(panels / rows);
    c_block = height_ * width_;
    constexpr std::size_t kMpiLimit = (std::size_t{1} << 31) - 1;
    if (std::max({a_block, b_block, c_block}) > kMpiLimit)
        throw apps::Failure("a block has more elements than MPI counts");
    for (int at = 0; is_cannon_ && at < ranks; ++at) {
        const int shift = (at / columns + at % columns) % columns;
        a_start.push_back(at / columns * columns + shift);
        b_start.push_back(shift * columns + at % columns);
    }
}

void Product::place_in(std::vector<double> &memory) {
    const auto blocks = static_cast<std::size_t>(ranks);
    if (rank != 0) return;
    memory.resize(blocks * (a_block + b_block + c_block));
    a = memory.data();
    b = a + a_block * blocks;
    c = b + b_block * blocks;
}

void Product::multiply(int step, const double *a_here, const double *b_here, double *c_here) const {
    call_blas(CblasTrans, {height_, width_, inner_}, a_here, b_here, step == 0 ? 0 : 1, c_here);
}

double &Product::a_at(std::size_t i, std::size_t k) const {
    const int t = static_cast<int>(k / inner_);
    const std::size_t owner =
        i / height_ * static_cast<std::size_t>(columns) + static_cast<std::size_t>(a_owner(t));
    return a[owner * a_block + a_place(t) + k % inner_ * height_ + i % height_];
}

double &Product::b_at(std::size_t k, std::size_t j) const {
    const int t = static_cast<int>(k / inner_);
    const std::size_t owner = static_cast<std::size_t>(b_owner(t) * columns) + j / width_;
    return b[owner * b_block + b_place(t) + k % inner_ * width_ + j % width_];
}

void Product::fill() {
    const auto [height, inner, width] = shape_;
    std::fill_n(a, a_block * static_cast<std::size_t>(ranks), 0.0);
    std::fill_n(b, b_block * static_cast<std::size_t>(ranks), 0.0);
    for (std::size_t i = 0; i < height; ++i)
        for (std::size_t k = 0; k < inner; ++k)
            a_at(i, k) = value_at(kOfA, i * inner + k);
    for (std::size_t k = 0; k < inner; ++k)
        for (std::size_t j = 0; j < width; ++j)
            b_at(k, j) = value_at(kOfB, k * width + j);
}

void Product::prepare(int run) {
    run_ = run;
    if (rank != 0) return;
    if (run == 0) {
        fill();
        return;
    }
    double *const changed = is_a_changed_by(run) ? a : b;
    const std::size_t block = is_a_changed_by(run) ? a_block : b_block;
    for (std::size_t i = 0; i < block * static_cast<std::size_t>(ranks); ++i)
        changed[i] = -changed[i];
}

// Computed from the whole matrices, so a misplaced block of A makes C wrong.
void Product::find_expected() {
    const auto [height, inner, width] = shape_;
    std::vector<double> whole_a(height * inner), whole_b(inner * width);
    for (std::size_t i = 0; i < whole_a.size(); ++i)
        whole_a[i] = value_at(kOfA, i);
    for (std::size_t i = 0; i < whole_b.size(); ++i)
        whole_b[i] = value_at(kOfB, i);
    expected_.resize(height * width);
    call_blas(CblasNoTrans, {height, width, inner}, whole_a.data(), whole_b.data(), 0,
              expected_.data());
    bound_ = 2 * static_cast<double>(inner) * 0x1p-53 * norm_of(whole_a) * norm_of(whole_b);
}

std::vector<double> Product::check() {
    if (rank != 0) return {0};
    if (expected_.empty()) find_expected();
    double difference = 0;  // squared norm of the difference
    for (std::size_t at = 0; at < c_block * static_cast<std::size_t>(ranks); ++at) {
        const std::size_t owner = at / c_block, in_block = at % c_block;
        const std::size_t i =
            owner / static_cast<std::size_t>(columns) * height_ + in_block / width_;
        const std::size_t j =
            owner % static_cast<std::size_t>(columns) * width_ + in_block % width_;
        if (i < shape_[0] && j < shape_[2]) {
            const double off = c[at] - sign_of(run_) * expected_[i * shape_[2] + j];
            difference += off * off;
        } else if (c[at] != 0) {
            throw apps::Failure(
                fmt::format("wrong result: C[{}, {}] is {}, beyond C", i, j, c[at]));
        }
    }
    const double error = std::sqrt(difference);
    if (!(error <= bound_))
        throw apps::Failure(fmt::format(
            "wrong result: C is off by {:.3g} in its norm, of at most {:.3g}", error, bound_));
    error_ = std::max(error_, error);
    return {0};
}

double Product::bytes() const {
    const std::size_t got = static_cast<std::size_t>(panels) * (a_panel + b_panel) + c_block;
    const std::size_t scattered = is_cannon_ ? 0 : a_block + b_block;
    return static_cast<double>((got + scattered) * sizeof(double)) * ranks;
}

void Product::describe(apps::Result &result) const {
    result.add("rows", rows);
    result.add("columns", columns);
    result.add("shape", std::vector<double>(shape_.begin(), shape_.end()));
    result.add("panels", panels);
    result.add("error_norm", error_);
    result.add("error_bound", bound_);
}

}  // namespace kernels
