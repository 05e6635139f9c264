// `sennit map`: options and help. map/ measures and draws.
#include <fmt/format.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "commands.hpp"
#include "info.hpp"
#include "map/measure.hpp"
#include "map/svg.hpp"
#include "map/text.hpp"
#include "print_error.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kMapHelp =
    R"(Measures how fast data moves between the cores of this machine:
  pairs    copy of a buffer from one core's memory to another's, one pair of cores at a time; half the
           round trip of a flag that two cores set in turn; the set-up before the first copy
  at-once  total of many simultaneous transfers, with the same buffers (from a cache, where they
           fit) and with fresh ones
Before and after each measurement a copy is compared with its source.

Ways
  mapped   memcpy through memory that both processes map
  cma      the kernel copies (process_vm_readv)
  adopted  memcpy from private memory that was registered with Sennit
  xpmem    the same by the kernel module xpmem
  threads  memcpy within one process
  flag     the flag that two cores set in turn
  A way that does not work here is left out, with the reason.

Time
  --seconds limits the whole run. If it is too short for --rounds there are fewer transfers,
  at least 3. After this time no new measurement begins, and the output says so. Ctrl-C ends the run
  and shows what was measured.

Examples
  sennit map                                   every pair of cores in about a minute
  sennit map --cores 0,1,64 --ways mapped,cma  a few cores, two ways
  sennit map --pairs 500 --seconds 600         500 of all pairs, with more time for each
  sennit map --svg map.svg                     every pair, with an image
  sennit map --json > map.json                 a line for each figure
  sennit map --read map.json --svg map.svg     draws the map from map.json

Exit code
  0, 1 if something failed, 2 wrong usage, 130 if interrupted.)";

// The numbers of a list such as "0,2-5"; empty if the text is no list.
std::vector<int> processors_in(const std::string &text) {
    std::vector<int> processors;
    if (text.find_first_not_of("0123456789,-") != std::string::npos) return processors;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    // An open range, such as 3-, would be an infinite set.
    if (hwloc_bitmap_list_sscanf(set, text.c_str()) == 0 && hwloc_bitmap_weight(set) > 0)
        for (int at = hwloc_bitmap_first(set); at >= 0; at = hwloc_bitmap_next(set, at))
            processors.push_back(at);
    hwloc_bitmap_free(set);
    return processors;
}

// A check of CLI11: empty for a list of processors.
std::string check_processors(const std::string &text) {
    return processors_in(text).empty()
               ? fmt::format("must be numbers of processors, such as 0,2-5, not \"{}\"", text)
               : "";
}

// Throws UsageError for a core that this process may not use.
map::Machine this_machine(const std::string &cores) {
    const hwloc_topology_t topology = node_topology();
    if (topology == nullptr) throw std::runtime_error("hwloc cannot read the topology");
    if (hwloc_topology_is_thissystem(topology) == 0)
        throw std::runtime_error(
            "hwloc shows another machine than this one (HWLOC_SYNTHETIC, HWLOC_XMLFILE): nothing "
            "is measured");
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &allowed))
            hwloc_bitmap_set(usable, static_cast<unsigned>(processor));
    std::vector<int> processors = map::first_processors(topology, usable);
    hwloc_bitmap_free(usable);
    if (!cores.empty()) processors = processors_in(cores);
    for (const int processor : processors)
        if (processor >= CPU_SETSIZE || !CPU_ISSET(processor, &allowed))
            throw UsageError(fmt::format(
                "sennit map: --cores: this process may not use processor {}", processor));
    map::Machine machine = map::machine_of(topology, processors);
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    machine.host = host;
    return machine;
}

bool has_colours(const std::string &choice) {
    if (choice != "auto") return choice == "always";
    const char *const terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr &&
           terminal != nullptr && std::string(terminal).find("256color") != std::string::npos;
}

void print_json(const map::Json &line) {
    fmt::print("{}\n", line.dump(-1, ' ', false, map::Json::error_handler_t::replace));
    std::fflush(stdout);
}

void print_text(const map::Options &options, const map::Figures &figures) {
    for (const map::Grid &grid : map::grids(figures))
        fmt::print("{}\n", map::heat_text(figures.machine, grid, has_colours(options.colour)));
    for (const std::string &table : {map::distance_table(figures), map::setup_table(figures),
                                     map::at_once_table(figures), map::paper_table(figures)})
        if (!table.empty()) fmt::print("{}\n", table);
    fmt::print("{}", map::rounds_text(figures));
    for (const map::LeftOut &one : figures.left_out)
        fmt::print("Left out: {}: {}\n", one.what, one.reason);
    if (figures.end != "complete") fmt::print("Not all was measured: {}\n", figures.end);
    for (const std::string &sentence : map::sentences(figures))
        fmt::print("{}\n", sentence);
}

void write_svg(const std::string &path, const map::Figures &figures) {
    std::ofstream file(path);
    file << map::svg_of(figures);
    file.close();
    if (!file) throw std::runtime_error(fmt::format("{} cannot be written", path));
}

map::Figures read_figures(const std::string &path) {
    std::ifstream file(path);
    map::Figures figures;
    std::string text;
    for (int number = 1; std::getline(file, text); ++number) {
        try {
            if (!map::take_line(map::Json::parse(text), &figures))
                throw std::runtime_error("not a line of sennit map --json");
        } catch (const std::exception &error) {
            throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
        }
    }
    if (figures.machine.cores.empty())
        throw std::runtime_error(fmt::format("{}: there is no machine in it", path));
    if (figures.end.empty()) figures.end = "the lines have no end";
    return figures;
}

map::Figures measured_figures(const map::Options &options, const std::string &cores,
                              const std::string &command) {
    map::Figures figures;
    map::Json line = to_json(this_machine(cores));
    line["version"] = sennit_version();
    line["command"] = command;
    line["seconds"] = options.seconds;
    map::take_line(line, &figures);
    if (options.json) print_json(line);
    map::measure(options, &figures, [&](const map::Json &one) {
        if (options.json) print_json(one);
    });
    if (options.json)
        print_json(
            {{"map", "end"}, {"ended", figures.end}, {"sentences", map::sentences(figures)}});
    return figures;
}

int run_map(const map::Options &options, const std::string &cores, const std::string &command) {
    // Check this before minutes of measuring, without a change of an existing file.
    if (!options.svg.empty() && !std::ofstream(options.svg, std::ios::app))
        throw std::runtime_error(fmt::format("{} cannot be written", options.svg));
    const map::Figures figures = options.read.empty() ? measured_figures(options, cores, command)
                                                      : read_figures(options.read);
    if (!options.json) print_text(options, figures);
    if (!options.svg.empty()) write_svg(options.svg, figures);
    if (!options.read.empty()) return 0;
    if (figures.end == "interrupted") return 130;
    return figures.end == "failed" || figures.all.empty() ? 1 : 0;
}

void add_options(CLI::App &command, map::Options &options, std::string &cores) {
    command
        .add_option("--cores", cores,
                    "processors, one for each core, such as 0,2-5; default: the first processor of "
                    "each core that this process may use")
        ->check(check_processors);
    command.add_option("--parts", options.parts, "what to measure")
        ->delimiter(',')
        ->check(CLI::IsMember({"pairs", "at-once"}))
        ->capture_default_str();
    command.add_option("--ways", options.ways, "ways to measure, with commas; default: all")
        ->delimiter(',')
        // Hide the list of names, which is too long for a line of a man page.
        ->check(CLI::IsMember(options.ways).description(""));
    command
        .add_option("--pairs", options.pairs, "measure a sample of this many pairs; 0: every pair")
        ->check(CLI::Range(0, 1 << 20))
        ->capture_default_str();
    command
        .add_option("--bytes", options.sizes, "sizes of the copies between pairs; default: 1M,100M")
        ->delimiter(',')
        ->transform(size_validator(8, kMostBytes));
    command
        .add_option("--bytes-at-once", options.sizes_at_once,
                    "sizes of the simultaneous transfers; default: 1M,200M")
        ->delimiter(',')
        ->transform(size_validator(8, kMostBytes));
    command.add_option("--rounds", options.rounds, "most transfers of a pair")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command
        .add_option("--rounds-at-once", options.rounds_at_once,
                    "most transfers of each at-once figure")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command.add_option("--seconds", options.seconds, "approximate time of the whole run")
        ->check(check_seconds)
        ->capture_default_str();
    CLI::Option *json = command.add_flag("--json", options.json, "print JSON, an object a line");
    command.add_option("--svg", options.svg, "write an image of the maps and curves")
        ->type_name("FILE");
    command.add_option("--read", options.read, "measure nothing, draw the output of --json")
        ->check(CLI::ExistingFile)
        ->type_name("FILE")
        ->excludes(json);
    command.add_option("--colour", options.colour, "colours in the text")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    command.add_flag("--commands", options.show_commands,
                     "print the command of each job to stderr");
}

}  // namespace

void add_map_command(CLI::App &app, const std::string &words, int &exit_code) {
    auto options = std::make_shared<map::Options>();
    auto cores = std::make_shared<std::string>();
    CLI::App *command = app.add_subcommand("map", "Measure how fast data moves between the cores");
    command->footer(kMapHelp);
    add_options(*command, *options, *cores);
    command->callback([=, &exit_code] {
        try {
            exit_code = run_map(*options, *cores, "sennit " + words);
        } catch (const UsageError &) {
            throw;
        } catch (const std::exception &error) {
            print_error("sennit map: {}\n", error.what());
            exit_code = 1;
        }
    });
}

}  // namespace sennit::cli
