// ghost with MPI's shared memory, synchronised by hand: the fields are in a window that the node
// shares, and a rank copies its neighbours' cells from there. Slabs are passed as with Sennit's
// channels (ways.hpp), and counters in the window mark that cells are ready and read. It is an
// expert's program for one node: all ranks must be on it.
#include "halo.hpp"
#include "memory_halo.hpp"
#include "run.hpp"

#include "common/counter.hpp"
#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"

#include <algorithm>
#include <new>
#include <vector>

namespace ghost {
namespace {

using apps::Counter;

// At the start of a rank's part of the window. For each of its sides it counts how often the rank
// has made cells ready, and how often its neighbour has read them. The fields follow.
struct Control {
    Counter written[apps::kSides];  // by the owner of the part
    Counter read[apps::kSides];     // by the neighbour
};

struct SharedEnd : MemoryEnd {
    Control *peer = nullptr;
};

class SharedHalo final : public MemoryHalo<SharedEnd> {
  public:
    SharedHalo() = default;

    std::vector<std::string> modes() const override { return {"chosen", "direct", "packed"}; }
    double *memory_for(const Domain &domain) override;
    void prepare(const Domain &domain, const std::string &mode) override;
    void open() override { window_.barrier(); }
    void release(Laps &laps) override;
    void exchange_slabs(int field, std::size_t first, Laps &laps) override;
    void sum(std::vector<double> &values) override {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
    }
    // Waits until no rank reads this rank's part.
    void close() override {
        if (mine_ != nullptr) window_.barrier();
        mine_ = nullptr;
    }

  private:
    static double *fields_of(Control *part) { return reinterpret_cast<double *>(part + 1); }
    // Buffers of packed slabs follow the fields. All have the same size: room for both fields and
    // all variables of the largest slab.
    static std::size_t room_of(const Layout &layout) {
        std::size_t most = 0;
        for (const apps::Side side : apps::kAllSides)
            most = std::max(most, inner_slab(layout.extent, side, Width::wide).cells());
        return 2 * layout.variables * most;
    }
    static double *buffer_of(Control *part, const Layout &layout, apps::Side side) {
        return fields_of(part) + layout.cells() + static_cast<std::size_t>(side) * room_of(layout);
    }
    void hand_over(SharedEnd &end, int field, std::size_t first, Laps &laps);
    void take(SharedEnd &end, int field, std::size_t first, Laps &laps);

    apps::MpiWindow window_;
    Control *mine_ = nullptr;
    std::int64_t exchanges_ = 0;  // begun: the number of the current one
};

double *SharedHalo::memory_for(const Domain &domain) {
    const std::size_t cells = domain.layout.cells() + apps::kSides * room_of(domain.layout);
    mine_ = new (window_.open(sizeof(Control) + cells * sizeof(double))) Control;
    return fields_of(mine_);
}

void SharedHalo::prepare(const Domain &domain, const std::string &mode) {
    domain_ = &domain;
    for (const std::vector<Link> &links : domain.phases) {
        std::vector<SharedEnd> &ends = phases_.emplace_back();
        for (const Link &link : links) {
            const auto axis = static_cast<std::size_t>(apps::axis_of(link.side));
            const Way way = way_of(mode, axis, link.inner.cells());
            auto *peer = static_cast<Control *>(window_.of(link.peer));
            SharedEnd &end = ends.emplace_back(SharedEnd{{link, way}});
            end.peer = peer;
            end.theirs = fields_of(peer);
            if (way == Way::direct) continue;
            end.buffer = buffer_of(mine_, domain.layout, link.side);
            end.theirs = buffer_of(peer, link.theirs, apps::opposite(link.side));
        }
    }
}

void SharedHalo::release(Laps &laps) {
    laps.start();
    for (SharedEnd &end : phases_.front()) {
        if (is_read_by_step(end.way, end.link, *domain_))
            end.peer->read[apps::opposite(end.link.side)].add_one();
    }
    laps.end(receiving);
}

void SharedHalo::hand_over(SharedEnd &end, int field, std::size_t first, Laps &laps) {
    mine_->read[end.link.side].wait_for(exchanges_ - 1);
    laps.end(waiting);
    fill_buffer(end, field, first, laps);
    mine_->written[end.link.side].add_one();
    laps.end(sending);
}

void SharedHalo::take(SharedEnd &end, int field, std::size_t first, Laps &laps) {
    const apps::Side theirs = apps::opposite(end.link.side);
    end.peer->written[theirs].wait_for(exchanges_);
    laps.end(waiting);
    if (is_read_by_step(end.way, end.link, *domain_)) return;
    fill_ghosts(end, field, first, laps);
    end.peer->read[theirs].add_one();
    laps.end(receiving);
}

void SharedHalo::exchange_slabs(int field, std::size_t first, Laps &laps) {
    laps.start();
    ++exchanges_;
    for (std::vector<SharedEnd> &ends : phases_) {
        for (SharedEnd &end : ends)
            hand_over(end, field, first, laps);
        for (SharedEnd &end : ends)
            take(end, field, first, laps);
    }
}

}  // namespace
}  // namespace ghost

int main(int argc, char **argv) {
    return apps::run_with_mpi("ghost", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        ghost::SharedHalo halo;
        return ghost::run(ranks, halo, argc, argv);
    });
}
