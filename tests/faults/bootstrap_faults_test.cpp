// Bootstraps that fail, lie or hang, and strangers that connect to the node's exchange. The ranks
// are threads with a wrapped bootstrap, which can spoil any allgather, by number and rank.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bootstrap/card.hpp"

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// One rank's bootstrap: that of inproc, with changes to its allgathers.
struct Wrapped {
    sennit_bootstrap inner{};
    int calls = 0;
    std::atomic<int> releases{0};
    // Gets the number of the call. If it returns another value than 0, that is the result, and
    // nothing is gathered.
    std::function<int(int number)> before;
    std::function<void(int number, void *all, std::size_t bytes)> after;
};

int allgather(void *context, const void *mine, void *all, std::size_t bytes,
              std::int64_t timeout_ns) {
    auto &wrapped = *static_cast<Wrapped *>(context);
    const int number = wrapped.calls++;
    if (wrapped.before)
        if (const int code = wrapped.before(number)) return code;
    const int code = wrapped.inner.allgather(wrapped.inner.context, mine, all, bytes, timeout_ns);
    if (code == 0 && wrapped.after) wrapped.after(number, all, bytes);
    return code;
}

int barrier(void *context, std::int64_t timeout_ns) {
    auto &wrapped = *static_cast<Wrapped *>(context);
    return wrapped.inner.barrier(wrapped.inner.context, timeout_ns);
}

void release(void *context) {
    ++static_cast<Wrapped *>(context)->releases;
}

int open_descriptors() {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr)
        ++count;
    (void)closedir(folder);
    return count;
}

struct Result {
    sennit_status status = SENNIT_OK;
    sennit_error error{};
    bool healthy = false;
    double seconds = 0;
};

// Starts `size` ranks. Ranks whose init succeeds use each other's memory and leave.
class Job {
  public:
    explicit Job(int size) : ranks(static_cast<std::size_t>(size)), inner_(ranks.size()) {
        EXPECT_EQ(sennit_bootstrap_inproc_create(size, inner_.data()), SENNIT_OK);
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks[i].inner = inner_[i];
    }
    ~Job() {
        EXPECT_EQ(sennit_bootstrap_inproc_destroy(static_cast<int>(ranks.size()), inner_.data()),
                  SENNIT_OK);
    }
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;

    std::vector<Result> run(std::int64_t timeout_ns = 5 * kSecond, int absent = -1) {
        const int before = open_descriptors();
        std::vector<Result> results(ranks.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            if (static_cast<int>(i) == absent) continue;
            threads.emplace_back([&, i] { results[i] = run_rank(i, timeout_ns); });
        }
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(open_descriptors(), before + strangers) << "descriptors are left open";
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (static_cast<int>(i) != absent) {
                EXPECT_EQ(ranks[i].releases, 1) << "rank " << i;
            }
        return results;
    }

    std::vector<Wrapped> ranks;
    int strangers = 0;  // descriptors that the test itself opens during the job

  private:
    Result run_rank(std::size_t i, std::int64_t timeout_ns) {
        const int size = static_cast<int>(ranks.size());
        const sennit_bootstrap wrapped{sizeof(sennit_bootstrap),
                                       "wrapped",
                                       &ranks[i],
                                       static_cast<int>(i),
                                       size,
                                       allgather,
                                       barrier,
                                       release};
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.bootstrap = &wrapped;
        options.timeout_ns = timeout_ns;
        Result result;
        const double start = sennit_wtime();
        result.status = sennit_init(&options);
        result.seconds = sennit_wtime() - start;
        result.error = *sennit_last_error();
        if (result.status != SENNIT_OK) {
            EXPECT_EQ(sennit_initialized(), 0) << "after an error the caller is no rank";
            return result;
        }
        sennit_gptr segment;
        result.healthy =
            sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &segment) == SENNIT_OK &&
            sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK &&
            sennit_ptr(sennit_gptr_at(segment, (static_cast<int>(i) + 1) % size)) != nullptr;
        EXPECT_EQ(sennit_finalize(), SENNIT_OK);
        return result;
    }

    std::vector<sennit_bootstrap> inner_;
};

void expect_all(const std::vector<Result> &results, sennit_status wanted) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_STREQ(sennit_status_string(results[i].status), sennit_status_string(wanted))
            << "rank " << i << ": " << results[i].error.text;
        EXPECT_STREQ(results[i].error.operation, "sennit_init");
        EXPECT_STRNE(results[i].error.text, "");
    }
}

// The number of allgathers in an init.
int count_of_allgathers() {
    Job job(2);
    for (const Result &result : job.run())
        EXPECT_TRUE(result.healthy);
    return job.ranks[0].calls;
}

// Connects to the abstract socket that a card names.
int connect_to(const sennit::runtime::Card &card) {
    char name[64] = "sennit-";
    for (const std::uint8_t byte : card.socket_name) {
        char digits[3];
        (void)std::snprintf(digits, sizeof digits, "%02x", byte);
        std::strcat(name, digits);
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name, std::strlen(name));
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const auto length =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(name));
    EXPECT_EQ(connect(made, reinterpret_cast<sockaddr *>(&address), length), 0)
        << std::strerror(errno);
    return made;
}

}  // namespace

// Broken by an error code that is swallowed, or by a rank that is left half initialized.
TEST(bootstrap_faults, an_allgather_that_fails_on_all_ranks_ends_init_on_all) {
    const int calls = count_of_allgathers();
    ASSERT_GE(calls, 2);
    for (int bad = 0; bad < calls; ++bad) {
        SCOPED_TRACE(bad);
        Job job(3);
        for (Wrapped &rank : job.ranks)
            rank.before = [bad](int number) { return number == bad ? 42 : 0; };
        const auto results = job.run();
        expect_all(results, SENNIT_ERR_BOOTSTRAP);
        for (const Result &result : results)
            EXPECT_EQ(result.error.provider_code, 42);
    }
}

// Broken by waiting without a limit for a rank that has given up.
TEST(bootstrap_faults, an_allgather_that_fails_on_one_rank_ends_init_on_all_in_time) {
    const int calls = count_of_allgathers();
    for (int bad = 0; bad < calls; ++bad) {
        SCOPED_TRACE(bad);
        (void)setenv("SENNIT_INIT_TIMEOUT", "1", 1);
        Job job(2);
        job.ranks[1].before = [bad](int number) { return number == bad ? 7 : 0; };
        const auto results = job.run(kSecond);
        EXPECT_EQ(results[1].status, SENNIT_ERR_BOOTSTRAP);
        EXPECT_TRUE(results[0].status == SENNIT_ERR_BOOTSTRAP ||
                    results[0].status == SENNIT_ERR_TIMEOUT)
            << sennit_status_string(results[0].status);
        EXPECT_LT(results[0].seconds, 6);
        (void)unsetenv("SENNIT_INIT_TIMEOUT");
    }
}

// Broken by an init that waits forever, or longer than its timeout.
TEST(bootstrap_faults, a_rank_that_never_comes_ends_the_others_in_time) {
    (void)setenv("SENNIT_INIT_TIMEOUT", "1", 1);
    Job job(3);
    const auto results = job.run(kSecond, 2);
    for (int rank = 0; rank < 2; ++rank) {
        EXPECT_NE(results[static_cast<std::size_t>(rank)].status, SENNIT_OK);
        EXPECT_LT(results[static_cast<std::size_t>(rank)].seconds, 5);
    }
    (void)unsetenv("SENNIT_INIT_TIMEOUT");
}

// Broken by a limit that only the environment can set.
TEST(bootstrap_faults, the_timeout_of_the_options_bounds_the_wait_for_other_threads) {
    sennit_bootstrap bootstraps[2];
    ASSERT_EQ(sennit_bootstrap_inproc_create(2, bootstraps), SENNIT_OK);
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.bootstrap = &bootstraps[0];
    options.timeout_ns = kSecond / 2;
    const double start = sennit_wtime();
    EXPECT_EQ(sennit_init(&options), SENNIT_ERR_BOOTSTRAP);
    EXPECT_LT(sennit_wtime() - start, 5);
    EXPECT_EQ(sennit_bootstrap_inproc_destroy(2, bootstraps), SENNIT_OK);
}

// Broken by trusting cards: every field that must fit the rank's place is tested.
TEST(bootstrap_faults, cards_of_another_job_version_or_place_are_refused) {
    using sennit::runtime::Card;
    const std::function<void(Card &)> lies[] = {
        [](Card &card) { card.rank = 0; },
        [](Card &card) { card.size = 3; },
        [](Card &card) { card.version += 1; },
        [](Card &card) { card.magic = 0; },
        [](Card &card) { std::memset(static_cast<void *>(&card), 0, sizeof card); },
        [](Card &card) { std::memset(static_cast<void *>(&card), 0xFF, sizeof card); },
    };
    for (std::size_t i = 0; i < std::size(lies); ++i) {
        SCOPED_TRACE(i);
        Job job(2);
        for (Wrapped &rank : job.ranks) {
            rank.after = [&, i](int number, void *all, std::size_t bytes) {
                if (number != 0) return;
                auto *place = static_cast<char *>(all) + bytes;  // rank 1's part
                Card card;
                std::memcpy(static_cast<void *>(&card), place, sizeof card);
                lies[i](card);
                std::memcpy(place, static_cast<const void *>(&card), sizeof card);
            };
        }
        const auto results = job.run();
        expect_all(results, SENNIT_ERR_BOOTSTRAP);
    }
}

// Broken by trusting a launcher that starts N copies of rank 0.
TEST(bootstrap_faults, an_allgather_that_returns_only_own_parts_is_refused) {
    Job job(2);
    for (std::size_t i = 0; i < 2; ++i) {
        job.ranks[i].after = [i](int, void *all, std::size_t bytes) {
            auto *parts = static_cast<char *>(all);
            std::memmove(parts + (1 - i) * bytes, parts + i * bytes, bytes);
        };
    }
    expect_all(job.run(), SENNIT_ERR_BOOTSTRAP);
}

// Broken by a job that cannot start after one that failed.
TEST(bootstrap_faults, after_a_failed_start_the_same_ranks_can_start) {
    Job job(2);
    for (Wrapped &rank : job.ranks)
        rank.before = [](int number) { return number == 1 ? 5 : 0; };
    expect_all(job.run(), SENNIT_ERR_BOOTSTRAP);
    for (Wrapped &rank : job.ranks) {
        rank.before = nullptr;
        rank.releases = 0;
        rank.calls = 0;
    }
    for (const Result &result : job.run())
        EXPECT_TRUE(result.healthy) << result.error.text;
}

// Broken by a leader that takes a stranger for a member, gives it descriptors, or is kept from its
// work by one.
TEST(bootstrap_faults, strangers_at_the_socket_are_turned_away) {
    using sennit::runtime::Card;
    Job job(3);
    std::vector<int> strangers;
    job.strangers = 3;
    job.ranks[2].after = [&](int number, void *all, std::size_t) {
        if (number != 0) return;
        Card leader;
        std::memcpy(static_cast<void *>(&leader), all, sizeof leader);
        // One hangs up, one sends nonsense, two send the right size with no or a wrong cookie.
        (void)close(connect_to(leader));
        strangers.push_back(connect_to(leader));
        EXPECT_EQ(send(strangers.back(), "hello", 5, MSG_NOSIGNAL), 5);
        strangers.push_back(connect_to(leader));
        char message[280] = {};
        const std::uint32_t greeting = 0x53454E44;
        const std::int32_t count = 1;
        std::memcpy(message, &greeting, sizeof greeting);
        std::memcpy(message + 4, &count, sizeof count);
        EXPECT_EQ(send(strangers.back(), message, sizeof message, MSG_NOSIGNAL), 280);
        const std::uint64_t cookie = leader.job_cookie + 1;
        std::memcpy(message + 8, &cookie, sizeof cookie);
        strangers.push_back(connect_to(leader));
        EXPECT_EQ(send(strangers.back(), message, sizeof message, MSG_NOSIGNAL), 280);
    };
    for (const Result &result : job.run(20 * kSecond))
        EXPECT_TRUE(result.healthy) << result.error.text;
    for (const int stranger : strangers) {
        char answer[64];
        EXPECT_LE(recv(stranger, answer, sizeof answer, MSG_DONTWAIT), 0)
            << "a stranger was answered";
        (void)close(stranger);
    }
}

// Broken by a connection that waits forever while the leader accepts none.
TEST(bootstrap_faults, a_leader_that_takes_no_connections_costs_only_the_timeout) {
    using namespace sennit::runtime;
    Listener leader;
    ASSERT_EQ(listener_open(&leader), SENNIT_OK);
    ASSERT_EQ(listen(leader.socket, 0), 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (void)std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "sennit-");
    socklen_t length = offsetof(sockaddr_un, sun_path) + 8;
    for (const std::uint8_t byte : leader.name) {
        (void)std::snprintf(&address.sun_path[length - offsetof(sockaddr_un, sun_path)], 3, "%02x",
                            byte);
        length += 2;
    }
    std::vector<int> queue;
    do {
        queue.push_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    } while (connect(queue.back(), reinterpret_cast<sockaddr *>(&address), length) == 0);
    EXPECT_EQ(errno, EAGAIN);
    static sennit::Rank rank;
    rank.world_rank = 1;
    const int members[] = {0, 1};
    const std::uint8_t *const names[] = {leader.name, leader.name};
    const double start = sennit_wtime();
    EXPECT_EQ(
        node_exchange(rank, {&leader, members, names, 2}, sennit::Deadline::after(kSecond / 5)),
        SENNIT_ERR_TIMEOUT);
    EXPECT_LT(sennit_wtime() - start, 5);
    for (const int waiting : queue)
        (void)close(waiting);
    listener_close(&leader);
}

// Broken by a leader that waits forever for a silent stranger.
TEST(bootstrap_faults, a_silent_stranger_does_not_keep_the_ranks_from_starting) {
    using sennit::runtime::Card;
    Job job(2);
    int stranger = -1;
    job.strangers = 1;
    job.ranks[1].after = [&](int number, void *all, std::size_t) {
        if (number != 0) return;
        Card leader;
        std::memcpy(static_cast<void *>(&leader), all, sizeof leader);
        stranger = connect_to(leader);
    };
    const auto results = job.run(20 * kSecond);
    for (const Result &result : results)
        EXPECT_TRUE(result.healthy) << result.error.text;
    EXPECT_LT(results[0].seconds, 10);
    (void)close(stranger);
}
