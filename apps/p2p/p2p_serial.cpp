// p2p without ranks: the reference for the other rates.
#include "run.hpp"

#include <cstdio>
#include <exception>

namespace p2p {
namespace {

class SerialPipeline final : public Pipeline {
  public:
    apps::Ranks &ranks() override { return ranks_; }
    const char *backend() const override { return "serial"; }

    double *open(const Options &options) override {
        left_.resize(static_cast<std::size_t>(options.lines));
        right_.resize(static_cast<std::size_t>(options.lines));
        return left_.data();
    }
    void sweep(const p2p_strip &strip) override {
        p2p_block(&strip, 1, strip.lines - 1, right_.data());
        left_[0] = -right_.back();
    }
    void close() override {}

  private:
    apps::OneRank ranks_{"serial"};
    std::vector<double> left_, right_;
};

}  // namespace
}  // namespace p2p

int main(int argc, char **argv) {
    try {
        p2p::SerialPipeline pipeline;
        return p2p::run(pipeline, argc, argv);
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "p2p: %s\n", failure.what());
        return 1;
    }
}
