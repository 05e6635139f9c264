// p2p with threads: each has a strip, like a rank, so neighbours share no cache line of the grid
// and each thread is the first to touch its strip. Started with OMP_NUM_THREADS.
#include "column.hpp"
#include "run.hpp"

#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace p2p {
namespace {

// Shared data of the threads, by thread. Only the thread itself writes its slot; others read it
// after a barrier.
struct Team {
    explicit Team(int threads)
        : values(static_cast<std::size_t>(threads)), columns(static_cast<std::size_t>(threads)) {}
    std::vector<std::vector<double>> values;
    std::vector<Column *> columns;
};

// The threads of a parallel region as ranks.
class ThreadRanks final : public apps::Ranks {
  public:
    explicit ThreadRanks(Team &team) : team_(team), rank_(omp_get_thread_num()) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(team_.values.size()); }
    std::string name() const override { return "OpenMP " + std::to_string(_OPENMP); }
    void barrier() override {
#pragma omp barrier
    }
    double max(double mine) override {
        const std::vector<std::vector<double>> all = exchange({mine});
        for (const std::vector<double> &values : all)
            mine = std::max(mine, values.front());
        return mine;
    }
    std::vector<double> gather(const std::vector<double> &mine) override {
        std::vector<double> table;
        for (const std::vector<double> &values : exchange(mine))
            table.insert(table.end(), values.begin(), values.end());
        return table;
    }

  private:
    std::vector<std::vector<double>> exchange(const std::vector<double> &mine) {
        team_.values[static_cast<std::size_t>(rank_)] = mine;
        barrier();
        std::vector<std::vector<double>> all = team_.values;
        barrier();
        return all;
    }

    Team &team_;
    int rank_;
};

class ThreadPipeline final : public Pipeline {
  public:
    explicit ThreadPipeline(Team &team) : team_(team), ranks_(team) {}
    ~ThreadPipeline() override { std::free(column(ranks_.rank())); }

    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "openmp"; }

    double *open(const Options &options) override;
    void sweep(const p2p_strip &strip) override;
    void close() override { ranks_.barrier(); }

  private:
    Column *&column(int rank) { return team_.columns[static_cast<std::size_t>(rank)]; }

    Team &team_;
    ThreadRanks ranks_;
    std::vector<double> scratch_;  // the last column of the last strip
    std::int64_t groups_ = 0, sweeps_ = 0;
};

double *ThreadPipeline::open(const Options &options) {
    scratch_.resize(static_cast<std::size_t>(options.lines));
    void *memory = std::aligned_alloc(alignof(Column), Column::bytes(options.lines));
    apps::together(ranks_, "p2p", [&] {
        if (memory == nullptr) throw std::bad_alloc();
    });
    column(ranks_.rank()) = new (memory) Column;
    ranks_.barrier();
    return column(ranks_.rank())->cells();
}

void ThreadPipeline::sweep(const p2p_strip &strip) {
    const int last = ranks_.size() - 1;
    Column *const mine = column(ranks_.rank());
    Column *const next = ranks_.rank() < last ? column(ranks_.rank() + 1) : nullptr;
    sweep_by_hand(strip, groups_, {ranks_.rank() > 0 ? mine : nullptr, next},
                  next != nullptr ? next->cells() : scratch_.data());
    pass_corner_by_hand(
        -scratch_.back(), ++sweeps_,
        {ranks_.rank() == 0 ? mine : nullptr, ranks_.rank() == last ? column(0) : nullptr});
}

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    int code = 1;
    p2p::Team team(omp_get_max_threads());
#pragma omp parallel num_threads(static_cast <int>(team.values.size()))
    {
        p2p::ThreadPipeline pipeline(team);
        int mine = 1;
        try {
            mine = p2p::run(pipeline, argc, argv);
        } catch (const std::exception &failure) {
            (void)std::fprintf(stderr, "p2p: %s\n", failure.what());
            std::abort();
        }
#pragma omp barrier
#pragma omp master
        code = mine;
    }
    return code;
}
