// A rank of a measuring job, or all of its ranks as threads. `sennit bench` and `sennit map` start
// it, by `sennit run` or by an MPI's launcher, and read the lines of JSON that rank 0 prints: one
// line about the job, then one line for each result.
#include <fmt/format.h>
#include <getopt.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "common/record.hpp"
#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/map.hpp"

namespace {

using namespace sennit::bench;

using Sizes = std::vector<std::uint64_t>;

struct Options {
    std::string bench;
    std::string job;
    int ranks = 0;
    unsigned time_limit_s = 600;
    Sizes sizes;
    Limits limits;
    bool untouched = false;
    MapOptions map;
};

Sizes sizes_in(const std::string &text) {
    Sizes sizes;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        sizes.push_back(std::stoull(text.substr(at, end - at)));
        at = end + 1;
    }
    return sizes;
}

// Reads the options, which `sennit bench` has checked. Throws if they are invalid.
Options options_in(int argc, char **argv) {
    enum { job, ranks, time_limit, bytes, untouched, rounds, seconds, map };
    const option known[] = {{"job", required_argument, nullptr, job},
                            {"ranks", required_argument, nullptr, ranks},
                            {"time-limit", required_argument, nullptr, time_limit},
                            {"bytes", required_argument, nullptr, bytes},
                            {"untouched", no_argument, nullptr, untouched},
                            {"rounds", required_argument, nullptr, rounds},
                            {"seconds", required_argument, nullptr, seconds},
                            {"map", required_argument, nullptr, map},
                            {nullptr, 0, nullptr, 0}};
    Options options;
    for (int found; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (found) {
            case job:
                options.job = optarg;
                break;
            case ranks:
                options.ranks = std::stoi(optarg);
                break;
            case time_limit:
                options.time_limit_s = static_cast<unsigned>(std::stoul(optarg));
                break;
            case bytes:
                options.sizes = sizes_in(optarg);
                break;
            case untouched:
                options.untouched = true;
                break;
            case rounds:
                options.limits.rounds = std::stoul(optarg);
                break;
            case seconds:
                options.limits.seconds = std::stod(optarg);
                break;
            case map:
                options.map = map_options_in(optarg);
                break;
            default:
                throw std::invalid_argument("an option is not known or lacks its value");
        }
    }
    if (optind != argc - 1 || options.job.empty() || options.ranks == 0)
        throw std::invalid_argument(
            "wanted: BENCH --job NAME --ranks N [option...]; `sennit bench` starts it");
    options.bench = argv[optind];
    return options;
}

void print_job(const Job &job, const Library &library, const std::string &binding) {
    fmt::print("{}", line_of(JobNote{job.name(), library.version(), job.size(), binding,
                                     job.is_oversubscribed()}));
    std::fflush(stdout);
}

void measure(const Options &options, const Library &library) {
    if (sennit_size() != options.ranks) {
        throw std::runtime_error(fmt::format(
            "started as one of {} ranks, but Sennit sees {}: does the launcher belong to "
            "the MPI that this program was built with?",
            options.ranks, sennit_size()));
    }
    std::size_t payload_bytes = 0;
    const bool has_own_memory = options.bench.rfind("map-", 0) == 0;
    for (const std::uint64_t bytes : has_own_memory ? Sizes() : options.sizes) {
        payload_bytes = std::max<std::size_t>(payload_bytes, bytes);
    }
    // An alltoall by hand needs a block for every rank.
    if (options.bench == "alltoall") {
        payload_bytes *= static_cast<std::size_t>(options.ranks);
    }
    // A queue by hand needs a ring for every producer.
    if (options.bench == "queue") {
        payload_bytes = queue_payload_bytes(payload_bytes, options.ranks);
    }
    Job job(options.job, payload_bytes + 4096);
    const std::string binding = job.describe_binding();
    if (job.rank() == 0) {
        print_job(job, library, binding);
    }
    const std::map<std::string, void (*)(const Run &)> benches{{"pingpong", run_pingpong},
                                                               {"put", run_put},
                                                               {"get", run_get},
                                                               {"rate", run_rate},
                                                               {"wake", run_wake},
                                                               {"barrier", run_barrier},
                                                               {"channel", run_channel},
                                                               {"notify", run_notify},
                                                               {"plan", run_plan},
                                                               {"queue", run_queue},
                                                               {"cma", run_cma},
                                                               {"adopt", run_adopt},
                                                               {"strided", run_strided},
                                                               {"atomic", run_atomic},
                                                               {"broadcast", run_broadcast},
                                                               {"allreduce", run_allreduce},
                                                               {"alltoall", run_alltoall},
                                                               {"progress", run_progress},
                                                               {"rails", run_rails},
                                                               {"map-pairs", run_map_pairs},
                                                               {"map-at-once", run_map_at_once}};
    const std::size_t stride = options.untouched ? SIZE_MAX / 2 : kCacheLineBytes;
    benches.at(options.bench)({job, library, options.limits, options.sizes, stride, &options.map});
}

void run_rank(const Options &options, const Library &library, const sennit_options &start) {
    check(library.start_sennit(start), "sennit_init");
    measure(options, library);
    check(sennit_finalize(), "sennit_finalize");
}

void end_job(const Library &library, const std::exception &error) {
    std::fputs(fmt::format("sennit-bench-worker: {}\n", error.what()).c_str(), stderr);
    std::fflush(stderr);
    library.abort();
}

void run_as_threads(const Options &options, const Library &library) {
    std::vector<sennit_bootstrap> bootstraps(static_cast<std::size_t>(options.ranks));
    check(sennit_bootstrap_inproc_create(options.ranks, bootstraps.data()),
          "sennit_bootstrap_inproc_create");
    std::vector<std::thread> ranks;
    for (const sennit_bootstrap &bootstrap : bootstraps) {
        ranks.emplace_back([&] {
            sennit_options start = SENNIT_OPTIONS_INIT;
            start.bootstrap = &bootstrap;
            try {
                run_rank(options, library, start);
            } catch (const std::exception &error) {
                end_job(library, error);
            }
        });
    }
    for (std::thread &rank : ranks)
        rank.join();
    check(sennit_bootstrap_inproc_destroy(options.ranks, bootstraps.data()),
          "sennit_bootstrap_inproc_destroy");
}

}  // namespace

int main(int argc, char **argv) {
    const auto library = start_library(&argc, &argv);
    try {
        const Options options = options_in(argc, argv);
        // Ends this rank if all launchers fail to do so.
        alarm(options.time_limit_s);
        // This benchmark measures the kernel's copies.
        if (options.bench == "cma") (void)setenv("SENNIT_REGISTER", "cma", 1);
        const std::string registers = registered_by(options.map);
        if (!registers.empty()) (void)setenv("SENNIT_REGISTER", registers.c_str(), 1);
        if (options.map.are_threads)
            run_as_threads(options, *library);
        else
            run_rank(options, *library, SENNIT_OPTIONS_INIT);
    } catch (const std::exception &error) {
        end_job(*library, error);
    }
    library->finish();
    return 0;
}
