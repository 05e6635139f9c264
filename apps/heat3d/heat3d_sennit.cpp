// heat3d with Sennit: fields are in global memory, and a rank reads its neighbours' faces in place.
// Started by `sennit run -n N heat3d ...`, by an MPI's launcher, or alone.
//
// One barrier a step is enough, because there are two fields. Let B(n) be the barrier that ends
// step n (B(0): the one before the first), and let step n compute field n mod 2 from the other one.
// In step n a rank
//     writes  its own cells of field n mod 2, and its own word `change[n mod 2]`;
//     reads   neighbours' cells of field (n-1) mod 2, before its next barrier.
// - A neighbour's cells of field (n-1) mod 2 were written in step n-1, before the neighbour entered
//   B(n-1); they are read after the reader left it. The barrier orders the two.
// - They are written again in step n+1, by a neighbour that has left B(n). The reader entered B(n)
//   after its last read in step n. So the barrier also orders each read before the next write.
// - The words `change` follow the same pattern one step later: written before B(n), read between
//   B(n) and B(n+1), written again after B(n+1). So the residual needs no other
//   synchronisation.
// Plain loads and stores suffice, since no other rank touches a word between those barriers.
#include "layer.hpp"
#include "run.hpp"

#include <fmt/format.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace heat3d {
namespace {

constexpr std::size_t kLineBytes = 128;
constexpr std::size_t kLineCells = kLineBytes / sizeof(double);
// Not a multiple of a page; otherwise a cell and its successor in the other field could compete for
// the same cache set.
constexpr std::size_t kBetweenFieldsCells = 10 * kLineCells;

std::string last_error() {
    const sennit_error *error = sennit_last_error();
    return fmt::format("{}: {}: {}", error->operation, sennit_status_string(error->status),
                       error->text);
}

void check(sennit_status status) {
    if (status == SENNIT_OK) return;
    const std::string why = last_error();
    throw Lost(sennit_initialized() != 0 ? fmt::format("rank {}: {}", sennit_rank(), why) : why);
}

// The data that each rank publishes besides its fields. It has one writer and many readers, so each
// group has its own cache lines.
struct alignas(kLineBytes) Shared {
    struct alignas(kLineBytes) Change {
        double value;
    };
    Change change[2];
    alignas(kLineBytes) double value;
    alignas(kLineBytes) double row[Exchange::kGatherLimit];
};
static_assert(sizeof(Shared) % kLineBytes == 0 && std::is_trivially_copyable_v<Shared>);

class SennitExchange final : public Exchange {
  public:
    SennitExchange() {
        check(sennit_init(nullptr));
        // If the following code throws, the destructor does not run; main then ends the program.
        check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(Shared), kLineBytes, 0, &shared_));
        mine_ = static_cast<Shared *>(sennit_ptr(shared_));
        for (int rank = 0; rank < size(); ++rank) {
            shared_of_.push_back(
                static_cast<const Shared *>(sennit_ptr(sennit_gptr_at(shared_, rank))));
        }
    }
    // Memory that is still allocated is freed with the rank.
    ~SennitExchange() override { (void)sennit_finalize(); }

    int rank() const override { return sennit_rank(); }
    int size() const override { return sennit_size(); }
    std::string name() const override { return fmt::format("sennit {}", sennit_version()); }
    std::vector<std::string> modes() const override { return {"copy", "inplace", "get"}; }

    void barrier() override { check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); }
    double max(double mine) override;
    std::vector<double> gather(const std::vector<double> &mine) override;

    void open(const Decomposition &decomposition, const std::string &mode) override;
    double *field(int field) override { return own_ + field_at(field); }
    double *ends(int field, Side side) override;
    Layer outer_layer(int field, Side side) override;

    void exchange_layers(int field) override;
    double finish_step(double change, bool check) override;

  private:
    // A side with a neighbour.
    struct Link {
        Side side;
        int peer;
        LayerShape shape;
        Place place;      // of the layer in the neighbour's part of a field
        Layer theirs[2];  // the same as memory, per field; no cells if it cannot be reached
        std::vector<double> copy;  // empty if the layers are read in place
    };

    template <typename Value>
    Value read(int rank, std::size_t offset) const;
    void get_layer(const Link &link, int field, double *to) const;

    // Offsets in the segment, in cells; the same for all ranks.
    std::size_t field_at(int field) const { return field == 0 ? 0 : field_distance_; }
    std::size_t ends_at(Side side) const { return most_cells_ + (is_upper(side) ? most_ends_ : 0); }
    Place place_of(const Shape &theirs, Side side) const;

    sennit_gptr shared_ = SENNIT_GPTR_NULL;
    Shared *mine_ = nullptr;
    std::vector<const Shared *> shared_of_;  // by rank; null where only sennit_get reaches

    sennit_gptr segment_ = SENNIT_GPTR_NULL;
    // A field's part of the segment: the cells, and the ends at west and at east. Each has the size
    // that the largest rank needs.
    std::size_t most_cells_ = 0, most_ends_ = 0, field_distance_ = 0;
    double *own_ = nullptr;
    std::vector<Link> links_;
    int parity_ = 0;  // of the current step
};

template <typename Value>
Value SennitExchange::read(int rank, std::size_t offset) const {
    Value value;
    const Shared *shared = shared_of_[static_cast<std::size_t>(rank)];
    if (shared != nullptr) {
        std::memcpy(&value, reinterpret_cast<const char *>(shared) + offset, sizeof value);
    } else {
        const sennit_gptr at =
            sennit_gptr_add(sennit_gptr_at(shared_, rank), static_cast<std::int64_t>(offset));
        check(sennit_get(&value, at, sizeof value));
    }
    return value;
}

double SennitExchange::max(double mine) {
    mine_->value = mine;
    barrier();
    double largest = mine;
    for (int rank = 0; rank < size(); ++rank) {
        largest = std::max(largest, read<double>(rank, offsetof(Shared, value)));
    }
    barrier();
    return largest;
}

std::vector<double> SennitExchange::gather(const std::vector<double> &mine) {
    std::copy(mine.begin(), mine.end(), mine_->row);
    barrier();
    std::vector<double> all;
    if (rank() == 0) {
        for (int rank = 0; rank < size(); ++rank) {
            for (std::size_t i = 0; i < mine.size(); ++i) {
                all.push_back(read<double>(rank, offsetof(Shared, row) + i * sizeof(double)));
            }
        }
    }
    barrier();
    return all;
}

void SennitExchange::open(const Decomposition &decomposition, const std::string &mode) {
    // Rank 0's box is the longest in every direction.
    const Shape longest = decomposition.box(0).shape();
    const auto whole_lines = [](std::size_t cells) {
        return (cells + kLineCells - 1) / kLineCells * kLineCells;
    };
    most_cells_ = whole_lines(longest.cells());
    if (decomposition.ranks_grid()[0] > 1) {
        most_ends_ = whole_lines(layer_shape(longest, west).cells());
    }
    field_distance_ = most_cells_ + 2 * most_ends_ + kBetweenFieldsCells;
    const std::size_t bytes = 2 * field_distance_ * sizeof(double);
    const sennit_status status =
        sennit_alloc(SENNIT_TEAM_WORLD, bytes, kLineBytes, SENNIT_ALLOC_RESERVE, &segment_);
    if (status != SENNIT_OK) {
        throw Failure(fmt::format("{} bytes for the fields of a rank: {}", bytes, last_error()));
    }
    own_ = static_cast<double *>(sennit_ptr(segment_));
    for (const Side side : kAllSides) {
        const int peer = decomposition.neighbour(rank(), side);
        if (peer < 0) continue;
        const Shape shape = decomposition.box(peer).shape();
        const Place place = place_of(shape, opposite(side));
        Link link{side, peer, layer_shape(shape, side), place, {}, {}};
        const void *theirs = mode == "get" ? nullptr : sennit_ptr(sennit_gptr_at(segment_, peer));
        for (int field = 0; field < 2 && theirs != nullptr; ++field) {
            const double *cells = static_cast<const double *>(theirs) + field_at(field);
            link.theirs[field] = {cells + place.offset, place.cell_stride, place.row_stride};
        }
        if (theirs == nullptr || mode != "inplace") link.copy.resize(link.shape.cells());
        links_.push_back(std::move(link));
    }
}

// Across x a neighbour's layer is in its packed ends, otherwise in its cells.
Place SennitExchange::place_of(const Shape &theirs, Side side) const {
    if (axis_of(side) != 0) return inner_place(theirs, side);
    const LayerShape layer = layer_shape(theirs, side);
    return {ends_at(side), 1, static_cast<std::ptrdiff_t>(layer.row_cells)};
}

double *SennitExchange::ends(int field, Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    if (std::none_of(links_.begin(), links_.end(), here)) return nullptr;
    return own_ + field_at(field) + ends_at(side);
}

Layer SennitExchange::outer_layer(int field, Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    const Link &link = *std::find_if(links_.begin(), links_.end(), here);
    return link.copy.empty() ? link.theirs[field] : packed_layer(link.copy.data(), link.shape);
}

void SennitExchange::exchange_layers(int field) {
    // SYNC heat3d-step: pairs with the release in the neighbours' finish_step(). The acquire is the
    // barrier in this rank's finish_step(): their cells are those of the step that it ended.
    bool got = false;
    for (Link &link : links_) {
        if (link.copy.empty()) continue;
        if (link.theirs[field].cells != nullptr) {
            copy_layer(link.theirs[field], link.shape, link.copy.data());
        } else {
            get_layer(link, field, link.copy.data());
            got = true;
        }
    }
    if (got) check(sennit_flush_all(SENNIT_FOREVER));
}

// One get if the rows are contiguous, else one get per row.
void SennitExchange::get_layer(const Link &link, int field, double *to) const {
    const bool one_run = link.place.row_stride == static_cast<std::ptrdiff_t>(link.shape.row_cells);
    const std::size_t runs = one_run ? 1 : link.shape.rows;
    const std::size_t cells = link.shape.cells() / runs;
    const auto first = static_cast<std::int64_t>(field_at(field) + link.place.offset);
    for (std::size_t run = 0; run < runs; ++run) {
        const std::int64_t cell = first + static_cast<std::int64_t>(run) * link.place.row_stride;
        const sennit_gptr at = sennit_gptr_add(sennit_gptr_at(segment_, link.peer),
                                               cell * static_cast<std::int64_t>(sizeof(double)));
        check(sennit_get_nbi(to + run * cells, at, cells * sizeof(double)));
    }
}

double SennitExchange::finish_step(double change, bool check) {
    if (check) mine_->change[parity_].value = change;
    // SYNC heat3d-step: pairs with the acquire in exchange_layers() and below, of all ranks. Before
    // the barrier: this step's stores to cells and `change`, and its loads from other ranks.
    barrier();
    double largest = change;
    if (check) {
        const std::size_t offset =
            offsetof(Shared, change) + static_cast<std::size_t>(parity_) * sizeof(Shared::Change);
        for (int rank = 0; rank < size(); ++rank) {
            largest = std::max(largest, read<double>(rank, offset));
        }
    }
    parity_ = 1 - parity_;
    return check ? largest : 0;
}

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    try {
        heat3d::SennitExchange ranks;
        return heat3d::run(ranks, argc, argv);
    } catch (const std::exception &failure) {
        std::fputs(fmt::format("heat3d: {}\n", failure.what()).c_str(), stderr);
        return 1;
    }
}
