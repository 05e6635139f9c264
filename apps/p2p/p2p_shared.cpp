// p2p with MPI's shared memory by hand: each rank's left column lies in a window that the node
// shares, and the left neighbour's kernel stores there. Lines are handed over by counters in that
// memory, or, with --way messages, by messages without content. All ranks must be on one node.
#include "column.hpp"
#include "run.hpp"

#include "common/failure.hpp"
#include "common/mpi_ranks.hpp"

#include <memory>
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

    double *open(std::int64_t lines, const std::string &way) override;
    void sweep(const p2p_strip &strip) override;
    void close() override {
        ranks_.barrier();
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

  private:
    Column *column_of(int rank) const;
    void sweep_by_messages(const p2p_strip &strip, double *right);

    Ranks ranks_;
    MPI_Win window_ = MPI_WIN_NULL;
    bool by_messages_ = false;
    Column *mine_ = nullptr, *next_ = nullptr, *first_ = nullptr;  // null: no such neighbour
    std::vector<double> scratch_;  // the last column of the last strip
    std::int64_t lines_ = 0, sweeps_ = 0;
};

// A rank's memory begins at a page on Open MPI and anywhere on others; the place within a page is
// the same for all who map it.
Column *SharedPipeline::column_of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void *memory = nullptr;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &memory);
    auto room = static_cast<std::size_t>(bytes);
    return static_cast<Column *>(std::align(kLineBytes, sizeof(Column), memory, room));
}

double *SharedPipeline::open(std::int64_t lines, const std::string &way) {
    MPI_Comm node = MPI_COMM_NULL;
    int near = 0;
    MPI_Comm_split_type(ranks_.world(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    MPI_Comm_free(&node);
    apps::together(ranks_, "p2p", [&] {
        if (near != ranks_.size()) throw apps::Failure("not all ranks are on one node");
    });
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void *memory = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(Column::bytes(lines) + kLineBytes), 1, info,
                            ranks_.world(), &memory, &window_);
    MPI_Info_free(&info);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    by_messages_ = way == "messages";
    scratch_.resize(static_cast<std::size_t>(lines));
    const int last = ranks_.size() - 1;
    mine_ = new (column_of(ranks_.rank())) Column;
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
        sweep_by_hand(strip, lines_, {ranks_.rank() > 0 ? mine_ : nullptr, next_}, right);
    lines_ += strip.lines - 1;
    pass_corner_by_hand(-scratch_.back(), ++sweeps_,
                        {ranks_.rank() == 0 ? mine_ : nullptr, first_});
}

void SharedPipeline::sweep_by_messages(const p2p_strip &strip, double *right) {
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        if (ranks_.rank() > 0) {
            MPI_Recv(nullptr, 0, MPI_BYTE, ranks_.rank() - 1, 0, ranks_.world(), MPI_STATUS_IGNORE);
            MPI_Win_sync(window_);
        }
        p2p_block(&strip, first, lines_of_group(strip, first), right);
        if (next_ != nullptr) {
            MPI_Win_sync(window_);
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
