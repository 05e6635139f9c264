#include "run.hpp"

#include "options.hpp"

#include "common/failure.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace kernels {
namespace {

constexpr char kProgram[] = "kernels";

template <typename K>
const Entry<K> &find(const std::vector<Entry<K>> &entries, const Options &options) {
    std::string names;
    for (const Entry<K> &entry : entries) {
        if (options.version.empty() || options.version == entry.name) return entry;
        names += std::string(" ") + entry.name;
    }
    throw apps::Failure(fmt::format("this program has no version '{}' of {}; it has{}",
                                    options.version, options.kernel, names));
}

void check(apps::Ranks &ranks, Kernel &kernel) {
    std::vector<double> said;
    apps::together(ranks, kProgram, [&] { said = kernel.check(); });
    const std::vector<double> table = ranks.gather(said);
    apps::together(ranks, kProgram, [&] {
        if (kernel.rank == 0) kernel.check_all(table);
    });
}

// The time of each timed run on its slowest rank; all ranks get it.
std::vector<double> time_runs(apps::Ranks &ranks, Kernel &kernel, Version &version,
                              const Options &options) {
    std::vector<double> each_us;
    const auto all = static_cast<int>(options.warmup + options.runs);
    for (int run = 0; run < all; ++run) {
        kernel.prepare(run);
        ranks.barrier();
        const apps::Clock::time_point start = apps::Clock::now();
        version.run();
        const apps::Clock::time_point end = apps::Clock::now();
        if (run >= options.warmup)
            each_us.push_back(static_cast<double>(apps::elapsed_ns(start, end)) * 1e-3);
        if (run >= options.warmup && run + 1 < all) continue;
        if (options.spoil && kernel.rank == 0) kernel.spoil();
        check(ranks, kernel);
    }
    for (double &us : each_us)
        us = ranks.max(us);
    return each_us;
}

void report(apps::Ranks &ranks, const Kernel &kernel, const std::string &version,
            const Options &options, std::vector<double> each_us) {
    std::sort(each_us.begin(), each_us.end());
    const double runs = static_cast<double>(each_us.size());
    const double mean_us = std::accumulate(each_us.begin(), each_us.end(), 0.0) / runs;
    const auto quarter = [&](double part) {
        return each_us[static_cast<std::size_t>(part * (runs - 1) + 0.5)];
    };
    apps::Result result;
    result.add("program", kProgram);
    result.add("kernel", options.kernel);
    result.add("version", version);
    result.add("subject", ranks.name());
    result.add("ranks", kernel.ranks);
    kernel.describe(result);
    result.add("warmup", options.warmup);
    result.add("runs", options.runs);
    result.add("bytes", kernel.bytes());
    result.add("latency_us", mean_us);
    result.add("latency_median_us", apps::median_of(each_us));
    result.add("latency_quartiles_us", std::vector<double>{quarter(0.25), quarter(0.75)});
    result.add("latency_range_us", std::vector<double>{each_us.front(), each_us.back()});
    result.add("throughput_mb_per_s", kernel.bytes() / mean_us);
    std::fputs((options.json ? result.json() : result.table()).c_str(), stdout);
    std::fflush(stdout);
}

template <typename K>
void run_kernel(apps::Ranks &ranks, const std::vector<Entry<K>> &entries, const Options &options) {
    const Entry<K> *entry = nullptr;
    std::unique_ptr<K> kernel;
    apps::together(ranks, kProgram, [&] {
        entry = &find(entries, options);
        kernel = std::make_unique<K>(options, ranks.rank(), ranks.size());
    });
    kernel->agree(ranks);
    const std::unique_ptr<Version> version = entry->make(*kernel);
    const std::vector<double> each_us = time_runs(ranks, *kernel, *version, options);
    if (kernel->rank == 0) report(ranks, *kernel, entry->name, options, each_us);
}

}  // namespace

int run(apps::Ranks &ranks, const Versions &versions, int argc, const char *const *argv) {
    try {
        Options options;
        apps::together(ranks, kProgram, [&] { options = parse_options(argc, argv); });
        if (!options.help.empty()) {
            if (ranks.rank() == 0) std::fputs(options.help.c_str(), stdout);
        } else if (options.kernel == "daxpy") {
            run_kernel(ranks, versions.daxpy, options);
        } else if (options.kernel == "sort") {
            run_kernel(ranks, versions.sort, options);
        } else {
            const bool is_cannon = options.kernel == "cannon";
            run_kernel(ranks, is_cannon ? versions.cannon : versions.summa, options);
        }
        return 0;
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace kernels
