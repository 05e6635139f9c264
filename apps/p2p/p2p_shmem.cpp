// p2p with OpenSHMEM: a group of the last column is put into the right neighbour's left column, and
// then the number of groups into its counter. Compiled with Sennit's OpenSHMEM and with Open MPI's,
// so it uses only what both have.
#include "run.hpp"

#include "common/shmem_ranks.hpp"

#include <vector>

namespace p2p {
namespace {

// Symmetric: the counters that PEs set at each other.
long groups_there;   // of lines that the left neighbour has handed over, in all sweeps
long corners_there;  // at PE 0: of the last PE

class ShmemPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "openshmem"; }

    double *open(const Options &options) override {
        const auto lines = static_cast<std::size_t>(options.lines);
        left_ = apps::symmetric<double>(shmem_malloc(lines * sizeof(double)));
        right_.resize(lines);
        return left_;
    }
    void sweep(const p2p_strip &strip) override {
        const int me = ranks_.rank(), last = ranks_.size() - 1;
        for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
            const std::int64_t count = lines_of_group(strip, first);
            ++groups_;
            if (me > 0) shmem_long_wait_until(&groups_there, SHMEM_CMP_GE, groups_);
            p2p_block(&strip, first, count, right_.data());
            if (me < last) hand_over(first, count, me + 1);
        }
        ++sweeps_;
        if (me == last) {
            shmem_double_p(left_, -right_.back(), 0);
            shmem_fence();
            shmem_long_p(&corners_there, sweeps_, 0);
        }
        if (me == 0) shmem_long_wait_until(&corners_there, SHMEM_CMP_GE, sweeps_);
    }
    void close() override {
        shmem_barrier_all();
        shmem_free(left_);
    }

  private:
    void hand_over(std::int64_t first, std::int64_t count, int next) {
        shmem_double_put(left_ + first, &right_[static_cast<std::size_t>(first)],
                         static_cast<std::size_t>(count), next);
        shmem_fence();
        shmem_long_p(&groups_there, groups_, next);
    }

    apps::ShmemRanks ranks_;
    double *left_ = nullptr;
    std::vector<double> right_;
    long groups_ = 0, sweeps_ = 0;
};

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    return apps::run_with_shmem("p2p", [&] {
        p2p::ShmemPipeline pipeline;
        return p2p::run(pipeline, argc, argv);
    });
}
