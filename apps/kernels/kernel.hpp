// The interface between the shared part and the versions of a kernel. run.cpp makes a kernel, then
// one version of it, and calls both in turn. A version contains the communication and its memory,
// the kernel everything else.
//
// Errors are Failures; an error that some ranks may not see is Lost.
#pragma once

#include "common/ranks.hpp"
#include "common/result.hpp"

#include <memory>
#include <vector>

namespace kernels {

// One kernel with one library. Made, called and destroyed by all ranks together.
class Version {
  public:
    Version() = default;
    virtual ~Version() = default;
    Version(const Version &) = delete;
    Version &operator=(const Version &) = delete;

    // The whole kernel, from the data before a run to the data after it (README.md). The library's
    // barrier was called since the last run.
    virtual void run() = 0;
};

// Only rank 0 has all the data, except in Sort.
class Kernel {
  public:
    Kernel(int rank_here, int ranks_in_all) : rank(rank_here), ranks(ranks_in_all) {}
    virtual ~Kernel() = default;
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;

    // Called before the version is made. Collective.
    virtual void agree(apps::Ranks &) {}
    // Sets the data of run 0, 1, 2, ...; each run has other data.
    virtual void prepare(int run) = 0;
    // Checks the result of the last prepared run, in two steps: each rank checks its own part and
    // returns some values, the same number on each rank; rank 0 then gets the values of all.
    virtual std::vector<double> check() = 0;
    virtual void check_all(const std::vector<double> &) {}
    // Spoils the result of the last run.
    virtual void spoil() = 0;
    // Bytes of a run, as equation 5.1 counts them.
    virtual double bytes() const = 0;
    virtual void describe(apps::Result &result) const = 0;

    const int rank, ranks;
};

// A version of kernel K, and its name.
template <typename K>
struct Entry {
    const char *name;
    std::unique_ptr<Version> (*make)(K &);
};

}  // namespace kernels
