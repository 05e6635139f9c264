// Two ranks, on one processor or on one each. Rank 0 polls in vain with every call that checks
// once: calls that find nothing, and calls for a signal that its owner has not reset. It counts how
// often the library yields the processor meanwhile; and it waits while yields have no effect.
// Broken by a call that polls without end and so keeps the rank for which it polls from running,
// each time for a time slice of the system.
//     poll_rank shared|apart
#include <sched.h>
#include <sennit/sennit.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace {

int yields = 0;

void check(sennit_status status, const char *what) {
    if (status == SENNIT_OK) return;
    std::fprintf(stderr, "%s: %s\n", what, sennit_last_error()->text);
    std::exit(1);
}

constexpr int kPolls = 1000;

// True if at least 10 of 1000 polls yield the processor; or, if that is not expected, none does.
bool gives_way(const char *call, bool expected, const std::function<void()> &poll) {
    const int before = yields;
    for (int i = 0; i < kPolls; ++i)
        poll();
    const int given = yields - before;
    if ((given >= kPolls / 100) == expected && (given == 0 || expected)) return true;
    std::fprintf(stderr, "%s: %d polls in vain gave the processor away %d times\n", call, kPolls,
                 given);
    return false;
}

// Yields that return at once (here, and where each rank has its own scheduling group) give the
// processor to nobody: a wait that continues with them would keep it until the end of its time
// slice.
bool sleeps_soon() {
    constexpr std::int64_t kWaitNs = 20'000'000;
    constexpr int kYields = 100;  // half a millisecond has some thousand yields
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    check(sennit_signal_create(1, 1, 0, &signal), "sennit_signal_create");
    const int before = yields;
    (void)sennit_signal_wait(signal, kWaitNs);
    check(sennit_signal_destroy(signal), "sennit_signal_destroy");
    if (yields - before <= kYields) return true;
    std::fprintf(stderr, "a wait went on with %d yields that reached nobody\n", yields - before);
    return false;
}

bool poll_all(bool expected, sennit_lock lock, sennit_channel channel) {
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    check(sennit_signal_create(1, 1, 0, &signal), "sennit_signal_create");
    sennit_waitset set = SENNIT_WAITSET_NULL;
    check(sennit_waitset_create(&set), "sennit_waitset_create");
    check(sennit_waitset_add(set, signal, 0), "sennit_waitset_add");
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{SENNIT_GPTR_NULL};
    check(sennit_queue_create(8, 8, 1, &queue, &address), "sennit_queue_create");
    sennit_request request = SENNIT_REQUEST_NULL;
    check(sennit_barrier_nb(SENNIT_TEAM_WORLD, &request), "sennit_barrier_nb");

    int is_done = 0;
    std::size_t count = 0;
    std::uint64_t item = 0;
    sennit_fired fired{};
    const auto never = [](void *) { return 0; };
    struct Call {
        const char *name;
        std::function<void()> poll;
    };
    const Call calls[] = {
        {"sennit_signal_test", [&] { (void)sennit_signal_test(signal, &is_done); }},
        {"sennit_signal_wait", [&] { (void)sennit_signal_wait(signal, 0); }},
        {"sennit_waitset_wait_any", [&] { (void)sennit_waitset_wait_any(set, 0, &fired); }},
        {"sennit_wait_until", [&] { (void)sennit_wait_until(never, nullptr, 0); }},
        {"sennit_queue_pop", [&] { (void)sennit_queue_pop(queue, &item, 0); }},
        {"sennit_queue_pop_many", [&] { (void)sennit_queue_pop_many(queue, &item, 1, 0, &count); }},
        {"sennit_lock_try", [&] { (void)sennit_lock_try(lock, &is_done); }},
        {"sennit_lock_acquire", [&] { (void)sennit_lock_acquire(lock, 0); }},
        {"sennit_channel_can_read", [&] { (void)sennit_channel_can_read(channel, &is_done); }},
        {"sennit_test", [&] { (void)sennit_test(&request, &is_done); }},
        {"sennit_test_all", [&] { (void)sennit_test_all(1, &request, &is_done); }},
        {"sennit_wait", [&] { (void)sennit_wait(&request, 0); }},
        {"sennit_wait_any", [&] { (void)sennit_wait_any(1, &request, 0, &count); }},
    };
    bool all = true;
    for (const Call &call : calls)
        all = gives_way(call.name, expected, call.poll) && all;
    check(sennit_channel_have_written(channel),
          "sennit_channel_have_written");  // the other rank may go on
    check(sennit_wait(&request, SENNIT_FOREVER), "sennit_wait");
    check(sennit_queue_destroy(queue), "sennit_queue_destroy");
    return all;
}

// A sender that repeats its call until the signal's owner has reset it. The signal is this rank's
// own, strict, and never reset.
bool retry_all(bool expected) {
    constexpr std::uint64_t kEarly = 1;
    char data[64] = "";
    sennit_gptr memory = SENNIT_GPTR_NULL;
    check(sennit_alloc_local(sizeof data, 0, 0, &memory), "sennit_alloc_local");
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    check(sennit_signal_create(1, 1, SENNIT_SIGNAL_STRICT, &signal), "sennit_signal_create");
    sennit_block block{};
    check(sennit_block_init({memory, sizeof data}, 0, sizeof data, signal, signal, &block),
          "sennit_block_init");
    sennit_peer_block to = SENNIT_PEER_BLOCK_NULL;
    check(sennit_block_attach(&block, &to), "sennit_block_attach");
    check(sennit_put_notify(to, 0, data, 8), "sennit_put_notify");  // the block's next epoch is 1
    const sennit_notice notice{signal, SENNIT_SIGNAL_NULL, kEarly, 0};
    sennit_plan plan = SENNIT_PLAN_NULL;
    check(sennit_plan_create(&plan), "sennit_plan_create");
    check(sennit_plan_put(plan, to, 0, data, 8), "sennit_plan_put");
    check(sennit_plan_commit(plan, kEarly, 1), "sennit_plan_commit");
    const sennit_box column = sennit_box_line(8, 2, 16, 16);
    sennit_notify_part part{to, SENNIT_OK, 0, data, 8, &notice};
    sennit_request request = SENNIT_REQUEST_NULL;
    std::size_t done = 0;
    struct Call {
        const char *name;
        std::function<sennit_status()> call;
    };
    const Call calls[] = {
        {"sennit_signal_notify", [&] { return sennit_signal_notify(signal, kEarly); }},
        {"sennit_put_notify", [&] { return sennit_put_notify(to, 0, data, 8); }},
        {"sennit_put_notify_with", [&] { return sennit_put_notify_with(to, 0, data, 8, &notice); }},
        {"sennit_get_notify_with", [&] { return sennit_get_notify_with(data, to, 0, 8, &notice); }},
        {"sennit_put_notify_strided",
         [&] { return sennit_put_notify_strided(to, 0, data, &column, &notice); }},
        {"sennit_put_notify_nb",
         [&] { return sennit_put_notify_nb(to, 0, data, 8, &notice, &request); }},
        {"sennit_put_notify_batch", [&] { return sennit_put_notify_batch(1, &part, &done); }},
        {"sennit_plan_start", [&] { return sennit_plan_start(plan); }},
    };
    bool all = true;
    for (const Call &call : calls) {
        bool is_early = true;
        all = gives_way(call.name, expected,
                        [&] { is_early &= call.call() == SENNIT_ERR_SIGNAL_EARLY; }) &&
              all;
        if (!is_early) std::fprintf(stderr, "%s: not early\n", call.name);
        all = all && is_early;
    }
    check(sennit_plan_destroy(plan), "sennit_plan_destroy");
    check(sennit_block_detach(to), "sennit_block_detach");
    check(sennit_signal_destroy(signal), "sennit_signal_destroy");
    check(sennit_free(memory), "sennit_free");
    return all;
}

}  // namespace

// Replaces the C library's function, for the library too.
extern "C" int sched_yield() noexcept {
    ++yields;
    return 0;
}

int main(int, char **words) {
    const bool shared = std::strcmp(words[1], "shared") == 0;
    cpu_set_t all;
    CPU_ZERO(&all);
    (void)sched_getaffinity(0, sizeof all, &all);
    if (!shared && CPU_COUNT(&all) < 2) {
        std::puts("skipped: needs two processors");
        return 77;
    }
    for (int cpu = 0; shared && cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &all)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        break;
    }
    check(sennit_init(nullptr), "sennit_init");
    const int peer = 1 - sennit_rank();
    sennit_lock lock = SENNIT_LOCK_NULL;
    check(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "sennit_lock_create");
    void *buffer = nullptr;
    const std::size_t none = 0;
    sennit_channel channel = SENNIT_CHANNEL_NULL;
    const sennit_channel_ends ends{1, &peer, &buffer, &none};
    check(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, nullptr, &channel),
          "sennit_channel_open");
    if (peer == 0) check(sennit_lock_acquire(lock, SENNIT_FOREVER), "sennit_lock_acquire");
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");

    bool good = true;
    if (peer == 1) {
        if (shared) good = sleeps_soon();
        good = poll_all(shared, lock, channel) && good;
        good = retry_all(shared) && good;
    } else {
        check(sennit_channel_wait_read(channel, SENNIT_FOREVER), "sennit_channel_wait_read");
        sennit_request request = SENNIT_REQUEST_NULL;
        check(sennit_barrier_nb(SENNIT_TEAM_WORLD, &request), "sennit_barrier_nb");
        check(sennit_wait(&request, SENNIT_FOREVER), "sennit_wait");
        check(sennit_lock_release(lock), "sennit_lock_release");
    }
    check(sennit_finalize(), "sennit_finalize");
    return good ? 0 : 1;
}
