// p2p with Sennit: started by `sennit run -n N p2p`, by an MPI's launcher, or alone. The columns
// are ordinary memory; channels.c or channels.f90 hands the lines over.
#include "channels.h"
#include "run.hpp"

#include "common/pages.hpp"
#include "common/sennit_ranks.hpp"

namespace p2p {
namespace {

static_assert(P2P_AHEAD == kBehindLimit + 1);

class SennitPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return P2P_BACKEND; }

    double *open(const Options &options) override {
        const auto lines = static_cast<std::size_t>(options.lines);
        double *left = nullptr, *scratch = nullptr;
        apps::together(ranks_, "p2p", [&] {
            left = left_.take(lines);
            scratch = scratch_.take(lines);
        });
        links_.behind = static_cast<std::int32_t>(options.behind);
        apps::check(p2p_open(&links_, left, scratch, options.lines));
        return left;
    }
    void sweep(const p2p_strip &strip) override { apps::check(p2p_sweep(&links_, &strip)); }
    void close() override { apps::check(p2p_close(&links_)); }

  private:
    apps::Pages left_, scratch_;  // outlive Sennit: after an error the channels are still open
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
