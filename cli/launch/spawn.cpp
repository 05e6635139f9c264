// Starts ranks by vfork, which does not copy page tables: the child uses the keeper's memory until
// it executes the program. So the child only makes system calls with prepared arguments. It reports
// a failure by a pipe, which exec closes. Shared memory would not work, since under sanitizers
// vfork is a fork.
#include "launch/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit::cli {
namespace {

enum class Step : int { none, prctl, setpgid, dup2, fcntl, exec };

const char *name_of(Step step) {
    switch (step) {
        case Step::none:
            return "pipe";
        case Step::prctl:
            return "prctl";
        case Step::setpgid:
            return "setpgid";
        case Step::dup2:
            return "dup2";
        case Step::fcntl:
            return "fcntl";
        case Step::exec:
            return "exec";
    }
    return "";
}

// The child writes this into the pipe when it gives up.
struct Outcome {
    int error = 0;
    Step step = Step::none;
};

struct Prepared {
    const char *program;
    char *const *arguments;
    char *const *environment;
    RankFiles files;
    const cpu_set_t *cpus;  // null: not bound
    std::size_t cpus_bytes;
    const sigset_t *mask;
    const rlimit *descriptors;  // null: unknown
    pid_t keeper;
    int outcome;  // writing end, close-on-exec
};

[[noreturn]] void give_up(const Prepared &prepared, Step step) {
    const Outcome outcome{errno, step};
    (void)!write(prepared.outcome, &outcome, sizeof outcome);
    _exit(kExitInternal);
}

// This runs between vfork and exec, so it makes only async-signal-safe calls.
[[noreturn, gnu::noinline]] void become_rank(const Prepared &prepared) {
    // The keeper is the child's parent: if it dies by SIGKILL, so does the rank.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(prepared, Step::prctl);
    if (getppid() != prepared.keeper) _exit(kExitInternal);
    // A new group, not a new session, in which SIGTSTP would have no effect.
    if (setpgid(0, 0) != 0) give_up(prepared, Step::setpgid);
    if (dup2(prepared.files.standard_input, STDIN_FILENO) < 0 ||
        dup2(prepared.files.standard_output, STDOUT_FILENO) < 0 ||
        dup2(prepared.files.standard_error, STDERR_FILENO) < 0) {
        give_up(prepared, Step::dup2);
    }
    if (fcntl(prepared.files.control, F_SETFD, 0) != 0) give_up(prepared, Step::fcntl);
    if (prepared.cpus != nullptr) {
        // An error is ignored: a CPU may have gone offline.
        (void)sched_setaffinity(0, prepared.cpus_bytes, prepared.cpus);
    }
    if (prepared.descriptors != nullptr) (void)setrlimit(RLIMIT_NOFILE, prepared.descriptors);
    (void)sigprocmask(SIG_SETMASK, prepared.mask, nullptr);
    execve(prepared.program, prepared.arguments, prepared.environment);
    give_up(prepared, Step::exec);
}

// A separate function, so that no variable of the caller is live when vfork returns twice.
[[gnu::noinline]] pid_t start(const Prepared &prepared) {
    const pid_t child = vfork();
    if (child == 0) become_rank(prepared);
    return child;
}

// Closes the pipe. Where vfork is a fork, this waits until the child has executed the program or
// given up.
Outcome read_outcome(const int ends[2], pid_t child) {
    const int error = errno;
    close(ends[1]);
    Outcome outcome;
    if (child >= 0) {
        ssize_t bytes = 0;
        do {
            bytes = read(ends[0], &outcome, sizeof outcome);
        } while (bytes < 0 && errno == EINTR);
        if (bytes != sizeof outcome) outcome = Outcome{};
    }
    close(ends[0]);
    errno = error;
    return outcome;
}

std::vector<char *> pointers(const std::vector<std::string> &strings) {
    std::vector<char *> result;
    result.reserve(strings.size() + 8);
    for (const std::string &text : strings)
        result.push_back(const_cast<char *>(text.c_str()));
    return result;
}

std::string hex(const Cookie &cookie) {
    std::string text;
    for (const unsigned char byte : cookie)
        text += fmt::format("{:02x}", byte);
    return text;
}

bool is_program(const std::string &path, int &exit_code, std::string &message) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        exit_code = errno == ENOENT || errno == ENOTDIR ? kExitNotFound : kExitNotExecutable;
        message = fmt::format("{}: {}", path, std::strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode) || access(path.c_str(), X_OK) != 0) {
        exit_code = kExitNotExecutable;
        message = S_ISDIR(status.st_mode) ? fmt::format("{} is a directory", path)
                                          : fmt::format("{} is not executable", path);
        return false;
    }
    return true;
}

}  // namespace

FoundProgram find_program(const std::string &name) {
    FoundProgram found;
    if (name.find('/') != std::string::npos) {
        if (is_program(name, found.exit_code, found.message)) found.path = name;
        return found;
    }
    const char *path = std::getenv("PATH");
    std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    int unusable = 0;
    std::string why;
    for (std::size_t start = 0; start <= folders.size() && !name.empty();) {
        const std::size_t end = std::min(folders.find(':', start), folders.size());
        const std::string folder = folders.substr(start, end - start);
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (is_program(candidate, found.exit_code, found.message)) {
            found.exit_code = 0;
            found.path = candidate;
            return found;
        }
        if (found.exit_code == kExitNotExecutable && unusable == 0) {
            unusable = found.exit_code;
            why = found.message;
        }
        start = end + 1;
    }
    found.exit_code = unusable != 0 ? unusable : kExitNotFound;
    found.message = unusable != 0 ? why
                                  : fmt::format(
                                        "no program \"{}\" in PATH; a program in this "
                                        "folder is named ./{}",
                                        name, name);
    return found;
}

pid_t spawn_rank(const SpawnPlan &plan, int rank, const RankFiles &files, const char *&step) {
    const Job &job = *plan.job;
    std::vector<std::string> own = {
        fmt::format("{}={}", runtime::kLaunchRankVariable, rank),
        fmt::format("{}={}", runtime::kLaunchSizeVariable, job.ranks),
        fmt::format("{}={}", runtime::kLaunchControlVariable, files.control),
        fmt::format("{}={}-{}", runtime::kLaunchJobVariable, getpid(), hex(job.cookie))};
    if (job.nodes > 0)
        own.push_back(fmt::format("SENNIT_NODE=made-up-{}", rank * job.nodes / job.ranks));
    std::vector<char *> environment = pointers(plan.environment);
    for (const std::string &text : own)
        environment.push_back(const_cast<char *>(text.c_str()));
    environment.push_back(nullptr);
    std::vector<char *> arguments = pointers(job.arguments);
    arguments.push_back(nullptr);

    cpu_set_t *cpus = nullptr;
    std::size_t cpus_bytes = 0;
    if (!job.cpus.empty()) {
        int last = 0;
        for (const int cpu : job.cpus[static_cast<std::size_t>(rank)])
            last = std::max(last, cpu);
        cpus = CPU_ALLOC(last + 1);
        cpus_bytes = CPU_ALLOC_SIZE(last + 1);
        CPU_ZERO_S(cpus_bytes, cpus);
        for (const int cpu : job.cpus[static_cast<std::size_t>(rank)]) {
            CPU_SET_S(cpu, cpus_bytes, cpus);
        }
    }
    int ends[2];
    pid_t child = -1;
    Outcome outcome;
    step = "pipe";
    if (pipe2(ends, O_CLOEXEC) == 0) {
        const Prepared prepared{job.program.c_str(),
                                arguments.data(),
                                environment.data(),
                                files,
                                cpus,
                                cpus_bytes,
                                &job.original_mask,
                                plan.descriptors ? &*plan.descriptors : nullptr,
                                getpid(),
                                ends[1]};
        step = "vfork";
        child = start(prepared);
        outcome = read_outcome(ends, child);
    }
    const int error = child < 0 ? errno : outcome.error;
    if (cpus != nullptr) CPU_FREE(cpus);
    if (error == 0) return child;
    if (child >= 0) step = name_of(outcome.step);
    errno = error;
    return -1;  // the keeper reaps a child that gave up as it reaps all others
}

}  // namespace sennit::cli
