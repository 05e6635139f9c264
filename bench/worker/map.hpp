// `sennit map`: the options of its ranks, and the parts that they measure. Methods:
// docs/design/map.md. Collective; rank 0 prints a line for each figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/map_figure.hpp"
#include "worker/cases.hpp"

namespace sennit::bench {

// A transfer from the memory of one processor to that of another, which copies.
struct MapTransfer {
    int from;
    int to;
};

// Transfers that may be under way at the same time: within a domain, or across two.
struct MapGroup {
    std::string name;
    std::vector<MapTransfer> transfers;
};

struct MapOptions {
    bool are_threads = false;  // the ranks are threads of one process
    std::vector<int> cores;    // one processor of each core; at once, rank i runs on the i-th
    std::vector<std::string> ways;
    std::size_t pairs = 0;                 // number of pairs to measure; 0: all
    std::vector<MapTransfer> setup_pairs;  // the pairs with a measured set-up
    bool has_flag = false;
    std::vector<MapGroup> groups;
    std::uint64_t pool_bytes = 0;  // at once: the most memory of fresh buffers
    double seconds = 0.0;          // about, for all
};

// Reads the JSON of `sennit map`. Throws nlohmann::json::exception.
MapOptions map_options_in(const std::string &text);

// The mechanism of registered memory, a value of SENNIT_REGISTER; "": no way registers.
std::string registered_by(const MapOptions &options);

// The use of the time budget. The same on all ranks, by the clock of rank 0.
class Budget {
  public:
    Budget(double seconds, std::size_t cases);
    // The limits of the next case, which has at most `rounds` rounds. Collective.
    Limits next(std::size_t rounds);
    // Collective.
    bool is_over() {
        look();
        return m_left_s <= 0.0;
    }

  private:
    void look();

    double m_end_ns;
    double m_left_s;
    std::size_t m_cases_left;
};

// Rank 0 prints the figure.
void print_figure(const Job &job, const MapFigure &figure);

// Rank 0 prints that `what` is left out, with the reason.
void print_left_out(const Job &job, const std::string &what, const std::string &reason);

void run_map_pairs(const Run &run);
void run_map_at_once(const Run &run);

// The cost of setting up the ways between the cores of ranks 0 and 1, which are bound to them.
void measure_setup(const Job &job, const MapTransfer &pair, std::uint64_t bytes,
                   const std::vector<std::string> &ways, const Limits &limits);

}  // namespace sennit::bench
