// The stencil with Sennit's channels, in channels.c or channels.f90, over the memory of the cells
// as allocated from the heap. Rows are read from the neighbour's memory, by a copy into the ghosts
// or by the arithmetic itself; columns are packed by their owner while it raises them. Started by
// `sennit run`, by an MPI's launcher, or alone.
#include "channels.h"
#include "common/pages.hpp"
#include "common/sennit_ranks.hpp"
#include "run.hpp"

#include <array>

namespace {

using apps::check;
using stencil::Side;
using stencil::Tile;

// The `part` of channels.h.
struct Part {
    Tile *tile = nullptr;
    std::array<Tile::Source, STENCIL_LINKS> sources;
};

Part &part_of(void *part) {
    return *static_cast<Part *>(part);
}

class Channels final : public stencil::Method {
  public:
    const char *backend() const override { return STENCIL_BACKEND; }
    std::vector<std::string> ways() const override { return stencil::kRowWays; }
    void choose(const std::string &way) override { in_place_ = way == "inplace"; }
    double *allocate(std::size_t cells) override;
    void connect(const stencil::Decomposition &decomposition, int rank, Tile &tile) override;
    void iterate(Tile &, std::int64_t iterations) override {
        check(stencil_iterate(&links_, iterations));
    }
    void finish(Tile &) override { check(stencil_close(&links_)); }

  private:
    apps::Pages pages_;
    bool in_place_ = false;
    double *cells_ = nullptr;
    std::size_t bytes_ = 0;
    Part part_;
    stencil_links links_{};
};

double *Channels::allocate(std::size_t cells) {
    bytes_ = cells * sizeof(double);
    cells_ = pages_.take(cells);
    return cells_;
}

void Channels::connect(const stencil::Decomposition &decomposition, int, Tile &tile) {
    std::array<std::int32_t, STENCIL_LINKS> ranks{};
    std::array<void *, STENCIL_LINKS> peers{};
    links_.part = &part_;
    part_.tile = &tile;
    for (const Side side : stencil::kAllSides) {
        if (tile.neighbour(side) < 0) continue;
        const auto link = static_cast<std::size_t>(links_.count++);
        part_.sources[link].side = side;
        ranks[link] = tile.neighbour(side);
    }
    check(stencil_open(&links_, ranks.data(), cells_, bytes_, peers.data()));
    for (std::size_t link = 0; link < static_cast<std::size_t>(links_.count); ++link) {
        const auto *theirs = static_cast<const double *>(peers[link]);
        Tile::Source &source = part_.sources[link];
        source = tile.take_ghosts(source.side, theirs, decomposition.shape(ranks[link]), in_place_);
    }
}

}  // namespace

void stencil_take_ghosts(void *part, std::int32_t link) {
    part_of(part).tile->fill_ghosts(part_of(part).sources[static_cast<std::size_t>(link)]);
}

void stencil_apply_edges(void *part) {
    Tile &tile = *part_of(part).tile;
    tile.apply(tile.south_rows());
    tile.apply(tile.north_rows());
}

void stencil_apply_inner(void *part) {
    Tile &tile = *part_of(part).tile;
    tile.apply(tile.inner_rows());
}

void stencil_refresh_edges(void *part) {
    part_of(part).tile->refresh_edges();
}

void stencil_refresh_inner(void *part) {
    part_of(part).tile->refresh_inner();
}

int main(int argc, char **argv) {
    return apps::run_with_sennit("stencil", [&] {
        // The channels' memory outlives Sennit: after an error the channels are still open.
        Channels channels;
        apps::SennitRanks ranks;
        return stencil::run(ranks, channels, argc, argv);
    });
}
