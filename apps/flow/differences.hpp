// Differences on a staggered grid, at one place of an array. `s` is the distance in memory between
// two neighbours in the direction, `per_h` is one over their distance in space. Order 4 is the
// scheme that conserves kinetic energy: nine eighths of the difference to the nearest places, minus
// one eighth of the difference to the places three times as far away.
#pragma once

#include "layout.hpp"

namespace flow {

// The value halfway between q[0] and q[s].
template <int Order>
inline double between(const double *q, Count s) {
    if constexpr (Order == 2) return 0.5 * (q[0] + q[s]);
    return 0.5625 * (q[0] + q[s]) - 0.0625 * (q[-s] + q[2 * s]);
}

// From values at centres: the difference at the face above the centre.
template <int Order>
inline double gradient(const double *q, Count s, double per_h) {
    if constexpr (Order == 2) return per_h * (q[s] - q[0]);
    return per_h * (1.0 / 24) * (27 * (q[s] - q[0]) - (q[2 * s] - q[-s]));
}

// From values at faces: the difference at the centre below the face.
template <int Order>
inline double divergence(const double *q, Count s, double per_h) {
    return gradient<Order>(q - s, s, per_h);
}

template <int Order>
inline double second(const double *q, Count s, double per_h) {
    if constexpr (Order == 2) return per_h * per_h * (q[s] - 2 * q[0] + q[-s]);
    return per_h * per_h * (1.0 / 12) * (16 * (q[s] + q[-s]) - (q[2 * s] + q[-2 * s]) - 30 * q[0]);
}

// The divergence of q transported by a velocity: `carrier(m)` is the velocity half a place above
// place m.
template <int Order, typename Carrier>
inline double carried(const double *q, Count s, double per_h, Carrier carrier) {
    const double near = carrier(0) * (q[0] + q[s]) - carrier(-1) * (q[-s] + q[0]);
    if constexpr (Order == 2) return 0.5 * per_h * near;
    const double far = carrier(1) * (q[0] + q[3 * s]) - carrier(-2) * (q[-3 * s] + q[0]);
    return per_h * (0.5625 * near - (1.0 / 48) * far);
}

}  // namespace flow
