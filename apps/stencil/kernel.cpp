// The arithmetic. Each copy of the loop has a constant radius, so the compiler unrolls the star and
// vectorizes over cells.
#include "kernel.hpp"

#include <algorithm>
#include <cmath>

namespace {

// The weight of the point `distance` away: positive towards larger i or j, negative towards smaller
// ones.
constexpr double weight(int distance, int radius) {
    return 1.0 / (2.0 * distance * radius);
}

template <int radius>
void add_star(double *__restrict out, const double *const *rows, std::ptrdiff_t begin,
              std::ptrdiff_t end) {
    const double *middle = rows[radius];
    const double *south[radius], *north[radius];
    for (int k = 0; k < radius; ++k) {
        south[k] = rows[radius - 1 - k];
        north[k] = rows[radius + 1 + k];
    }
    for (std::ptrdiff_t i = begin; i < end; ++i) {
        double sum = out[i];
        for (int k = 0; k < radius; ++k) {
            const double up = weight(k + 1, radius), down = -up;
            sum += up * north[k][i] + down * south[k][i];
            sum += up * middle[i + k + 1] + down * middle[i - k - 1];
        }
        out[i] = sum;
    }
}

}  // namespace

void stencil_add_star(int radius, double *out, const double *const *rows, std::ptrdiff_t begin,
                      std::ptrdiff_t end) {
    switch (radius) {
        case 1:
            add_star<1>(out, rows, begin, end);
            break;
        case 2:
            add_star<2>(out, rows, begin, end);
            break;
        case 3:
            add_star<3>(out, rows, begin, end);
            break;
        default:
            add_star<kStencilMaxRadius>(out, rows, begin, end);
            break;
    }
}

void stencil_refresh(double *row, std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i)
        row[i] += 1.0;
}

void stencil_measure(const double *out, std::ptrdiff_t begin, std::ptrdiff_t end, double expected,
                     stencil_sums *sums) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
        sums->norm += std::fabs(out[i]);
        sums->deviation = std::max(sums->deviation, std::fabs(out[i] - expected));
    }
}
