// A job without an MPI, started by `sennit run`.
#include <cstdlib>

#include "worker/library.hpp"

namespace sennit::bench {

namespace {

class NoLibrary final : public Library {
  public:
    std::string version() const override { return ""; }
    sennit_status start_sennit(const sennit_options &options) const override {
        return sennit_init(&options);
    }
    void finish() override {}
    void abort() const override { std::_Exit(1); }
};

}  // namespace

std::unique_ptr<Library> start_library(int *, char ***) {
    return std::make_unique<NoLibrary>();
}

}  // namespace sennit::bench
