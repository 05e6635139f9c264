// The transpose with OpenMP: each thread keeps the same columns of B, and reads the rows of A that
// become them, so no two threads write the same elements. The threads wait for each other once per
// step.
#include "common/pages.hpp"
#include "run.hpp"

#include <omp.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

class OpenMp final : public transpose::Method {
  public:
    const char *backend() const override { return "openmp"; }
    int threads() const override { return omp_get_max_threads(); }
    transpose::Matrices::Memory allocate(std::size_t elements) override {
        return {a_.take(elements), b_.take(elements)};
    }
    void fill(transpose::Matrices &matrices) override;
    void iterate(transpose::Matrices &matrices, std::int64_t steps) override;

  private:
    apps::Pages a_, b_;
};

// Uses as many threads as there are shares.
void OpenMp::fill(transpose::Matrices &matrices) {
#pragma omp parallel num_threads(matrices.shares().groups())
    matrices.fill(matrices.shares().of(omp_get_thread_num()));
}

void OpenMp::iterate(transpose::Matrices &matrices, std::int64_t steps) {
    const int threads = matrices.shares().groups();
#pragma omp parallel num_threads(threads)
    {
        const int rows = omp_get_thread_num();
        for (std::int64_t step = 0; step < steps; ++step) {
            for (int columns = 0; columns < threads; ++columns)
                matrices.add(columns, rows, matrices.b());
#pragma omp barrier
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    try {
        apps::OneRank alone("OpenMP " + std::to_string(_OPENMP));
        OpenMp threads;
        return transpose::run(alone, threads, argc, argv);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "transpose: %s\n", failure.what());
        return 1;
    }
}
