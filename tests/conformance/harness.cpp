// Runs one test on all ranks: worlds, data exchange between ranks, failures, and the watchdog that
// limits the time. Used by main.cpp and, through Ranks, by the tests.
#include "harness.hpp"

#include "run.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace conformance {
namespace {

constexpr int kMostRanks = 64;
constexpr std::int64_t kSliceNs = 200 * kMillisecond;

// State shared by the ranks of this process outside Sennit.
struct Shared {
    std::atomic<bool> failed{false};
    std::atomic<std::int64_t> failed_at_ns{0};
    std::atomic<const char *> at[kMostRanks] = {};
    std::atomic<std::uint64_t> program[kMostRanks] = {};
    std::atomic<const Test *> test{nullptr};
    std::atomic<std::int64_t> started_ns{0};
    std::atomic<std::uint64_t> seed{0};
    std::string paths;
    std::vector<std::uint8_t> mail = std::vector<std::uint8_t>(kMostRanks * Ranks::kTellBytes);
    sennit_gptr mail_segment = SENNIT_GPTR_NULL;  // processes only
};

Shared &shared() {
    static Shared state;
    return state;
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void note_failure() {
    if (!shared().failed.exchange(true)) shared().failed_at_ns = now_ns();
}

const char *file_part(const char *path) {
    const char *slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

std::string last_error_text() {
    const sennit_error *error = sennit_last_error();
    std::string text = std::string(sennit_status_string(error->status)) + " from " +
                       error->operation + " (peer " + std::to_string(error->peer) + "): ";
    return text + error->text;
}

std::string program_text(std::uint64_t program) {
    return program == 0 ? "" : ", program " + std::to_string(program);
}

// Ends the process when a test takes too long, or when other ranks do not return after a failure.
void watch(std::int64_t limit_ns) {
    constexpr std::int64_t kGraceNs = 25 * kSecond;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const Test *test = shared().test.load();
        if (test == nullptr) continue;
        const std::int64_t now = now_ns();
        const bool late = now - shared().started_ns.load() > limit_ns;
        const bool hangs = shared().failed && now - shared().failed_at_ns.load() > kGraceNs;
        if (!late && !hangs) continue;
        std::fprintf(stderr, "STUCK  %s.%s, seed %llu, paths \"%s\": ended by the watchdog\n",
                     test->group, test->name, static_cast<unsigned long long>(shared().seed.load()),
                     shared().paths.c_str());
        for (int rank = 0; rank < kMostRanks; ++rank) {
            const char *at = shared().at[rank].load();
            if (at == nullptr) continue;
            std::fprintf(stderr, "    rank %d is at: %s%s\n", rank, at,
                         program_text(shared().program[rank]).c_str());
        }
        std::fflush(nullptr);
        _exit(3);
    }
}

// The line of an open TCP socket in /proc/self/net/tcp: both ends and the state, in hexadecimal.
// Empty for anything else.
std::string ends_of(const std::string &target) {
    if (target.rfind("socket:[", 0) != 0) return "";
    const std::string inode = ' ' + target.substr(8, target.size() - 9) + ' ';
    std::ifstream table("/proc/self/net/tcp");
    for (std::string line; std::getline(table, line);)
        if (line.find(inode) != std::string::npos) return line.substr(0, 40);
    return "";
}

std::string lines_without(const std::vector<std::string> &all, const std::vector<std::string> &some,
                          const char *what) {
    std::vector<std::string> rest;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
    std::string text;
    for (const std::string &line : rest)
        text += std::string("\n    ") + what + line + ends_of(line);
    return text;
}

}  // namespace

std::vector<Test> &all_tests() {
    static std::vector<Test> tests;
    return tests;
}

bool under_sanitizer() {
    return SENNIT_TEST_SANITIZE[0] != '\0';
}

bool under_thread_sanitizer() {
    return std::strstr(SENNIT_TEST_SANITIZE, "thread") != nullptr;
}

void fill(void *memory, std::size_t bytes, std::uint64_t salt) {
    auto *out = static_cast<std::uint8_t *>(memory);
    for (std::size_t i = 0; i < bytes; ++i)
        out[i] = pattern_byte(salt, i);
}

std::size_t first_difference(const void *memory, std::size_t bytes, std::uint64_t salt) {
    const auto *in = static_cast<const std::uint8_t *>(memory);
    for (std::size_t i = 0; i < bytes; ++i)
        if (in[i] != pattern_byte(salt, i)) return i;
    return bytes;
}

void check_pattern(Ranks &ranks, const void *memory, std::size_t bytes, std::uint64_t salt,
                   Ranks::Where where) {
    const std::size_t place = first_difference(memory, bytes, salt);
    if (place == bytes) return;
    const auto *in = static_cast<const std::uint8_t *>(memory);
    ranks.fail(where, "byte " + std::to_string(place) + " of " + std::to_string(bytes) + " is " +
                          std::to_string(in[place]) + " and not " +
                          std::to_string(pattern_byte(salt, place)));
}

void Ranks::at(const char *what) {
    shared().at[rank] = what;
}

void Ranks::fail(Where where, const std::string &text) {
    const Test *test = shared().test.load();
    std::string line = std::string("FAILED ") + test->group + "." + test->name + " on rank " +
                       std::to_string(rank) + " of " + std::to_string(size) + ", seed " +
                       std::to_string(seed) + program_text(program) + ", paths \"" +
                       shared().paths + "\"\n    " + file_part(where.file_name()) + ":" +
                       std::to_string(where.line()) + ": " + text + "\n";
    std::fputs(line.c_str(), stderr);
    note_failure();
    throw Failed();
}

bool Ranks::loads_from(int peer) {
    sennit_path path = SENNIT_PATH_NONE;
    ok(sennit_peer_path(peer, &path));
    return path == SENNIT_PATH_SELF || path == SENNIT_PATH_INPROC || path == SENNIT_PATH_MAPPED;
}

bool Ranks::sends_to(int peer) {
    sennit_path path = SENNIT_PATH_NONE;
    ok(sennit_peer_path(peer, &path));
    return path != SENNIT_PATH_NONE && path != SENNIT_PATH_CMA && !loads_from(peer);
}

void Ranks::begin_program(std::uint64_t number) {
    program = number;
    common = Random(base + number * 0xD1B54A32D192ED03u);
    own = Random(mix(number, 0));
    if (lane == 0) shared().program[rank] = number;
}

void Ranks::show(const std::string &step) const {
    if (!chosen.show) return;
    std::string line = "    rank " + std::to_string(rank);
    if (lane != 0) line += ", thread " + std::to_string(lane);
    line += program_text(program) + ", " + step + "\n";
    std::fputs(line.c_str(), stderr);
}

void Ranks::ok(sennit_status status, Where where) {
    if (status != SENNIT_OK) fail(where, "expected SENNIT_OK: " + last_error_text());
}

void Ranks::is(sennit_status status, sennit_status wanted, Where where) {
    if (status == wanted) return;
    fail(where, std::string("expected ") + sennit_status_string(wanted) + ", found " +
                    sennit_status_string(status) +
                    (status == SENNIT_OK ? "" : ": " + last_error_text()));
}

void Ranks::require(bool is_true, const char *sentence, Where where) {
    if (!is_true) fail(where, std::string("this should be true: ") + sentence);
}

void Ranks::barrier(Where where) {
    for (;;) {
        const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, kSliceNs);
        if (status == SENNIT_OK) return;
        if (shared().failed) throw Failed();
        if (status != SENNIT_ERR_TIMEOUT) ok(status, where);
    }
}

void Ranks::tell_bytes(const void *mine, void *all, std::size_t bytes, Where where) {
    auto *out = static_cast<std::uint8_t *>(all);
    if (one_process) {
        std::uint8_t *mail = shared().mail.data();
        std::memcpy(mail + kTellBytes * static_cast<std::size_t>(rank), mine, bytes);
        barrier(where);
        for (std::size_t r = 0; r < static_cast<std::size_t>(size); ++r)
            std::memcpy(out + r * bytes, mail + kTellBytes * r, bytes);
    } else {
        const sennit_gptr segment = shared().mail_segment;
        ok(sennit_put(sennit_gptr_at(segment, rank), mine, bytes), where);
        barrier(where);
        for (int r = 0; r < size; ++r)
            ok(sennit_get(out + bytes * static_cast<std::size_t>(r), sennit_gptr_at(segment, r),
                          bytes),
               where);
    }
    barrier(where);
}

sennit_gptr Ranks::allocate(std::size_t bytes, std::size_t alignment, unsigned flags, Where where) {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    ok(sennit_alloc(SENNIT_TEAM_WORLD, bytes, alignment, flags, &gptr), where);
    return gptr;
}

void Ranks::free(sennit_gptr gptr, Where where) {
    ok(sennit_free(gptr), where);
}

void Ranks::start(Where where) {
    ok(start_world(*this), where);
    equal(sennit_rank(), rank, where);
    equal(sennit_size(), size, where);
    if (one_process) return;
    shared().mail_segment = allocate(kTellBytes, 0, 0, where);
}

void Ranks::stop(Where where) {
    if (!one_process) free(shared().mail_segment, where);
    const sennit_status status = sennit_finalize();
    // A rail may repeat a message of the last barrier that has arrived, and then find that its
    // target has left.
    if (!loses || status != SENNIT_ERR_PEER_LOST) ok(status, where);
    equal(sennit_initialized(), 0, where);
}

// ---------------------------------------------------------------- functions for main.cpp (run.hpp)

void start_watchdog(std::int64_t limit_ns) {
    std::thread(watch, limit_ns).detach();
}

void begin_test(const Test &test, std::uint64_t seed, const std::string &paths) {
    shared().seed = seed;
    shared().paths = paths;
    shared().started_ns = now_ns();
    shared().test = &test;
}

void end_test() {
    shared().test = nullptr;
    for (auto &at : shared().at)
        at = nullptr;
    for (auto &program : shared().program)
        program = 0;
}

bool has_failed() {
    return shared().failed;
}

void forget_failure() {
    shared().failed = false;
}

void fail_outside_ranks(const std::string &text) {
    const Test *test = shared().test.load();
    std::fprintf(stderr, "FAILED %s.%s, seed %llu, paths \"%s\"\n    %s\n",
                 test == nullptr ? "" : test->group, test == nullptr ? "" : test->name,
                 static_cast<unsigned long long>(shared().seed.load()), shared().paths.c_str(),
                 text.c_str());
    note_failure();
}

Held what_is_held() {
    Held held;
    if (DIR *folder = opendir("/proc/self/fd")) {
        while (const dirent *entry = readdir(folder)) {
            char target[256] = "";
            if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1) <= 0) continue;
            held.descriptors.emplace_back(target);
        }
        (void)closedir(folder);
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("memfd:sennit") != std::string::npos) held.mappings.push_back(line);
    for (std::vector<std::string> *all : {&held.descriptors, &held.mappings})
        std::sort(all->begin(), all->end());
    return held;
}

std::string changes_of(const Held &before, const Held &after) {
    if (before.descriptors.size() == after.descriptors.size() &&
        before.mappings.size() == after.mappings.size())
        return "";
    std::string text;
    for (const auto all : {&Held::descriptors, &Held::mappings}) {
        text += lines_without(after.*all, before.*all, "has come: ");
        text += lines_without(before.*all, after.*all, "has gone: ");
    }
    return text;
}

}  // namespace conformance
