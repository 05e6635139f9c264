// p2p with MPI send and receive. A group of the last column is contiguous on both sides, so nothing
// is packed: it is sent from the memory in which the kernel stores it, and received in the memory
// from which the kernel reads it.
#include "run.hpp"

#include "common/mpi_ranks.hpp"

namespace p2p {
namespace {

class Ranks final : public apps::MpiRanks {
  public:
    using apps::MpiRanks::world;
};

// Tags: a message with lines has the number of its first line; the corner has 0, since line 0 is
// never sent.
constexpr int kCorner = 0;

class MpiPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "mpi"; }
    // plain: MPI_Recv. ahead: the next receive is posted before a group is computed.
    std::vector<std::string> ways() const override { return {"plain", "ahead"}; }

    double *open(const Options &options) override {
        is_ahead_ = options.way == "ahead";
        left_.resize(static_cast<std::size_t>(options.lines));
        right_.resize(static_cast<std::size_t>(options.lines));
        return left_.data();
    }
    void sweep(const p2p_strip &strip) override {
        if (is_ahead_ && ranks_.rank() > 0)
            sweep_ahead(strip);
        else
            sweep_plain(strip);
        pass_corner();
    }
    void close() override {}

  private:
    void sweep_plain(const p2p_strip &strip);
    void sweep_ahead(const p2p_strip &strip);
    void compute_and_send(const p2p_strip &strip, std::int64_t first);
    void pass_corner();

    Ranks ranks_;
    bool is_ahead_ = false;
    std::vector<double> left_, right_;
};

void MpiPipeline::compute_and_send(const p2p_strip &strip, std::int64_t first) {
    const std::int64_t count = lines_of_group(strip, first);
    p2p_block(&strip, first, count, right_.data());
    if (ranks_.rank() + 1 < ranks_.size()) {
        MPI_Send(&right_[static_cast<std::size_t>(first)], static_cast<int>(count), MPI_DOUBLE,
                 ranks_.rank() + 1, static_cast<int>(first), ranks_.world());
    }
}

void MpiPipeline::sweep_plain(const p2p_strip &strip) {
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        if (ranks_.rank() > 0) {
            MPI_Recv(&strip.left[first], static_cast<int>(lines_of_group(strip, first)), MPI_DOUBLE,
                     ranks_.rank() - 1, static_cast<int>(first), ranks_.world(), MPI_STATUS_IGNORE);
        }
        compute_and_send(strip, first);
    }
}

void MpiPipeline::sweep_ahead(const p2p_strip &strip) {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto post = [&](std::int64_t first) {
        if (first >= strip.lines) return;
        MPI_Irecv(&strip.left[first], static_cast<int>(lines_of_group(strip, first)), MPI_DOUBLE,
                  ranks_.rank() - 1, static_cast<int>(first), ranks_.world(), &request);
    };
    post(1);
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        post(first + strip.group);
        compute_and_send(strip, first);
    }
}

void MpiPipeline::pass_corner() {
    const int last = ranks_.size() - 1;
    const double corner = -right_.back();
    if (last == 0) {
        left_[0] = corner;
    } else if (ranks_.rank() == last) {
        MPI_Send(&corner, 1, MPI_DOUBLE, 0, kCorner, ranks_.world());
    } else if (ranks_.rank() == 0) {
        MPI_Recv(left_.data(), 1, MPI_DOUBLE, last, kCorner, ranks_.world(), MPI_STATUS_IGNORE);
    }
}

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    return apps::run_with_mpi("p2p", &argc, &argv, [&] {
        p2p::MpiPipeline pipeline;
        return p2p::run(pipeline, argc, argv);
    });
}
