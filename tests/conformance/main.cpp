// Options of the conformance suite (kUsage), and the two ways to run it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "../support/one_processor.hpp"
#include "run.hpp"

namespace conformance {
namespace {

struct Options {
    std::vector<std::string> groups;
    std::string test;
    std::string paths;
    std::string expect;
    int threads = 0;
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;
    sennit_thread_level level = SENNIT_THREAD_MULTIPLE;
    Chosen chosen;
    double limit_seconds = 60;
    double for_seconds = 0;
    bool quick = false;
    bool list = false;
    bool any_seed = false;
};

constexpr char kUsage[] = R"(usage: conformance_suite [OPTION]...
  --group NAME      only tests of this group; may be repeated
  --test NAME       only this test, as --list names it, or without its group
  --list            list the tests
  --threads N       N ranks as threads of this process; without it this process is a rank of
                    `sennit run`, or alone
  --paths WORDS     as SENNIT_PATHS; the word sim gets its settings from the seed
  --expect PATH     every peer must be reached by this path
  --seed S          the seed, or `any`: a random one, which is printed
  --seeds COUNT     repeat with seeds S to S+COUNT-1
  --for SECONDS     with --threads: seeds from S on until the time is over; the last one is cut
                    short. For the group stress: its duration
  --level WORD      of threads: single, funneled, serialized, multiple (default)
  --program P       only the P-th random program of a test
  --steps K         random programs stop after K steps
  --only LIST       only these steps of random programs: 3,7-9
  --show            print the steps of random programs
  --quick           repeat less
  --limit SECONDS   of one test, default 60, more under a sanitizer
A failure prints rank, seed, program and paths; the same options repeat it, and shrink.py finds
the few steps that it needs. Exit codes: 0, 1 a test failed, 2 usage, 3 a test did not end, 77
nothing to run.
)";

Options options;
std::string paths_now;
std::vector<sennit_bootstrap> bootstraps;

// A different kind of network for every seed.
std::string sim_settings(std::uint64_t seed) {
    Random random(seed * 77 + 5);
    const std::uint64_t depth[] = {1, 2, 4, 64};
    const std::uint64_t delay[] = {1, 4, 8, 40};
    const std::uint64_t piece[] = {64, 1000, 4096, 65536};
    const std::uint64_t events[] = {0, 8, 16, 32, 64, 128};
    const std::uint64_t rails = random.between(1, 4);
    std::string text = "sim:seed=" + std::to_string(seed);
    text += "+rails=" + std::to_string(rails);
    text += "+order=" + std::to_string(random.below(2));
    text += "+depth=" + std::to_string(depth[random.below(4)]);
    const std::uint64_t piece_kind = random.below(4);
    // Small pieces with a long delay only make the test slow.
    text += "+delay=" + std::to_string(delay[random.below(piece_kind == 0 ? 2 : 4)]);
    text += "+max_piece=" + std::to_string(piece[piece_kind]);
    // Free threads are slow on a busy machine, and other paths test them too. But ranks that take
    // turns hide races from the thread sanitizer.
    const bool is_free = seed % 8 == 0 || under_thread_sanitizer();
    text += "+lockstep=" + std::to_string(is_free ? 0 : 1);
    text += "+events=" + std::to_string(events[random.below(6)]);
    if (seed % 2 == 0) text += "+eager=" + std::to_string(seed % 3 * 100);
    // The last rail loses nothing, so that every operation can be repeated.
    if (rails > 1 && random.below(2) == 0)
        text += "+shaky=" + std::to_string(random.between(5, 50));
    for (std::uint64_t rail = 0; rail + 1 < rails; ++rail)
        if (random.below(3) == 0)
            text += "+fail_rail=" + std::to_string(rail) + "@" +
                    std::to_string(random.between(100, 5000));
    return text;
}

std::string paths_of_seed(std::uint64_t seed) {
    return options.paths == "sim" ? sim_settings(seed) : options.paths;
}

bool paths_have(const char *word) {
    return paths_now.find(word) != std::string::npos;
}

bool all_load_store(int size) {
    std::size_t begin = 0;
    while (size > 1 && begin < paths_now.size()) {
        const std::size_t end = std::min(paths_now.find(',', begin), paths_now.size());
        const std::string name = paths_now.substr(begin, end - begin);
        if (name != "self" && name != "inproc" && name != "mapped") return false;
        begin = end + 1;
    }
    return true;
}

// True if only the kernel copies other ranks' memory.
bool by_kernel_only(int size) {
    return size > 1 && paths_have("cma");
}

bool fits(const Test &test, int size, std::uint64_t seed) {
    if ((test.needs & kOnce) != 0 && seed != options.seed) return false;
    const bool threads = options.threads > 0;
    const bool sim = paths_have("sim");
    if ((test.needs & kTwoRanks) != 0 && size < 2) return false;
    if ((test.needs & kLoadStore) != 0 && !all_load_store(size)) return false;
    if ((test.needs & kAtomics) != 0 && by_kernel_only(size)) return false;
    if ((test.needs & kProcesses) != 0 && threads) return false;
    if ((test.needs & kFences) != 0 && !sim && under_thread_sanitizer()) return false;
    if ((test.needs & kThreads) != 0 && !threads) return false;
    if ((test.needs & kFreeThreads) != 0 && paths_have("lockstep=1")) return false;
    if ((test.needs & kTurns) != 0) return options.level >= SENNIT_THREAD_SERIALIZED;
    if ((test.needs & kFreeThreads) != 0) return options.level == SENNIT_THREAD_MULTIPLE;
    return true;
}

bool is_wanted(const Test &test) {
    const std::string whole = std::string(test.group) + "." + test.name;
    if (!options.test.empty() && options.test != test.name && options.test != whole) return false;
    if (options.groups.empty() && !options.test.empty()) return true;
    if (options.groups.empty()) return (test.needs & kOnlyNamed) == 0;
    return std::find(options.groups.begin(), options.groups.end(), test.group) !=
           options.groups.end();
}

// Small enough to type.
std::uint64_t draw_seed() {
    const std::uint64_t seed = std::random_device{}() % 1'000'000'000 + 1;
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return seed;
}

Ranks make_ranks(const Test &test, int rank, int size, std::uint64_t seed) {
    std::uint64_t name = 0;
    for (const char *c = test.name; *c != '\0'; ++c)
        name = name * 131 + static_cast<unsigned char>(*c);
    Ranks ranks;
    ranks.rank = rank;
    ranks.size = size;
    ranks.one_process = options.threads > 0;
    ranks.load_store = all_load_store(size);
    ranks.by_network = paths_have("fabric");
    ranks.loses = paths_have("shaky") || paths_have("fail_rail");
    ranks.quick = options.quick || under_sanitizer() || paths_have("sim");
    ranks.for_seconds = options.for_seconds;
    ranks.seed = seed;
    ranks.base = seed ^ name;
    ranks.chosen = options.chosen;
    ranks.common = Random(seed ^ name);
    ranks.own = Random((seed ^ name) + 1000003 * static_cast<std::uint64_t>(rank + 1));
    return ranks;
}

void expect_path(Ranks &ranks) {
    for (int peer = 0; peer < ranks.size; ++peer) {
        sennit_path path = SENNIT_PATH_NONE;
        ranks.ok(sennit_peer_path(peer, &path));
        const std::string wanted = peer == ranks.rank ? "self" : options.expect;
        if (!options.expect.empty() && wanted != sennit_path_name(path))
            ranks.fail(Ranks::Where::current(), std::string("rank ") + std::to_string(peer) +
                                                    " is reached by " + sennit_path_name(path) +
                                                    ", not by " + wanted);
    }
}

void print_ok(const Test &test, int size, double seconds) {
    std::printf("ok     %s.%s on %d ranks (%.0f ms)\n", test.group, test.name, size, seconds * 1e3);
    std::fflush(stdout);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// ---------------------------------------------------------------- ranks as threads

void run_as_thread(const Test &test, int rank, std::uint64_t seed) {
    Ranks ranks = make_ranks(test, rank, options.threads, seed);
    try {
        if ((test.needs & kNoWorld) == 0) {
            ranks.at("starting the world");
            ranks.start();
            expect_path(ranks);
        }
        ranks.at("the test");
        test.body(ranks);
        ranks.at("the last barrier");
        if ((test.needs & kNoWorld) == 0) ranks.stop();
        ranks.at("done");
    } catch (const Failed &) {
        ranks.at("leaving after a failure");
        while (sennit_initialized() != 0)
            if (sennit_finalize() == SENNIT_ERR_STATE) break;
        ranks.at("done, failed");
    }
}

void run_threads_once(const Test &test, std::uint64_t seed) {
    const Held before = what_is_held();
    bootstraps.assign(static_cast<std::size_t>(options.threads), sennit_bootstrap{});
    if (sennit_bootstrap_inproc_create(options.threads, bootstraps.data()) != SENNIT_OK)
        return fail_outside_ranks("no bootstrap");
    std::vector<std::thread> threads;
    for (int rank = 0; rank < options.threads; ++rank)
        threads.emplace_back(run_as_thread, std::cref(test), rank, seed);
    for (std::thread &thread : threads)
        thread.join();
    if (sennit_bootstrap_inproc_destroy(options.threads, bootstraps.data()) != SENNIT_OK)
        fail_outside_ranks(std::string("the bootstraps: ") + sennit_last_error()->text);
    const std::string changes = changes_of(before, what_is_held());
    if (!has_failed() && !changes.empty()) fail_outside_ranks("left behind:" + changes);
}

int run_threads(const std::vector<Test> &tests) {
    if (options.any_seed) options.seed = draw_seed();
    int failed = 0;
    int ran = 0;
    const auto begin = std::chrono::steady_clock::now();
    // On a busy machine one seed may take much longer than the time for all.
    const auto is_over = [&](std::uint64_t done) {
        if (options.for_seconds > 0 && ran > 0) return seconds_since(begin) > options.for_seconds;
        return done >= options.seeds;
    };
    std::uint64_t done = 0;
    for (; !is_over(done); ++done) {
        const std::uint64_t seed = options.seed + done;
        paths_now = paths_of_seed(seed);
        const sennit::test::OneProcessor one_processor(sennit::test::is_in_lockstep(paths_now));
        // Each seed starts with another test, so that the limit does not always cut the same ones.
        const std::size_t first = options.for_seconds > 0 ? seed % tests.size() : 0;
        for (std::size_t i = 0; i < tests.size() && (i == 0 || !is_over(done)); ++i) {
            const Test &test = tests[(first + i) % tests.size()];
            if (!fits(test, options.threads, seed)) continue;
            const auto start = std::chrono::steady_clock::now();
            begin_test(test, seed, paths_now);
            run_threads_once(test, seed);
            end_test();
            ++ran;
            if (has_failed()) {
                ++failed;
            } else if (options.seeds == 1 && options.for_seconds == 0) {
                print_ok(test, options.threads, seconds_since(start));
            }
            forget_failure();
        }
    }
    std::printf("%d runs with %llu seeds from %llu, %d failed\n", ran,
                static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(options.seed), failed);
    if (ran == 0) return 77;
    return failed == 0 ? 0 : 1;
}

// ---------------------------------------------------------------- this process is a rank

void run_as_process_once(const Test &test, int rank, int size, std::uint64_t seed) {
    Ranks ranks = make_ranks(test, rank, size, seed);
    const auto start = std::chrono::steady_clock::now();
    begin_test(test, seed, paths_now);
    const bool own_world = (test.needs & kNoWorld) != 0;
    if (own_world) ranks.stop();
    const Held before = what_is_held();
    test.body(ranks);
    const std::string changes = own_world ? changes_of(before, what_is_held()) : "";
    if (!changes.empty())
        ranks.fail(Ranks::Where::current(),
                   "the test left descriptors or mappings behind:" + changes);
    if (own_world) ranks.start();
    ranks.barrier();
    end_test();
    if (rank == 0 && options.seeds == 1) print_ok(test, size, seconds_since(start));
}

int run_process(const std::vector<Test> &tests) {
    static const Test kWorld{"world", "starts", kAnything, nullptr};
    paths_now = options.paths;
    begin_test(kWorld, options.seed, paths_now);
    int ran = 0;
    try {
        Ranks ranks = make_ranks(kWorld, 0, 1, options.seed);
        ranks.ok(start_world(ranks));
        const int rank = sennit_rank();
        const int size = sennit_size();
        ranks = make_ranks(kWorld, rank, size, options.seed);
        ranks.start();  // a second sennit_init
        ranks.ok(sennit_finalize());
        expect_path(ranks);
        if (options.any_seed)
            options.seed = ranks.tell_all(rank == 0 ? draw_seed() : std::uint64_t{0}).front();
        for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
            for (const Test &test : tests) {
                if (!fits(test, size, seed)) continue;
                run_as_process_once(test, rank, size, seed);
                ++ran;
            }
        }
        begin_test(kWorld, options.seed, paths_now);
        ranks.stop();
        end_test();
    } catch (const Failed &) {
        // `sennit run` ends the other ranks as soon as one has failed: this leaves them time to
        // print.
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::fflush(nullptr);
        std::_Exit(1);
    }
    return ran == 0 ? 77 : 0;
}

// ---------------------------------------------------------------- options

[[noreturn]] void usage(const std::string &what) {
    std::fprintf(stderr, "conformance_suite: %s (see --help)\n", what.c_str());
    std::exit(2);
}

// For example 3,7-9.
void read_only(const std::string &list) {
    for (std::size_t at = 0; at < list.size();) {
        std::size_t used = 0;
        const std::uint64_t first = std::stoull(list.substr(at), &used);
        at += used;
        std::uint64_t last = first;
        if (at < list.size() && list[at] == '-') {
            last = std::stoull(list.substr(at + 1), &used);
            at += used + 1;
        }
        options.chosen.only.emplace_back(first, last);
        if (at < list.size() && list[at++] != ',') usage("--only wants a list such as 3,7-9");
    }
}

sennit_thread_level level_named(const std::string &word) {
    static const char *const words[] = {"single", "funneled", "serialized", "multiple"};
    for (int level = SENNIT_THREAD_SINGLE; level <= SENNIT_THREAD_MULTIPLE; ++level)
        if (word == words[level]) return static_cast<sennit_thread_level>(level);
    usage("--level " + word + " is unknown");
}

bool read_flag(const std::string &word) {
    bool *flag = nullptr;
    if (word == "--help") {
        std::fputs(kUsage, stdout);
        std::exit(0);
    }
    if (word == "--list") flag = &options.list;
    if (word == "--quick") flag = &options.quick;
    if (word == "--show") flag = &options.chosen.show;
    if (flag != nullptr) *flag = true;
    return flag != nullptr;
}

void read_options(int count, char **words) {
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (read_flag(word)) continue;
        if (i + 1 == count) usage(word + " wants a value, or is unknown");
        const std::string value = words[++i];
        if (word == "--group") {
            options.groups.push_back(value);
        } else if (word == "--test") {
            options.test = value;
        } else if (word == "--paths") {
            // CMake's lists use the semicolon, so % stands for it.
            options.paths = value;
            std::replace(options.paths.begin(), options.paths.end(), '%', ';');
        } else if (word == "--expect") {
            options.expect = value;
        } else if (word == "--threads") {
            options.threads = std::stoi(value);
        } else if (word == "--seed") {
            options.any_seed = value == "any";
            if (!options.any_seed) options.seed = std::stoull(value);
        } else if (word == "--seeds") {
            options.seeds = std::stoull(value);
        } else if (word == "--for") {
            options.for_seconds = std::stod(value);
        } else if (word == "--steps") {
            options.chosen.most_steps = std::stoull(value);
        } else if (word == "--program") {
            options.chosen.program = std::stoull(value);
        } else if (word == "--only") {
            read_only(value);
        } else if (word == "--level") {
            options.level = level_named(value);
        } else if (word == "--limit") {
            options.limit_seconds = std::stod(value);
        } else {
            usage(word + " is unknown");
        }
    }
}

std::vector<Test> chosen_tests() {
    std::vector<Test> tests;
    for (const Test &test : all_tests())
        if (is_wanted(test)) tests.push_back(test);
    // Sorted by name: the linker decides the order in which files register their tests.
    std::sort(tests.begin(), tests.end(), [](const Test &a, const Test &b) {
        return std::string(a.group) + a.name < std::string(b.group) + b.name;
    });
    return tests;
}

}  // namespace

sennit_status start_world(const Ranks &ranks) {
    sennit_options wish = SENNIT_OPTIONS_INIT;
    wish.thread_level = options.level;
    if (options.threads > 0) wish.bootstrap = &bootstraps[static_cast<std::size_t>(ranks.rank)];
    if (!paths_now.empty()) wish.paths = paths_now.c_str();
    return sennit_init(&wish);
}

int run(int count, char **words) {
    read_options(count, words);
    const std::vector<Test> tests = chosen_tests();
    if (options.list) {
        for (const Test &test : tests)
            std::printf("%s.%s\n", test.group, test.name);
        return 0;
    }
    if (tests.empty()) usage("no such test");
    // Calls without a timeout must also end when a rank has failed.
    (void)setenv("SENNIT_TIMEOUT", "20", 0);
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "20", 0);
    const double factor = under_sanitizer() ? 4 : 1;
    start_watchdog(static_cast<std::int64_t>(options.limit_seconds * factor * 1e9));
    return options.threads > 0 ? run_threads(tests) : run_process(tests);
}

}  // namespace conformance

int main(int count, char **words) {
    return conformance::run(count, words);
}
