// p2p with MPI's shared memory, synchronised by hand: each rank's left column lies in a window that
// the node shares, and the left neighbour's kernel stores there. Lines are handed over by counters
// in that memory, or, with --way messages, by messages without content. All ranks must be on one
// node.
#include "column.hpp"
#include "run.hpp"

#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"

#include <new>

namespace p2p {
namespace {

class Ranks final : public apps::MpiRanks {
  public:
    using apps::MpiRanks::world;
};

class SharedPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "mpi-shared"; }
    std::vector<std::string> ways() const override { return {"counters", "messages"}; }

    double *open(const Options &options) override;
    void sweep(const p2p_strip &strip) override;
    void close() override { ranks_.barrier(); }

  private:
    Column *column_of(int rank) const { return static_cast<Column *>(window_.of(rank)); }
    void sweep_by_messages(const p2p_strip &strip, double *right);

    Ranks ranks_;
    apps::MpiWindow window_;
    bool by_messages_ = false;
    Column *mine_ = nullptr, *next_ = nullptr, *first_ = nullptr;  // null: no such neighbour
    std::vector<double> scratch_;  // the last column of the last strip
    std::int64_t groups_ = 0, sweeps_ = 0;
};

double *SharedPipeline::open(const Options &options) {
    void *own = nullptr;
    apps::together(ranks_, "p2p", [&] { own = window_.open(Column::bytes(options.lines)); });
    by_messages_ = options.way == "messages";
    scratch_.resize(static_cast<std::size_t>(options.lines));
    const int last = ranks_.size() - 1;
    mine_ = new (own) Column;
    if (ranks_.rank() < last) next_ = column_of(ranks_.rank() + 1);
    if (ranks_.rank() == last) first_ = column_of(0);
    ranks_.barrier();
    return mine_->cells();
}

void SharedPipeline::sweep(const p2p_strip &strip) {
    double *const right = next_ != nullptr ? next_->cells() : scratch_.data();
    if (by_messages_)
        sweep_by_messages(strip, right);
    else
        sweep_by_hand(strip, groups_, {ranks_.rank() > 0 ? mine_ : nullptr, next_}, right);
    pass_corner_by_hand(-scratch_.back(), ++sweeps_,
                        {ranks_.rank() == 0 ? mine_ : nullptr, first_});
}

void SharedPipeline::sweep_by_messages(const p2p_strip &strip, double *right) {
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        if (ranks_.rank() > 0) {
            MPI_Recv(nullptr, 0, MPI_BYTE, ranks_.rank() - 1, 0, ranks_.world(), MPI_STATUS_IGNORE);
            window_.sync();
        }
        p2p_block(&strip, first, lines_of_group(strip, first), right);
        if (next_ != nullptr) {
            window_.sync();
            MPI_Send(nullptr, 0, MPI_BYTE, ranks_.rank() + 1, 0, ranks_.world());
        }
    }
}

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    return apps::run_with_mpi("p2p", &argc, &argv, [&] {
        p2p::SharedPipeline pipeline;
        return p2p::run(pipeline, argc, argv);
    });
}
