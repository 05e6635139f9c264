// One rank of a job in which a rank dies while others wait for its signals, or at any other
// moment. Started by faults_test.py under `sennit run`; the argument names the scene. A rank
// prints "as promised" if its part went as promised.
#include <sennit/sennit.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "scenes.hpp"

namespace {

using sennit::test::die;
using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;
using sennit::test::sleep_ms;
using sennit::test::state_of;

constexpr double kSoon = 5.0;  // limit for noticing the end of a rank on a busy machine, in seconds
constexpr std::size_t kWords = 32;

// Every rank has, for each rank, two halves of memory and a signal, and has attached the blocks of
// all ranks.
struct Scene {
    int rank = 0;
    int size = 0;
    int victim = 0;  // the last rank
    std::uint64_t *memory = nullptr;
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    sennit_gptr told = SENNIT_GPTR_NULL;   // a word of rank 0: number of survivors that know
    std::vector<sennit_signal> signals;    // of this rank, for the events of rank i
    std::vector<sennit_peer_block> peers;  // at rank i, for the data of this rank

    bool is_victim() const { return rank == victim; }
    const std::uint64_t *from(int sender, std::uint64_t epoch) const {
        return memory + (static_cast<std::size_t>(sender) * 2 + epoch % 2) * kWords;
    }
};

Scene open_scene() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    Scene scene;
    scene.rank = sennit_rank();
    scene.size = sennit_size();
    scene.victim = scene.size - 1;
    const auto size = static_cast<std::size_t>(scene.size);
    const std::size_t half = kWords * sizeof(std::uint64_t);
    sennit_gptr memory = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 2 * half * size, 0, 0, &memory), SENNIT_OK, "alloc");
    scene.memory = static_cast<std::uint64_t *>(sennit_ptr(memory));
    scene.gptr = memory;
    sennit_gptr word = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &word), SENNIT_OK, "alloc");
    scene.told = sennit_gptr_at(word, 0);
    std::vector<sennit_block> blocks(size);
    for (std::size_t i = 0; i < size; ++i) {
        sennit_signal signal = SENNIT_SIGNAL_NULL;
        expect(sennit_signal_create(1, 1, 0, &signal), SENNIT_OK, "signal_create");
        scene.signals.push_back(signal);
        expect(sennit_block_init({memory, 2 * half * size}, 2 * half * i, 2 * half,
                                 SENNIT_SIGNAL_NULL, signal, &blocks[i]),
               SENNIT_OK, "block_init");
    }
    std::vector<sennit_block> theirs(size);
    expect(sennit_alltoall(SENNIT_TEAM_WORLD, blocks.data(), theirs.data(), sizeof(sennit_block),
                           SENNIT_FOREVER),
           SENNIT_OK, "alltoall");
    scene.peers.resize(size);
    for (std::size_t i = 0; i < size; ++i)
        expect(sennit_block_attach(&theirs[i], &scene.peers[i]), SENNIT_OK, "block_attach");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the first barrier");
    return scene;
}

// Survivors leave only when all know of the death: a rank that has left would be reported instead
// of the victim. Rank 0, which owns the word, leaves last.
void await_survivors(const Scene &scene) {
    const auto survivors = static_cast<std::uint64_t>(scene.victim);
    const std::uint64_t wanted = scene.rank == 0 ? 2 * survivors - 1 : survivors;
    std::uint64_t told = 0;
    expect(sennit_atomic_inc_u64(scene.told), SENNIT_OK, "inc");
    for (int i = 0; told < wanted; ++i) {
        require(i < 20000, "the other survivors are told of the end");
        expect(sennit_atomic_fetch_u64(scene.told, &told), SENNIT_OK, "fetch");
        sleep_ms(1);
    }
    if (scene.rank != 0) expect(sennit_atomic_inc_u64(scene.told), SENNIT_OK, "inc");
}

// The wait in `call` ends with PEER_LOST, soon; the error names the call and the victim.
template <class Call>
void others_wait(Call call, const char *name) {
    const Scene scene = open_scene();
    if (scene.is_victim()) {
        sleep_ms(50);
        die();
    }
    const double start = sennit_wtime();
    expect(call(scene), SENNIT_ERR_PEER_LOST, name);
    require(std::string(sennit_last_error()->operation) == name, "the error names the call");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that ended");
    require(sennit_wtime() - start < 0.05 + kSoon, "the death is noticed soon");
    await_survivors(scene);
}

void in_wait() {
    others_wait(
        [](const Scene &scene) {
            return sennit_signal_wait(scene.signals[static_cast<std::size_t>(scene.victim)],
                                      SENNIT_FOREVER);
        },
        "sennit_signal_wait");
}

sennit_waitset set_of_all(const Scene &scene) {
    sennit_waitset set = SENNIT_WAITSET_NULL;
    expect(sennit_waitset_create(&set), SENNIT_OK, "set_create");
    for (const sennit_signal signal : scene.signals)
        expect(sennit_waitset_add(set, signal, 0), SENNIT_OK, "set_add");
    return set;
}

void in_set() {
    others_wait(
        [](const Scene &scene) {
            sennit_fired fired{};
            return sennit_waitset_wait_any(set_of_all(scene), SENNIT_FOREVER, &fired);
        },
        "sennit_waitset_wait_any");
}

void in_some() {
    others_wait(
        [](const Scene &scene) {
            sennit_fired fired[4] = {};
            std::size_t count = 0;
            return sennit_waitset_wait_some(set_of_all(scene), SENNIT_FOREVER, 4, fired, &count);
        },
        "sennit_waitset_wait_some");
}

// All signals but the victim's have fired.
void in_all() {
    others_wait(
        [](const Scene &scene) {
            for (int i = 0; i < scene.victim; ++i)
                expect(sennit_signal_notify(scene.signals[static_cast<std::size_t>(i)], 0),
                       SENNIT_OK, "signal_add");
            return sennit_waitset_wait_all(set_of_all(scene), SENNIT_FOREVER);
        },
        "sennit_waitset_wait_all");
}

void in_word() {
    others_wait(
        [](const Scene &scene) {
            return sennit_signal_wait_word(scene.memory, SENNIT_NOT_EQUAL, 0, SENNIT_FOREVER);
        },
        "sennit_signal_wait_word");
}

// False if the other rank has noticed the death and left.
bool send(const Scene &scene, int to, std::uint64_t epoch) {
    std::uint64_t data[kWords];
    for (std::size_t i = 0; i < kWords; ++i)
        data[i] = epoch * 1000 + i;
    const sennit_status status = sennit_put_notify(scene.peers[static_cast<std::size_t>(to)],
                                                   epoch % 2 * sizeof data, data, sizeof data);
    if (status == SENNIT_ERR_NOT_REGISTERED || status == SENNIT_ERR_PEER_LOST) return false;
    expect(status, SENNIT_OK, "put_notify");
    return true;
}

// Data that a rank sent before it died can be used; only the next wait reports its end.
void after_sending() {
    const Scene scene = open_scene();
    if (scene.is_victim()) {
        for (int peer = 0; peer < scene.victim; ++peer)
            require(send(scene, peer, 0), "nobody has left");
        die();
    }
    sleep_ms(50);
    const sennit_signal signal = scene.signals[static_cast<std::size_t>(scene.victim)];
    expect(sennit_signal_wait(signal, SENNIT_FOREVER), SENNIT_OK, "a signal that has fired");
    require(scene.from(scene.victim, 0)[kWords - 1] == kWords - 1, "its data is there");
    expect(sennit_signal_reset(signal), SENNIT_OK, "reset");
    expect(sennit_signal_wait(signal, SENNIT_FOREVER), SENNIT_ERR_PEER_LOST, "the next epoch");
    // Its memory is still mapped here; puts to it have no reader.
    const sennit_status status =
        sennit_put_notify(scene.peers[static_cast<std::size_t>(scene.victim)], 0, &scene, 8);
    require(status == SENNIT_OK || status == SENNIT_ERR_PEER_LOST, "a put to the dead rank ends");
}

// All ranks send to all; the victim dies at a random moment. Every received message is whole.
void any_moment(unsigned seed) {
    const Scene scene = open_scene();
    std::mt19937 random(seed);
    if (scene.is_victim()) {
        const auto delay = std::chrono::microseconds(random() % 30000);
        std::thread([delay] {
            std::this_thread::sleep_for(delay);
            die();
        }).detach();
    }
    for (std::uint64_t epoch = 0;; ++epoch) {
        for (int peer = 0; peer < scene.size; ++peer)
            if (!send(scene, peer, epoch)) return;
        for (int peer = 0; peer < scene.size; ++peer) {
            const sennit_signal signal = scene.signals[static_cast<std::size_t>(peer)];
            const sennit_status status = sennit_signal_wait(signal, SENNIT_FOREVER);
            if (status == SENNIT_ERR_PEER_LOST) {
                require(sennit_last_error()->peer == scene.victim, "only the victim is lost");
                return;
            }
            expect(status, SENNIT_OK, "sennit_signal_wait");
            for (std::size_t i = 0; i < kWords; ++i)
                require(scene.from(peer, epoch)[i] == epoch * 1000 + i, "the message is whole");
        }
        for (const sennit_signal signal : scene.signals)
            expect(sennit_signal_reset(signal), SENNIT_OK, "reset");
    }
}

// The data from rank 0 for this epoch is whole; called by rank 0 and by the owner.
void check_words(const std::uint64_t *words, std::uint64_t epoch) {
    for (std::size_t i = 0; i < kWords; ++i)
        require(words[i] == epoch * 1000 + i, "the data is there");
}

// The owner is stopped outside of any call: rank 0 can still put, and still gets SIGNAL_EARLY.
void stopped_owner() {
    const Scene scene = open_scene();
    std::int64_t number = scene.is_victim() ? getpid() : 0;
    expect(
        sennit_broadcast(SENNIT_TEAM_WORLD, scene.victim, &number, sizeof number, SENNIT_FOREVER),
        SENNIT_OK, "broadcast");
    if (scene.is_victim()) {
        (void)raise(SIGSTOP);
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            int done = 0;
            expect(sennit_signal_test(scene.signals[0], &done), SENNIT_OK, "signal_test");
            require(done == 1, "it has fired meanwhile");
            check_words(scene.from(0, epoch), epoch);
            expect(sennit_signal_reset(scene.signals[0]), SENNIT_OK, "reset");
        }
        expect(sennit_signal_wait(scene.signals[0], SENNIT_FOREVER), SENNIT_OK, "epoch 2");
        check_words(scene.from(0, 2), 2);
    } else if (scene.rank == 0) {
        static const auto owner = static_cast<pid_t>(number);
        // Continues the owner even if a check fails and ends this rank, but only once: SIGCONT
        // cancels a pending SIGSTOP. LeakSanitizer stops the owner at its end by a SIGSTOP, and
        // would wait for it forever.
        static bool lies_still = true;
        (void)std::atexit([] {
            if (lies_still) (void)kill(owner, SIGCONT);
        });
        while (state_of(owner) != 'T')
            sleep_ms(1);
        const auto *there = static_cast<const std::uint64_t *>(
            sennit_ptr(sennit_gptr_at(scene.gptr, scene.victim)));
        require(there != nullptr, "the owner is reached by load and store");
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            require(send(scene, scene.victim, epoch), "the owner is there");
            check_words(there + epoch * kWords, epoch);
        }
        std::uint64_t data[kWords] = {};
        const sennit_notice third{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 0};
        const sennit_peer_block block = scene.peers[static_cast<std::size_t>(scene.victim)];
        // By the short way and by the general way.
        expect(sennit_put_notify(block, 0, data, sizeof data), SENNIT_ERR_SIGNAL_EARLY, "epoch 2");
        expect(sennit_put_notify_with(block, 0, data, sizeof data, &third), SENNIT_ERR_SIGNAL_EARLY,
               "epoch 2");
        check_words(there, 0);
        require(state_of(owner) == 'T', "the owner has been stopped all the while");
        lies_still = false;
        require(kill(owner, SIGCONT) == 0, "the owner goes on");
        for (std::size_t i = 0; i < kWords; ++i)
            data[i] = 2000 + i;
        sennit_status status = SENNIT_ERR_SIGNAL_EARLY;
        for (; status == SENNIT_ERR_SIGNAL_EARLY; sleep_ms(1))
            status = sennit_put_notify_with(block, 0, data, sizeof data, &third);
        expect(status, SENNIT_OK, "epoch 2, repeated");
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

// All ranks run plans towards all others until the victim is missing: the victim's runs end like
// the others', and a plan can be given up.
void in_plan() {
    const Scene scene = open_scene();
    std::uint64_t data[kWords] = {};
    sennit_plan plan = SENNIT_PLAN_NULL;
    expect(sennit_plan_create(&plan), SENNIT_OK, "plan_create");
    for (const sennit_peer_block peer : scene.peers)
        expect(sennit_plan_put(plan, peer, 0, data, sizeof data), SENNIT_OK, "plan_put");
    expect(sennit_plan_commit(plan, 0, 1), SENNIT_OK, "plan_commit");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    // No rank is more than one epoch ahead of another, so no start is early.
    sennit_status status = SENNIT_OK;
    for (int run = 0; status == SENNIT_OK; ++run) {
        if (scene.is_victim() && run == 20) die();
        status = sennit_plan_start(plan);
        if (status == SENNIT_OK) status = sennit_plan_wait(plan, SENNIT_FOREVER);
        for (const sennit_signal signal : scene.signals)
            if (status == SENNIT_OK) status = sennit_signal_wait(signal, SENNIT_FOREVER);
        for (const sennit_signal signal : scene.signals)
            if (status == SENNIT_OK) status = sennit_signal_reset(signal);
    }
    // A faster survivor has already left.
    if (status != SENNIT_ERR_NOT_REGISTERED) expect(status, SENNIT_ERR_PEER_LOST, "a run");
    require(!scene.is_victim(), "the victim has died");
    expect(sennit_plan_destroy(plan), SENNIT_OK, "plan_destroy");
}

// Repeats the call while it is early; it ends soon, and the error names the rank that does not
// come.
template <class Call>
void repeat_to_dead(const Scene &scene, const char *name, Call call) {
    const double start = sennit_wtime();
    sennit_status status = SENNIT_ERR_SIGNAL_EARLY;
    while (status == SENNIT_ERR_SIGNAL_EARLY && sennit_wtime() - start < kSoon)
        status = call();
    expect(status, SENNIT_ERR_PEER_LOST, name);
    require(std::string(sennit_last_error()->operation) == name, "the error names the call");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that ended");
}

// The victim takes two epochs and dies. The other ranks are then one epoch early forever, with
// each call that counts an event.
void early_for_ever() {
    const Scene scene = open_scene();
    const auto victim = static_cast<std::size_t>(scene.victim);
    // At index i: the victim's signal for the events of rank i.
    std::vector<sennit_signal> all(static_cast<std::size_t>(scene.size));
    expect(sennit_alltoall(SENNIT_TEAM_WORLD, scene.signals.data(), all.data(),
                           sizeof(sennit_signal), SENNIT_FOREVER),
           SENNIT_OK, "alltoall");
    const sennit_signal theirs = all[victim];
    const sennit_peer_block block = scene.peers[victim];
    std::uint64_t data[kWords] = {};
    sennit_plan plan = SENNIT_PLAN_NULL;
    expect(sennit_plan_create(&plan), SENNIT_OK, "plan_create");
    expect(sennit_plan_put(plan, block, 0, data, sizeof data), SENNIT_OK, "plan_put");
    expect(sennit_plan_commit(plan, 2, 1), SENNIT_OK, "plan_commit");
    if (!scene.is_victim())
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
            require(send(scene, scene.victim, epoch), "the owner is there");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    if (scene.is_victim()) {
        sleep_ms(20);
        die();
    }
    repeat_to_dead(scene, "sennit_put_notify",
                   [&] { return sennit_put_notify(block, 0, data, sizeof data); });
    const sennit_notice third{theirs, SENNIT_SIGNAL_NULL, 2, 0};
    repeat_to_dead(scene, "sennit_put_notify_with",
                   [&] { return sennit_put_notify_with(block, 0, data, sizeof data, &third); });
    repeat_to_dead(scene, "sennit_get_notify_with",
                   [&] { return sennit_get_notify_with(data, block, 0, sizeof data, &third); });
    repeat_to_dead(scene, "sennit_put_notify_batch", [&] {
        sennit_notify_part part{block, SENNIT_OK, 0, data, sizeof data, nullptr};
        std::size_t done = 0;
        return sennit_put_notify_batch(1, &part, &done);
    });
    repeat_to_dead(scene, "sennit_signal_notify", [&] { return sennit_signal_notify(theirs, 2); });
    repeat_to_dead(scene, "sennit_plan_start", [&] { return sennit_plan_start(plan); });
    expect(sennit_plan_destroy(plan), SENNIT_OK, "plan_destroy");
}

// Each rank has a queue with the victim as its only producer.
void queue_of_dead_producer() {
    const Scene scene = open_scene();
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address mine{};
    expect(sennit_queue_create(8, 4, 1, &queue, &mine), SENNIT_OK, "queue_create");
    std::vector<sennit_queue_address> all(static_cast<std::size_t>(scene.size));
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all.data(), sizeof mine, SENNIT_FOREVER),
           SENNIT_OK, "allgather");
    if (scene.is_victim()) {
        for (int peer = 0; peer < scene.victim; ++peer) {
            sennit_producer producer = SENNIT_PRODUCER_NULL;
            expect(sennit_queue_attach(all[static_cast<std::size_t>(peer)], &producer), SENNIT_OK,
                   "queue_attach");
            for (std::uint64_t word = 0; word < 3; ++word)
                expect(sennit_queue_push(producer, &word, SENNIT_FOREVER), SENNIT_OK, "push");
        }
        sleep_ms(30);
        die();
    }
    std::uint64_t got = 0;
    for (std::uint64_t word = 0; word < 3; ++word) {
        expect(sennit_queue_pop(queue, &got, SENNIT_FOREVER), SENNIT_OK, "pop");
        require(got == word, "the dead rank's items come out first");
    }
    expect(sennit_queue_pop(queue, &got, SENNIT_FOREVER), SENNIT_ERR_PEER_LOST, "the next pop");
    // Another producer can take its place.
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    expect(sennit_queue_attach(mine, &producer), SENNIT_OK, "attach in the place of the dead rank");
    expect(sennit_queue_push(producer, &got, 0), SENNIT_OK, "push");
    expect(sennit_queue_pop(queue, &got, 0), SENNIT_OK, "pop");
}

// All ranks fill the victim's queue and wait for a free place.
void queue_of_dead_taker() {
    const Scene scene = open_scene();
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address mine{};
    expect(sennit_queue_create(8, 2, static_cast<unsigned>(scene.size), &queue, &mine), SENNIT_OK,
           "queue_create");
    expect(sennit_broadcast(SENNIT_TEAM_WORLD, scene.victim, &mine, sizeof mine, SENNIT_FOREVER),
           SENNIT_OK, "broadcast");
    if (scene.is_victim()) {
        sleep_ms(50);
        die();
    }
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    expect(sennit_queue_attach(mine, &producer), SENNIT_OK, "queue_attach");
    const std::uint64_t word = 7;
    sennit_status status = SENNIT_OK;
    for (int i = 0; i < 3 && status == SENNIT_OK; ++i)
        status = sennit_queue_push(producer, &word, SENNIT_FOREVER);
    expect(status, SENNIT_ERR_PEER_LOST, "a push that waits for a place");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that ended");
}

void run(const std::string &what) {
    if (what == "wait") return in_wait();
    if (what == "set") return in_set();
    if (what == "some") return in_some();
    if (what == "all") return in_all();
    if (what == "plan") return in_plan();
    if (what == "word") return in_word();
    if (what == "after_sending") return after_sending();
    if (what == "early") return early_for_ever();
    if (what == "stopped_owner") return stopped_owner();
    if (what == "dead_producer") return queue_of_dead_producer();
    if (what == "dead_taker") return queue_of_dead_taker();
    if (what.rfind("any_moment:", 0) == 0)
        return any_moment(static_cast<unsigned>(std::stoul(what.substr(11))));
    fail("there is no scene " + what);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, [](const std::string &what) {
        run(what);
        // This test does not check whether finalize notices the dead rank.
        (void)sennit_finalize();
    });
}
