// p2p with OpenSHMEM: a group of the last column is put into the right neighbour's left column, and
// then the number of groups into its counter. Compiled with Sennit's OpenSHMEM and with Open
// MPI's, so it uses what both have.
#include "run.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace p2p {
namespace {

// Symmetric: what PEs tell each other besides cells.
double told[apps::Ranks::kGatherLimit];
long groups_there;   // of lines that the left neighbour has handed over, in all sweeps
long corners_there;  // at PE 0: of the last PE

class ShmemRanks final : public apps::Ranks {
  public:
    int rank() const override { return shmem_my_pe(); }
    int size() const override { return shmem_n_pes(); }
    std::string name() const override {
        char vendor[SHMEM_MAX_NAME_LEN + 1] = "";
        int major = 0, minor = 0;
        shmem_info_get_name(vendor);
        shmem_info_get_version(&major, &minor);
        return fmt::format("OpenSHMEM {}.{} of {}", major, minor, vendor);
    }
    void barrier() override { shmem_barrier_all(); }
    double max(double mine) override {
        const std::vector<double> all = exchange({mine});
        return *std::max_element(all.begin(), all.end());
    }
    std::vector<double> gather(const std::vector<double> &mine) override {
        std::vector<double> all = exchange(mine);
        if (rank() != 0) all.clear();
        return all;
    }

  private:
    std::vector<double> exchange(const std::vector<double> &mine) {
        std::copy(mine.begin(), mine.end(), told);
        std::vector<double> all(mine.size() * static_cast<std::size_t>(size()));
        shmem_barrier_all();
        for (int pe = 0; pe < size(); ++pe)
            shmem_double_get(&all[static_cast<std::size_t>(pe) * mine.size()], told, mine.size(),
                             pe);
        shmem_barrier_all();
        return all;
    }
};

class ShmemPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "openshmem"; }

    double *open(const Options &options) override {
        const auto lines = static_cast<std::size_t>(options.lines);
        left_ = static_cast<double *>(shmem_malloc(lines * sizeof(double)));
        // All PEs ask for the same, so all are refused.
        if (left_ == nullptr)
            throw apps::Failure("the symmetric heap is too small; SHMEM_SYMMETRIC_SIZE sets it");
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

    ShmemRanks ranks_;
    double *left_ = nullptr;
    std::vector<double> right_;
    long groups_ = 0, sweeps_ = 0;
};

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    shmem_init();
    int code = 1;
    try {
        p2p::ShmemPipeline pipeline;
        code = p2p::run(pipeline, argc, argv);
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "p2p: %s\n", failure.what());
        shmem_global_exit(1);
    }
    shmem_finalize();
    return code;
}
