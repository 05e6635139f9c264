// The state of a PE, and the translation of a symmetric address to the memory of another PE.
//
// A PE is a process, because static variables are symmetric. So a process has one state. Only init
// and finalize write it, and no other call may run at the same time.
#pragma once

#include <sennit/sennit.h>
#include <shmem.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

// Defines a function of the standard under two names: with a `p` before it, for profilers, and its
// own name as a weak alias.
#define SHMEM_DEFINE(RESULT, NAME, ARGUMENTS)                                             \
    extern "C" __attribute__((__weak__, __alias__("p" #NAME), __visibility__("default"))) \
    RESULT NAME ARGUMENTS;                                                                \
    extern "C" __attribute__((__visibility__("default"))) RESULT p##NAME ARGUMENTS

namespace shmem {

// An address in this process for each PE, or null if only calls of Sennit reach that PE. The
// addresses of the first PEs are inside the object, so that one load reads them: an atomic
// operation waits for its loads.
class Pointers {
  public:
    void open(int pes);
    void close();
    void set(int pe, char *pointer);

    // Also null for an invalid PE.
    char *of(int pe) const {
        const auto index = static_cast<unsigned>(pe);
        if (index < kFirst) [[likely]]
            return first_[index];
        return index < pes_ ? others_[index - kFirst] : nullptr;
    }

  private:
    static constexpr unsigned kFirst = 256;
    char *first_[kFirst] = {};
    char **others_ = nullptr;
    unsigned pes_ = 0;
};

// Memory with an address of its own in every PE: the heap, or the variables of the program.
struct Area {
    std::uintptr_t base = 0;  // of this PE
    std::size_t bytes = 0;    // 0: there is none
    Pointers pointers;        // to its base
    // The pointers for atomic operations. All are null if is_locked, because all PEs must change a
    // word in the same way.
    Pointers words;
    sennit_gptr *places = nullptr;  // [pes], the base of each PE's area
    bool is_locked = false;         // atomic operations use locks (remote.cpp)
};

enum { kHeap, kStatics, kAreas };

struct State {
    int me = -1;
    int pes = 0;              // 0: not initialised
    bool all_direct = false;  // no PE is reached by calls of Sennit
    bool has_statics = true;  // SENNIT_SHMEM_STATICS
    bool checks = true;       // SENNIT_SHMEM_CHECKS
    bool debug = false;
    std::int64_t limit_ns = SENNIT_FOREVER;  // of each wait: SENNIT_TIMEOUT
    bool traces = false;                     // SENNIT_TRACE is set
    bool crowded = false;                    // more PEs than processors that they may use
    int thread_level = SHMEM_THREAD_SINGLE;
    // Some PE asked for SHMEM_THREAD_MULTIPLE: several of its threads may be in collective calls of
    // active sets at the same time, each with its own work array.
    bool has_threads = false;
    int inits = 0;      // calls of init that no finalize has matched
    int finalizes = 0;  // calls of finalize that matched an init, except the last
    pid_t process = 0;  // the process that called init
    Area areas[kAreas];
};

// Also hidden in the declaration: otherwise each use loads the address from a table.
extern State state [[gnu::visibility("hidden")]];

// A forked child has a copy of the state but is no PE.
bool is_forked_child();

struct Team {
    sennit_team core;
    int me = -1;
    int pes = 0;
    int *members = nullptr;  // world numbers; null: the world's
    shmem_team_config_t config = {0};
};

// A destroyed context has a team without PEs and is readable until finalize.
struct Context {
    const Team *team;
    long options;
};

Team *team_of(shmem_team_t handle);  // null for an invalid one
inline Context *context_of(shmem_ctx_t handle) {
    return reinterpret_cast<Context *>(handle);
}

// The number in the world of a PE of the context's team; -1 if it has none.
inline int world_pe(shmem_ctx_t ctx, int pe) {
    // Addresses 0 and 1 are the predefined handles, and not pointers.
    if (reinterpret_cast<std::uintptr_t>(ctx) <= 1) return ctx == SHMEM_CTX_DEFAULT ? pe : -1;
    const Team &team = *context_of(ctx)->team;
    if (team.members == nullptr) return pe;
    return pe >= 0 && pe < team.pes ? team.members[pe] : -1;
}

// The address in this process of the PE's copy of `bytes` bytes of symmetric memory at `address`.
// If it is null, the caller uses the cold functions in remote.cpp, which also detect errors.
template <Pointers Area::*Kind = &Area::pointers>
[[gnu::always_inline]] inline char *reach(const void *address, std::size_t bytes, int pe) {
    for (const Area &area : state.areas) {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - area.base;
        if (offset >= area.bytes || bytes > area.bytes - offset) continue;
        char *const there = (area.*Kind).of(pe);
        return there != nullptr ? there + offset : nullptr;
    }
    return nullptr;
}
[[gnu::always_inline]] inline char *reach_word(const void *address, std::size_t bytes, int pe) {
    return reach<&Area::words>(address, bytes, pe);
}

// Prints one line with the name of the call on standard error, and ends all PEs.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void fail(const char *call, const char *format,
                                                             ...);
// fail() for a wrong argument. Returns if checks are off; then the caller does nothing.
[[gnu::cold, gnu::format(printf, 2, 3)]] void wrong(const char *call, const char *format, ...);
// The text of Sennit's last error, with OpenSHMEM's terms.
std::string last_error();
// The part about late PEs of Sennit's last error, a TIMEOUT, such as "PE 1 has not arrived"; may be
// empty.
std::string late_pes();
// fail() because SENNIT_TIMEOUT has passed. `why` describes the awaited event, or is empty.
[[noreturn, gnu::cold]] void fail_timeout(const char *call, const std::string &why);
// fail() with the text of the last error, which has this status.
[[gnu::cold]] void fail_status(const char *call, sennit_status status);
inline void must(const char *call, sennit_status status) {
    if (status != SENNIT_OK) [[unlikely]]
        fail_status(call, status);
}
// Prints a line on standard error that begins with the PE.
[[gnu::cold, gnu::format(printf, 1, 2)]] void tell(const char *format, ...);
// tell() if SHMEM_DEBUG is set.
template <class... Values>
void debug(const char *format, Values... values) {
    if (!state.debug) return;
    // Without values -Wformat-security rejects the format.
    if constexpr (sizeof...(values) == 0) {
        tell("%s", format);
    } else {
        tell(format, values...);
    }
}

// The text of SHMEM_name, else SMA_name, else null.
const char *setting(const char *name);

// The size of the words after the heap for the Bakery locks (remote.cpp).
inline std::size_t stalls_bytes() {
    return static_cast<std::size_t>(state.pes) * 2 * sizeof(std::uint64_t);
}

// The words after those of the Bakery locks: two for ending.cpp, and the lock that the PE set last.
enum WordAfterHeap { kEnded, kAtExit, kLockSet, kWordsAfterHeap };
constexpr std::size_t kAfterHeapBytes = kWordsAfterHeap * sizeof(std::uint64_t);
inline std::size_t offset_after_heap(WordAfterHeap word) {
    return state.areas[kHeap].bytes + stalls_bytes() + word * sizeof(std::uint64_t);
}
sennit_gptr word_after_heap(int pe, WordAfterHeap word);

// For shmem_global_exit, by which one PE ends the others (ending.cpp).
void ending_start();
void ending_stop();
void ending_check();  // ends this PE if a PE of another node has called shmem_global_exit
bool is_ending();     // this PE is in shmem_global_exit, so it cannot synchronise any more
// Returns whether all PEs call this within the time.
bool all_are_at_exit(std::int64_t limit_ns);

// The heap (memory.cpp) and teams (teams.cpp) start and end with the state.
void heap_start(std::size_t bytes, std::size_t alignment);  // of the area kHeap
void heap_stop();
void teams_start(bool shares_all);
void teams_stop();

// Transfers to PEs without a pointer, and their errors (remote.cpp). Context and PE are as the
// program passed them. Return false if an argument is wrong and checks are off; then nothing was
// copied.
struct Transfer {
    const char *call;
    std::size_t bytes;  // contiguous
    std::size_t count = 1;
    std::ptrdiff_t remote_stride = 0, local_stride = 0;  // bytes
    bool waits = true;                                   // false: _nbi
};
[[gnu::cold]] bool put_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest,
                            const void *source, int pe);
[[gnu::cold]] bool get_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest,
                            const void *source, int pe);

enum class Change { fetch, set, add, bit_and, bit_or, bit_xor, compare_swap };
// For errors: a function that changes a word, and the name of its argument with the word's address.
struct WordCall {
    const char *call;
    const char *argument = "dest";
};
struct WordValues {
    Change change;
    unsigned bytes;  // 4 or 8
    std::uint64_t value, expected;
};
// Returns the old value.
[[gnu::cold]] std::uint64_t change_cold(const WordCall &word, const WordValues &values,
                                        shmem_ctx_t ctx, void *dest, int pe);

// Transfers for collective calls. `pe` is a number in the world.
void put_bytes(const char *call, void *dest, const void *source, std::size_t bytes, int pe);
void get_bytes(const char *call, void *dest, const void *source, std::size_t bytes, int pe);
// Strided elements, as in shmem_iput. Strides count elements.
struct Elements {
    std::ptrdiff_t dst, sst;
    std::size_t element, count;
};
void put_elements(const char *call, void *dest, const void *source, const Elements &elements,
                  int pe);
// Describes the address, such as "symmetric offset 64 (symmetric heap)" (wait.cpp).
std::string place_of(const void *address);
// Waits until the word is at least `least` (wait.cpp).
void wait_for_least(const char *call, const long *word, long least);

// One step of a polling loop: makes progress, and yields the processor if there are more PEs than
// processors.
void take_turns();

// For a loop that polls. Between two polls it calls take_turns(), and sometimes checks for dead
// PEs. A dead PE ends the job.
class Patience {
  public:
    // Describes the awaited event, for messages. `may_wait`: it may wait for data of another PE.
    using Why = std::string (*)(const void *context, bool may_wait);
    explicit Patience(const char *call, Why why = nullptr, const void *context = nullptr)
        : call_(call), why_(why), context_(context) {}
    ~Patience() {
        if (!noted_.empty()) (void)sennit_trace_note("");
    }
    Patience(const Patience &) = delete;
    Patience &operator=(const Patience &) = delete;
    void wait();

  private:
    const char *call_;
    Why why_;
    const void *context_;
    std::string noted_;  // for `sennit trace where`
    std::uint32_t polls_ = 0;
    double began_ = 0;
    double asked_ = 0;  // time of the last check for dead PEs
};

// Completes all operations of this PE: order.cpp.
void quiet(const char *call);
// Waits until all PEs of the team have arrived. Completes operations like quiet(). Warns of late
// PEs.
void barrier(const char *call, const Team &team);
// The call of OpenSHMEM in whose barrier this thread has waited for a second; null if there is
// none.
const char *long_barrier();
void barrier_all(const char *call);

}  // namespace shmem
