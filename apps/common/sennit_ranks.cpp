#include "sennit_ranks.hpp"

#include "failure.hpp"

#include <fmt/format.h>
#include <exception>

namespace apps {

void check(sennit_status status) {
    if (status == SENNIT_OK) return;
    const sennit_error *error = sennit_last_error();
    const std::string why = fmt::format("{}: {}: {}", error->operation,
                                        sennit_status_string(error->status), error->text);
    throw Lost(sennit_initialized() != 0 ? fmt::format("rank {}: {}", sennit_rank(), why) : why);
}

SennitRanks::SennitRanks() {
    check(sennit_init(nullptr));
}

// Not on a rank that throws: finalize waits for the others, and the error is printed after it.
SennitRanks::~SennitRanks() {
    if (std::uncaught_exceptions() == 0) (void)sennit_finalize();
}

std::string SennitRanks::name() const {
    return fmt::format("sennit {}", sennit_version());
}

void SennitRanks::barrier() {
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
}

double SennitRanks::max(double mine) {
    double largest = mine;
    check(sennit_allreduce(SENNIT_TEAM_WORLD, &mine, &largest,
                           sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX), SENNIT_FOREVER));
    return largest;
}

std::vector<double> SennitRanks::gather(const std::vector<double> &mine) {
    std::vector<double> all(rank() == 0 ? mine.size() * static_cast<std::size_t>(size()) : 0);
    check(sennit_gather(SENNIT_TEAM_WORLD, 0, mine.data(), all.data(), mine.size() * sizeof(double),
                        SENNIT_FOREVER));
    return all;
}

void add_up(std::vector<double> &values) {
    check(sennit_allreduce(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, values.data(),
                           sennit_reduction_of(values.size(), SENNIT_DOUBLE, SENNIT_SUM),
                           SENNIT_FOREVER));
}

}  // namespace apps
