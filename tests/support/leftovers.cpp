// Runs a command and then checks that it left nothing, as leftovers.py does for tests in Python;
// that file explains which leftovers count and how they are found. This is a compiled program
// because it runs some 1500 tests and starts a hundred times faster.
//
//     leftovers [--within SECONDS] [--timeout SECONDS] [--mpi] -- COMMAND ARGUMENTS...
//
// Exits with the command's code if nothing is left; otherwise names the leftovers, ends the
// processes among them and exits with 99. A command that exceeds its time is ended with all its
// processes; the exit code is then 124. With --mpi the command may use an MPI's launcher, and only
// files with Sennit's name count: Open MPI leaves its own in the folder for temporary files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kLeft = 99;
constexpr int kTooLong = 124;
constexpr int kNotOver = -1;  // not an exit code, since the command may itself end with 124
constexpr int kUsage = 2;

struct Job {
    double within_s = 1;
    double timeout_s = 600;
    bool has_mpi = false;
    std::string mark;    // LEFTOVERS_MARK=..., in the environment of all the job's processes
    std::string folder;  // for the job's temporary files
    std::set<int> children_before;
    std::set<std::string> memory_before;
    std::map<std::string, std::string> sockets_before;
};

double now_s() {
    timespec time{};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string read_file(const std::string &path) {
    std::string text;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return text;
    char part[16384];
    for (ssize_t count = 0; (count = read(file, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(count));
    (void)close(file);
    return text;
}

std::vector<std::string> names_in(const std::string &folder) {
    std::vector<std::string> names;
    DIR *const open_folder = opendir(folder.c_str());
    if (open_folder == nullptr) return names;
    while (const dirent *entry = readdir(open_folder)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    (void)closedir(open_folder);
    return names;
}

std::string in_proc(int number, const char *what) {
    return "/proc/" + std::to_string(number) + "/" + what;
}

std::vector<int> process_numbers() {
    std::vector<int> numbers;
    for (const std::string &name : names_in("/proc"))
        if (name.find_first_not_of("0123456789") == std::string::npos)
            numbers.push_back(std::atoi(name.c_str()));
    return numbers;
}

bool is_of_sennit(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("sennit") != std::string::npos;
}

// True if the process has the mark in the environment with which it started.
bool has_mark(const Job &job, int number) {
    const std::string environment = '\0' + read_file(in_proc(number, "environ")) + '\0';
    return environment.find('\0' + job.mark + '\0') != std::string::npos;
}

// Includes zombies, and orphans that this process adopted as the subreaper.
bool is_child(int number) {
    const std::string state = read_file(in_proc(number, "stat"));
    const std::size_t name_end = state.rfind(')');
    int parent = 0;
    return name_end != std::string::npos &&
           std::sscanf(state.c_str() + name_end + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

std::set<int> children() {
    std::set<int> found;
    for (const int number : process_numbers())
        if (is_child(number)) found.insert(number);
    return found;
}

std::set<std::string> shared_memory() {
    std::set<std::string> found;
    for (const std::string &name : names_in("/dev/shm"))
        if (is_of_sennit(name)) found.insert(name);
    return found;
}

// Name and inode of Unix sockets that have Sennit in their name.
std::map<std::string, std::string> sockets() {
    std::map<std::string, std::string> found;
    const std::string table = read_file("/proc/net/unix");
    for (std::size_t begin = 0; begin < table.size();) {
        const std::size_t end = std::min(table.find('\n', begin), table.size());
        char inode[32];
        char name[256];
        if (std::sscanf(table.substr(begin, end - begin).c_str(),
                        "%*s %*s %*s %*s %*s %*s %31s %255s", inode, name) == 2 &&
            is_of_sennit(name))
            found[name] = inode;
        begin = end + 1;
    }
    return found;
}

// A new socket counts only if no process outside of the job holds it: other jobs run at the same
// time.
bool is_held_by_others(const Job &job, const std::string &inode) {
    const std::string target = "socket:[" + inode + "]";
    for (const int number : process_numbers()) {
        const std::string folder = in_proc(number, "fd");
        for (const std::string &name : names_in(folder)) {
            char link[64];
            const ssize_t length = readlink((folder + "/" + name).c_str(), link, sizeof link);
            if (length > 0 && target == std::string_view(link, static_cast<std::size_t>(length)) &&
                !has_mark(job, number))
                return true;
        }
    }
    return false;
}

// Living processes of the job.
std::vector<int> processes(const Job &job) {
    std::vector<int> found;
    for (const int number : process_numbers()) {
        if (number == getpid()) continue;
        const bool is_new_child = is_child(number) && job.children_before.count(number) == 0;
        if (is_new_child && waitpid(number, nullptr, WNOHANG) == number) continue;
        if (is_new_child || has_mark(job, number)) found.push_back(number);
    }
    return found;
}

// Lists files and folders below `folder`, and removes them if `removes` is true.
void walk(const std::string &folder, bool removes, std::vector<std::string> *found) {
    for (const std::string &name : names_in(folder)) {
        const std::string path = folder + "/" + name;
        struct stat about {};
        const bool is_folder = lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
        if (found != nullptr) found->push_back(path);
        if (is_folder) walk(path, removes, found);
        if (removes) (void)(is_folder ? rmdir(path.c_str()) : unlink(path.c_str()));
    }
}

std::vector<std::string> left(const Job &job) {
    std::vector<std::string> found;
    for (const int number : processes(job)) {
        std::string command = read_file(in_proc(number, "cmdline"));
        std::replace(command.begin(), command.end(), '\0', ' ');
        found.push_back("process " + std::to_string(number) + ": " +
                        (command.empty() ? "zombie" : command));
    }
    for (const std::string &name : shared_memory())
        if (job.memory_before.count(name) == 0) found.push_back("/dev/shm/" + name);
    std::vector<std::string> files;
    walk(job.folder, false, &files);
    for (const std::string &path : files)
        if (!job.has_mpi || is_of_sennit(path.substr(path.rfind('/') + 1))) found.push_back(path);
    for (const auto &[name, inode] : sockets())
        if (job.sockets_before.count(name) == 0 && !is_held_by_others(job, inode))
            found.push_back("socket " + name);
    return found;
}

// Ends all leftovers, so that a failing test does not disturb the next one.
void end(const Job &job) {
    const std::vector<int> numbers = processes(job);
    for (const int number : numbers)
        (void)kill(number, SIGKILL);
    if (!numbers.empty()) {
        (void)usleep(50'000);
        (void)processes(job);
    }
    walk(job.folder, true, nullptr);
    (void)rmdir(job.folder.c_str());
}

void prepare(Job *job) {
    unsigned char bytes[16] = {};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
        getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        std::perror("leftovers");
        std::exit(kUsage);
    }
    std::string word;
    for (const unsigned char byte : bytes) {
        char digits[3];
        (void)std::snprintf(digits, sizeof digits, "%02x", byte);
        word += digits;
    }
    const char *const temporary = std::getenv("TMPDIR");
    job->folder = std::string(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") +
                  "/watch-" + word;
    if (mkdir(job->folder.c_str(), 0700) != 0) {
        std::perror(job->folder.c_str());
        std::exit(kUsage);
    }
    job->mark = "LEFTOVERS_MARK=" + word;
    job->children_before = children();
    job->memory_before = shared_memory();
    job->sockets_before = sockets();
}

// The command's exit code. kNotOver after its time, or if a signal asks this program to end; only
// then *asked is that signal.
int run(const Job &job, char **command, int *asked) {
    sigset_t awaited;
    sigset_t before;
    (void)sigemptyset(&awaited);
    for (const int each : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
        (void)sigaddset(&awaited, each);
    (void)sigprocmask(SIG_BLOCK, &awaited, &before);
    (void)std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, waitpid() would find nothing
    const pid_t number = fork();
    if (number == 0) {
        (void)sigprocmask(SIG_SETMASK, &before, nullptr);
        (void)setenv("LEFTOVERS_MARK", job.mark.c_str() + job.mark.find('=') + 1, 1);
        (void)setenv("TMPDIR", job.folder.c_str(), 1);
        (void)execvp(command[0], command);
        std::perror(command[0]);
        _exit(127);
    }
    const double limit_s = now_s() + job.timeout_s;
    int state = 0;
    while (waitpid(number, &state, WNOHANG) != number) {
        const double left_s = limit_s - now_s();
        if (left_s <= 0) return kNotOver;
        const auto seconds = static_cast<time_t>(left_s);
        const timespec rest{seconds,
                            static_cast<long>((left_s - static_cast<double>(seconds)) * 1e9)};
        const int signal = sigtimedwait(&awaited, nullptr, &rest);  // also for the end of an orphan
        if (signal > 0 && signal != SIGCHLD) {
            *asked = signal;
            return kNotOver;
        }
    }
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

// Returns the start of the command; null if the arguments are wrong.
char **read_options(char **words, Job *job) {
    for (++words; *words != nullptr && std::strncmp(*words, "--", 2) == 0; ++words) {
        const std::string_view word = *words;
        if (word == "--") return words[1] != nullptr ? words + 1 : nullptr;
        if (word == "--mpi")
            job->has_mpi = true;
        else if ((word == "--within" || word == "--timeout") && words[1] != nullptr) {
            char *end = nullptr;
            (word == "--within" ? job->within_s : job->timeout_s) = std::strtod(*++words, &end);
            if (end == *words || *end != '\0') return nullptr;
        } else {
            return nullptr;
        }
    }
    return *words != nullptr ? words : nullptr;
}

}  // namespace

int main(int, char **words) {
    Job job;
    char **const command = read_options(words, &job);
    if (command == nullptr) {
        std::fprintf(stderr, "leftovers [--within S] [--timeout S] [--mpi] -- COMMAND...\n");
        return kUsage;
    }
    prepare(&job);
    int asked = 0;
    const int code = run(job, command, &asked);
    std::vector<std::string> found;
    if (code != kNotOver) {
        const double limit_s = now_s() + job.within_s;
        for (found = left(job); !found.empty() && now_s() < limit_s; found = left(job))
            (void)usleep(20'000);
    } else if (asked == 0) {
        std::fprintf(stderr, "not over after %g s: %s\n", job.timeout_s, command[0]);
    }
    end(job);
    if (asked != 0) return 128 + asked;
    if (code == kNotOver) return kTooLong;
    if (found.empty()) return code;
    std::fprintf(stderr, "left behind:\n");
    for (const std::string &each : found)
        std::fprintf(stderr, "  %s\n", each.c_str());
    return kLeft;
}
