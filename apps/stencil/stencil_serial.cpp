// The stencil on one processor: the reference for the other rates.
#include "common/pages.hpp"
#include "run.hpp"

#include <cstdio>
#include <exception>

namespace {

// An exchange without neighbours.
struct Alone {
    void wait_ghosts(stencil::Tile &) {}
    void release_ghosts() {}
    void wait_edges() {}
    void hand_over() {}
};

class Serial final : public stencil::Method {
  public:
    const char *backend() const override { return "serial"; }
    double *allocate(std::size_t cells) override { return pages_.take(cells); }
    void iterate(stencil::Tile &tile, std::int64_t iterations) override {
        Alone alone;
        iterate_with(alone, tile, iterations);
    }

  private:
    apps::Pages pages_;
};

}  // namespace

int main(int argc, char **argv) {
    try {
        apps::OneRank alone("none");
        Serial serial;
        return stencil::run(alone, serial, argc, argv);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "stencil: %s\n", failure.what());
        return 1;
    }
}
