// PEs of OpenSHMEM, for any application. Header-only, because each OpenSHMEM's programs compile it
// with that library. It uses only functions of OpenSHMEM 1.4.
#pragma once

#include "failure.hpp"
#include "ranks.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace apps {

// Symmetric: the values that a PE gives to the others.
inline double values_of_pe[Ranks::kGatherLimit];

class ShmemRanks final : public Ranks {
  public:
    int rank() const override { return shmem_my_pe(); }
    int size() const override { return shmem_n_pes(); }
    std::string name() const override {
        char vendor[SHMEM_MAX_NAME_LEN + 1] = "";
        int major = 0, minor = 0;
        shmem_info_get_name(vendor);
        shmem_info_get_version(&major, &minor);
        return fmt::format("OpenSHMEM {}.{} of {}", major, minor, vendor);
    }
    void barrier() override { shmem_barrier_all(); }
    double max(double mine) override {
        const std::vector<double> all = exchange({mine});
        return *std::max_element(all.begin(), all.end());
    }
    std::vector<double> gather(const std::vector<double> &mine) override {
        std::vector<double> all = exchange(mine);
        if (rank() != 0) all.clear();
        return all;
    }

  private:
    std::vector<double> exchange(const std::vector<double> &mine) {
        std::copy(mine.begin(), mine.end(), values_of_pe);
        std::vector<double> all(mine.size() * static_cast<std::size_t>(size()));
        shmem_barrier_all();
        for (int pe = 0; pe < size(); ++pe)
            shmem_double_get(&all[static_cast<std::size_t>(pe) * mine.size()], values_of_pe,
                             mine.size(), pe);
        shmem_barrier_all();
        return all;
    }
};

// Checks the result of shmem_malloc. All PEs ask for the same amount, so it fails on all or on
// none.
template <typename Element>
Element *symmetric(void *memory) {
    if (memory == nullptr)
        throw Failure("the symmetric heap is too small; SHMEM_SYMMETRIC_SIZE sets it");
    return static_cast<Element *>(memory);
}

// The body of main(): `run` gives the exit status.
template <typename Run>
int run_with_shmem(const char *program, Run run) {
    shmem_init();
    int code = 1;
    try {
        code = run();
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "%s: %s\n", program, failure.what());
        shmem_global_exit(1);
    }
    shmem_finalize();
    return code;
}

}  // namespace apps
