// The transpose with Sennit's channels, in channels.c or channels.f90, over the memory of B as
// allocated from the heap. A rank adds its block directly into the peer's B, by the same loop that
// the serial program uses for the whole matrix; nothing is packed, sent or unpacked. Started by
// `sennit run`, by an MPI's launcher, or alone.
#include "channels.h"
#include "common/pages.hpp"
#include "common/sennit_ranks.hpp"
#include "run.hpp"

#include <vector>

namespace {

using apps::check;
using transpose::Matrices;

// The `part` of channels.h.
struct Part {
    Matrices *matrices = nullptr;
    // In the order of the phases.
    std::vector<std::int32_t> peers;
    std::vector<void *> theirs;  // the peers' B
};

class Channels final : public transpose::Method {
  public:
    const char *backend() const override { return TRANSPOSE_BACKEND; }
    Matrices::Memory allocate(std::size_t elements) override;
    void connect(Matrices &matrices) override;
    void iterate(Matrices &, std::int64_t steps) override {
        check(transpose_iterate(&links_, steps));
    }
    void finish() override { check(transpose_close(&links_)); }

  private:
    apps::Pages a_, b_;
    std::size_t bytes_ = 0;
    Part part_;
    std::vector<sennit_channel> channels_;
    transpose_links links_{};
};

Matrices::Memory Channels::allocate(std::size_t elements) {
    bytes_ = elements * sizeof(double);
    return {a_.take(elements), b_.take(elements)};
}

void Channels::connect(Matrices &matrices) {
    for (int phase = 1; phase < matrices.shares().ranks(); ++phase)
        part_.peers.push_back(send_to(matrices, phase));
    part_.matrices = &matrices;
    part_.theirs.resize(part_.peers.size());
    channels_.assign(part_.peers.size(), SENNIT_CHANNEL_NULL);
    links_ = {&part_, static_cast<std::int64_t>(part_.peers.size()), part_.peers.data(),
              channels_.data(), part_.theirs.data()};
    check(transpose_open(&links_, matrices.b(), bytes_));
}

}  // namespace

void transpose_add_block(void *part, std::int64_t link) {
    const Part &mine = *static_cast<const Part *>(part);
    if (link < 0) {
        mine.matrices->add_to(mine.matrices->rank(), mine.matrices->b());
        return;
    }
    const auto index = static_cast<std::size_t>(link);
    mine.matrices->add_to(mine.peers[index], static_cast<double *>(mine.theirs[index]));
}

int main(int argc, char **argv) {
    return apps::run_with_sennit("transpose", [&] {
        // The channels' memory outlives Sennit: after an error the channels are still open.
        Channels channels;
        apps::SennitRanks ranks;
        return transpose::run(ranks, channels, argc, argv);
    });
}
