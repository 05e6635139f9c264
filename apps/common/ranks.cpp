#include "ranks.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

namespace apps {

void together(Ranks &ranks, const char *program, const std::function<void()> &part) {
    std::string error;
    try {
        part();
    } catch (const Lost &) {
        throw;
    } catch (const std::bad_alloc &) {
        error = "there is not enough memory for a rank's cells";
    } catch (const std::exception &failure) {
        error = failure.what();
    }
    const int mine = error.empty() ? 0 : ranks.size() - ranks.rank();
    const double first = ranks.max(mine);
    if (first == 0) return;
    if (first == mine) {
        const std::string where = ranks.rank() == 0 ? "" : fmt::format("rank {}: ", ranks.rank());
        std::fputs(fmt::format("{}: {}{}\n", program, where, error).c_str(), stderr);
    }
    throw Refused{};
}

void tell_before_abort(const char *program, const std::exception &failure) {
    std::fputs(fmt::format("{}: {}\n", program, failure.what()).c_str(), stderr);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

Spread spread_of(const std::vector<double> &table, std::size_t column, std::size_t columns) {
    Spread spread{table[column], 0, table[column]};
    const double ranks = static_cast<double>(table.size() / columns);
    for (std::size_t at = column; at < table.size(); at += columns) {
        spread.min = std::min(spread.min, table[at]);
        spread.max = std::max(spread.max, table[at]);
        spread.mean += table[at] / ranks;
    }
    return spread;
}

}  // namespace apps
