// The transpose on one processor: the reference for the other rates.
#include "common/pages.hpp"
#include "run.hpp"

#include <cstdio>
#include <exception>

namespace {

class Serial final : public transpose::Method {
  public:
    const char *backend() const override { return "serial"; }
    transpose::Matrices::Memory allocate(std::size_t elements) override {
        return {a_.take(elements), b_.take(elements)};
    }
    void iterate(transpose::Matrices &matrices, std::int64_t steps) override {
        for (std::int64_t step = 0; step < steps; ++step)
            matrices.add_to(0, matrices.b());
    }

  private:
    apps::Pages a_, b_;
};

}  // namespace

int main(int argc, char **argv) {
    try {
        apps::OneRank alone("none");
        Serial serial;
        return transpose::run(alone, serial, argc, argv);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "transpose: %s\n", failure.what());
        return 1;
    }
}
