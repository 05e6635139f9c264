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
    kFreeThreads = 32,  // waits outside Sennit, which a simulated network in lockstep cannot bear
    kOnce = 64,         // long, and hardly different with another seed: runs with the first only
    kFences = 128,  // orders loads and stores by fences, which the thread sanitizer has no idea of
    kOnlyNamed = 256,  // very long: runs only when its group or the test itself is asked for
    kAtomics = 512,    // memory of every rank can be operated on: not by copies of the kernel alone
    kTurns = 1024      // several threads, one in Sennit at a time: --level serialized is enough
};

// Which part of the random programs runs: all of it, unless a failure is being shrunk (shrink.py).
struct Chosen {
    std::uint64_t program = 0;              // of the test, the first is 1; 0: all
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
    bool quick = false;       // run less of what is repeated: a sanitizer, or many seeds
    double for_seconds = 0;   // of a test that has a time; 0: its own
    std::uint64_t seed = 1;
    std::uint64_t base = 1;     // of the numbers that are drawn: seed, test and lane
    std::uint64_t lane = 0;     // of the threads of a rank, each has one
    std::uint64_t program = 0;  // the random program that runs; 0: none
    Chosen chosen;
    Random common{1};
    Random own{1};

    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }

    // Is the peer's memory reached by load and store? load_store asks it of all of them.
    bool loads_from(int peer);
    // Is it reached by messages, as across a network? Only sim, fabric and paths of later
    // contributors are such paths.
    bool sends_to(int peer);

    // What the test is at, shown when it does not end. A constant string.
    void at(const char *what);

    // sennit_barrier in slices, so that it ends when another rank has failed.
    void barrier(Where where = Where::current());

    // Random programs. Each draws numbers of its own, so that it is the same when others are left
    // out. Its steps are counted from 1 over all ranks; those that chosen.has() says no to are
    // drawn and not carried out, neither here nor in the model.
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
    // What a rank draws for itself in a step does not depend on the steps before.
    void begin_step(std::uint64_t step) { own = Random(mix(mix(program, 0x51ED), step)); }
    // With --show: a step that this rank carries out.
    void show(const std::string &step) const;

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
    void begin_program(std::uint64_t number);
    // A start of numbers of this rank.
    std::uint64_t mix(std::uint64_t a, std::uint64_t b) const {
        return Random(Random(base + a * 0x9E3779B97F4A7C15u).next() + b).next() +
               1000003 * static_cast<std::uint64_t>(rank + 1);
    }

    std::uint64_t programs_ = 0;  // of the test so far
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

// Byte `index` of the pattern number `salt`: differs from its neighbours and from other salts.
inline std::uint8_t pattern_byte(std::uint64_t salt, std::uint64_t index) {
    const std::uint64_t value = (index + 1) * 0x9E3779B97F4A7C15u + salt * 0xD1B54A32D192ED03u;
    return static_cast<std::uint8_t>(value >> 56 ^ value >> 24);
}
void fill(void *memory, std::size_t bytes, std::uint64_t salt);
// The first place that differs from the pattern, or `bytes`.
std::size_t first_difference(const void *memory, std::size_t bytes, std::uint64_t salt);
void check_pattern(Ranks &test, const void *memory, std::size_t bytes, std::uint64_t salt,
                   Ranks::Where where = Ranks::Where::current());

bool under_sanitizer();
bool under_thread_sanitizer();

// The most descriptors on which the thread for progress sleeps, 3 for each of two rails. It closes
// them while a rank polls, so of two counts each may have them.
constexpr int kDescriptorsOfSleep = 6;

}  // namespace conformance

// A test and its entry in the list: RANK_TEST(group, a_sentence, needs) { ... uses `test` ... }
#define RANK_TEST(group, name, needs)                                                     \
    static void name([[maybe_unused]] ::conformance::Ranks &test);                        \
    static const ::conformance::Registered registered_##name(#group, #name, needs, name); \
    static void name([[maybe_unused]] ::conformance::Ranks &test)
