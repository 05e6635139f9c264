// heat3d with Sennit: fields lie in global memory, and a rank reads its neighbours' faces where
// they are. Started by `sennit run -n N heat3d ...`, by an MPI's launcher, or alone.
//
// One barrier a step is enough, because there are two fields. Let B(n) be the barrier that ends
// step n (B(0): the one before the first), and let step n compute field n mod 2 from the other one.
// In step n a rank
//     writes  its own cells of field n mod 2, and its own word `change[n mod 2]`;
//     reads   neighbours' cells of field (n-1) mod 2, before its next barrier.
// - A neighbour's cells of field (n-1) mod 2 were written in step n-1, before the neighbour came to
//   B(n-1); they are read after the reader left it. The barrier orders the two.
// - They are written again in step n+1, by a neighbour that has left B(n). The reader came to B(n)
//   after its last read in step n. The same barrier, in the other direction: no read is overtaken.
// - The words `change` follow the same pattern one step later: written before B(n), read between
//   B(n) and B(n+1), written again after B(n+1). So the residual costs no synchronisation of its
//   own.
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
// Not a multiple of a page, or a cell and its successor in the other field would share their place
// in every cache.
constexpr std::size_t kBetweenFieldsBytes = 1024 + 2 * kLineBytes;

std::string last_error(const char *doing) {
    const sennit_error *error = sennit_last_error();
    return fmt::format("{}: {}: {}", doing, sennit_status_string(error->status), error->text);
}

void check(sennit_status status, const char *doing) {
    if (status == SENNIT_OK) return;
    const std::string why = last_error(doing);
    throw Lost(sennit_initialized() != 0 ? fmt::format("rank {}: {}", sennit_rank(), why) : why);
}

// What each rank shows the others besides its fields. One writer, many readers, so each group has
// lines of its own.
struct alignas(kLineBytes) Board {
    struct alignas(kLineBytes) Change {
        double value;
    };
    Change change[2];
    alignas(kLineBytes) double value;
    alignas(kLineBytes) double row[Exchange::kGatherLimit];
};
static_assert(sizeof(Board) % kLineBytes == 0 && std::is_trivially_copyable_v<Board>);

class SennitExchange final : public Exchange {
  public:
    SennitExchange() {
        check(sennit_init(nullptr), "sennit_init");
        // From here on the destructor does not run if this throws; main ends the program then.
        check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(Board), kLineBytes, 0, &board_),
              "sennit_alloc");
        mine_ = static_cast<Board *>(sennit_ptr(board_));
        for (int rank = 0; rank < size(); ++rank) {
            boards_.push_back(static_cast<const Board *>(sennit_ptr(sennit_gptr_at(board_, rank))));
        }
    }
    // Memory that is still allocated goes with the rank.
    ~SennitExchange() override { (void)sennit_finalize(); }

    int rank() const override { return sennit_rank(); }
    int size() const override { return sennit_size(); }
    std::string name() const override { return fmt::format("sennit {}", sennit_version()); }
    std::vector<std::string> modes() const override { return {"copy", "inplace", "get"}; }

    void barrier() override {
        check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    }
    double max(double mine) override;
    std::vector<double> gather(const std::vector<double> &mine) override;

    void open(const Decomposition &decomposition, const std::string &mode) override;
    double *field(int field) override { return fields_[field]; }
    Layer outer_layer(int field, Side side) override;

    void exchange_layers(int field) override;
    double finish_step(double change, bool check) override;

  private:
    // A side with a neighbour.
    struct Link {
        Side side;
        int peer;
        LayerShape shape;
        Place place;      // of the layer in the neighbour's block
        Layer theirs[2];  // the same as memory, per field; no cells if it can not be reached
        std::vector<double> copy;  // empty if the layers are read where they are
    };

    template <typename Value>
    Value read(int rank, std::size_t offset) const;
    void get_layer(const Link &link, int field, double *to) const;

    std::size_t field_offset(int field) const {
        return field == 0 ? 0 : largest_bytes_ + kBetweenFieldsBytes;
    }

    sennit_gptr board_ = SENNIT_GPTR_NULL;
    Board *mine_ = nullptr;
    std::vector<const Board *> boards_;  // by rank; null where only sennit_get reaches

    sennit_gptr segment_ = SENNIT_GPTR_NULL;
    std::size_t largest_bytes_ = 0;  // of a field of any rank
    double *fields_[2] = {};
    std::vector<Link> links_;
    int parity_ = 0;  // of the step under way
};

template <typename Value>
Value SennitExchange::read(int rank, std::size_t offset) const {
    Value value;
    const Board *board = boards_[static_cast<std::size_t>(rank)];
    if (board != nullptr) {
        std::memcpy(&value, reinterpret_cast<const char *>(board) + offset, sizeof value);
    } else {
        const sennit_gptr at =
            sennit_gptr_add(sennit_gptr_at(board_, rank), static_cast<std::int64_t>(offset));
        check(sennit_get(&value, at, sizeof value), "sennit_get");
    }
    return value;
}

double SennitExchange::max(double mine) {
    mine_->value = mine;
    barrier();
    double largest = mine;
    for (int rank = 0; rank < size(); ++rank) {
        largest = std::max(largest, read<double>(rank, offsetof(Board, value)));
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
                all.push_back(read<double>(rank, offsetof(Board, row) + i * sizeof(double)));
            }
        }
    }
    barrier();
    return all;
}

void SennitExchange::open(const Decomposition &decomposition, const std::string &mode) {
    const std::size_t cells_bytes =
        static_cast<std::size_t>(decomposition.largest_box()) * sizeof(double);
    largest_bytes_ = (cells_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
    const std::size_t bytes = 2 * largest_bytes_ + kBetweenFieldsBytes;
    const sennit_status status =
        sennit_alloc(SENNIT_TEAM_WORLD, bytes, kLineBytes, SENNIT_ALLOC_RESERVE, &segment_);
    if (status != SENNIT_OK) {
        throw Failure(fmt::format("{} bytes for the fields of a rank: {}", bytes,
                                  last_error("sennit_alloc")));
    }
    char *own = static_cast<char *>(sennit_ptr(segment_));
    for (int field = 0; field < 2; ++field) {
        fields_[field] = reinterpret_cast<double *>(own + field_offset(field));
    }
    for (const Side side : kAllSides) {
        const int peer = decomposition.neighbour(rank(), side);
        if (peer < 0) continue;
        const Shape shape = decomposition.box(peer).shape();
        Link link{side, peer, layer_shape(shape, side), inner_place(shape, opposite(side)), {}, {}};
        const char *theirs =
            mode == "get" ? nullptr
                          : static_cast<const char *>(sennit_ptr(sennit_gptr_at(segment_, peer)));
        for (int field = 0; field < 2 && theirs != nullptr; ++field) {
            const char *cells = theirs + field_offset(field);
            link.theirs[field] =
                inner_layer(reinterpret_cast<const double *>(cells), shape, opposite(side));
        }
        if (theirs == nullptr || mode != "inplace") link.copy.resize(link.shape.cells());
        links_.push_back(std::move(link));
    }
}

Layer SennitExchange::outer_layer(int field, Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    const Link &link = *std::find_if(links_.begin(), links_.end(), here);
    return link.copy.empty() ? link.theirs[field] : packed_layer(link.copy.data(), link.shape);
}

void SennitExchange::exchange_layers(int field) {
    // SYNC heat3d-step: pairs with the release in finish_step() of the neighbours, whose acquire
    // side is the same barrier here: their cells are those of the step that it ended.
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
    if (got) check(sennit_flush_all(SENNIT_FOREVER), "sennit_flush_all");
}

// A row at a time, or a cell at a time across x.
void SennitExchange::get_layer(const Link &link, int field, double *to) const {
    const bool rows_whole = link.place.cell_stride == 1;
    const std::size_t run = rows_whole ? link.shape.row_cells : 1;
    const auto bytes_of = [](auto cells) {
        return static_cast<std::int64_t>(cells) * static_cast<std::int64_t>(sizeof(double));
    };
    const sennit_gptr layer = sennit_gptr_add(
        sennit_gptr_at(segment_, link.peer),
        static_cast<std::int64_t>(field_offset(field)) + bytes_of(link.place.offset));
    for (std::size_t r = 0; r < link.shape.rows; ++r) {
        for (std::size_t c = 0; c < link.shape.row_cells; c += run) {
            const auto cells = static_cast<std::ptrdiff_t>(r) * link.place.row_stride +
                               static_cast<std::ptrdiff_t>(c) * link.place.cell_stride;
            check(sennit_get_nbi(to, sennit_gptr_add(layer, bytes_of(cells)), run * sizeof(double)),
                  "sennit_get_nbi");
            to += run;
        }
    }
}

double SennitExchange::finish_step(double change, bool check) {
    if (check) mine_->change[parity_].value = change;
    // SYNC heat3d-step: pairs with the acquire in exchange_layers() and below, of all ranks; this
    // step's stores to cells and `change` before the barrier, its loads before others' next stores.
    barrier();
    double largest = change;
    if (check) {
        const std::size_t offset =
            offsetof(Board, change) + static_cast<std::size_t>(parity_) * sizeof(Board::Change);
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
