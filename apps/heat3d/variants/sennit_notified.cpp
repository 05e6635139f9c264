// heat3d with Sennit's notified put: a rank puts its outermost cells into its neighbours' halos,
// and its signal fires when its neighbours' cells have arrived. Nothing else separates two steps:
// no barrier, and no check whether a neighbour is ready.
//
// The halo has two halves, because there are two fields. Step n, which reads field n mod 2, is
// epoch n of the signal: its cells arrive in half n mod 2, the step reads them there, and resets
// the signal at its end. Why A's put in step n overwrites nothing that a neighbour B still reads,
// although A never asks:
// - A has ended step n-1, so B's cells of step n-1 have arrived.
// - B put them after the end of its step n-2, the last that read this half, and after that reset.
// So B's signal is at least in epoch n-1 and accepts an event of epoch n: the put is never too
// early. Neighbours send to each other in every step. Otherwise A could be further ahead, get
// SENNIT_ERR_SIGNAL_EARLY, and would have to repeat the call. Here that status is an error: the
// signal accepts epoch n only after the reset of n-2, so each put also checks this argument.
//
// The step that computes a layer across x packs it; a layer across z is contiguous. For a layer
// across y a plan puts the rows from the field. Without a plan (--layers packed) it is packed
// first, and each layer is one notified put.
#include "faces.hpp"

#include "../run.hpp"

#include "common/pages.hpp"
#include "common/sennit_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heat3d {
namespace {

using apps::check;

constexpr std::size_t kLineBytes = 128;

class SennitNotified final : public Exchange {
  public:
    int rank() const override { return ranks_.rank(); }
    int size() const override { return ranks_.size(); }
    std::string name() const override { return ranks_.name(); }
    void barrier() override { ranks_.barrier(); }
    double max(double mine) override { return ranks_.max(mine); }
    std::vector<double> gather(const std::vector<double> &mine) override {
        return ranks_.gather(mine);
    }

    std::vector<std::string> modes() const override { return {"plan", "packed"}; }
    void open(const Decomposition &decomposition, const std::string &mode) override;
    double *field(int field) override { return own_ + layout_.cell_of(field, 0); }
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
        double *halo = nullptr;        // both halves, which the neighbour writes
        sennit_peer_block theirs{};    // the neighbour's halo for this side
        std::vector<double> packed{};  // empty: the cells are put from the field
    };

    void share_halo(const Decomposition &decomposition);
    void record_plan(int field);
    Link *link_at(Side side);

    apps::SennitRanks ranks_;
    std::vector<Link> links_;
    bool planned_ = false;
    std::array<sennit_plan, 2> plans_{};  // by field
    sennit_signal arrived_ = SENNIT_SIGNAL_NULL;
    Shape shape_;
    FieldLayout layout_;
    apps::Pages fields_;
    double *own_ = nullptr;
};

// The distance between the two halves of a halo in cells: whole cache lines.
std::size_t half_of(const LayerShape &shape) {
    constexpr std::size_t line = kLineBytes / sizeof(double);
    return (shape.cells() + line - 1) / line * line;
}

// The number of messages of a plan for a layer. The library merges adjacent ones but counts each.
std::size_t pieces_of(Side side, const LayerShape &shape) {
    return axis_of(side) == 1 ? shape.rows : 1;
}

SennitNotified::Link *SennitNotified::link_at(Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    const auto found = std::find_if(links_.begin(), links_.end(), here);
    return found == links_.end() ? nullptr : &*found;
}

// One buffer for both fields: a step fills it after its last content was put.
double *SennitNotified::ends(int, Side side) {
    Link *link = link_at(side);
    return link == nullptr ? nullptr : link->packed.data();
}

Layer SennitNotified::outer_layer(int field, Side side) {
    const Link &link = *link_at(side);
    return packed_layer(link.halo + static_cast<std::size_t>(field) * half_of(link.shape),
                        link.shape);
}

void SennitNotified::open(const Decomposition &decomposition, const std::string &mode) {
    planned_ = mode == "plan";
    shape_ = decomposition.box(rank()).shape();
    for (const Side side : kAllSides) {
        const int peer = decomposition.neighbour(rank(), side);
        if (peer < 0) continue;
        Link &link = links_.emplace_back(Link{side, peer, layer_shape(shape_, side)});
        if (axis_of(side) == 0 || (axis_of(side) == 1 && !planned_)) {
            link.packed.resize(link.shape.cells());
        }
    }
    share_halo(decomposition);
    layout_ = FieldLayout(decomposition);
    own_ = fields_.take(layout_.bytes() / sizeof(double));
    for (int field = 0; field < 2 && planned_; ++field)
        record_plan(field);
}

// Every rank makes a block of the halo of each side, and receives the block of the facing halo from
// each neighbour. Rank 0's box is the longest in every direction.
void SennitNotified::share_halo(const Decomposition &decomposition) {
    std::size_t bytes = 0;
    const Shape longest = decomposition.box(0).shape();
    for (const Side side : kAllSides)
        bytes += 2 * half_of(layer_shape(longest, side)) * sizeof(double);
    sennit_gptr halo = SENNIT_GPTR_NULL;
    const sennit_status status =
        sennit_alloc(SENNIT_TEAM_WORLD, bytes, kLineBytes, SENNIT_ALLOC_RESERVE, &halo);
    if (status != SENNIT_OK) {
        throw Failure(fmt::format("{} bytes for the halo of a rank: {}: {}", bytes,
                                  sennit_status_string(status), sennit_last_error()->text));
    }
    std::size_t events = 0;
    for (const Link &link : links_)
        events += planned_ ? pieces_of(link.side, link.shape) : 1;
    if (events > 0) {
        const auto count = static_cast<std::uint32_t>(events);
        check(sennit_signal_create(count, count, 0, &arrived_));
    }
    using Blocks = std::array<sennit_block, kSides>;
    Blocks mine{};
    std::size_t at = 0;
    for (Link &link : links_) {
        const std::size_t both = 2 * half_of(link.shape) * sizeof(double);
        check(sennit_block_init({halo, bytes}, at, both, SENNIT_SIGNAL_NULL, arrived_,
                                &mine[link.side]));
        link.halo = static_cast<double *>(sennit_ptr(halo)) + at / sizeof(double);
        at += both;
    }
    std::vector<Blocks> all(static_cast<std::size_t>(size()));
    check(
        sennit_allgather(SENNIT_TEAM_WORLD, mine.data(), all.data(), sizeof mine, SENNIT_FOREVER));
    for (Link &link : links_) {
        const Blocks &theirs = all[static_cast<std::size_t>(link.peer)];
        check(sennit_block_attach(&theirs[opposite(link.side)], &link.theirs));
    }
}

// The steps from field 0 are the even ones, so its plan runs in epochs 0, 2, 4 and so on.
void SennitNotified::record_plan(int field) {
    sennit_plan plan = SENNIT_PLAN_NULL;
    check(sennit_plan_create(&plan));
    for (const Link &link : links_) {
        const std::size_t half = static_cast<std::size_t>(field) * half_of(link.shape);
        const Layer mine = link.packed.empty() ? inner_layer(this->field(field), shape_, link.side)
                                               : packed_layer(link.packed.data(), link.shape);
        const std::size_t pieces = pieces_of(link.side, link.shape);
        const std::size_t cells = link.shape.cells() / pieces;
        for (std::size_t i = 0; i < pieces; ++i) {
            check(sennit_plan_put(plan, link.theirs, (half + i * cells) * sizeof(double),
                                  mine.cells + static_cast<std::ptrdiff_t>(i) * mine.row_stride,
                                  cells * sizeof(double)));
        }
    }
    check(sennit_plan_commit(plan, static_cast<std::uint64_t>(field), 2));
    plans_[static_cast<std::size_t>(field)] = plan;
}

void SennitNotified::exchange_layers(int field) {
    if (links_.empty()) return;
    if (planned_) {
        const sennit_plan plan = plans_[static_cast<std::size_t>(field)];
        check(sennit_plan_start(plan));
        check(sennit_plan_wait(plan, SENNIT_FOREVER));
    }
    for (Link &link : links_) {
        if (planned_) break;
        const Layer mine = inner_layer(this->field(field), shape_, link.side);
        if (axis_of(link.side) == 1) copy_layer(mine, link.shape, link.packed.data());
        const std::size_t half = static_cast<std::size_t>(field) * half_of(link.shape);
        check(sennit_put_notify(link.theirs, half * sizeof(double),
                                link.packed.empty() ? mine.cells : link.packed.data(),
                                link.shape.cells() * sizeof(double)));
    }
    check(sennit_signal_wait(arrived_, SENNIT_FOREVER));
}

// The halo has been read, so the epoch may end. Ranks synchronise only in steps that compare the
// residual.
double SennitNotified::finish_step(double change, bool check) {
    if (!links_.empty()) apps::check(sennit_signal_reset(arrived_));
    return check ? max(change) : 0;
}

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return apps::run_with_sennit("heat3d", [&] {
        heat3d::SennitNotified ranks;
        return heat3d::run(ranks, argc, argv);
    });
}
