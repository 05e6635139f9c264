// The operations of an application's ranks other than exchanging cells, for any library. One
// implementation for each library: sennit_ranks.hpp, mpi_ranks.hpp, shmem_ranks.hpp; and OneRank
// for programs without ranks.
//
// Calls are collective unless said otherwise. Errors are Failures; an error that some ranks may not
// see is Lost.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace apps {

class Ranks {
  public:
    Ranks() = default;
    virtual ~Ranks() = default;
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;

    // Not collective; may be called at any time.
    virtual int rank() const = 0;
    virtual int size() const = 0;
    // Name and version of the library, for the report.
    virtual std::string name() const = 0;

    virtual void barrier() = 0;
    // The largest of all ranks' values; all ranks get it.
    virtual double max(double mine) = 0;
    // Every rank gives the same number of values, at most kGatherLimit. Rank 0 gets all, ordered by
    // rank.
    virtual std::vector<double> gather(const std::vector<double> &mine) = 0;
    static constexpr std::size_t kGatherLimit = 16;
};

class OneRank final : public Ranks {
  public:
    explicit OneRank(std::string name) : name_(std::move(name)) {}
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::string name() const override { return name_; }
    void barrier() override {}
    double max(double mine) override { return mine; }
    std::vector<double> gather(const std::vector<double> &mine) override { return mine; }

  private:
    std::string name_;
};

// Does `part` on this rank. If it fails anywhere, the first rank where it failed prints the reason
// on stderr, and all throw Refused. So an error that only one rank sees leaves no rank waiting.
// `part` itself must not contain collective calls.
void together(Ranks &ranks, const char *program, const std::function<void()> &part);

// Prints on stderr why this rank will end the job, and waits until the launcher has had time to
// forward it: MPICH's launcher drops buffered output when a rank aborts. Not collective.
void tell_before_abort(const char *program, const std::exception &failure);

// Column `column` of a table that gather() returned, with `columns` values from each rank.
struct Spread {
    double min = 0, mean = 0, max = 0;
};
Spread spread_of(const std::vector<double> &table, std::size_t column, std::size_t columns);

}  // namespace apps
