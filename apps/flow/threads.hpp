// The threads of a rank that compute, with OpenMP. Without OpenMP there is one thread, and the
// pragmas have no effect. Results do not depend on the number of threads: one thread computes each
// number, in a fixed order. poisson.cpp and tridiagonal.cpp have the threads that also send their
// own pieces.
#pragma once

#include "layout.hpp"

#include "common/failure.hpp"
#include "common/times.hpp"

#include <fmt/format.h>

namespace flow {

class Threads {
  public:
    // Throws Failure if so many threads are not available.
    explicit Threads(int count) : count_(count) {
        int found = 0;
#pragma omp parallel num_threads(count_) reduction(+ : found)
        found += 1;
        if (found != count) {
            throw apps::Failure(
                fmt::format("--threads: {} were asked for, but OpenMP gives {}; a program without "
                            "OpenMP has 1",
                            count, found));
        }
    }
    int count() const {
        return count_;
    }

    // Each thread calls work(share) with its share of `all`.
    template <typename Work>
    void share(Count all, Work work) const {
#pragma omp parallel for schedule(static, 1) num_threads(count_)
        for (int thread = 0; thread < count_; ++thread) {
            const Share share = share_of(all, count_, thread);
            if (share.count > 0) work(share);
        }
    }

    // Each thread calls work(part) with its part of the box, cut in the longer direction.
    template <typename Work>
    void share(const Box &box, Work work) const {
        const bool by_planes = box.planes.count >= box.rows.count;
        const Share whole = by_planes ? box.planes : box.rows;
        share(whole.count, [&](const Share &share) {
            Box part = box;
            (by_planes ? part.planes : part.rows) = {whole.begin + share.begin, share.count};
            work(part);
        });
    }

  private:
    int count_;
};

// The time that the threads of a team spend in communication while the others may compute: its mean
// is the communication time that was not hidden.
class Unhidden {
  public:
    // Called by any thread of the team.
    template <typename Call>
    void spend(Call call) {
        const apps::Clock::time_point before = apps::Clock::now();
        call();
        const std::int64_t ns = apps::elapsed_ns(before, apps::Clock::now());
#pragma omp atomic
        ns_ += ns;
    }
    std::int64_t mean_ns(const Threads &threads) const {
        return ns_ / threads.count();
    }

  private:
    std::int64_t ns_ = 0;
};

}  // namespace flow
