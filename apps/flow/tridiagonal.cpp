#include "tridiagonal.hpp"

#include <algorithm>
#include <cmath>

namespace flow {

Tridiagonal::Tridiagonal(Exchange &exchange, const Threads &threads, const Grid &grid,
                         const Layout &layout, const std::vector<double> &waves, double *unknowns)
    : exchange_(exchange),
      threads_(threads),
      layout_(layout),
      z_(layout.z_share()),
      plane_(static_cast<Count>(waves.size())),
      unknowns_(unknowns) {
    const std::size_t all = pairs() * static_cast<std::size_t>(z_.count);
    inverse_ = inverse_pages_.take(all);
    upper_ = upper_pages_.take(all);
    factor(grid, waves);
    if (layout_.ranks_z() == 1) return;
    v_ = v_pages_.take(all);
    w_ = w_pages_.take(all);
    std::fill_n(v_, all, 0.0);
    std::fill_n(w_, all, 0.0);
    const Count last = z_.count - 1;
    std::fill_n(v_, plane_, lower_.front());
    std::fill_n(w_ + last * plane_, plane_, next_.back());
    eliminate(v_, {0, plane_});
    eliminate(w_, {0, plane_});
    meet_neighbours();
    find_coupled();
    if (coupled_ > 0) share_coupled();
}

void Tridiagonal::factor(const Grid &grid, const std::vector<double> &waves) {
    const Count cells = grid.cells()[2];
    for (Count k = 0; k < z_.count; ++k) {
        const Count g = z_.begin + k;
        const double height = grid.height(g);
        const double lower = g == 0 ? 0 : 1 / (height * grid.distance(g - 1));
        const double next = g + 1 == cells ? 0 : 1 / (height * grid.distance(g));
        lower_.push_back(lower);
        next_.push_back(next);
        for (Count n = 0; n < plane_; ++n) {
            const double wave = waves[static_cast<std::size_t>(n)];
            double pivot = -lower - next - wave;
            // The mean pressure is arbitrary: this term makes it 0 in the last plane. The equations
            // add up to zero, so the term itself becomes 0 and changes no equation.
            if (wave == 0 && g + 1 == cells) pivot -= 1 / (height * height);
            const Count at = k * plane_ + n;
            if (k > 0) pivot -= lower * upper_[at - plane_];
            inverse_[at] = 1 / pivot;
            upper_[at] = next * inverse_[at];
        }
    }
}

void Tridiagonal::eliminate(double *unknowns, const Share &some) const {
    for (Count n = some.begin; n < some.end(); ++n)
        unknowns[n] *= inverse_[n];
    for (Count k = 1; k < z_.count; ++k) {
        const double lower = lower_[static_cast<std::size_t>(k)];
        double *const x = unknowns + k * plane_;
        const double *const inverse = inverse_ + k * plane_;
        for (Count n = some.begin; n < some.end(); ++n)
            x[n] = (x[n] - lower * x[n - plane_]) * inverse[n];
    }
    for (Count k = z_.count - 2; k >= 0; --k) {
        double *const x = unknowns + k * plane_;
        const double *const upper = upper_ + k * plane_;
        for (Count n = some.begin; n < some.end(); ++n)
            x[n] -= upper[n] * x[n + plane_];
    }
}

// Opens the exchange with the ranks above and below, and receives v of the first row above.
void Tridiagonal::meet_neighbours() {
    above_ = above_pages_.take(pairs());
    below_ = below_pages_.take(pairs());
    last_ = last_pages_.take(pairs());
    for (double *const buffer : {above_, below_, last_})
        std::fill_n(buffer, plane_, 0.0);
    x_above_.assign(pairs(), 0);
    buffers_.plane = static_cast<int>(plane_);
    buffers_.first = unknowns_;
    buffers_.above = above_;
    buffers_.last = last_;
    buffers_.below = below_;
    exchange_.open_tridiagonal(buffers_);
    std::copy_n(v_, plane_, unknowns_);
    exchange_.send_down();
    v_above_.assign(above_, above_ + plane_);
    exchange_.send_up();  // carries no data; it allows the next send_down()
}

void Tridiagonal::find_coupled() {
    const Triple &cells = layout_.cells();
    const Share x = layout_.x_share();
    const auto number = [&](std::size_t pair) {
        const Count in = static_cast<Count>(pair);
        return static_cast<std::size_t>(in / x.count * cells[0] + x.begin + in % x.count);
    };
    std::vector<double> found(static_cast<std::size_t>(cells[0] * cells[1]), 0.0);
    const bool between = !layout_.at_floor() && !layout_.at_ceiling();
    const double *const v_last = v_ + (z_.count - 1) * plane_;
    for (std::size_t pair = 0; pair < pairs() && between; ++pair) {
        const double left_out = std::max(std::fabs(v_last[pair]), std::fabs(w_[pair]));
        if (left_out > kNothing) found[number(pair)] = 1;
    }
    exchange_.sum(found);
    coupled_ = static_cast<double>(
        std::count_if(found.begin(), found.end(), [](double times) { return times > 0; }));
    for (std::size_t pair = 0; pair < pairs(); ++pair)
        if (found[number(pair)] > 0) coupled_pairs_.push_back(pair);
}

void Tridiagonal::share_coupled() {
    const Count ranks = layout_.ranks_z(), all = static_cast<Count>(coupled_pairs_.size());
    owned_ = static_cast<std::size_t>(share_of(all, ranks, layout_.place_z()).count);
    const int owned = 2 * static_cast<int>(owned_);
    for (Count rank = 0; rank < ranks; ++rank) {
        const Share share = share_of(all, ranks, rank);
        buffers_.counts.push_back(2 * static_cast<int>(share.count));
        buffers_.places.push_back(2 * static_cast<int>(share.begin));
        buffers_.owned_counts.push_back(owned);
        buffers_.owned_places.push_back(owned * static_cast<int>(rank));
    }
    // At least one number: a rank may have nothing to solve.
    const auto own = static_cast<std::size_t>(2 * all + 1);
    const auto of_all = 2 * owned_ * static_cast<std::size_t>(ranks) + 1;
    buffers_.ends = coupled_pages_[0].take(own);
    buffers_.answers = coupled_pages_[1].take(own);
    buffers_.owned_ends = coupled_pages_[2].take(of_all);
    buffers_.owned_answers = coupled_pages_[3].take(of_all);
    std::fill_n(buffers_.ends, own, 0.0);
    std::fill_n(buffers_.answers, own, 0.0);
    std::fill_n(buffers_.owned_ends, of_all, 0.0);
    std::fill_n(buffers_.owned_answers, of_all, 0.0);
    exchange_.open_coupled(buffers_);
    ends_.resize(owned_ * static_cast<std::size_t>(ranks));
    tell_ends();
}

// Uses the same exchanges as the unknowns later: once for v and w of the first rows, and once for
// those of the last rows.
void Tridiagonal::tell_ends() {
    const Count last = (z_.count - 1) * plane_;
    for (const bool is_last : {false, true}) {
        for (std::size_t n = 0; n < coupled_pairs_.size(); ++n) {
            const Count at = static_cast<Count>(coupled_pairs_[n]) + (is_last ? last : 0);
            buffers_.ends[2 * n] = v_[at];
            buffers_.ends[2 * n + 1] = w_[at];
        }
        exchange_.spread_ends();
        for (std::size_t n = 0; n < ends_.size(); ++n) {
            (is_last ? ends_[n].v_last : ends_[n].v_first) = buffers_.owned_ends[2 * n];
            (is_last ? ends_[n].w_last : ends_[n].w_first) = buffers_.owned_ends[2 * n + 1];
        }
        exchange_.return_answers();
    }
}

void Tridiagonal::solve(StepTimes &times) {
    if (layout_.ranks_z() > 1 && exchange_.pieces(Leg::down) > 0) return solve_in_pieces(times);
    const bool some_are_coupled = coupled_ > 0;
    threads_.share(plane_, [&](const Share &some) { eliminate(unknowns_, some); });
    if (layout_.ranks_z() == 1) return;
    if (some_are_coupled) pack_ends();
    times.passed(Part::pressure_compute);
    exchange_.send_down();
    if (some_are_coupled) exchange_.spread_ends();
    times.passed(Part::pressure_tridiagonal);
    threads_.share(plane_, [&](const Share &some) { join_above(some); });
    if (some_are_coupled) solve_coupled();
    times.passed(Part::pressure_compute);
    exchange_.send_up();
    if (some_are_coupled) exchange_.return_answers();
    times.passed(Part::pressure_tridiagonal);
    threads_.share(plane_, [&](const Share &some) {
        if (some_are_coupled) take_answers(some);
        substitute(some);
    });
}

// As in poisson.cpp, a thread has the same pieces in each loop. Coupled pairs are in all pieces:
// one thread exchanges them while the others join theirs.
void Tridiagonal::solve_in_pieces(StepTimes &times) {
    const Count pieces = exchange_.pieces(Leg::down);
    const bool some_are_coupled = coupled_ > 0;
    times.passed(Part::pressure_compute);
    Unhidden sent;
#pragma omp parallel num_threads(threads_.count())
    {
#pragma omp for schedule(static, 1) nowait
        for (Count piece = 0; piece < pieces; ++piece) {
            eliminate(unknowns_, share_of(plane_, pieces, piece));
            sent.spend([&] { exchange_.start(Leg::down, piece); });
        }
        if (some_are_coupled) {
#pragma omp barrier
#pragma omp single nowait
            exchange_coupled(sent);
        }
#pragma omp for schedule(static, 1) nowait
        for (Count piece = 0; piece < pieces; ++piece) {
            sent.spend([&] { exchange_.finish(Leg::down, piece); });
            join_above(share_of(plane_, pieces, piece));
            sent.spend([&] { exchange_.start(Leg::up, piece); });
        }
        // Waits for the thread that exchanges the coupled pairs; the wait counts as communication.
        if (some_are_coupled)
            sent.spend([] {
#pragma omp barrier
            });
#pragma omp for schedule(static, 1)
        for (Count piece = 0; piece < pieces; ++piece) {
            sent.spend([&] { exchange_.finish(Leg::up, piece); });
            const Share some = share_of(plane_, pieces, piece);
            if (some_are_coupled) take_answers(some);
            substitute(some);
        }
    }
    times.passed(Part::pressure_compute, Part::pressure_tridiagonal, sent.mean_ns(threads_));
}

void Tridiagonal::exchange_coupled(Unhidden &sent) {
    pack_ends();
    sent.spend([&] { exchange_.spread_ends(); });
    solve_coupled();
    sent.spend([&] { exchange_.return_answers(); });
}

void Tridiagonal::pack_ends() {
    const double *const last = unknowns_ + (z_.count - 1) * plane_;
    for (std::size_t n = 0; n < coupled_pairs_.size(); ++n) {
        buffers_.ends[2 * n] = unknowns_[coupled_pairs_[n]];
        buffers_.ends[2 * n + 1] = last[coupled_pairs_[n]];
    }
}

// Solves the system of this rank's last unknown and the first unknown of the rank above.
void Tridiagonal::join_above(const Share &some) {
    if (layout_.at_ceiling()) return;
    const double *const own = unknowns_ + (z_.count - 1) * plane_;
    const double *const w = w_ + (z_.count - 1) * plane_;
    for (Count n = some.begin; n < some.end(); ++n) {
        const auto pair = static_cast<std::size_t>(n);
        last_[n] = (own[n] - w[n] * above_[n]) / (1 - w[n] * v_above_[pair]);
        x_above_[pair] = above_[n] - v_above_[pair] * last_[n];
    }
}

// For each owned pair, l is the last unknown of rank r and f is the first unknown of rank r + 1:
//     l(r) + v_last(r) l(r-1) + w_last(r) f(r) = s_last(r)
//     f(r) + v_first(r+1) l(r) + w_first(r+1) f(r+1) = s_first(r+1)
// Going up, both become a constant minus a multiple of f(r+1); going down, f(r+1) is then known.
void Tridiagonal::solve_coupled() {
    struct Found {
        double l = 0, l_next = 0, f = 0, f_next = 0;
    };
    const std::size_t ranks = static_cast<std::size_t>(layout_.ranks_z());
    std::vector<Found> found(ranks);
    for (std::size_t pair = 0; pair < owned_; ++pair) {
        const auto at = [&](std::size_t rank) { return rank * owned_ + pair; };
        Found before;
        for (std::size_t r = 0; r + 1 < ranks; ++r) {
            const Ends &here = ends_[at(r)], &above = ends_[at(r + 1)];
            const double s_last = buffers_.owned_ends[2 * at(r) + 1];
            const double s_first = buffers_.owned_ends[2 * at(r + 1)];
            // l(r-1) = before.l - before.l_next f(r)
            const double w_last = here.w_last - here.v_last * before.l_next;
            const double right = s_last - here.v_last * before.l;
            const double pivot = 1 - above.v_first * w_last;
            Found &now = found[r];
            now.f = (s_first - above.v_first * right) / pivot;
            now.f_next = above.w_first / pivot;
            now.l = right - w_last * now.f;
            now.l_next = -w_last * now.f_next;
            before = now;
        }
        double f_above = 0;  // beyond the ceiling, where f_next and l_next are 0
        for (std::size_t r = ranks - 1; r-- > 0;) {
            const double l = found[r].l - found[r].l_next * f_above;
            const double f = found[r].f - found[r].f_next * f_above;
            buffers_.owned_answers[2 * at(r) + 1] = f;
            buffers_.owned_answers[2 * at(r + 1)] = l;
            f_above = f;
        }
        buffers_.owned_answers[2 * at(0)] = 0;
        buffers_.owned_answers[2 * at(ranks - 1) + 1] = 0;
    }
}

void Tridiagonal::take_answers(const Share &some) {
    const auto place = [this](Count pair) {
        const auto found = std::lower_bound(coupled_pairs_.begin(), coupled_pairs_.end(),
                                            static_cast<std::size_t>(pair));
        return static_cast<std::size_t>(found - coupled_pairs_.begin());
    };
    const std::size_t end = place(some.end());
    for (std::size_t n = place(some.begin); n < end; ++n) {
        below_[coupled_pairs_[n]] = buffers_.answers[2 * n];
        x_above_[coupled_pairs_[n]] = buffers_.answers[2 * n + 1];
    }
}

void Tridiagonal::substitute(const Share &some) {
    for (Count k = 0; k < z_.count; ++k) {
        double *const x = unknowns_ + k * plane_;
        const double *const v = v_ + k * plane_, *const w = w_ + k * plane_;
        for (Count n = some.begin; n < some.end(); ++n)
            x[n] -= v[n] * below_[n] + w[n] * x_above_[static_cast<std::size_t>(n)];
    }
}

}  // namespace flow
