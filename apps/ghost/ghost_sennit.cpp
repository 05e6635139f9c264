// ghost with Sennit's channels: a rank opens one with each neighbour, over memory that the program
// has anyway, and reads the neighbour's cells in place. Without diagonals its step reads them there
// row by row; with diagonals they are copied into its own ghost cells. Nothing is sent: publishing
// says "my cells are ready", and confirming says "I have read them", after that step or that copy.
// Where packing costs less, the owner packs its cells into a buffer that the neighbour reads in the
// same two ways (--faces; ways.hpp has the better choice). Across x each cell lies in its own cache
// line, so the step that computes the cells packs them.
//
// Why no cell is overwritten before the neighbour has read it. Step n reads field n mod 2, which
// its exchange published to the neighbours, and writes the other field; step n + 1 writes field n
// mod 2 again. Before that, the exchange of step n + 1 for the same variable begins with wait_write
// for each neighbour: the neighbour has then read all earlier messages, also that of step n. Ghost
// cells, which wide slabs include, are written by exchanges, so one step later still. A slab that
// the step packs lies in a buffer with room for two fields, like the cells; any other packed slab
// is written right after wait_write.
#include "halo.hpp"
#include "memory_halo.hpp"
#include "run.hpp"

#include "common/sennit_ranks.hpp"

#include <sennit/sennit.h>

#include <algorithm>
#include <vector>

namespace ghost {
namespace {

using apps::check;

// The time for peers to read the last message: they are about to read it, or are gone.
constexpr std::int64_t kCloseTimeout_ns = 10'000'000'000;

struct SennitEnd : MemoryEnd {
    apps::Pages pages{};
    std::size_t buffer_cells = 0;
    sennit_channel channel{};
    bool pending = false;  // its message of this phase has not been read
};

class SennitHalo final : public MemoryHalo<SennitEnd> {
  public:
    ~SennitHalo() override { SennitHalo::close(); }

    std::vector<std::string> modes() const override { return {"chosen", "direct", "packed"}; }
    void prepare(const Domain &domain, const std::string &mode) override;
    void open() override;
    void release(Laps &laps) override;
    void exchange_slabs(int field, std::size_t first, Laps &laps) override;
    void sum(std::vector<double> &values) override { apps::add_up(values); }
    void close() override;

  private:
    void hand_over(SennitEnd &end, int field, std::size_t first, Laps &laps);
    void take(SennitEnd &end, int field, std::size_t first, Laps &laps);
    void take_all(std::vector<SennitEnd> &ends, int field, std::size_t first, Laps &laps);

    std::vector<sennit_channel> channels_;  // open ones
};

void SennitHalo::prepare(const Domain &domain, const std::string &mode) {
    domain_ = &domain;
    for (const std::vector<Link> &links : domain.phases) {
        std::vector<SennitEnd> &ends = phases_.emplace_back();
        for (const Link &link : links) {
            const auto axis = static_cast<std::size_t>(apps::axis_of(link.side));
            const Way way = way_of(mode, axis, link.inner.cells());
            SennitEnd &end = ends.emplace_back(SennitEnd{{link, way}});
            if (way == Way::direct) continue;
            end.buffer_cells = buffer_cells(way, link, domain);
            end.buffer = end.pages.take(end.buffer_cells);
        }
    }
}

// Opens all channels at once, so the order of neighbours does not matter.
void SennitHalo::open() {
    std::vector<SennitEnd *> all;
    for (std::vector<SennitEnd> &ends : phases_) {
        for (SennitEnd &end : ends)
            all.push_back(&end);
    }
    std::vector<int> targets;
    std::vector<void *> buffers, peers(all.size());
    std::vector<std::size_t> bytes;
    for (SennitEnd *end : all) {
        const bool packed = end->way == Way::packed;
        targets.push_back(end->link.peer);
        buffers.push_back(packed ? end->buffer : domain_->cells);
        bytes.push_back((packed ? end->buffer_cells : domain_->layout.cells()) * sizeof(double));
    }
    std::vector<sennit_channel> channels(all.size());
    const sennit_channel_ends ends{all.size(), targets.data(), buffers.data(), bytes.data()};
    check(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, peers.data(),
                              channels.data()));
    channels_ = channels;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i]->channel = channels[i];
        all[i]->theirs = static_cast<const double *>(peers[i]);
    }
}

void SennitHalo::release(Laps &laps) {
    laps.start();
    for (SennitEnd &end : phases_.front()) {
        if (is_read_by_step(end.way, end.link, *domain_))
            check(sennit_channel_have_read(end.channel));
    }
    laps.end(receiving);
}

void SennitHalo::hand_over(SennitEnd &end, int field, std::size_t first, Laps &laps) {
    check(sennit_channel_wait_write(end.channel, SENNIT_FOREVER));
    laps.end(waiting);
    fill_buffer(end, field, first, laps);
    check(sennit_channel_have_written(end.channel));
    laps.end(sending);
}

// The message has arrived.
void SennitHalo::take(SennitEnd &end, int field, std::size_t first, Laps &laps) {
    if (is_read_by_step(end.way, end.link, *domain_)) return;
    fill_ghosts(end, field, first, laps);
    check(sennit_channel_have_read(end.channel));
    laps.end(receiving);
}

// Takes messages in the order of arrival. If none has arrived, it waits for the first neighbour
// that is left; others may arrive meanwhile.
void SennitHalo::take_all(std::vector<SennitEnd> &ends, int field, std::size_t first, Laps &laps) {
    for (SennitEnd &end : ends)
        end.pending = true;
    for (std::size_t left = ends.size(); left > 0;) {
        const std::size_t before = left;
        for (SennitEnd &end : ends) {
            int can = 0;
            if (!end.pending) continue;
            check(sennit_channel_can_read(end.channel, &can));
            if (can == 0) continue;
            laps.end(waiting);
            take(end, field, first, laps);
            end.pending = false;
            --left;
        }
        if (left < before) continue;
        const auto next = std::find_if(ends.begin(), ends.end(),
                                       [](const SennitEnd &end) { return end.pending; });
        check(sennit_channel_wait_read(next->channel, SENNIT_FOREVER));
    }
}

void SennitHalo::exchange_slabs(int field, std::size_t first, Laps &laps) {
    laps.start();
    for (std::vector<SennitEnd> &ends : phases_) {
        for (SennitEnd &end : ends)
            hand_over(end, field, first, laps);
        take_all(ends, field, first, laps);
    }
}

void SennitHalo::close() {
    if (!channels_.empty() && sennit_initialized() != 0) {
        (void)sennit_channel_close(channels_.data(), channels_.size(), kCloseTimeout_ns);
    }
    channels_.clear();
}

}  // namespace
}  // namespace ghost

int main(int argc, char **argv) {
    return apps::run_with_sennit("ghost", [&] {
        apps::SennitRanks ranks;
        ghost::SennitHalo halo;
        return ghost::run(ranks, halo, argc, argv);
    });
}
