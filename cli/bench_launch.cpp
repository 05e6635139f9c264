// The build defines SENNIT_BENCH_*: paths that it found, or "".
#include "bench_launch.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace sennit::cli {

namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

void append(Words &to, const Words &more) {
    to.insert(to.end(), more.begin(), more.end());
}

fs::path own_path() {
    return fs::read_symlink("/proc/self/exe");
}

std::vector<fs::path> program_folders() {
    const fs::path beside = own_path().parent_path();
    return {beside, beside / SENNIT_BENCH_LIBEXEC};
}

std::string find_measuring_program(const std::string &kind, const std::string &name) {
    for (const fs::path &folder : program_folders()) {
        const fs::path program = folder / fmt::format("sennit-bench-{}-{}", kind, name);
        if (access(program.c_str(), X_OK) == 0) {
            return fs::weakly_canonical(program);
        }
    }
    return "";
}

Launcher mpi_launcher(const std::string &name, const BenchOptions &options) {
    const bool is_openmpi = name != "mpich";
    const std::string &given = is_openmpi ? options.openmpi_launcher : options.mpich_launcher;
    const std::string found = is_openmpi ? SENNIT_BENCH_OPENMPI : SENNIT_BENCH_MPICH;
    return {name, given.empty() ? found : given};
}

bool is_of_openmpi(const Launcher &launcher) {
    return launcher.name == "openmpi" || launcher.name == "openshmem";
}

bool is_there(const Launcher &launcher) {
    return !launcher.path.empty() && access(launcher.path.c_str(), X_OK) == 0 &&
           !find_measuring_program("worker", launcher.name).empty();
}

// Open MPI refuses root, and more ranks than cores, without these options.
Words openmpi_permissions(bool oversubscribed) {
    Words words;
    if (geteuid() == 0) {
        words.push_back("--allow-run-as-root");
    }
    if (oversubscribed) {
        words.push_back("--oversubscribe");
    }
    return words;
}

Words openmpi_binding(bool oversubscribed) {
    if (!oversubscribed) {
        return {"--map-by", "core", "--bind-to", "core"};
    }
    return {"--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"};
}

Words mpich_binding(bool oversubscribed) {
    if (!oversubscribed) {
        return {"-bind-to", "core", "-map-by", "core"};
    }
    return {"-genv", "MPIR_CVAR_POLLS_BEFORE_YIELD", "1"};
}

}  // namespace

Launcher own_launcher() {
    return {"sennit", own_path()};
}

bool compares_with_openshmem(const BenchOptions &options) {
    return options.bench == "notify";
}

std::vector<Launcher> mpi_launchers(const BenchOptions &options) {
    const auto asks_for = [&](const std::string &name) {
        return std::find(options.mpis.begin(), options.mpis.end(), name) != options.mpis.end();
    };
    std::vector<Launcher> launchers;
    for (const std::string name : {"openmpi", "mpich", "openshmem"}) {
        if (name == "openshmem" && !compares_with_openshmem(options)) continue;
        const Launcher launcher = mpi_launcher(name, options);
        const bool by_name = asks_for(name);
        if (is_there(launcher) && (by_name || asks_for("all"))) {
            launchers.push_back(launcher);
        } else if (by_name) {
            throw std::runtime_error(fmt::format(
                "{} cannot be measured: its launcher or the program built with it is missing",
                name));
        }
    }
    return launchers;
}

std::string measuring_program(const std::string &kind, const std::string &name) {
    const std::string program = find_measuring_program(kind, name);
    if (program.empty()) {
        throw std::runtime_error(fmt::format("sennit-bench-{}-{} is neither in {} nor in {}", kind,
                                             name, program_folders()[0].string(),
                                             program_folders()[1].string()));
    }
    return program;
}

int available_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    return std::max(1, CPU_COUNT(&allowed));
}

std::vector<std::string> launch_command(const Launcher &launcher, int ranks, double timeout_s,
                                        const std::vector<std::string> &program) {
    const bool oversubscribed = ranks > available_cores();
    const std::string count = std::to_string(ranks);
    Words words{launcher.path};
    if (is_of_openmpi(launcher)) {
        append(words, openmpi_permissions(oversubscribed));
        append(words, openmpi_binding(oversubscribed));
        append(words, {"-n", count});
    } else if (launcher.name == "mpich") {
        append(words, mpich_binding(oversubscribed));
        append(words, {"-n", count});
    } else {
        append(words, {"run", "-n", count, "--bind", "core", "--timeout",
                       std::to_string(static_cast<int>(std::ceil(timeout_s)))});
    }
    append(words, program);
    return words;
}

std::vector<std::string> cluster_command(const BenchOptions &options, const Launcher &launcher,
                                         int ranks, const std::string &progress,
                                         const std::vector<std::string> &program) {
    Words words{options.cluster,
                "run",
                "--hosts",
                "2",
                "--rails",
                std::to_string(options.rails),
                "--rate",
                options.rate,
                "--launcher",
                launcher.name == "mpich" ? "hydra" : "mpirun",
                "-n",
                std::to_string(ranks)};
    // SENNIT_PROGRESS names a processor by its number on the machine, so the processors must not be
    // split among the hosts.
    if (progress.empty()) words.push_back("--split-processors");
    words.push_back("--");
    // Open MPI must use UCX for windows: over its own TCP it cannot create windows between hosts
    // (MPI_ERR_WIN), and it has no other kind of window for programs with threads.
    if (is_of_openmpi(launcher) && std::getenv("OMPI_MCA_osc") == nullptr)
        append(words, {"env", "OMPI_MCA_osc=ucx"});
    if (!progress.empty()) append(words, {"env", "SENNIT_PROGRESS=" + progress});
    append(words, program);
    return words;
}

std::vector<std::string> plain_launch_command(const Launcher &launcher, int ranks,
                                              const std::vector<std::string> &program) {
    Words words{launcher.path};
    if (is_of_openmpi(launcher)) {
        append(words, openmpi_permissions(ranks > available_cores()));
    } else if (launcher.name == "sennit") {
        words.push_back("run");
    }
    append(words, {"-n", std::to_string(ranks)});
    append(words, program);
    return words;
}

}  // namespace sennit::cli
