// One PE ends all PEs (shmem_global_exit), whatever the others are doing.
//
// Each PE has a thread that sleeps in recv() on a datagram socket. The PE that ends the job sends
// the exit status to the sockets of all others, and their threads end their processes. The kernel
// chooses the names of the sockets in the abstract namespace, so nothing is left behind. A message
// is accepted only with the receiver's random secret, which only the PEs of the job and their
// forked children know.
//
// Such a name is invalid on another node. So the exit status for a PE of another node is put into a
// word after the heap of that PE, whose thread polls this word.
//
// This file also handles programs in which all PEs exit without shmem_finalize.
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "state.hpp"

namespace shmem {
namespace {

struct Address {
    sockaddr_un name;
    std::uint32_t name_bytes;
    std::uint64_t secret[2];
};
struct Message {
    std::uint64_t secret[2];
    int status;
};

// Values of the word kAtExit: 0; kThisPe: this PE is in all_are_at_exit(); kAllPes, at PE 0 only:
// all PEs are in this function.
enum : std::uint64_t { kThisPe = 1, kAllPes = 2 };

// Values of the word kEnded: 0, or kEnds and the exit status of the job.
constexpr std::uint64_t kEnds = std::uint64_t{1} << 32;
constexpr timeval kBetweenChecks{0, 50'000};

struct Ending {
    int socket = -1;
    std::uint64_t *word = nullptr;  // null: all PEs are on this node
    pthread_t thread{};
    bool has_thread = false;
    Address mine{};
    std::unique_ptr<Address[]> all;
};
Ending ending;
std::atomic<bool> is_stopping{false};  // ending_stop() has shut down the socket
std::atomic<bool> has_begun{false};    // this process is in shmem_global_exit
thread_local bool began_here = false;  // this thread was the first to call it
int first_status = 0;                  // the argument of the first call

// Starts a thread with all signals blocked: signals are for the program's own threads.
bool start_thread(pthread_t *thread, void *(*body)(void *), void *context) {
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    pthread_attr_t attributes;
    bool made = pthread_attr_init(&attributes) == 0;
    if (made) {
        pthread_attr_setstacksize(&attributes, std::size_t{128} * 1024);
        made = pthread_create(thread, &attributes, body, context) == 0;
        pthread_attr_destroy(&attributes);
    }
    // The program's thread-local variables are on the stack, so the default size may be needed.
    if (!made) made = pthread_create(thread, nullptr, body, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
}

void *end_after_flush_limit(void *status) {
    constexpr useconds_t kFlushUs = 500'000;
    usleep(kFlushUs);
    _exit(*static_cast<const int *>(status));
}

// Messages to `sennit run`, described in docs/design/layouts.md.
constexpr unsigned char kFarewell = 'F';
constexpr unsigned char kEndsAll = 'E';

void notify_launcher(unsigned char message) {
    const char *const number = std::getenv("SENNIT_CONTROL_FD");
    const char *const job = std::getenv("SENNIT_JOB");
    if (number == nullptr || job == nullptr) return;
    const int control = std::atoi(number);
    ucred creator{};
    socklen_t bytes = sizeof creator;
    if (getsockopt(control, SOL_SOCKET, SO_PEERCRED, &creator, &bytes) != 0 ||
        (creator.pid != 0 && creator.pid != std::atoi(job)))
        return;  // the descriptor belongs to another job, or to the program itself
    (void)send(control, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Tells `sennit run` that this PE ends with 0 on purpose. Without this message a PE that exits
// without sennit_finalize counts as failed.
void announce_success() {
    notify_launcher(kFarewell);
}

[[noreturn]] void end_from_outside(int status) {
    // A PE that is in shmem_global_exit itself may run its exit handlers, but not for ever.
    constexpr unsigned kHandlerSeconds = 10;
    if (status == 0) announce_success();
    // SYNC shmem-ends: an acquire; pairs with the release in shmem_global_exit().
    if (has_begun.load(std::memory_order_acquire)) sleep(kHandlerSeconds);
    // A waiting thread may hold a lock of a stream, so the flush may never return. The other thread
    // then ends the process.
    pthread_t other;
    if (start_thread(&other, end_after_flush_limit, &status)) std::fflush(nullptr);
    _exit(status);
}

void *wait_for_end(void *) {
    for (;;) {
        Message message{};
        const ssize_t got = recv(ending.socket, &message, sizeof message, 0);
        // SYNC shmem-stops: an acquire; pairs with the release in ending_stop(). An empty message
        // does not show that ending_stop() was called, because any process may send one.
        if (is_stopping.load(std::memory_order_acquire)) return nullptr;
        ending_check();
        if (got < 0 && errno != EINTR && errno != EAGAIN) return nullptr;
        if (got == sizeof message &&
            std::memcmp(message.secret, ending.mine.secret, sizeof message.secret) == 0)
            end_from_outside(message.status);
    }
}

// Returns false on failure. Other PEs then cannot end this one.
bool open_socket() {
    ending.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ending.socket < 0) return false;
    // The kernel chooses a name if none is given.
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    socklen_t bytes = sizeof any.sun_family;
    if (bind(ending.socket, reinterpret_cast<sockaddr *>(&any), bytes) != 0) return false;
    bytes = sizeof ending.mine.name;
    if (getsockname(ending.socket, reinterpret_cast<sockaddr *>(&ending.mine.name), &bytes) != 0)
        return false;
    ending.mine.name_bytes = bytes;
    return getrandom(ending.mine.secret, sizeof ending.mine.secret, 0) ==
           static_cast<ssize_t>(sizeof ending.mine.secret);
}

void publish_at_exit(std::uint64_t value) {
    auto *const word = static_cast<std::uint64_t *>(sennit_ptr(word_after_heap(state.me, kAtExit)));
    // relaxed: the word orders no other data.
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// Waits until the PE's word is at least `least`. Returns false if the time `last` passes first.
bool reaches_exit(int pe, std::uint64_t least, double last) {
    constexpr useconds_t kBetweenReads = 1000;
    for (;;) {
        std::uint64_t word = 0;
        if (sennit_get(&word, word_after_heap(pe, kAtExit), sizeof word) != SENNIT_OK) return false;
        if (word >= least) return true;
        if (sennit_wtime() > last) return false;
        usleep(kBetweenReads);
    }
}

int pes_of_node() {
    int count = 0;
    must("shmem_init", sennit_team_size(SENNIT_TEAM_NODE, &count));
    return count;
}

// Clears the socket names of PEs of other nodes, which are invalid here.
void clear_far_names(int count) {
    const auto all = std::make_unique<Address[]>(static_cast<std::size_t>(state.pes));
    for (int i = 0; i < count; ++i) {
        int pe = 0;
        must("shmem_init", sennit_team_world_rank(SENNIT_TEAM_NODE, i, &pe));
        all[static_cast<std::size_t>(pe)] = ending.all[static_cast<std::size_t>(pe)];
    }
    std::copy_n(all.get(), state.pes, ending.all.get());
    (void)setsockopt(ending.socket, SOL_SOCKET, SO_RCVTIMEO, &kBetweenChecks,
                     sizeof kBetweenChecks);
}

void notify_others(int status) {
    constexpr std::int64_t kLongest = 1'000'000'000;
    if (ending.all == nullptr || is_forked_child()) return;
    // Notify the launcher before the other PEs end, so that its message names this PE.
    if (status != 0) notify_launcher(kEndsAll);
    const std::uint64_t word = kEnds | static_cast<std::uint32_t>(status);
    for (int pe = 0; pe < state.pes; ++pe) {
        const Address &to = ending.all[static_cast<std::size_t>(pe)];
        if (pe == state.me) continue;
        if (to.name_bytes == 0) {
            if (ending.word != nullptr)
                (void)sennit_put_nbi(word_after_heap(pe, kEnded), &word, sizeof word);
            continue;
        }
        const Message message{{to.secret[0], to.secret[1]}, status};
        (void)sendto(ending.socket, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr *>(&to.name), to.name_bytes);
    }
    if (ending.word != nullptr) (void)sennit_flush_all(kLongest);
}

}  // namespace

sennit_gptr word_after_heap(int pe, WordAfterHeap word) {
    return sennit_gptr_add(state.areas[kHeap].places[pe],
                           static_cast<std::int64_t>(offset_after_heap(word)));
}

void ending_check() {
    if (ending.word == nullptr || is_forked_child()) return;
    // relaxed: the word orders no other data.
    const std::uint64_t word = __atomic_load_n(ending.word, __ATOMIC_RELAXED);
    if ((word & kEnds) != 0) end_from_outside(static_cast<int>(word & (kEnds - 1)));
}

void ending_start() {
    if (!open_socket()) ending.mine.name_bytes = 0;
    const int near = pes_of_node();
    // Set the word before the first synchronisation, because another PE may call shmem_global_exit
    // right after that.
    if (near != state.pes)
        ending.word = static_cast<std::uint64_t *>(sennit_ptr(word_after_heap(state.me, kEnded)));
    ending.all = std::make_unique<Address[]>(static_cast<std::size_t>(state.pes));
    must("shmem_init", sennit_allgather(SENNIT_TEAM_WORLD, &ending.mine, ending.all.get(),
                                        sizeof ending.mine, state.limit_ns));
    if (near != state.pes) clear_far_names(near);
    if (ending.mine.name_bytes != 0)
        ending.has_thread = start_thread(&ending.thread, wait_for_end, nullptr);
    if (!ending.has_thread) debug("other PEs cannot end this one: no thread or socket for it");
}

void ending_stop() {
    if (ending.has_thread) {
        // SYNC shmem-stops: a release; pairs with the acquire in wait_for_end().
        is_stopping.store(true, std::memory_order_release);
        shutdown(ending.socket, SHUT_RDWR);
        pthread_join(ending.thread, nullptr);
    }
    if (ending.socket >= 0) close(ending.socket);
    ending = Ending{};
    is_stopping.store(false, std::memory_order_relaxed);  // relaxed: the thread has been joined
}

// PE 0 reads the words of all PEs, and the others read the word of PE 0. A barrier is impossible,
// since other PEs may be in a barrier of the program. Atomic operations are not used, because
// Sennit has none on memory that it reaches by kernel copies.
bool all_are_at_exit(std::int64_t limit_ns) {
    const double last = sennit_wtime() + static_cast<double>(limit_ns) / 1e9;
    publish_at_exit(kThisPe);
    if (state.me != 0) return reaches_exit(0, kAllPes, last);
    for (int pe = 1; pe < state.pes; ++pe) {
        if (!reaches_exit(pe, kThisPe, last)) return false;
    }
    publish_at_exit(kAllPes);
    return true;
}

bool is_ending() {
    // SYNC shmem-ends: an acquire; pairs with the release in shmem_global_exit().
    return has_begun.load(std::memory_order_acquire);
}

SHMEM_DEFINE(void, shmem_global_exit, (int status)) {
    // A second call by this thread, from an exit handler or a destructor during std::exit() below.
    if (began_here) {
        std::fflush(nullptr);
        _exit(first_status);
    }
    // SYNC shmem-ends: a release; pairs with the acquires in is_ending() and end_from_outside().
    if (has_begun.exchange(true, std::memory_order_acq_rel)) {
        for (;;)
            pause();  // another thread ends the process
    }
    began_here = true;
    first_status = status;
    notify_others(status);
    if (status == 0) announce_success();
    std::exit(status);
}

}  // namespace shmem
