// The front: the process that the user started and whose end the user sees. It forks the keeper,
// hands it signals through a pipe (whose end tells the keeper that the front is gone) and waits.
// Should the keeper be killed, the ranks become the front's children, and it ends them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launch/descendants.hpp"
#include "launch/job.hpp"

namespace sennit::cli {
namespace {

// Pipes must not land on 0, 1 or 2, where the ranks' own streams go.
void fill_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd) {
        if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
    }
}

// This launcher may itself be a rank of another one, whose control socket is not for our ranks.
void keep_outer_control_socket_here() {
    const char *text = std::getenv(runtime::kLaunchControlVariable);
    const int fd = text != nullptr ? std::atoi(text) : -1;
    if (fd > 2) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// The signals to wait for. One that is ignored (nohup) stays so, here and in the ranks.
sigset_t signals_to_take() {
    sigset_t taken;
    sigemptyset(&taken);
    const auto take = [&](int signal) {
        struct sigaction action {};
        (void)sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&taken, signal);
    };
    for (const int signal : kEndingSignals)
        take(signal);
    for (const int signal : kPassedSignals)
        take(signal);
    (void)std::signal(SIGCHLD, SIG_DFL);
    sigaddset(&taken, SIGCHLD);
    return taken;
}

int explain_end_of_keeper(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const bool ended = end_descendants(kKillToGiveUpNs);
    fmt::print(stderr, "sennit run: the keeper of the ranks was killed by signal {} ({}); {}\n",
               WTERMSIG(status), strsignal(WTERMSIG(status)),
               ended ? "all ranks were ended" : "some of its ranks could not be ended");
    return kExitInternal;
}

// Waits for the keeper and hands on signals until it ends. Returns its wait status.
int watch_keeper(pid_t keeper, int keeper_fd, const sigset_t &taken) {
    for (;;) {
        const int signal = sigwaitinfo(&taken, nullptr);
        if (signal < 0) continue;
        if (signal == SIGCHLD) {
            int status = 0;
            pid_t ended = 0;
            while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
                if (ended == keeper) return status;
            }
            continue;
        }
        const auto byte = static_cast<unsigned char>(signal);
        // A full pipe means thousands of signals nobody took yet: one more makes no difference.
        (void)!write(keeper_fd, &byte, 1);
        // Stops after the ranks were told to, so that the shell gets the terminal back.
        if (signal == SIGTSTP) (void)kill(getpid(), SIGSTOP);
    }
}

}  // namespace

int run_job(Job job) {
    fill_standard_descriptors();
    keep_outer_control_socket_here();
    if (getrandom(job.cookie.data(), job.cookie.size(), 0) !=
        static_cast<ssize_t>(job.cookie.size())) {
        fmt::print(stderr, "sennit run: no random numbers: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    job.cpus = plan_binding(job.binding, job.ranks);
    const sigset_t taken = signals_to_take();
    // SIGPIPE too: the pipe's other end may be gone.
    sigset_t blocked = taken;
    sigaddset(&blocked, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &blocked, &job.original_mask);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fmt::print(stderr, "sennit run: pipe: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    std::fflush(nullptr);
    const pid_t keeper = fork();
    if (keeper < 0) {
        fmt::print(stderr, "sennit run: fork: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    if (keeper == 0) {
        close(ends[1]);
        _exit(keep_job(job, ends[0]));
    }
    close(ends[0]);
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return explain_end_of_keeper(watch_keeper(keeper, ends[1], taken));
}

}  // namespace sennit::cli
