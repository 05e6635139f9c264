// The stencil in a shared window of MPI: neighbours' cells are read in place, as with channels, and
// counters in the window, written by hand, say when this is allowed. All ranks must share a node.
#include "common/counter.hpp"
#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"
#include "run.hpp"

#include <new>

namespace {

using stencil::Side;

// Precedes a rank's cells: for each side the counters of the neighbour there.
struct Flags {
    apps::Counter handed_over[4];  // its edges
    apps::Counter released[4];     // this rank's edges, after it used them
};

class SharedWindow final : public stencil::Method {
  public:
    const char *backend() const override { return "mpi-shared"; }
    std::vector<std::string> ways() const override { return stencil::kRowWays; }
    void choose(const std::string &way) override { in_place_ = way == "inplace"; }
    double *allocate(std::size_t cells) override;
    void connect(const stencil::Decomposition &decomposition, int rank,
                 stencil::Tile &tile) override;
    void iterate(stencil::Tile &tile, std::int64_t iterations) override {
        iterate_with(*this, tile, iterations);
    }
    void finish(stencil::Tile &) override { window_.barrier(); }

    void wait_ghosts(stencil::Tile &tile);
    void release_ghosts();
    void wait_edges();
    void hand_over();

  private:
    struct Link {
        Side side;
        Flags *theirs;
        stencil::Tile::Source source;
    };

    apps::MpiWindow window_;
    bool in_place_ = false;
    Flags *mine_ = nullptr;
    std::vector<Link> links_;
    std::int64_t handed_over_ = 0, used_ = 0;  // of each link
};

double *SharedWindow::allocate(std::size_t cells) {
    mine_ = new (window_.open(sizeof(Flags) + cells * sizeof(double))) Flags;
    return reinterpret_cast<double *>(mine_ + 1);
}

void SharedWindow::connect(const stencil::Decomposition &decomposition, int, stencil::Tile &tile) {
    for (const Side side : stencil::kAllSides) {
        const int peer = tile.neighbour(side);
        if (peer < 0) continue;
        auto *theirs = static_cast<Flags *>(window_.of(peer));
        const auto *cells = reinterpret_cast<const double *>(theirs + 1);
        links_.push_back(
            {side, theirs, tile.take_ghosts(side, cells, decomposition.shape(peer), in_place_)});
    }
    window_.barrier();
    hand_over();
}

void SharedWindow::wait_ghosts(stencil::Tile &tile) {
    ++used_;
    for (const Link &link : links_) {
        mine_->handed_over[link.side].wait_for(used_);
        tile.fill_ghosts(link.source);
    }
}

void SharedWindow::release_ghosts() {
    for (const Link &link : links_)
        link.theirs->released[opposite(link.side)].add_one();
}

void SharedWindow::wait_edges() {
    for (const Link &link : links_)
        mine_->released[link.side].wait_for(handed_over_);
}

void SharedWindow::hand_over() {
    ++handed_over_;
    for (const Link &link : links_)
        link.theirs->handed_over[opposite(link.side)].add_one();
}

}  // namespace

int main(int argc, char **argv) {
    return apps::run_with_mpi("stencil", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        SharedWindow window;
        return stencil::run(ranks, window, argc, argv);
    });
}
