#include "two_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "launch/job.hpp"

namespace sennit::cli {
namespace {

TwoRanks failed(const char *step) {
    return {kExitInternal, fmt::format("{}: {}", step, std::strerror(errno))};
}

[[noreturn]] void become_launcher(const std::string &self, const std::string &limit, int output,
                                  int messages) {
    // doctor.cpp ignores the signal; ranks must not inherit this.
    (void)std::signal(SIGXFSZ, SIG_DFL);
    // `sennit run` passes its standard input to rank 0. With /dev/null it does not read the user's
    // terminal.
    if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(messages, STDERR_FILENO);
    execl(self.c_str(), self.c_str(), "run", "-n", "2", "--timeout", limit.c_str(), self.c_str(),
          "info", "--peers", "--json", nullptr);
    (void)dprintf(STDERR_FILENO, "%s: %s\n", self.c_str(), std::strerror(errno));
    _exit(kExitInternal);
}

// Reads both pipes to the end, into separate strings: text that a library writes to standard error
// must not mix with the JSON of standard output.
void read_all(const int (&ends)[2], std::string (&texts)[2]) {
    pollfd open[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    while (open[0].fd >= 0 || open[1].fd >= 0) {
        if (poll(open, 2, -1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; ++i) {
            if (open[i].fd < 0 || open[i].revents == 0) continue;
            char buffer[4096];
            const ssize_t bytes = read(open[i].fd, buffer, sizeof buffer);
            if (bytes > 0) texts[i].append(buffer, static_cast<std::size_t>(bytes));
            if (bytes <= 0) open[i].fd = -1;
        }
    }
}

}  // namespace

TwoRanks start_two_ranks(int limit_s) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return failed("readlink /proc/self/exe");
    self[length] = 0;
    int output[2];
    int messages[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(messages, O_CLOEXEC) != 0) return failed("pipe");
    std::fflush(nullptr);
    // If SIGCHLD is ignored, the kernel drops the exit code of the launcher.
    (void)std::signal(SIGCHLD, SIG_DFL);
    const pid_t launcher = fork();
    if (launcher == 0) become_launcher(self, std::to_string(limit_s), output[1], messages[1]);
    const TwoRanks no_launcher = failed("fork");
    (void)close(output[1]);
    (void)close(messages[1]);
    std::string texts[2];
    if (launcher > 0) read_all({output[0], messages[0]}, texts);
    (void)close(output[0]);
    (void)close(messages[0]);
    if (launcher < 0) return no_launcher;
    TwoRanks result{0, ""};
    int status = 0;
    pid_t ended = 0;
    do
        ended = waitpid(launcher, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0) return failed("waitpid");
    if (WIFSIGNALED(status)) {
        result.exit_code = kExitSignalBase + WTERMSIG(status);
        texts[1] += fmt::format("sennit run was killed by signal {} ({})\n", WTERMSIG(status),
                                strsignal(WTERMSIG(status)));
    } else {
        result.exit_code = WEXITSTATUS(status);
    }
    result.text = result.exit_code == 0 ? texts[0] : texts[0] + texts[1];
    return result;
}

}  // namespace sennit::cli
