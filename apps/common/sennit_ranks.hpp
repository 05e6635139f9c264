// Ranks of Sennit: started by `sennit run -n N`, by an MPI's launcher, or alone.
#pragma once

#include "ranks.hpp"

#include <sennit/sennit.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace apps {

// Starts Sennit in the constructor and ends it in the destructor.
class SennitRanks final : public Ranks {
  public:
    SennitRanks();
    ~SennitRanks() override;

    int rank() const override { return sennit_rank(); }
    int size() const override { return sennit_size(); }
    std::string name() const override;
    void barrier() override;
    double max(double mine) override;
    std::vector<double> gather(const std::vector<double> &mine) override;
};

// Each value becomes the sum of all ranks' values. Collective.
void add_up(std::vector<double> &values);

// Throws Lost with the call and the text of the last error unless `status` is SENNIT_OK.
void check(sennit_status status);

// The body of main(): `run` gives the exit status.
template <typename Run>
int run_with_sennit(const char *program, Run run) {
    try {
        return run();
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "%s: %s\n", program, failure.what());
        return 1;
    }
}

}  // namespace apps
