// The measurements of `sennit doctor`. Most results are medians, since other programs run too. If a
// measurement fails, its figure stays empty.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "finding.hpp"

namespace sennit::cli {
namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// ns for one call of `work`, the median of some batches.
template <class Work>
double time_of(int calls, Work work) {
    constexpr int kBatches = 9;
    std::vector<double> batches;
    for (int i = 0; i < kBatches; ++i) {
        const auto start = Clock::now();
        for (int call = 0; call < calls; ++call)
            work();
        batches.push_back(ns_since(start) / calls);
    }
    return median(batches);
}

// The result of one child's copy from the other.
struct CopyResult {
    int error;
    double ns;
};

CopyResult copy_from(pid_t process, const void *address) {
    std::uint64_t word = 0;
    iovec mine{&word, sizeof word};
    iovec theirs{const_cast<void *>(address), sizeof word};
    const auto copy = [&] { return process_vm_readv(process, &mine, 1, &theirs, 1, 0); };
    if (copy() != static_cast<ssize_t>(sizeof word)) return {errno == 0 ? EFAULT : errno, 0};
    return {0, time_of(200, copy)};
}

// One child reads the other: like ranks, they are not parent and child.
void measure_copy(Figures *figures) {
    static std::uint64_t source = 1;
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t other = fork();
    if (other == 0) {
        // Close this end: otherwise read() below would not return if the reader dies.
        (void)close(ends[1]);
        for (;;)
            (void)pause();
    }
    const pid_t reader = other < 0 ? -1 : fork();
    if (reader == 0) {
        const CopyResult result = copy_from(other, &source);
        (void)!write(ends[1], &result, sizeof result);
        _exit(0);
    }
    (void)close(ends[1]);
    CopyResult result{};
    if (reader > 0 &&
        read(ends[0], &result, sizeof result) == static_cast<ssize_t>(sizeof result)) {
        figures->copy_error = result.error;
        if (result.error == 0) figures->copy_ns = result.ns;
    }
    (void)close(ends[0]);
    int status = 0;
    if (reader > 0 && waitpid(reader, &status, 0) == reader && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGSYS) {
        figures->copy_error = EPERM;
        figures->copy_kills = true;
    }
    if (other > 0) {
        (void)kill(other, SIGKILL);
        (void)waitpid(other, nullptr, 0);
    }
}

// errno of opening a guard as adoption does (src/memory/adopt/guard.cpp), 0 on success.
int try_guard(int flags) {
    const int file = static_cast<int>(syscall(SYS_userfaultfd, flags));
    if (file < 0) return errno;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = 1;  // UFFD_FEATURE_PAGEFAULT_FLAG_WP, which old headers lack
    const int error = ioctl(file, UFFDIO_API, &api) == 0 ? 0 : errno;
    (void)close(file);
    return error;
}

void measure_guard(Figures *figures) {
    constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY, of Linux 5.11
    const int error = try_guard(O_CLOEXEC | O_NONBLOCK);
    figures->guard_holds_system_calls = error == 0;
    if (error == 0) {
        figures->guard_error = 0;
        return;
    }
    const int second = try_guard(O_CLOEXEC | O_NONBLOCK | kUserModeOnly);
    // EINVAL means that the kernel does not know the flag, so the first error is the reason.
    figures->guard_error = second == EINVAL ? error : second;
}

// ns to touch one MiB of a new memory file for the first time.
std::optional<double> touch(bool huge) {
    constexpr std::size_t kMib = std::size_t{1} << 20;
    constexpr std::size_t kBytes = 8 * kMib;
    constexpr std::size_t kHuge = 2 * kMib;
    std::vector<double> runs;
    for (int run = 0; run < 3; ++run) {
        const int file = memfd_create("sennit-doctor", MFD_CLOEXEC);
        if (file < 0) return std::nullopt;
        void *space = MAP_FAILED;
        if (ftruncate(file, kBytes + kHuge) == 0)
            space = mmap(nullptr, kBytes + kHuge, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        (void)close(file);
        if (space == MAP_FAILED) return std::nullopt;
        if (huge) (void)madvise(space, kBytes + kHuge, MADV_HUGEPAGE);
        const auto begin = (reinterpret_cast<std::uintptr_t>(space) + kHuge - 1) / kHuge * kHuge;
        const auto start = Clock::now();
        for (std::size_t at = 0; at < kBytes; at += 4096)
            *reinterpret_cast<std::atomic<char> *>(begin + at) = 1;
        runs.push_back(ns_since(start) / (kBytes / kMib));
        (void)munmap(space, kBytes + kHuge);
    }
    return median(runs);
}

// Binds the calling thread to `processor`.
bool stay_here(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(processor), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::optional<double> handover() {
    constexpr int kTurns = 2000;
    const int processor = sched_getcpu();
    if (processor < 0) return std::nullopt;
    std::atomic<int> turn{0};
    std::atomic<bool> alone{false};
    std::atomic<bool> bound{true};
    double ns = 0;
    const auto play = [&](int parity) {
        if (!stay_here(processor)) bound = false;
        const auto start = Clock::now();
        for (int i = parity; i < kTurns; i += 2) {
            // SYNC doctor-turn: pairs with the other thread's release below; its stores in its turn
            // are visible.
            while (turn.load(std::memory_order_acquire) != i) {
                if (alone) return;
                (void)sched_yield();
            }
            // SYNC doctor-turn: pairs with the acquire above, of the other thread.
            turn.store(i + 1, std::memory_order_release);
        }
        if (parity == 1) ns = ns_since(start) / kTurns;
    };
    std::thread first;
    std::thread second;
    try {
        first = std::thread(play, 0);
        second = std::thread(play, 1);
    } catch (const std::system_error &) {
        alone = true;
    }
    for (std::thread *thread : {&first, &second})
        if (thread->joinable()) thread->join();
    return bound && !alone ? std::optional<double>(ns) : std::nullopt;
}

int thread_error() {
    try {
        std::thread([] {}).join();
        return 0;
    } catch (const std::system_error &error) {
        return error.code().value();
    }
}

double work_ns() {
    const auto start = Clock::now();
    std::uint64_t value = 1;
    for (int i = 0; i < 100'000; ++i) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        __asm__ __volatile__("" : "+r"(value));  // keeps the compiler from removing the loop
    }
    return ns_since(start);
}

void measure_work(Figures *figures) {
    std::vector<double> after_sleep;
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        after_sleep.push_back(work_ns());
    }
    figures->first_work_ns = median(after_sleep);
    std::vector<double> busy;
    for (int i = 0; i < 200; ++i)
        busy.push_back(work_ns());
    figures->later_work_ns = median(std::vector<double>(busy.begin() + 100, busy.end()));
}

}  // namespace

Figures measure() {
    Figures figures;
    measure_copy(&figures);  // first: it forks, and there are no threads yet
    measure_guard(&figures);
    figures.system_call_ns = time_of(2000, [] { return syscall(SYS_getppid); });
    figures.touch_ns_per_mib = touch(false);
    figures.touch_huge_ns_per_mib = touch(true);
    figures.thread_error = thread_error();
    figures.handover_ns = handover();
    measure_work(&figures);
    return figures;
}

namespace {

// Listens at a port of the address, and connects to this port. Returns errno, 0 on success.
int try_connection(const std::string &address) {
    constexpr int kLimitMs = 1000;
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int calling = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    (void)inet_pton(AF_INET, address.c_str(), &name.sin_addr);
    auto *const any = reinterpret_cast<sockaddr *>(&name);
    socklen_t bytes = sizeof name;
    int error = 0;
    if (bind(listening, any, bytes) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, any, &bytes) != 0) {
        error = errno;
    } else if (connect(calling, any, bytes) != 0) {
        error = errno;
        pollfd ready{calling, POLLOUT, 0};
        socklen_t length = sizeof error;
        if (error == EINPROGRESS && poll(&ready, 1, kLimitMs) <= 0)
            error = ETIMEDOUT;
        else if (error == EINPROGRESS)
            (void)getsockopt(calling, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    (void)close(calling);
    (void)close(listening);
    return error;
}

}  // namespace

std::map<std::string, int> try_connections(const std::vector<Interface> &interfaces) {
    std::map<std::string, int> results;
    for (const Interface &one : interfaces)
        if (one.is_up) results[one.address] = try_connection(one.address);
    return results;
}

}  // namespace sennit::cli
