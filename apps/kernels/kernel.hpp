// The interface between the shared part and the versions of a kernel. run.cpp makes a kernel, then
// one version of it, and calls both in turns; a version holds the communication and the memory that
// it needs, the kernel everything else.
//
// Errors are Failures; one that not every rank sees is Lost.
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

    // The whole kernel, from what there is before a run to what there is after it (README.md).
    // There was a barrier of the library since the last run.
    virtual void run() = 0;
};

// Rank 0 alone has the data of all, but for Sort.
class Kernel {
  public:
    Kernel(int rank_here, int ranks_in_all) : rank(rank_here), ranks(ranks_in_all) {}
    virtual ~Kernel() = default;
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;

    // Before the version is made. Collective.
    virtual void agree(apps::Ranks &) {}
    // The data of run 0, 1, 2, ..., each time other data.
    virtual void prepare(int run) = 0;
    // Whether what the last prepared run has left is right, by two steps: each rank looks at its
    // own and gives some values, as many everywhere, and rank 0 gets those of all.
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
