// p2p with Sennit: started by `sennit run -n N p2p`, by an MPI's launcher, or alone. The columns
// are ordinary memory; channels.c or channels.f90 hands the lines over.
#include "channels.h"
#include "run.hpp"

#include "common/failure.hpp"
#include "common/sennit_ranks.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace p2p {
namespace {

// Whole pages, so that nothing else lies on those that become shared.
constexpr std::size_t kPageBytes = 4096;

struct Freed {
    void operator()(double *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<double, Freed>;

Memory pages_for(std::int64_t lines) {
    const std::size_t bytes = static_cast<std::size_t>(lines) * sizeof(double);
    const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    Memory memory(static_cast<double *>(std::aligned_alloc(kPageBytes, whole)));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

class SennitPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return P2P_BACKEND; }

    double *open(std::int64_t lines, const std::string & /*way*/) override {
        apps::together(ranks_, "p2p", [&] {
            left_ = pages_for(lines);
            scratch_ = pages_for(lines);
        });
        apps::check(p2p_open(&links_, left_.get(), scratch_.get(), lines), "opening channels");
        return left_.get();
    }
    void sweep(const p2p_strip &strip) override {
        apps::check(p2p_sweep(&links_, &strip), "handing lines over");
    }
    void close() override { apps::check(p2p_close(&links_), "closing channels"); }

  private:
    Memory left_, scratch_;  // outlive Sennit: after an error the channels are still open
    apps::SennitRanks ranks_;
    p2p_links links_{};
};

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    return apps::run_with_sennit("p2p", [&] {
        p2p::SennitPipeline pipeline;
        return p2p::run(pipeline, argc, argv);
    });
}
