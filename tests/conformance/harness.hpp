// The conformance suite: one set of SPMD tests for every path. A test is a function that all ranks
// run: as processes under `sennit run`, as rank threads of one process (paths inproc and mapped),
// and on the path sim with many seeds. main.cpp describes the options.
//
// Rules for a test:
//   - its name is a sentence that is true, and a comment names faults that break it;
//   - all ranks make the same collective calls; a check that fails throws, and the harness ends the
//     other ranks;
//   - it waits only inside Sennit or by Ranks::barrier(), never longer than the test's time;
//   - random numbers come from `common` (the same on all ranks) or `own`.
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

// A random generator with the same numbers on every machine (splitmix64, Steele, Lea, Flood 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t value = state_ += 0x9E3779B97F4A7C15u;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
        return value ^ (value >> 31);
    }
    // 0 .. bound-1; bound must not be 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + below(most - least + 1);
    }
    bool one_in(std::uint64_t many) { return below(many) == 0; }

  private:
    std::uint64_t state_;
};

// Thrown by a failed check after its message was printed, and on ranks that wait for a failed one.
struct Failed {};

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

// The requirements of a test; a run that does not meet them leaves the test out.
enum Needs : unsigned {
    kAnything = 0,
    kTwoRanks = 1,      // at least
    kLoadStore = 2,     // every peer is reached by load and store
    kProcesses = 4,     // every rank is a process
    kThreads = 8,       // the ranks are threads of one process
    kNoWorld = 16,      // the test itself calls sennit_init and sennit_finalize
    kFreeThreads = 32,  // waits outside Sennit: not on a simulated network in lockstep
    kOnce = 64,         // long, and hardly depends on the seed: runs only with the first one
    kFences = 128,      // orders loads and stores by fences, unknown to the thread sanitizer
    kOnlyNamed = 256,   // very long: runs only if its group or its name is given
    kAtomics = 512,     // atomic operations on every rank's memory, not only the kernel's copies
    kTurns = 1024       // several threads, one in Sennit at a time: --level serialized is enough
};

// The selected part of the random programs: everything, unless shrink.py shrinks a failure.
struct Chosen {
    std::uint64_t program = 0;              // number in the test, from 1; 0: all
    std::uint64_t most_steps = UINT64_MAX;  // of each program
    std::vector<std::pair<std::uint64_t, std::uint64_t>> only;  // first to last; empty: all
    bool show = false;                                          // print the steps

    bool has(std::uint64_t step) const {
        for (const auto &[first, last] : only)
            if (step >= first && step <= last) return true;
        return only.empty() && step <= most_steps;
    }
};

// One rank in one test.
class Ranks {
  public:
    using Where = std::source_location;

    int rank = 0;
    int size = 1;
    bool one_process = false;
    bool load_store = true;
    bool by_network = false;  // some peer is on another node
    bool loses = false;       // rails lose operations, or fail: sim only
    bool quick = false;       // fewer repetitions: under a sanitizer, or with many seeds
    double for_seconds = 0;   // duration of a test with a time limit; 0: its default
    std::uint64_t seed = 1;
    std::uint64_t base = 1;     // of the random numbers: seed, test and lane
    std::uint64_t lane = 0;     // number of a thread of the rank
    std::uint64_t program = 0;  // the running random program; 0: none
    Chosen chosen;
    Random common{1};
    Random own{1};

    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }

    // True if load and store reach the peer's memory; load_store says so for all peers.
    bool loads_from(int peer);
    // True if messages reach the peer, as across a network: on sim, fabric and similar paths.
    bool sends_to(int peer);

    // The current action, shown when the test hangs. A constant string.
    void at(const char *what);

    // sennit_barrier in slices, so that it ends when another rank has failed.
    void barrier(Where where = Where::current());

    // Random programs. Each draws its own numbers, so it stays the same when others are left out.
    // Steps are counted from 1 over all ranks; a step for which chosen.has() is false is drawn, but
    // not executed, neither here nor in the model.
    template <class Body>
    void programs(int count, Body body) {
        const Random saved_common = common;
        const Random saved_own = own;
        for (int i = 0; i < count; ++i) {
            ++programs_;
            if (chosen.program != 0 && chosen.program != programs_) continue;
            begin_program(programs_);
            body();
        }
        begin_program(0);
        common = saved_common;
        own = saved_own;
    }
    // The numbers that a rank draws in a step do not depend on the steps before.
    void begin_step(std::uint64_t step) { own = Random(mix(mix(program, 0x51ED), step)); }
    // With --show: prints a step that this rank executes.
    void show(const std::string &step) const;

    // Gathers `mine` of every rank, indexed by rank. Collective; at most kTellBytes bytes.
    static constexpr std::size_t kTellBytes = 256;
    template <class T>
    std::vector<T> tell_all(const T &mine, Where where = Where::current()) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kTellBytes);
        std::vector<T> all(static_cast<std::size_t>(size));
        tell_bytes(&mine, all.data(), sizeof(T), where);
        return all;
    }

    // Start and end of the world, for tests with kNoWorld.
    void start(Where where = Where::current());
    void stop(Where where = Where::current());

    // Checks: they return only if the condition holds.
    void ok(sennit_status status, Where where = Where::current());
    void is(sennit_status status, sennit_status wanted, Where where = Where::current());
    void require(bool is_true, const char *sentence, Where where = Where::current());
    template <class A, class B>
    void equal(const A &a, const B &b, Where where = Where::current()) {
        if (!(a == static_cast<A>(b)))
            fail(where, "expected " + std::to_string(b) + ", found " + std::to_string(a));
    }
    [[noreturn]] void fail(Where where, const std::string &text);

    // Collective allocation and free; a failure fails the test.
    sennit_gptr allocate(std::size_t bytes, std::size_t alignment = 0, unsigned flags = 0,
                         Where where = Where::current());
    void free(sennit_gptr gptr, Where where = Where::current());

  private:
    void tell_bytes(const void *mine, void *all, std::size_t bytes, Where where);
    void begin_program(std::uint64_t number);
    // A seed for numbers of this rank.
    std::uint64_t mix(std::uint64_t a, std::uint64_t b) const {
        return Random(Random(base + a * 0x9E3779B97F4A7C15u).next() + b).next() +
               1000003 * static_cast<std::uint64_t>(rank + 1);
    }

    std::uint64_t programs_ = 0;  // started so far in this test
};

using Body = void (*)(Ranks &test);

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

// Byte `index` of pattern `salt`: differs from its neighbours and from other salts.
inline std::uint8_t pattern_byte(std::uint64_t salt, std::uint64_t index) {
    const std::uint64_t value = (index + 1) * 0x9E3779B97F4A7C15u + salt * 0xD1B54A32D192ED03u;
    return static_cast<std::uint8_t>(value >> 56 ^ value >> 24);
}
void fill(void *memory, std::size_t bytes, std::uint64_t salt);
// The first byte that differs from the pattern, or `bytes`.
std::size_t first_difference(const void *memory, std::size_t bytes, std::uint64_t salt);
void check_pattern(Ranks &test, const void *memory, std::size_t bytes, std::uint64_t salt,
                   Ranks::Where where = Ranks::Where::current());

bool under_sanitizer();
bool under_thread_sanitizer();

// The most descriptors on which the progress thread sleeps: 3 for each of two rails. It closes them
// while a rank polls, so each of two counts may include them or not.
constexpr int kDescriptorsOfSleep = 6;

}  // namespace conformance

// Defines and registers a test: RANK_TEST(group, a_sentence, needs) { ... uses `test` ... }
#define RANK_TEST(group, name, needs)                                                     \
    static void name([[maybe_unused]] ::conformance::Ranks &test);                        \
    static const ::conformance::Registered registered_##name(#group, #name, needs, name); \
    static void name([[maybe_unused]] ::conformance::Ranks &test)
