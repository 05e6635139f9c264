// The stencil with MPI send and receive: persistent requests, receives started as soon as their
// memory is free. Rows are received into the ghosts. They are sent from their place, unless ghost
// columns lie between them, which may be filled while the message is in flight; then they are
// copied first. Columns are packed by their owner and received in a separate buffer.
#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"
#include "common/pages.hpp"
#include "run.hpp"

#include <algorithm>

namespace {

using stencil::Side;

class TwoSided final : public stencil::Method {
  public:
    const char *backend() const override { return "mpi"; }
    double *allocate(std::size_t cells) override { return pages_.take(cells); }
    void connect(const stencil::Decomposition &decomposition, int rank,
                 stencil::Tile &tile) override;
    void iterate(stencil::Tile &tile, std::int64_t iterations) override {
        iterate_with(*this, tile, iterations);
    }
    void finish(stencil::Tile &) override {
        receives_.wait();
        sends_.wait();
    }

    void wait_ghosts(stencil::Tile &tile);
    void release_ghosts() { receives_.start(); }
    void wait_edges() { sends_.wait(); }
    void hand_over();

  private:
    struct Link {
        Side side;
        std::vector<double> sent, received;  // empty if MPI uses the cells in the field
    };

    void make_requests(Link &link, stencil::Tile &tile, bool copy_rows);

    apps::MpiDuplicate world_;
    apps::Pages pages_;
    stencil::Tile *tile_ = nullptr;
    std::vector<Link> links_;
    apps::MpiRequests sends_, receives_;
};

void TwoSided::connect(const stencil::Decomposition &, int, stencil::Tile &tile) {
    tile_ = &tile;
    const bool copy_rows =
        tile.neighbour(stencil::kWest) >= 0 || tile.neighbour(stencil::kEast) >= 0;
    for (const Side side : stencil::kAllSides) {
        if (tile.neighbour(side) >= 0) links_.push_back({side, {}, {}});
    }
    for (Link &link : links_)
        make_requests(link, tile, copy_rows);
    receives_.start();
    hand_over();
}

// The tag of a message is the side of the sender at which it leaves.
void TwoSided::make_requests(Link &link, stencil::Tile &tile, bool copy_rows) {
    const stencil::Shape &shape = tile.shape();
    const std::ptrdiff_t rows = shape.y.count(), radius = shape.radius;
    double *from = nullptr, *to = nullptr;
    std::ptrdiff_t count = shape.columns();
    if (link.side == stencil::kWest || link.side == stencil::kEast) {
        link.received.resize(static_cast<std::size_t>(count));
        from = tile.columns(link.side);
        to = link.received.data();
    } else {
        const bool south = link.side == stencil::kSouth;
        count = (radius - 1) * shape.pitch() + shape.x.count();
        from = tile.cell(0, south ? 0 : rows - radius);
        to = tile.cell(0, south ? -radius : rows);
        if (copy_rows) {
            link.sent.resize(static_cast<std::size_t>(count));
            from = link.sent.data();
        }
    }
    const int peer = tile.neighbour(link.side);
    receives_.add_receive({to, count}, peer, opposite(link.side), world_.ranks());
    sends_.add_send({from, count}, peer, link.side, world_.ranks());
}

void TwoSided::wait_ghosts(stencil::Tile &tile) {
    receives_.wait();
    for (const Link &link : links_) {
        if (!link.received.empty()) tile.fill_ghost_columns(link.side, link.received.data());
    }
}

void TwoSided::hand_over() {
    const stencil::Shape &shape = tile_->shape();
    for (Link &link : links_) {
        if (link.sent.empty()) continue;
        const std::ptrdiff_t first =
            link.side == stencil::kSouth ? 0 : shape.y.count() - shape.radius;
        for (std::ptrdiff_t k = 0; k < shape.radius; ++k)
            std::copy_n(tile_->cell(0, first + k), shape.x.count(),
                        link.sent.data() + k * shape.pitch());
    }
    sends_.start();
}

}  // namespace

int main(int argc, char **argv) {
    return apps::run_with_mpi("stencil", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        TwoSided two_sided;
        return stencil::run(ranks, two_sided, argc, argv);
    });
}
