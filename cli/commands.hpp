// The subcommands of `sennit`. Each function adds one subcommand, with options and help, to the
// application. The callback of the subcommand does the work and sets the program's exit code.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sennit::cli {

// run.cpp. The caller fills the object before the callback runs, and keeps it until the callback
// has returned.
struct RunCommand {
    std::vector<std::string> program;
    bool by_oshrun = false;  // called by oshrun, whose messages name PEs
};
void add_run_command(CLI::App &app, const RunCommand &what, int &exit_code);
void add_info_command(CLI::App &app, int &exit_code);    // info.cpp
void add_bench_command(CLI::App &app, int &exit_code);   // bench.cpp
void add_trace_command(CLI::App &app, int &exit_code);   // trace.cpp
void add_stats_command(CLI::App &app, int &exit_code);   // stats.cpp
void add_report_command(CLI::App &app, int &exit_code);  // report.cpp
void add_doctor_command(CLI::App &app, int &exit_code);  // doctor.cpp
// map.cpp. `words` is the command line, which the output names.
void add_map_command(CLI::App &app, const std::string &words, int &exit_code);

}  // namespace sennit::cli
