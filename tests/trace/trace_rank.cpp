// Ranks for the cases in cases_trace.py and cases_stats.py. The first word says what they do:
//     calls [THREADS PATHS]  one call of each kind, in a known order; with THREADS ranks are
//                            threads of this process
//     counts [THREADS PATHS] a known number of calls; compares each counter here
//     moved                  plans, batches, queues and channels; compares their counters here
//     die [stay]             rank 1 kills itself after 5 puts, the others wait for it in a barrier;
//                            with "stay" the others live until they are ended
//     stay FILE              all but rank 0 wait in a barrier until FILE exists
//     hang FILE [plans|note] rank 2 waits for an event of each other rank; rank 0 also tries to
//                            send one of epoch 3, rank 1 sends none of epoch 1 until FILE exists;
//                            with "note" rank 1 notes a text, and removes it when FILE.2 exists
//     skip FILE              rank 2 waits for events of epoch 1; the others send some of epoch 2
//                            when FILE exists, and of epoch 1 when FILE.2 exists
//     locked FILE            rank 0 holds a lock until FILE exists, the others wait for it
//     crowd FILE             33 threads wait until FILE exists; when FILE.full exists, all places
//                            of open operations are taken; the last thread has none, and a note
//     many N                 N puts of 8 bytes, one of 16; rank 0 prints a count; all change folder
//     threads                4 threads of each rank make 100 puts of 8 bytes each
//     meet                   three barriers and nothing else
//     print                  sennit_stats_print() with the program's own log function
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

void ok(sennit_status status, const char *what) {
    expect(status, SENNIT_OK, what);
}

void barrier() {
    ok(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
}

sennit_gptr allocate(std::size_t bytes) {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    ok(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &gptr), "alloc");
    return gptr;
}

void wait_for(sennit_request *request) {
    ok(sennit_wait(request, SENNIT_FOREVER), "wait");
}

void puts_and_gets(sennit_gptr there) {
    char buffer[256] = "";
    sennit_request request = SENNIT_REQUEST_NULL;
    const sennit_box box{8, {4, 1, 1}, {16, 0, 0}, {8, 0, 0}};
    const sennit_piece piece{0, 0, 24};
    int is_done = 0;
    ok(sennit_put(there, buffer, 8), "put");
    ok(sennit_get(buffer, there, 100), "get");
    ok(sennit_put_nb(there, buffer, 16, &request), "put_nb");
    ok(sennit_test(&request, &is_done), "test");
    wait_for(&request);
    ok(sennit_get_nbi(buffer, there, 32), "get_nbi");
    ok(sennit_put_strided(there, buffer, &box), "put_strided");
    ok(sennit_get_indexed(buffer, there, 1, &piece), "get_indexed");
    ok(sennit_flush(there.rank, SENNIT_FOREVER), "flush");
    ok(sennit_fence(), "fence");
}

void atomics(sennit_gptr there) {
    std::int64_t old = 0;
    const std::int64_t values[3] = {1, 2, 3};
    ok(sennit_atomic_fetch_add_i64(there, 1, &old), "fetch_add");
    ok(sennit_atomic_set_i64(there, 1), "set");
    ok(sennit_atomic_compare_swap_i64(there, 1, 2, &old), "compare_swap");
    ok(sennit_accumulate(there, values, 3, SENNIT_INT64, SENNIT_SUM), "accumulate");
}

void locks_and_collectives() {
    sennit_lock lock{};
    ok(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "lock_create");
    ok(sennit_lock_acquire(lock, SENNIT_FOREVER), "lock_acquire");
    ok(sennit_lock_release(lock), "lock_release");
    barrier();
    ok(sennit_lock_destroy(lock), "lock_destroy");
    sennit_team team = SENNIT_TEAM_NULL;
    ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), "team_split");
    ok(sennit_team_destroy(team), "team_destroy");
    char bytes[40] = "";
    ok(sennit_broadcast(SENNIT_TEAM_WORLD, 0, bytes, sizeof bytes, SENNIT_FOREVER), "broadcast");
    sennit_request request = SENNIT_REQUEST_NULL;
    ok(sennit_barrier_nb(SENNIT_TEAM_WORLD, &request), "barrier_nb");
    ok(sennit_wait_all(1, &request, SENNIT_FOREVER), "wait_all");
}

int next_rank() {
    return (sennit_rank() + 1) % sennit_size();
}

// The values of all ranks, by rank.
template <class Value>
std::vector<Value> from_all(const Value &mine) {
    std::vector<Value> all(static_cast<std::size_t>(sennit_size()));
    ok(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all.data(), sizeof mine, SENNIT_FOREVER),
       "allgather");
    return all;
}

// A notified message to the next rank, and a message by a plan.
void signals_and_plans(sennit_gptr memory) {
    const char data[24] = "";
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_block mine{};
    sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
    sennit_plan plan = SENNIT_PLAN_NULL;
    ok(sennit_signal_create(1, 1, 0, &arrived), "signal_create");
    ok(sennit_block_init({sennit_gptr_at(memory, sennit_rank()), 4096}, 512, 64, SENNIT_SIGNAL_NULL,
                         arrived, &mine),
       "block_init");
    const std::vector<sennit_block> blocks = from_all(mine);
    ok(sennit_block_attach(&blocks[static_cast<std::size_t>(next_rank())], &there), "block_attach");
    ok(sennit_put_notify(there, 0, data, sizeof data), "put_notify");
    ok(sennit_signal_wait(arrived, SENNIT_FOREVER), "signal_wait");
    ok(sennit_signal_reset(arrived), "signal_reset");
    barrier();
    ok(sennit_plan_create(&plan), "plan_create");
    ok(sennit_plan_put(plan, there, 0, data, sizeof data), "plan_put");
    ok(sennit_plan_commit(plan, 1, 1), "plan_commit");
    ok(sennit_plan_start(plan), "plan_start");
    ok(sennit_plan_wait(plan, SENNIT_FOREVER), "plan_wait");
    ok(sennit_signal_wait(arrived, SENNIT_FOREVER), "signal_wait");
    barrier();
    ok(sennit_plan_destroy(plan), "plan_destroy");
    ok(sennit_block_detach(there), "block_detach");
    ok(sennit_signal_destroy(arrived), "signal_destroy");
}

// Sends a word to the next rank's queue.
void queues() {
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address mine{};
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    std::uint64_t word = 7;
    ok(sennit_queue_create(sizeof word, 2, 1, &queue, &mine), "queue_create");
    const std::vector<sennit_queue_address> all = from_all(mine);
    ok(sennit_queue_attach(all[static_cast<std::size_t>(next_rank())], &producer), "queue_attach");
    ok(sennit_queue_push(producer, &word, SENNIT_FOREVER), "queue_push");
    ok(sennit_queue_pop(queue, &word, SENNIT_FOREVER), "queue_pop");
    barrier();
    ok(sennit_queue_detach(producer), "queue_detach");
    barrier();
    ok(sennit_queue_destroy(queue), "queue_destroy");
}

// Passes a flag around all ranks.
void channels() {
    const int size = sennit_size();
    const int targets[2] = {(sennit_rank() + 1) % size, (sennit_rank() + size - 1) % size};
    void *const buffers[2] = {nullptr, nullptr};
    const std::size_t bytes[2] = {0, 0};
    const sennit_channel_ends ends{2, targets, buffers, bytes};
    sennit_channel both[2];
    ok(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, nullptr, both), "open");
    const sennit_channel back = size > 2 ? both[1] : both[0];
    ok(sennit_channel_have_written(both[0]), "have_written");
    ok(sennit_channel_wait_read(back, SENNIT_FOREVER), "wait_read");
    ok(sennit_channel_have_read(back), "have_read");
    ok(sennit_channel_close(both, 2, SENNIT_FOREVER), "close");
}

void calls(bool has_atomics, bool has_channels) {
    const sennit_gptr all = allocate(4096);
    const sennit_gptr there = sennit_gptr_at(all, next_rank());
    barrier();
    puts_and_gets(there);
    if (has_atomics) atomics(there);
    barrier();
    if (has_atomics) locks_and_collectives();
    if (has_atomics) signals_and_plans(all);
    // A queue needs load and store.
    if (has_atomics && has_channels) queues();
    if (has_channels) channels();
    ok(sennit_free(all), "free");
}

sennit_counters counters_of(int rank, sennit_path path) {
    sennit_counters counters{};
    ok(sennit_stats_get(rank, path, &counters), "stats_get");
    return counters;
}

void counts() {
    const std::uint64_t moved = counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE).bytes;
    const sennit_gptr all = allocate(4096);
    barrier();
    require(counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE).bytes == moved,
            "an allocation moves nothing");
    const int peer = next_rank();
    sennit_path path = SENNIT_PATH_NONE;
    ok(sennit_peer_path(peer, &path), "peer_path");
    const sennit_counters before = counters_of(peer, path);
    const sennit_counters several = counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE);
    char buffer[128] = "";
    for (int i = 0; i < 100; ++i)
        ok(sennit_put(sennit_gptr_at(all, peer), buffer, 8), "put");
    for (int i = 0; i < 10; ++i)
        ok(sennit_get(buffer, sennit_gptr_at(all, peer), 100), "get");
    const sennit_counters after = counters_of(peer, path);
    require(after.operations - before.operations == 110, "110 operations were counted");
    require(after.bytes - before.bytes == 1800, "1800 bytes were counted");
    const sennit_counters sum = counters_of(peer, SENNIT_PATH_NONE);
    require(sum.operations == after.operations, "this path is the only one to that peer");
    barrier();
    const sennit_counters then = counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE);
    require(then.operations - several.operations == 1, "the barrier is with several");
    ok(sennit_free(all), "free");
}

// The counts for the next rank, and for several ranks, since the object was made.
class Counted {
  public:
    void expect(std::uint64_t operations, std::uint64_t bytes, const char *what) const {
        const sennit_counters now = counters_of(next_rank(), SENNIT_PATH_NONE);
        const sennit_counters several = counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE);
        require(now.bytes - before_.bytes == bytes, what);
        require(now.operations - before_.operations == operations, what);
        require(several.bytes == several_.bytes, what);
    }

  private:
    sennit_counters before_ = counters_of(next_rank(), SENNIT_PATH_NONE);
    sennit_counters several_ = counters_of(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE);
};

void moves_of_plans_and_batches(sennit_gptr memory) {
    const char data[64] = "";
    sennit_block mine{};
    sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
    sennit_plan plan = SENNIT_PLAN_NULL;
    ok(sennit_block_init({sennit_gptr_at(memory, sennit_rank()), 4096}, 0, 512, SENNIT_SIGNAL_NULL,
                         SENNIT_SIGNAL_NULL, &mine),
       "block_init");
    const std::vector<sennit_block> blocks = from_all(mine);
    ok(sennit_block_attach(&blocks[static_cast<std::size_t>(next_rank())], &there), "block_attach");
    ok(sennit_plan_create(&plan), "plan_create");
    ok(sennit_plan_put(plan, there, 0, data, 24), "plan_put");
    ok(sennit_plan_put(plan, there, 100, data, 8), "plan_put");
    ok(sennit_plan_commit(plan, 0, 1), "plan_commit");
    const Counted start;
    ok(sennit_plan_start(plan), "plan_start");
    start.expect(2, 32, "a plan counts its puts with their peer");
    ok(sennit_plan_wait(plan, SENNIT_FOREVER), "plan_wait");
    ok(sennit_plan_destroy(plan), "plan_destroy");
    char *const source = const_cast<char *>(data);
    sennit_notify_part parts[2] = {{there, SENNIT_OK, 0, source, 16, nullptr},
                                   {there, SENNIT_OK, 16, source, 4, nullptr}};
    std::size_t done = 0;
    const Counted batch;
    ok(sennit_put_notify_batch(2, parts, &done), "put_notify_batch");
    batch.expect(2, 20, "a batch counts its puts with their peer");
    ok(sennit_block_detach(there), "block_detach");
}

void moves_of_queues() {
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address mine{};
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    const std::uint64_t words[3] = {1, 2, 3};
    std::size_t pushed = 0;
    ok(sennit_queue_create(sizeof words[0], 8, 1, &queue, &mine), "queue_create");
    const std::vector<sennit_queue_address> all = from_all(mine);
    ok(sennit_queue_attach(all[static_cast<std::size_t>(next_rank())], &producer), "queue_attach");
    const Counted push;
    ok(sennit_queue_push(producer, words, SENNIT_FOREVER), "queue_push");
    ok(sennit_queue_push_many(producer, words, 3, SENNIT_FOREVER, &pushed), "queue_push_many");
    push.expect(2, 32, "pushes count with the owner of the queue");
    barrier();
    ok(sennit_queue_detach(producer), "queue_detach");
    barrier();
    ok(sennit_queue_destroy(queue), "queue_destroy");
}

// With two ranks: a message to the next rank, and one from it.
void moves_of_channels(unsigned flags) {
    std::vector<char> buffer(3 << 12);
    const int target = next_rank();
    void *const begin = buffer.data();
    const std::size_t bytes = buffer.size();
    const sennit_channel_ends ends{1, &target, &begin, &bytes};
    sennit_channel channel = SENNIT_CHANNEL_NULL;
    sennit_channel_info info{};
    ok(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, flags, SENNIT_FOREVER, nullptr, &channel),
       "open");
    ok(sennit_channel_query(channel, &info), "query");
    const bool is_ready = (flags & SENNIT_CHANNEL_NOT_READY) == 0;
    const Counted hand_over;
    if (!is_ready) {
        ok(sennit_channel_have_read(channel), "have_read, to be ready");
        ok(sennit_channel_wait_write(channel, SENNIT_FOREVER), "wait_write");
    }
    ok(sennit_channel_have_written(channel), "have_written");
    ok(sennit_channel_wait_read(channel, SENNIT_FOREVER), "wait_read");
    ok(sennit_channel_have_read(channel), "have_read");
    hand_over.expect(is_ready ? 3 : 5, info.is_mirror != 0 ? bytes : 0,
                     "a copy of a mirror counts once");
    ok(sennit_channel_close(&channel, 1, SENNIT_FOREVER), "close");
}

void moved(bool has_pointers) {
    const sennit_gptr all = allocate(4096);
    if (has_pointers) {
        moves_of_plans_and_batches(all);
        moves_of_queues();
    }
    for (const unsigned flags : {0u, SENNIT_CHANNEL_NOT_READY}) {
        moves_of_channels(flags | SENNIT_CHANNEL_MIRROR);
        moves_of_channels(flags | SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL);
    }
    ok(sennit_free(all), "free");
}

// Runs `body` in processes under a launcher, or in threads.
void as_ranks(int argc, char **argv, const std::function<void()> &body) {
    if (argc <= 2) {
        ok(sennit_init(nullptr), "init");
        body();
        ok(sennit_finalize(), "finalize");
        return;
    }
    const int size = std::atoi(argv[2]);
    std::vector<sennit_bootstrap> bootstraps(static_cast<std::size_t>(size));
    ok(sennit_bootstrap_inproc_create(size, bootstraps.data()), "bootstrap");
    std::vector<std::thread> threads;
    for (int i = 0; i < size; ++i) {
        threads.emplace_back([&, i] {
            sennit_options options = SENNIT_OPTIONS_INIT;
            options.bootstrap = &bootstraps[static_cast<std::size_t>(i)];
            options.paths = argv[3];
            ok(sennit_init(&options), "init");
            body();
            ok(sennit_finalize(), "finalize");
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    ok(sennit_bootstrap_inproc_destroy(size, bootstraps.data()), "destroy");
}

void die(bool others_stay) {
    ok(sennit_init(nullptr), "init");
    const sennit_gptr all = allocate(64);
    barrier();
    const std::int64_t value = 1;
    if (sennit_rank() == 1) {
        for (int i = 0; i < 5; ++i)
            ok(sennit_put(sennit_gptr_at(all, 0), &value, sizeof value), "put");
        // The counters are written every tenth of a second.
        sennit::test::sleep_ms(400);
        (void)kill(getpid(), SIGKILL);
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_ERR_PEER_LOST, "barrier");
    while (others_stay)  // until the launcher ends them
        sennit::test::sleep_ms(100);
    (void)sennit_finalize();
}

void await_file(const std::string &file) {
    struct stat now {};
    while (stat(file.c_str(), &now) != 0)
        sennit::test::sleep_ms(5);
}

void stay(const char *file) {
    ok(sennit_init(nullptr), "init");
    if (sennit_rank() == 0) await_file(file);
    barrier();
    ok(sennit_finalize(), "finalize");
}

// Sends events of rank 2's signal: by notifying calls, or by runs of a plan that puts a word.
class Sender {
  public:
    Sender(sennit_signal mine, bool by_plans) : by_plans_(by_plans) {
        if (by_plans_) {
            const sennit_gptr memory = sennit_gptr_at(allocate(64), sennit_rank());
            sennit_block block{};
            ok(sennit_block_init({memory, 64}, 0, 64, SENNIT_SIGNAL_NULL, mine, &block),
               "block_init");
            ok(sennit_block_attach(&from_all(block)[2], &there_), "block_attach");
        } else {
            signal_ = from_all(mine)[2];
        }
    }
    sennit_status send(std::uint64_t epoch) const {
        if (!by_plans_) return sennit_signal_notify(signal_, epoch);
        sennit_plan plan = SENNIT_PLAN_NULL;
        ok(sennit_plan_create(&plan), "plan_create");
        ok(sennit_plan_put(plan, there_, 0, &word_, sizeof word_), "plan_put");
        ok(sennit_plan_commit(plan, epoch, 1), "plan_commit");
        const sennit_status status = sennit_plan_start(plan);
        if (status == SENNIT_OK) ok(sennit_plan_wait(plan, SENNIT_FOREVER), "plan_wait");
        ok(sennit_plan_destroy(plan), "plan_destroy");
        return status;
    }

  private:
    bool by_plans_;
    sennit_signal signal_ = SENNIT_SIGNAL_NULL;
    sennit_peer_block there_ = SENNIT_PEER_BLOCK_NULL;
    std::uint64_t word_ = 1;
};

void hang(const char *file, const std::string &how) {
    const bool by_plans = how == "plans";
    ok(sennit_init(nullptr), "init");
    sennit_signal mine = SENNIT_SIGNAL_NULL;
    ok(sennit_signal_create(2, 2, 0, &mine), "create");
    const Sender sender(mine, by_plans);
    if (sennit_rank() != 2) ok(sender.send(0), "epoch 0");
    if (sennit_rank() == 2) {
        ok(sennit_signal_wait(mine, SENNIT_FOREVER), "wait");
        ok(sennit_signal_reset(mine), "reset");
    }
    barrier();
    if (sennit_rank() == 0) {
        ok(sender.send(1), "epoch 1");
        expect(sender.send(3), SENNIT_ERR_SIGNAL_EARLY, "epoch 3");
    }
    const std::string go = file;
    if (sennit_rank() == 1 && how == "note") {
        ok(sennit_trace_note("reads a file"), "note");
        await_file(go + ".2");
        ok(sennit_trace_note(""), "note");
    }
    if (sennit_rank() != 2) await_file(go);
    if (sennit_rank() == 1) ok(sender.send(1), "epoch 1");
    if (sennit_rank() == 2) ok(sennit_signal_wait(mine, SENNIT_FOREVER), "wait");
    ok(sennit_finalize(), "finalize");
}

void skip(const std::string &file) {
    ok(sennit_init(nullptr), "init");
    sennit_signal mine = SENNIT_SIGNAL_NULL;
    ok(sennit_signal_create(2, 2, 0, &mine), "create");
    const Sender sender(mine, false);
    if (sennit_rank() == 2) {
        ok(sennit_signal_wait(mine, SENNIT_FOREVER), "wait");
        ok(sennit_signal_reset(mine), "reset");
        barrier();
        ok(sennit_signal_wait(mine, SENNIT_FOREVER), "wait");
    } else {
        ok(sender.send(0), "epoch 0");
        barrier();
        await_file(file);
        ok(sender.send(2), "epoch 2");
        await_file(file + ".2");
        ok(sender.send(1), "epoch 1");
    }
    ok(sennit_finalize(), "finalize");
}

void locked(const char *file) {
    ok(sennit_init(nullptr), "init");
    sennit_lock lock{};
    ok(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "lock_create");
    if (sennit_rank() == 0) ok(sennit_lock_acquire(lock, SENNIT_FOREVER), "lock_acquire");
    barrier();
    if (sennit_rank() == 0) await_file(file);
    if (sennit_rank() != 0) ok(sennit_lock_acquire(lock, SENNIT_FOREVER), "lock_acquire");
    ok(sennit_lock_release(lock), "lock_release");
    ok(sennit_finalize(), "finalize");
}

void crowd(const std::string &file) {
    static std::atomic<int> polls[33];
    static std::atomic<bool> is_over{false};
    const auto poll = [](void *mine) {
        if (mine == &polls[32]) ok(sennit_trace_note("inside of a call"), "note");
        ++*static_cast<std::atomic<int> *>(mine);
        return is_over ? 1 : 0;
    };
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    ok(sennit_init(&options), "init");
    ok(sennit_trace_note("outside of calls"), "note");
    std::vector<std::thread> threads;
    for (std::atomic<int> &mine : polls) {
        threads.emplace_back([&] { ok(sennit_wait_until(poll, &mine, SENNIT_FOREVER), "wait"); });
        // The call has a place, and from the second poll on the wait inside it has another one.
        while (mine < 2)
            sennit::test::sleep_ms(1);
    }
    require(std::fclose(std::fopen((file + ".full").c_str(), "w")) == 0, "a file is made");
    await_file(file);
    is_over = true;
    for (std::thread &thread : threads)
        thread.join();
    ok(sennit_finalize(), "finalize");
}

void many(int count) {
    ok(sennit_init(nullptr), "init");
    const sennit_gptr all = allocate(64);
    const std::int64_t values[2] = {1, 2};
    for (int i = 0; i < count; ++i)
        ok(sennit_put(sennit_gptr_at(all, next_rank()), values, 8), "put");
    ok(sennit_put(sennit_gptr_at(all, next_rank()), values, 16), "put");
    if (sennit_rank() == 0) {
        /* snippet: counters */
        sennit_counters counters;
        if (sennit_stats_get(1, SENNIT_PATH_NONE, &counters) == SENNIT_OK)
            printf("%llu bytes to and from rank 1\n", (unsigned long long)counters.bytes);
        /* end of snippet */
    }
    require(chdir("/") == 0, "a program may change its folder");
    ok(sennit_finalize(), "finalize");
}

void threads() {
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    ok(sennit_init(&options), "init");
    const sennit_gptr all = allocate(64);
    std::vector<std::thread> makers;
    for (std::int64_t thread = 0; thread < 4; ++thread) {
        makers.emplace_back([&, thread] {
            const std::int64_t value = 1;
            const sennit_gptr mine = sennit_gptr_add(sennit_gptr_at(all, next_rank()), 8 * thread);
            for (int i = 0; i < 100; ++i)
                ok(sennit_put(mine, &value, sizeof value), "put");
        });
    }
    for (std::thread &maker : makers)
        maker.join();
    const sennit_counters counters = counters_of(next_rank(), SENNIT_PATH_NONE);
    require(counters.operations == 400 && counters.bytes == 3200, "no put of a thread is lost");
    ok(sennit_finalize(), "finalize");
}

void print() {
    ok(sennit_init(nullptr), "init");
    static int lines = 0;
    const auto count = [](void *, sennit_log_level, const char *text) {
        if (std::strstr(text, " operation") != nullptr) ++lines;
    };
    ok(sennit_log_set(count, nullptr, SENNIT_LOG_WARNING), "log_set");
    barrier();
    ok(sennit_stats_print(), "print");
    require(lines == 1, "one line tells of the barrier");
    ok(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), "log_set");
    ok(sennit_finalize(), "finalize");
}

}  // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const char *paths = argc > 3 ? argv[3] : std::getenv("SENNIT_PATHS");
    // Atomic operations need load and store, or a path with messages.
    const bool has_atomics = paths == nullptr || std::strstr(paths, "cma") == nullptr;
    if (what == "calls") {
        const bool has_channels = paths == nullptr || std::strstr(paths, "sim") == nullptr;
        as_ranks(argc, argv, [&] { calls(has_atomics, has_channels); });
    } else if (what == "counts") {
        as_ranks(argc, argv, counts);
    } else if (what == "moved") {
        as_ranks(argc, argv, [&] { moved(has_atomics); });
    } else if (what == "die") {
        die(argc > 2);
    } else if (what == "stay") {
        stay(argv[2]);
    } else if (what == "hang") {
        hang(argv[2], argc > 3 ? argv[3] : "");
    } else if (what == "skip") {
        skip(argv[2]);
    } else if (what == "locked") {
        locked(argv[2]);
    } else if (what == "crowd") {
        crowd(argv[2]);
    } else if (what == "many") {
        many(std::atoi(argv[2]));
    } else if (what == "meet") {
        as_ranks(2, argv, [] {
            for (int i = 0; i < 3; ++i)
                barrier();
        });
    } else if (what == "threads") {
        threads();
    } else if (what == "print") {
        print();
    } else {
        sennit::test::fail("which of the words at the top of trace_rank.cpp?");
    }
    return 0;
}
