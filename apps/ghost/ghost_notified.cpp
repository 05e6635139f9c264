// ghost with Sennit's notified put: a rank puts its outermost cells into its neighbours' memory,
// and a signal for each phase of the exchange counts the arrivals. A slab of rows is put from the
// field into the neighbour's ghost cells; a packed slab is put into a buffer from which the
// neighbour's step reads it (--faces, ways.hpp). No rank confirms that cells were read, and none
// asks.
//
// Why no cell is overwritten before it was read. Each exchange is an epoch of the signals, which
// ends in release(), after the steps from its cells. There are two fields, so exchange e writes
// places that were last written in exchange e-2 or earlier.
// - When A puts in exchange e, it has ended exchange e-1, so B's cells of e-1 have arrived in the
// same phase.
// - B put them after its release() of e-2. So B no longer reads the cells that A overwrites, and
// B's signal is at least in epoch e-1 and accepts an event of e.
// SENNIT_ERR_SIGNAL_EARLY is therefore impossible, and would end the program as any other error.
// The proof holds because neighbours send to each other in each exchange and phase.
#include "halo.hpp"
#include "memory_halo.hpp"
#include "run.hpp"

#include "common/sennit_ranks.hpp"

#include <sennit/sennit.h>

#include <fmt/format.h>

#include <array>
#include <vector>

namespace ghost {
namespace {

using apps::check;

constexpr std::size_t kPageBytes = 4096;

// `theirs`: the place in this rank's memory into which the peer puts; null: the ghost cells.
struct NotifiedEnd : MemoryEnd {
    apps::Pages pages{};         // for `buffer`, from which a packed slab is put
    sennit_region region{};      // the peer puts into it: the fields or, if packed, `received`
    double *received = nullptr;  // slabs, by field and variable
    sennit_peer_block there{};   // the peer's `region`
    sennit_gptr their_outer{};   // its ghost cells of field 0, variable 0, if not packed
};

// Allocates memory of this rank that others may reach.
sennit_region take(std::size_t cells) {
    sennit_region region = SENNIT_REGION_NULL;
    region.bytes = cells * sizeof(double);
    const sennit_status status =
        sennit_alloc_local(region.bytes, kPageBytes, SENNIT_ALLOC_RESERVE, &region.gptr);
    if (status != SENNIT_OK) {
        throw apps::Failure(fmt::format("{} bytes for cells: {}: {}", region.bytes,
                                        sennit_status_string(status), sennit_last_error()->text));
    }
    return region;
}

constexpr std::int64_t bytes_of(std::size_t cells) {
    return static_cast<std::int64_t>(cells * sizeof(double));
}

class NotifiedHalo final : public MemoryHalo<NotifiedEnd> {
  public:
    std::vector<std::string> modes() const override { return {"chosen", "direct", "packed"}; }
    double *memory_for(const Domain &domain) override;
    void prepare(const Domain &domain, const std::string &mode) override;
    void open() override;
    void release(Laps &laps) override;
    void exchange_slabs(int field, std::size_t first, Laps &laps) override;
    void sum(std::vector<double> &values) override { apps::add_up(values); }
    // Nothing is left open: every rank has waited for the last puts of its neighbours, and the
    // check of the sums has followed. The memory is freed with the rank.
    void close() override {}

  private:
    void put(const NotifiedEnd &end, int field, std::size_t first, Laps &laps) const;
    void put_rows(const NotifiedEnd &end, int field, std::size_t first) const;
    void take_slabs(NotifiedEnd &end, int field, std::size_t first, Laps &laps) const;

    // The offset in `received` of the slabs of an exchange: each has its own place.
    std::size_t place_of(const Link &link, int field, std::size_t first) const {
        const std::size_t before =
            static_cast<std::size_t>(field) * domain_->layout.variables + first;
        return before * link.inner.cells();
    }

    sennit_region fields_ = SENNIT_REGION_NULL;
    std::vector<sennit_signal> arrived_;  // by phase
};

double *NotifiedHalo::memory_for(const Domain &domain) {
    fields_ = take(domain.layout.cells());
    return static_cast<double *>(sennit_ptr(fields_.gptr));
}

void NotifiedHalo::prepare(const Domain &domain, const std::string &mode) {
    domain_ = &domain;
    for (const std::vector<Link> &links : domain.phases) {
        std::vector<NotifiedEnd> &ends = phases_.emplace_back();
        for (const Link &link : links) {
            const auto axis = static_cast<std::size_t>(apps::axis_of(link.side));
            const Way way = way_of(mode, axis, link.inner.cells());
            NotifiedEnd &end = ends.emplace_back(NotifiedEnd{{link, way}});
            end.region = fields_;
            if (way == Way::direct) continue;
            end.buffer = end.pages.take(buffer_cells(way, link, domain));
            end.region = take(2 * domain.layout.variables * link.inner.cells());
            end.received = static_cast<double *>(sennit_ptr(end.region.gptr));
        }
    }
}

// Every rank makes a block of the memory into which the neighbour at each side puts.
void NotifiedHalo::open() {
    using Blocks = std::array<sennit_block, apps::kSides>;
    Blocks mine{};
    for (const std::vector<NotifiedEnd> &ends : phases_) {
        sennit_signal &signal = arrived_.emplace_back(SENNIT_SIGNAL_NULL);
        if (ends.empty()) continue;
        const auto events = static_cast<std::uint32_t>(ends.size());
        check(sennit_signal_create(events, events, 0, &signal));
        for (const NotifiedEnd &end : ends) {
            check(sennit_block_init(end.region, 0, end.region.bytes, SENNIT_SIGNAL_NULL, signal,
                                    &mine[end.link.side]));
        }
    }
    std::vector<Blocks> all(static_cast<std::size_t>(sennit_size()));
    check(
        sennit_allgather(SENNIT_TEAM_WORLD, mine.data(), all.data(), sizeof mine, SENNIT_FOREVER));
    const Width width = domain_->is_wide() ? Width::wide : Width::narrow;
    for (std::vector<NotifiedEnd> &ends : phases_) {
        for (NotifiedEnd &end : ends) {
            const apps::Side side = apps::opposite(end.link.side);
            const sennit_block &block = all[static_cast<std::size_t>(end.link.peer)][side];
            check(sennit_block_attach(&block, &end.there));
            sennit_block_info info{};
            check(sennit_block_query(&block, &info));
            const Slab outer = outer_slab(end.link.theirs.extent, side, width);
            end.their_outer = sennit_gptr_add(info.gptr, bytes_of(outer.first));
        }
    }
}

// Puts from the field into the peer's ghost cells, without an event: the event follows.
void NotifiedHalo::put_rows(const NotifiedEnd &end, int field, std::size_t first) const {
    const Slab &mine = end.link.inner;
    const Layout &theirs = end.link.theirs;
    const Width width = domain_->is_wide() ? Width::wide : Width::narrow;
    const Slab outer = outer_slab(theirs.extent, apps::opposite(end.link.side), width);
    const sennit_box box{
        sizeof(double),
        {mine.row_cells, mine.rows, domain_->together},
        {bytes_of(outer.cell_stride), bytes_of(outer.row_stride), bytes_of(theirs.distance)},
        {bytes_of(mine.cell_stride), bytes_of(mine.row_stride),
         bytes_of(domain_->layout.distance)}};
    const sennit_gptr to = sennit_gptr_add(end.their_outer, bytes_of(theirs.at(field, first)));
    check(sennit_put_strided(to, domain_->variable(field, first) + mine.first, &box));
}

// One notified call for each exchange and neighbour, so the attached block counts the epochs.
void NotifiedHalo::put(const NotifiedEnd &end, int field, std::size_t first, Laps &laps) const {
    if (end.way == Way::direct) {
        put_rows(end, field, first);
        check(sennit_put_notify(end.there, 0, nullptr, 0));
    } else {
        fill_buffer(end, field, first, laps);
        const double *from = end.buffer + message_at(end.way, end.link, *domain_, field, first);
        const std::size_t cells = domain_->together * end.link.inner.cells();
        check(sennit_put_notify(end.there, place_of(end.link, field, first) * sizeof(double), from,
                                cells * sizeof(double)));
    }
    laps.end(sending);
}

// Without diagonals the step reads packed slabs where they have arrived.
void NotifiedHalo::take_slabs(NotifiedEnd &end, int field, std::size_t first, Laps &laps) const {
    if (end.way == Way::direct) return;
    end.theirs = end.received + place_of(end.link, field, first) -
                 message_at(end.way, end.link, *domain_, field, first);
    if (!is_read_by_step(end.way, end.link, *domain_)) fill_ghosts(end, field, first, laps);
}

void NotifiedHalo::exchange_slabs(int field, std::size_t first, Laps &laps) {
    laps.start();
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        std::vector<NotifiedEnd> &ends = phases_[phase];
        if (ends.empty()) continue;
        for (const NotifiedEnd &end : ends)
            put(end, field, first, laps);
        check(sennit_signal_wait(arrived_[phase], SENNIT_FOREVER));
        laps.end(waiting);
        for (NotifiedEnd &end : ends)
            take_slabs(end, field, first, laps);
    }
}

void NotifiedHalo::release(Laps &laps) {
    laps.start();
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        if (phases_[phase].empty()) continue;
        check(sennit_signal_reset(arrived_[phase]));
    }
    laps.end(receiving);
}

}  // namespace
}  // namespace ghost

int main(int argc, char **argv) {
    return apps::run_with_sennit("ghost", [&] {
        apps::SennitRanks ranks;
        ghost::NotifiedHalo halo;
        return ghost::run(ranks, halo, argc, argv);
    });
}
