// The stencil with OpenMP: each thread keeps the same rows, touches them first, and waits for all
// threads twice per iteration. Between two barriers a thread reads only rows of its neighbours that
// no thread writes: `in` is read while the star is added to `out`, and written by its owner in the
// other half.
#include "common/pages.hpp"
#include "common/ranks.hpp"
#include "run.hpp"

#include <omp.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

class OpenMp final : public stencil::Method {
  public:
    const char *backend() const override { return "openmp"; }
    int threads() const override { return omp_get_max_threads(); }
    double *allocate(std::size_t cells) override { return pages_.take(cells); }
    void fill(stencil::Tile &tile) override;
    void iterate(stencil::Tile &tile, std::int64_t iterations) override;

  private:
    static stencil::Span rows_of_thread(const stencil::Tile &tile) {
        return stencil::share_of(tile.shape().y.count(), omp_get_num_threads(),
                                 omp_get_thread_num());
    }

    apps::Pages pages_;
};

void OpenMp::fill(stencil::Tile &tile) {
#pragma omp parallel
    tile.fill(rows_of_thread(tile));
}

void OpenMp::iterate(stencil::Tile &tile, std::int64_t iterations) {
#pragma omp parallel
    {
        const stencil::Span rows = rows_of_thread(tile);
        for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
            tile.apply(rows);
#pragma omp barrier
            tile.refresh(rows);
#pragma omp barrier
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    try {
        apps::OneRank alone("OpenMP " + std::to_string(_OPENMP));
        OpenMp threads;
        return stencil::run(alone, threads, argc, argv);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "stencil: %s\n", failure.what());
        return 1;
    }
}
