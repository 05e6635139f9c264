// The front: the process that the user started. It forks the keeper, passes signals to it through a
// pipe (the end of the pipe tells the keeper that the front has died), reads the terminal for rank
// 0, and waits. If the keeper is killed, the ranks become children of the front, which ends them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launch/descendants.hpp"
#include "launch/job.hpp"
#include "launch/terminal_input.hpp"
#include "openshmem/speech.hpp"
#include "print_error.hpp"

namespace sennit::cli {
namespace {

// Pipes must not get the descriptors 0, 1 and 2, which are the ranks' standard streams.
void fill_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd) {
        if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
    }
}

// This launcher may itself be a rank. Its ranks must not inherit the control socket of that rank.
void keep_outer_control_socket_here() {
    const char *text = std::getenv(runtime::kLaunchControlVariable);
    const int fd = text != nullptr ? std::atoi(text) : -1;
    if (fd > 2) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// The signals to wait for. An ignored signal (nohup) stays ignored, here and in the ranks.
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
    print_error("sennit run: the keeper of the ranks was killed by signal {} ({}); {}\n",
                WTERMSIG(status), strsignal(WTERMSIG(status)),
                ended ? "all ranks were ended" : "some of its ranks could not be ended");
    return kExitInternal;
}

// Forwards a signal or, for SIGCHLD, checks whether the keeper has ended and sets its wait status.
bool keeper_has_ended(pid_t keeper, int keeper_fd, int signal, int &status) {
    if (signal == SIGCHLD) {
        pid_t ended = 0;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            if (ended == keeper) return true;
        }
        return false;
    }
    const auto byte = static_cast<unsigned char>(signal);
    // If the pipe is full, the keeper has thousands of unread signals, and may miss this one.
    (void)!write(keeper_fd, &byte, 1);
    // Stop after the signal is passed on, so that the shell gets the terminal back.
    if (signal == SIGTSTP) (void)kill(getpid(), SIGSTOP);
    return false;
}

// Forwards signals and the terminal's input until the keeper ends. Returns the keeper's wait
// status.
int watch_keeper(pid_t keeper, int keeper_fd, int signals_fd, TerminalInput &input) {
    constexpr int kForegroundMs = 200;  // interval of checks for `fg`
    for (;;) {
        pollfd wanted[2] = {{signals_fd, POLLIN, 0}, input.wanted()};
        const bool in_background = input.active() && wanted[1].fd < 0;
        (void)poll(wanted, 2, in_background ? kForegroundMs : -1);
        if (wanted[1].revents != 0) input.ready();
        signalfd_siginfo taken{};
        int status = 0;
        if (wanted[0].revents != 0 && read(signals_fd, &taken, sizeof taken) > 0 &&
            keeper_has_ended(keeper, keeper_fd, static_cast<int>(taken.ssi_signo), status))
            return status;
    }
}

}  // namespace

std::string as_oshrun(std::string message) {
    const std::string command = "sennit run";
    for (std::size_t at = 0; (at = message.find(command, at)) != std::string::npos;)
        message.replace(at, command.size(), "oshrun");
    return shmem::in_words_of_openshmem(std::move(message));
}

int run_job(Job job) {
    fill_standard_descriptors();
    keep_outer_control_socket_here();
    if (getrandom(job.cookie.data(), job.cookie.size(), 0) !=
        static_cast<ssize_t>(job.cookie.size())) {
        print_error("sennit run: no random numbers: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    job.cpus = plan_binding(job.binding, job.ranks);
    const sigset_t taken = signals_to_take();
    // Block SIGPIPE too, because the keeper may have closed its end of the pipe.
    sigset_t blocked = taken;
    sigaddset(&blocked, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &blocked, &job.original_mask);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    TerminalInput input;
    job.input_fd = input.start();
    job.at_terminal = input.active();
    const int signals_fd = signalfd(-1, &taken, SFD_CLOEXEC);
    if (job.input_fd < 0 || signals_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        print_error("sennit run: pipe: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    std::fflush(nullptr);
    const pid_t keeper = fork();
    if (keeper < 0) {
        print_error("sennit run: fork: {}\n", std::strerror(errno));
        return kExitInternal;
    }
    if (keeper == 0) {
        close(ends[1]);
        close(signals_fd);
        _exit(keep_job(job, ends[0]));
    }
    (void)setpgid(keeper, keeper);  // the keeper does the same; either may be first
    close(ends[0]);
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const int status = watch_keeper(keeper, ends[1], signals_fd, input);
    input.give_back();
    return explain_end_of_keeper(status);
}

}  // namespace sennit::cli
