// Reads the tree of processes from /proc/PID/task/TID/children. If the kernel lacks these files,
// reads the parent of each process from /proc/PID/stat.
#include "launch/descendants.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>

namespace sennit::cli {
namespace {

struct Directory {
    DIR *handle;
    explicit Directory(const std::string &path) : handle(opendir(path.c_str())) {}
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory() {
        if (handle != nullptr) closedir(handle);
    }
    // The next entry that is a number, 0 at the end.
    pid_t next_number() {
        while (handle != nullptr) {
            const dirent *entry = readdir(handle);
            if (entry == nullptr) return 0;
            const long number = std::strtol(entry->d_name, nullptr, 10);
            if (number > 0) return static_cast<pid_t>(number);
        }
        return 0;
    }
};

bool kernel_lists_children() {
    static const bool lists =
        access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), R_OK) == 0;
    return lists;
}

void append_children(pid_t process, std::vector<pid_t> &out) {
    Directory threads(fmt::format("/proc/{}/task", process));
    while (const pid_t thread = threads.next_number()) {
        std::ifstream file(fmt::format("/proc/{}/task/{}/children", process, thread));
        for (pid_t child = 0; file >> child;)
            out.push_back(child);
    }
}

struct ProcessState {
    char letter = '?';
    pid_t parent = 0;
};

ProcessState process_state(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    // If the process has ended since the file was opened, a read fails with ESRCH. getline() treats
    // this as the end, while an iterator over the buffer throws.
    std::string text;
    for (std::string line; std::getline(file, line);)
        text += line + "\n";
    ProcessState state;
    // The name in parentheses may contain anything.
    const std::size_t name_end = text.rfind(')');
    if (name_end != std::string::npos) {
        (void)std::sscanf(text.c_str() + name_end + 1, " %c %d", &state.letter, &state.parent);
    }
    return state;
}

std::vector<pid_t> by_children_files(pid_t root) {
    std::vector<pid_t> found;
    append_children(root, found);
    for (std::size_t i = 0; i < found.size(); ++i)
        append_children(pid_t{found[i]}, found);
    return found;
}

std::vector<pid_t> by_parents(pid_t root) {
    std::multimap<pid_t, pid_t> children;
    Directory processes("/proc");
    while (const pid_t process = processes.next_number()) {
        children.emplace(process_state(process).parent, process);
    }
    std::vector<pid_t> found{root};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [first, last] = children.equal_range(found[i]);
        for (auto child = first; child != last; ++child)
            found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

bool is_below(pid_t process) {
    const pid_t self = getpid();
    while (process > 1 && process != self)
        process = process_state(process).parent;
    return process == self;
}

// Sends by the pidfd, or by the process number if the kernel has no pidfds (before 5.3).
void send(int held, pid_t process, int signal) {
    if (held >= 0) {
        (void)syscall(SYS_pidfd_send_signal, held, signal, nullptr, 0);
    } else {
        (void)kill(process, signal);
    }
}

}  // namespace

std::vector<pid_t> descendants() {
    return descendants(getpid());
}

std::vector<pid_t> descendants(pid_t root) {
    std::vector<pid_t> found = kernel_lists_children() ? by_children_files(root) : by_parents(root);
    std::erase_if(found, [](pid_t process) {
        const char letter = process_state(process).letter;
        return letter == 'Z' || letter == 'X' || letter == '?';
    });
    return found;
}

void signal_descendants(int signal) {
    for (const pid_t process : descendants()) {
        // Open the descriptor before the check. If another process has got the number since the
        // list was made, that process is not below this one and gets no signal.
        const int held = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
        if (held < 0 && errno != ENOSYS) continue;
        if (is_below(process)) {
            send(held, process, signal);
            if (signal != SIGKILL) send(held, process, SIGCONT);
        }
        if (held >= 0) close(held);
    }
}

bool end_descendants(long long timeout_ns) {
    timespec start{};
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        signal_descendants(SIGKILL);
        const timespec pause{0, 2'000'000};
        (void)nanosleep(&pause, nullptr);
        pid_t ended = 0;
        while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (ended < 0 && errno == ECHILD) return true;
        timespec now{};
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        const long long passed =
            (now.tv_sec - start.tv_sec) * 1'000'000'000LL + (now.tv_nsec - start.tv_nsec);
        if (passed > timeout_ns) return false;
    }
}

}  // namespace sennit::cli
