// `sennit info`: the build, its launchers, its paths with their reasons, and the machine. Uses the
// public interface of the library only.
#include "info.hpp"

#include <fmt/format.h>
#include <sennit/sennit.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "commands.hpp"
#include "print_error.hpp"
#include "two_ranks.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kInfoHelp =
    R"(Shows the build, the launchers that can start ranks, the paths between ranks with the result of each
probe, the providers and interfaces to other nodes, the topology and its levels of locality. Run
alone, it starts two ranks of itself for the probes.

Examples
  sennit info                                everything but knobs and peers
  sennit info --knobs                        the settings, and where each comes from
  sennit run -n 4 sennit info --peers        the path of every pair of ranks and the reason; between
                                             nodes the rails and the reasons; the number of peers of
                                             each rank at each level of locality
  mpirun -n 4 sennit info --peers            the same under another launcher
  sennit info --json                         for programs; can be combined with the others)";

struct InfoOptions {
    bool peers = false;
    bool knobs = false;
    bool json = false;
};

Json build_section() {
    return {{"version", sennit_version()}, {"description", sennit_build_description()}};
}

Json launchers_section() {
    Json list = Json::array();
    char text[256];
    for (int i = 0;; ++i) {
        const char *name = sennit_bootstrap_describe(i, text, sizeof text);
        if (name == nullptr) return list;
        list.push_back({{"name", name}, {"present", text}});
    }
}

// While an object exists, this process is a rank without peers, whatever launcher started it.
// Needed because Sennit reads its knobs when a rank starts, and reports invalid ones.
class LoneRank {
  public:
    LoneRank() {
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.bootstrap = &bootstrap_;
        if (sennit_bootstrap_inproc_create(1, &bootstrap_) != SENNIT_OK ||
            sennit_init(&options) != SENNIT_OK) {
            throw std::runtime_error(sennit_last_error()->text);
        }
    }
    LoneRank(const LoneRank &) = delete;
    LoneRank &operator=(const LoneRank &) = delete;
    ~LoneRank() {
        (void)sennit_finalize();
        (void)sennit_bootstrap_inproc_destroy(1, &bootstrap_);
    }

  private:
    sennit_bootstrap bootstrap_{};
};

// Where the value was set. The first knob is the name of the settings file.
std::string source_of(const sennit_knob &knob, const Json &list) {
    if (knob.is_set == 0) return "default";
    return knob.is_set == 1 ? "environment" : list[0]["value"].get<std::string>();
}

Json knobs_section() {
    Json list = Json::array();
    sennit_knob knob{};
    for (int i = 0; sennit_knob_get(i, &knob) == SENNIT_OK; ++i) {
        list.push_back({{"name", knob.name},
                        {"type", knob.type},
                        {"default", knob.default_value},
                        {"unit", knob.unit},
                        {"value", knob.value},
                        {"set", knob.is_set != 0},
                        {"source", source_of(knob, list)},
                        {"help", knob.help}});
    }
    return list;
}

// Starts two ranks of this program and returns their peers section.
Json probe_by_two_ranks() {
    const TwoRanks ranks = start_two_ranks(30);
    const Json parsed = Json::parse(ranks.text, nullptr, false);
    if (ranks.exit_code != 0 || parsed.is_discarded() || !parsed.contains("peers")) {
        const std::string text = ranks.text.substr(0, ranks.text.find_last_not_of('\n') + 1);
        throw std::runtime_error("two ranks could not be started to try the paths: " + text);
    }
    return parsed["peers"];
}

// The built-in paths, and the results of a probe between two ranks of this node.
Json paths_section() {
    Json reasons;
    std::string taken;
    std::string failure;
    try {
        const Json peers = probe_by_two_ranks();
        for (const Json &pair : peers["pairs"]) {
            if (pair["from"] != 0 || pair["to"] != 1) continue;
            reasons = pair["reasons"];
            taken = pair["path"];
        }
    } catch (const std::exception &error) {
        failure = error.what();
    }
    Json list = Json::array();
    for (int i = SENNIT_PATH_SELF; i < SENNIT_PATH_END; ++i) {
        const auto path = static_cast<sennit_path>(i);
        const std::string name = sennit_path_name(path);
        list.push_back({{"name", name},
                        {"built", sennit_path_built(path) != 0},
                        {"taken_on_this_node", name == taken},
                        {"reason", reasons.contains(name) ? reasons[name] : Json(failure)}});
    }
    return list;
}

std::string paths_text(const Json &paths) {
    // If all paths have the same reason, the ranks that try them did not start.
    const auto first = paths[0]["reason"].get<std::string>();
    if (std::all_of(paths.begin(), paths.end(), [&](const Json &path) {
            return !path["taken_on_this_node"] && path["reason"] == first;
        }))
        return fmt::format("  none taken: {}\n", first);
    std::string text;
    for (const Json &path : paths) {
        const bool taken = path["taken_on_this_node"];
        text += fmt::format("  {:<9} {}{}\n", path["name"].get<std::string>(),
                            taken ? "" : "not taken: ", path["reason"].get<std::string>());
    }
    return text;
}

std::string text_of(const Json &report) {
    std::string text;
    if (report.contains("build")) {
        text += fmt::format("Sennit {}\n  {}\n", report["build"]["version"].get<std::string>(),
                            report["build"]["description"].get<std::string>());
    }
    if (report.contains("launchers")) {
        text += "Launchers, in the order of choice\n";
        for (const Json &launcher : report["launchers"]) {
            text += fmt::format("  {:<9} {}\n", launcher["name"].get<std::string>(),
                                launcher["present"].get<std::string>());
        }
    }
    if (report.contains("paths"))
        text += "Paths, best first; tried between two ranks of this node\n" +
                paths_text(report["paths"]);
    if (report.contains("network")) text += "Network\n" + network_text(report["network"]);
    if (report.contains("topology")) text += "Topology\n" + topology_text(report["topology"]);
    if (report.contains("levels"))
        text += "Levels of locality, nearest first\n" + levels_text(report["levels"]);
    if (report.contains("peers")) text += "Peers\n" + peers_text(report["peers"]);
    if (report.contains("knobs")) {
        text += "Knobs; * marks those that the environment or the file of SENNIT_CONFIG sets\n";
        for (const Json &knob : report["knobs"]) {
            const auto unit = knob["unit"].get<std::string>();
            const auto initial = knob["default"].get<std::string>();
            const auto source = knob["source"].get<std::string>();
            text +=
                fmt::format("{} {}={}{}{}\n      {}; {}, default {}{}\n", knob["set"] ? "*" : " ",
                            knob["name"].get<std::string>(), knob["value"].get<std::string>(),
                            unit.empty() ? "" : " ", unit, knob["help"].get<std::string>(),
                            knob["type"].get<std::string>(), initial.empty() ? "empty" : initial,
                            knob["set"] ? "; set by " + source : "");
        }
    }
    return text;
}

void print(const Json &report, bool json) {
    const std::string text =
        json ? report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : text_of(report);
    (void)std::fwrite(text.data(), 1, text.size(), stdout);
}

// Under a launcher all ranks run this; rank 0 prints.
int info_of_peers(const InfoOptions &options) {
    const sennit_status status = sennit_init(nullptr);
    if (status != SENNIT_OK) {
        print_error("sennit info: sennit_init: {}: {}\n", sennit_status_string(status),
                    sennit_last_error()->text);
        return 1;
    }
    int exit_code = 0;
    try {
        Json report;
        if (options.knobs) report["knobs"] = knobs_section();
        report["peers"] = peers_section();
        if (sennit_rank() == 0) print(report, options.json);
        if (sennit_rank() == 0 && sennit_size() == 1 && !options.json) {
            fmt::print("  one rank has no peers; try: sennit run -n 4 sennit info --peers\n");
        }
    } catch (const std::exception &error) {
        print_error("sennit info: {}\n", error.what());
        exit_code = 1;
    }
    std::fflush(stdout);
    return sennit_finalize() == SENNIT_OK ? exit_code : 1;
}

int info(const InfoOptions &options) {
    if (options.peers) return info_of_peers(options);
    Json report;
    if (options.knobs) {
        try {
            const LoneRank rank;
            report["knobs"] = knobs_section();
        } catch (const std::exception &error) {
            print_error("sennit info: {}\n", error.what());
            return 1;
        }
    } else {
        report["build"] = build_section();
        report["launchers"] = launchers_section();
        report["paths"] = paths_section();
        report["network"] = network_section();
        report["topology"] = topology_section();
        report["levels"] = levels_section(report["network"], report["topology"]);
    }
    print(report, options.json);
    return 0;
}

}  // namespace

void add_info_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App *command =
        app.add_subcommand("info", "Show this build of Sennit and the paths on this machine");
    command->footer(kInfoHelp);
    command->add_flag("--peers", options->peers,
                      "the path of every pair of ranks, and why it is not a better one");
    command->add_flag("--knobs", options->knobs, "the settings, and where each comes from");
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exit_code] { exit_code = info(*options); });
}

}  // namespace sennit::cli
