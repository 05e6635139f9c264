// Tests whether the kernel moves an aligned word whole when it copies between processes. One
// process writes words of all ones and of all zeros in turn, and another one counts words that are
// neither; one of the two uses process_vm_writev or process_vm_readv. Prints one line for each size
// and way; the argument is the seconds for each. The kernel promises nothing here: the figures hold
// for this kernel only.
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kSpan = 2048;

// The word's place in a transfer, and the offset of the private side from its alignment.
struct Place {
    const char *name;
    std::size_t bytes;  // of the transfer; 0: only the word
    std::size_t at;
    std::size_t shift;
};
constexpr Place kPlaces[] = {{"alone", 0, 0, 0},
                             {"alone, private side shifted", 0, 0, 3},
                             {"inside 2048 bytes", kSpan, 1024, 0},
                             {"inside 2048 bytes, private side shifted", kSpan, 1024, 5},
                             {"inside 2048 bytes from an odd address", kSpan, 1021, 0}};

struct Count {
    long looks = 0;
    long changes = 0;
    long torn = 0;
};

template <class Word>
void look(Word value, Word *last, Count *count) {
    ++count->looks;
    if (value == *last) return;
    ++count->changes;
    if (value != 0 && value != static_cast<Word>(~Word{0})) ++count->torn;
    *last = value;
}

class Bound {
  public:
    explicit Bound(double seconds) : seconds_(seconds) {}
    bool over() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
               seconds_;
    }

  private:
    double seconds_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void end(pid_t process) {
    (void)kill(process, SIGKILL);
    (void)waitpid(process, nullptr, 0);
}

bool move(bool is_write, pid_t process, char *here, char *there, std::size_t bytes) {
    const iovec local{here, bytes};
    const iovec remote{there, bytes};
    const ssize_t moved = is_write ? process_vm_writev(process, &local, 1, &remote, 1, 0)
                                   : process_vm_readv(process, &local, 1, &remote, 1, 0);
    return moved == static_cast<ssize_t>(bytes);
}

// A child stores words, this process reads them through the kernel.
template <class Word>
Count read_words(char *memory, const Place &place, double seconds) {
    alignas(64) static char buffer[2 * kSpan];
    const std::size_t bytes = place.bytes == 0 ? sizeof(Word) : place.bytes;
    auto *word = reinterpret_cast<Word *>(memory + 1024);
    const pid_t owner = fork();
    if (owner == 0) {
        // relaxed: only wholeness is looked at.
        for (Word value = 0;; value = static_cast<Word>(~value))
            std::atomic_ref<Word>(*word).store(value, std::memory_order_relaxed);
    }
    Count count;
    Word last = 0;
    for (const Bound bound(seconds); !bound.over();) {
        char *start = reinterpret_cast<char *>(word) - place.at;
        if (!move(false, owner, buffer + place.shift, start, bytes)) break;
        Word value;
        std::memcpy(&value, buffer + place.shift + place.at, sizeof value);
        look(value, &last, &count);
    }
    end(owner);
    return count;
}

// A child writes into another child through the kernel; this process reads the shared memory.
template <class Word>
Count write_words(char *memory, const Place &place, double seconds) {
    alignas(64) static char buffer[2 * kSpan];
    const std::size_t bytes = place.bytes == 0 ? sizeof(Word) : place.bytes;
    auto *word = reinterpret_cast<Word *>(memory + 1024);
    const pid_t owner = fork();
    if (owner == 0)
        for (;;)
            (void)pause();
    const pid_t writer = fork();
    if (writer == 0) {
        for (int value = 0;; value = ~value) {
            std::memset(buffer, value, sizeof buffer);
            char *start = reinterpret_cast<char *>(word) - place.at;
            if (!move(true, owner, buffer + place.shift, start, bytes)) _exit(1);
        }
    }
    Count count;
    Word last = 0;
    for (const Bound bound(seconds); !bound.over();)
        for (int i = 0; i < 10000; ++i)
            // relaxed: only wholeness is looked at.
            look(std::atomic_ref<Word>(*word).load(std::memory_order_relaxed), &last, &count);
    end(writer);
    end(owner);
    return count;
}

template <class Word>
long measure(double seconds) {
    long torn = 0;
    for (const Place &place : kPlaces) {
        for (const bool is_write : {false, true}) {
            auto *memory = static_cast<char *>(mmap(nullptr, 2 * kSpan, PROT_READ | PROT_WRITE,
                                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0));
            if (memory == MAP_FAILED) std::exit(1);
            const Count count = is_write ? write_words<Word>(memory, place, seconds)
                                         : read_words<Word>(memory, place, seconds);
            (void)munmap(memory, 2 * kSpan);
            std::printf("%zu bytes, %s, %s: %ld looks, %ld changes, %ld in halves\n", sizeof(Word),
                        is_write ? "written" : "read", place.name, count.looks, count.changes,
                        count.torn);
            torn += count.torn;
        }
    }
    return torn;
}

}  // namespace

int main(int count, char **words) {
    const double seconds = count > 1 ? std::atof(words[1]) : 1.0;
    long torn = 0;
    torn += measure<std::uint64_t>(seconds);
    torn += measure<std::uint32_t>(seconds);
    torn += measure<std::uint16_t>(seconds);
    std::printf("in halves: %ld\n", torn);
    return 0;
}
