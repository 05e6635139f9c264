// See two_ranks.hpp.
#include "two_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

[[noreturn]] void become_launcher(const std::string &self, const std::string &limit, int output) {
    // Whoever looks at limits ignores this one; ranks are to be as they would be without that.
    (void)std::signal(SIGXFSZ, SIG_DFL);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    execl(self.c_str(), self.c_str(), "run", "-n", "2", "--timeout", limit.c_str(), self.c_str(),
          "info", "--peers", "--json", nullptr);
    (void)dprintf(STDERR_FILENO, "%s: %s\n", self.c_str(), std::strerror(errno));
    _exit(kExitInternal);
}

}  // namespace

TwoRanks start_two_ranks(int limit_s) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return failed("the path of this program, by /proc/self/exe");
    self[length] = 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");
    std::fflush(nullptr);
    const pid_t launcher = fork();
    if (launcher == 0) become_launcher(self, std::to_string(limit_s), ends[1]);
    const TwoRanks no_launcher = failed("fork");
    (void)close(ends[1]);
    TwoRanks result{0, ""};
    char buffer[4096];
    for (ssize_t bytes = 1; launcher > 0 && bytes != 0;) {
        bytes = read(ends[0], buffer, sizeof buffer);
        if (bytes > 0) result.text.append(buffer, static_cast<std::size_t>(bytes));
        if (bytes < 0 && errno != EINTR) break;
    }
    (void)close(ends[0]);
    if (launcher < 0) return no_launcher;
    int status = 0;
    while (waitpid(launcher, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        result.exit_code = kExitSignalBase + WTERMSIG(status);
        result.text += fmt::format("sennit run was killed by signal {} ({})\n", WTERMSIG(status),
                                   strsignal(WTERMSIG(status)));
    } else {
        result.exit_code = WEXITSTATUS(status);
    }
    return result;
}

}  // namespace sennit::cli
