// A rank of a measuring job. Not for people: `sennit bench` starts it, by `sennit run` or by an
// MPI's launcher, and reads the lines of JSON that rank 0 prints: one about the job, then one for
// each result.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "worker/cases.hpp"
#include "worker/check.hpp"

namespace {

using namespace sennit::bench;

struct Options {
    std::string bench;
    std::string job;
    int ranks = 0;
    unsigned time_limit_s = 600;
    std::vector<std::uint64_t> sizes;
    Limits limits;
    bool untouched = false;
};

void add_options(CLI::App &app, Options &options) {
    app.add_option("bench", options.bench)->required();
    app.add_option("--job", options.job)->required();
    app.add_option("--ranks", options.ranks)->required();
    app.add_option("--time-limit", options.time_limit_s);
    app.add_option("--bytes", options.sizes)->delimiter(',');
    app.add_flag("--untouched", options.untouched);
    app.add_option("--rounds", options.limits.rounds);
    app.add_option("--seconds", options.limits.seconds);
}

void print_job(const Job &job, const Library &library, const std::string &binding) {
    nlohmann::ordered_json line;
    line["job"] = job.name();
    line["library"] = library.version();
    line["ranks"] = job.size();
    line["binding"] = binding;
    line["oversubscribed"] = job.is_oversubscribed();
    fmt::print("{}\n", line.dump());
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
    for (const std::uint64_t bytes : options.sizes) {
        payload_bytes = std::max<std::size_t>(payload_bytes, bytes);
    }
    // An alltoall by hand has a block for every rank.
    if (options.bench == "alltoall") {
        payload_bytes *= static_cast<std::size_t>(options.ranks);
    }
    // And a queue of many producers a ring for each.
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
                                                               {"alltoall", run_alltoall}};
    const std::size_t stride = options.untouched ? SIZE_MAX / 2 : kCacheLineBytes;
    benches.at(options.bench)({job, library, options.limits, options.sizes, stride});
}

}  // namespace

int main(int argc, char **argv) {
    const auto library = start_library(&argc, &argv);
    try {
        Options options;
        CLI::App app{"A rank of a measuring job, started by `sennit bench`"};
        add_options(app, options);
        app.parse(argc, argv);
        // Ends this rank should everything that watches over it fail.
        alarm(options.time_limit_s);
        // What is measured there is the kernel's copying.
        if (options.bench == "cma") (void)setenv("SENNIT_REGISTER", "cma", 1);
        check(library->start_sennit(SENNIT_OPTIONS_INIT), "sennit_init");
        measure(options, *library);
        check(sennit_finalize(), "sennit_finalize");
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit-bench-worker: {}\n", error.what());
        std::fflush(stderr);
        library->abort();
    }
    library->finish();
    return 0;
}
