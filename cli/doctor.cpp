// `sennit doctor`: options and help. The checks are in doctor/; this process is no rank.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands.hpp"
#include "doctor/report.hpp"
#include "two_ranks.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kDoctorHelp =
    R"(Checks settings of this machine, its kernel and its container. Shows the state of each, and for
a problem its cost to Sennit and the remedy. Changes nothing. Measures for less than a second, and up
to a second more for each interface behind a firewall. Starts two ranks to check that jobs start.
With --no-measure it measures and starts nothing.

Verdicts
  good  nothing to do
  note  costs something in some programs
  bad   calls fail, or every program with N ranks (default 2) is slower

Examples
  sennit doctor                    this machine
  sennit doctor -n 16              enough for 16 ranks? processors, CPU quota, memory, files, processes
  sennit doctor --json | jq -r '.findings[] | select(.verdict == "bad") | .mend'

Exit code
  0 if nothing is bad, 1 if something is, 2 wrong usage.)";

struct DoctorOptions {
    int ranks = 0;
    bool json = false;
    bool looks_only = false;
    std::string root;
};

Network look_at_network(bool tries) {
    Network network;
    sennit_provider provider{};
    if (sennit_provider_get(0, &provider) == SENNIT_OK) {
        network.libfabric = provider.version;
        if (provider.is_taken != 0)
            network.provider = std::string(provider.name) + ": " + provider.reason;
    } else {
        network.libfabric_error = sennit_last_error()->text;
        network.is_built_with_libfabric =
            std::strstr(sennit_build_description(), "libfabric") != nullptr;
    }
    network.interfaces = interfaces();
    if (tries) network.connections = try_connections(network.interfaces);
    sennit_knob knob{};
    for (int i = 0; sennit_knob_get(i, &knob) == SENNIT_OK; ++i)
        if (knob.is_set != 0 && std::strcmp(knob.name, "SENNIT_PROGRESS") == 0)
            network.progress = knob.value;
    return network;
}

Start try_start() {
    constexpr int kLimitS = 10;
    const auto begin = std::chrono::steady_clock::now();
    TwoRanks ranks = start_two_ranks(kLimitS);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    return {ranks.exit_code, std::move(ranks.text), time.count()};
}

int doctor(const DoctorOptions &options) {
    System system{options.root, options.ranks, {}, {}, {}};
    if (options.root.empty()) system.network = look_at_network(!options.looks_only);
    if (!options.looks_only && options.root.empty()) {
        // Writes beyond the file size limit then fail with EFBIG and do not end this program.
        (void)std::signal(SIGXFSZ, SIG_IGN);
        system.figures = measure();
        system.start = try_start();
    }
    std::vector<Finding> findings;
    for (const Check check : all_checks())
        findings.push_back(check(system));
    const std::string text = options.json
                                 ? findings_json(findings, options.ranks)
                                           .dump(2, ' ', false, Json::error_handler_t::replace) +
                                       "\n"
                                 : findings_text(findings);
    (void)std::fwrite(text.data(), 1, text.size(), stdout);
    return doctor_exit_code(findings);
}

}  // namespace

void add_doctor_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<DoctorOptions>();
    CLI::App *command = app.add_subcommand(
        "doctor", "Find what slows Sennit down on this machine, and how to correct it");
    command->footer(kDoctorHelp);
    command->add_option("-n,--ranks", options->ranks, "number of ranks that will run here")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20));
    command->add_flag("--json", options->json, "print JSON");
    command->add_flag("--no-measure", options->looks_only, "look only, measure nothing");
    // For tests: files are read below this folder, and the machine itself is not measured.
    command->add_option("--root", options->root)->group("");
    command->callback([options, &exit_code] { exit_code = doctor(*options); });
}

}  // namespace sennit::cli
