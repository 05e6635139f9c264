// The conformance suite: one set of SPMD tests for every path. A test is a function that all ranks
// run; the same function runs as processes under `sennit run`, as rank threads of one process
// (paths inproc and mapped), and on the path sim with many seeds. See main.cpp for the options.
//
// Rules for a test:
//   - its name is a sentence that is true, and a comment says what would break it;
//   - all ranks make the same collective calls; a check that fails throws, and the harness ends the
//     other ranks;
//   - it waits only inside Sennit or by Ranks::barrier(), never longer than the test's time;
//   - whatever is drawn comes from `common` (the same on all ranks) or `own`.
#pragma once

#include <sennit/sennit.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

namespace conformance {

// A generator of numbers that is the same everywhere (splitmix64, Steele, Lea, Flood 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t value = state_ += 0x9E3779B97F4A7C15u;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
        return value ^ (value >> 31);
    }
    // 0 .. bound-1; bound is not 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + below(most - least + 1);
    }
    bool one_in(std::uint64_t many) { return below(many) == 0; }

  private:
    std::uint64_t state_;
};

// Thrown by a check that failed, after it was printed, and on ranks that wait for a failed one.
struct Failed {};

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

// What a test needs; a test that does not fit the run is left out.
enum Needs : unsigned {
    kAnything = 0,
    kTwoRanks = 1,      // at least
    kLoadStore = 2,     // every peer is reached by load and store
    kProcesses = 4,     // every rank is a process
    kThreads = 8,       // the ranks are threads of one process
    kNoWorld = 16,      // the test itself calls sennit_init and sennit_finalize
    kFreeThreads = 32,  // waits outside Sennit, which a simulated network in lockstep can not bear
    kOnce = 64,         // long, and hardly different with another seed: runs with the first only
    kFences = 128,  // orders loads and stores by fences, which the thread sanitizer has no idea of
    kOnlyNamed = 256,  // very long: runs only when its group or the test itself is asked for
    kAtomics = 512     // memory of every rank can be operated on: not by copies of the kernel alone
};

// One rank in one test.
class Ranks {
  public:
    using Where = std::source_location;

    int rank = 0;
    int size = 1;
    bool one_process = false;
    bool load_store = true;
    bool quick = false;  // run less of what is repeated: a sanitizer, or many seeds
    std::uint64_t seed = 1;
    std::uint64_t most_steps = UINT64_MAX;  // of random programs
    Random common{1};
    Random own{1};

    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }

    // What the test is at, shown when it does not end. A constant string.
    void at(const char *what);

    // sennit_barrier in slices, so that it ends when another rank has failed.
    void barrier(Where where = Where::current());

    // The same bytes from every rank, by rank. Collective; at most kTellBytes.
    static constexpr std::size_t kTellBytes = 256;
    template <class T>
    std::vector<T> tell_all(const T &mine, Where where = Where::current()) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kTellBytes);
        std::vector<T> all(static_cast<std::size_t>(size));
        tell_bytes(&mine, all.data(), sizeof(T), where);
        return all;
    }

    // Start and end of the world, for tests that need kNoWorld.
    void start(Where where = Where::current());
    void stop(Where where = Where::current());

    // Checks. They return only if what they say is so.
    void ok(sennit_status status, Where where = Where::current());
    void is(sennit_status status, sennit_status wanted, Where where = Where::current());
    void require(bool is_true, const char *sentence, Where where = Where::current());
    template <class A, class B>
    void equal(const A &a, const B &b, Where where = Where::current()) {
        if (!(a == static_cast<A>(b)))
            fail(where, "expected " + std::to_string(b) + ", found " + std::to_string(a));
    }
    [[noreturn]] void fail(Where where, const std::string &text);

    // Collective allocation and free that must work.
    sennit_gptr allocate(std::size_t bytes, std::size_t alignment = 0, unsigned flags = 0,
                         Where where = Where::current());
    void free(sennit_gptr gptr, Where where = Where::current());

  private:
    void tell_bytes(const void *mine, void *all, std::size_t bytes, Where where);
};

using Body = void (*)(Ranks &it);

struct Test {
    const char *group;
    const char *name;
    unsigned needs;
    Body body;
};

std::vector<Test> &all_tests();

struct Registered {
    Registered(const char *group, const char *name, unsigned needs, Body body) {
        all_tests().push_back({group, name, needs, body});
    }
};

// Byte `index` of the pattern number `salt`: differs from its neighbours and from other salts.
inline std::uint8_t pattern_byte(std::uint64_t salt, std::uint64_t index) {
    const std::uint64_t value = (index + 1) * 0x9E3779B97F4A7C15u + salt * 0xD1B54A32D192ED03u;
    return static_cast<std::uint8_t>(value >> 56 ^ value >> 24);
}
void fill(void *memory, std::size_t bytes, std::uint64_t salt);
// The first place that differs from the pattern, or `bytes`.
std::size_t first_difference(const void *memory, std::size_t bytes, std::uint64_t salt);
void check_pattern(Ranks &it, const void *memory, std::size_t bytes, std::uint64_t salt,
                   Ranks::Where where = Ranks::Where::current());

bool under_sanitizer();
bool under_thread_sanitizer();

}  // namespace conformance

// A test and its entry in the list: RANK_TEST(group, a_sentence, needs) { ... uses `it` ... }
#define RANK_TEST(group, name, needs)                                                     \
    static void name([[maybe_unused]] ::conformance::Ranks &it);                          \
    static const ::conformance::Registered registered_##name(#group, #name, needs, name); \
    static void name([[maybe_unused]] ::conformance::Ranks &it)
