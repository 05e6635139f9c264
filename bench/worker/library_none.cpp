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
    std::vector<Subject> pingpong(const Job &, const Messages &) const override { return {}; }
    std::vector<Subject> put(const Job &, const Messages &) const override { return {}; }
    std::vector<Subject> get(const Job &, const Messages &) const override { return {}; }
    std::vector<Subject> strided(const Job &, const Stripes &, const std::byte *) const override {
        return {};
    }
    std::vector<Subject> barrier(const Job &) const override { return {}; }
    std::vector<Subject> atomic(const Job &, AtomicKind, std::uint64_t) const override {
        return {};
    }
    std::vector<Subject> collective(const Job &, const Collective &) const override { return {}; }
};

}  // namespace

std::unique_ptr<Library> start_library(int *, char ***) {
    return std::make_unique<NoLibrary>();
}

}  // namespace sennit::bench
