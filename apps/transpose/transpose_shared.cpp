// The transpose in a shared window of MPI: as with channels, a rank adds its block directly into
// the peer's B. Counters in the window, written by hand, end a step. All ranks must share a node.
//
// B is not used between two steps, so a rank that has all blocks of a step may begin the next one
// without asking: it writes elements of the peer's B that no other rank writes.
#include "common/counter.hpp"
#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"
#include "run.hpp"

#include <memory>

namespace {

using transpose::Matrices;

class SharedWindow final : public transpose::Method {
  public:
    explicit SharedWindow(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

    const char *backend() const override { return "mpi-shared"; }
    Matrices::Memory allocate(std::size_t elements) override;
    void connect(Matrices &matrices) override;
    void iterate(Matrices &matrices, std::int64_t steps) override;
    void finish() override { window_.barrier(); }

  private:
    // A rank's part: a counter for each rank, how often it has added its block here; A; B.
    double *elements_of(void *part) const {
        return reinterpret_cast<double *>(static_cast<apps::Counter *>(part) + ranks_);
    }
    struct Peer {
        int rank;
        apps::Counter *added;  // at the peer, incremented by this rank
        double *b;
    };

    std::size_t ranks_;
    apps::MpiWindow window_;
    apps::Counter *mine_ = nullptr;
    std::vector<Peer> peers_;  // in the order of the phases
    std::int64_t steps_ = 0;
};

Matrices::Memory SharedWindow::allocate(std::size_t elements) {
    void *part = window_.open(ranks_ * sizeof(apps::Counter) + 2 * elements * sizeof(double));
    mine_ = static_cast<apps::Counter *>(part);
    std::uninitialized_value_construct_n(mine_, ranks_);
    double *own = elements_of(part);
    return {own, own + elements};
}

void SharedWindow::connect(Matrices &matrices) {
    for (int phase = 1; phase < matrices.shares().ranks(); ++phase) {
        const int rank = send_to(matrices, phase);
        void *part = window_.of(rank);
        peers_.push_back({rank, static_cast<apps::Counter *>(part) + matrices.rank(),
                          elements_of(part) + matrices.shares().elements(rank)});
    }
    window_.barrier();
}

void SharedWindow::iterate(Matrices &matrices, std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
        matrices.add_to(matrices.rank(), matrices.b());
        for (const Peer &peer : peers_) {
            matrices.add_to(peer.rank, peer.b);
            peer.added->add_one();
        }
        ++steps_;
        for (const Peer &peer : peers_)
            mine_[peer.rank].wait_for(steps_);
    }
}

}  // namespace

int main(int argc, char **argv) {
    return apps::run_with_mpi("transpose", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        SharedWindow window(ranks.size());
        return transpose::run(ranks, window, argc, argv);
    });
}
