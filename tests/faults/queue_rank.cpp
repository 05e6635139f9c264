// One rank of a job with a queue of two producers. One producer is killed while it pushes, at a
// moment that the argument, a seed, decides. Started by faults_test.py under `sennit run`; the
// taker prints "as promised" if all items it took were whole and in order.
#include <sennit/sennit.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

#include "scenes.hpp"

namespace {

using sennit::test::die;
using sennit::test::expect;
using sennit::test::require;
using sennit::test::sleep_ms;
using sennit::test::state_of;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kSurvivor = 1;  // the taker is rank 0
constexpr int kVictim = 2;
constexpr std::size_t kWords = 32;

struct Item {
    std::uint64_t words[kWords];
};

std::uint64_t word_of(int from, std::uint64_t number, std::size_t i) {
    return (number * 4 + static_cast<std::uint64_t>(from)) * 1000 + i;
}

// Words from the taker to the survivor, in shared memory.
struct Told {
    std::atomic<std::uint32_t> is_enough;
    std::atomic<std::uint32_t> may_die;
};

// The taker's side: the number of the next item of each producer.
struct Taker {
    sennit_queue queue = SENNIT_QUEUE_NULL;
    std::uint64_t next[3] = {};

    // False if no item came in that time.
    bool pop(std::int64_t timeout_ns) {
        Item item{};
        const sennit_status status = sennit_queue_pop(queue, &item, timeout_ns);
        if (status == SENNIT_ERR_TIMEOUT) return false;
        expect(status, SENNIT_OK, "pop");
        const auto from = static_cast<int>(item.words[0] / 1000 % 4);
        require(from == kSurvivor || from == kVictim, "an item is of one of the producers");
        for (std::size_t i = 0; i < kWords; ++i)
            require(item.words[i] == word_of(from, next[from], i), "items are whole and in order");
        ++next[from];
        return true;
    }
};

void take(sennit_queue queue, Told *told, pid_t victim, unsigned seed) {
    Taker taker{queue};
    std::mt19937 random(seed);
    for (char state = 'R'; state != 'Z' && state != '\0'; state = state_of(victim))
        for (int i = 0; i < 100; ++i)
            (void)taker.pop(random() % 2 == 0 ? kMillisecond : 0);
    // The victim has ended. Items that the other producer pushes from now on still arrive.
    const std::uint64_t before = taker.next[kSurvivor];
    while (taker.next[kSurvivor] < before + 1000)
        (void)taker.pop(SENNIT_FOREVER);
    told->is_enough = 1;
    for (int empty = 0; empty < 20;)
        if (!taker.pop(kMillisecond)) ++empty;
    require(taker.next[kVictim] > 0, "the victim was killed amid its pushes");
    told->may_die = 1;
    Item item{};
    sennit_status status = SENNIT_OK;
    while (status == SENNIT_OK)
        status = sennit_queue_pop(queue, &item, SENNIT_FOREVER);
    expect(status, SENNIT_ERR_PEER_LOST, "a pop when both producers have ended");
}

void put(sennit_queue_address address, const Told *told, int rank, unsigned seed) {
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    expect(sennit_queue_attach(address, &producer), SENNIT_OK, "queue_attach");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    std::mt19937 random(seed);
    const auto delay = std::chrono::microseconds(2000 + random() % 30000);
    for (std::uint64_t number = 0; rank == kVictim || told->is_enough == 0; ++number) {
        Item item{};
        for (std::size_t i = 0; i < kWords; ++i)
            item.words[i] = word_of(rank, number, i);
        expect(sennit_queue_push(producer, &item, SENNIT_FOREVER), SENNIT_OK, "push");
        // By then it has pushed an item, however late this thread starts to run.
        if (rank == kVictim && number == 0)
            std::thread([delay] {
                std::this_thread::sleep_for(delay);
                die();
            }).detach();
    }
    for (int waited_ms = 0; told->may_die == 0; ++waited_ms) {
        require(waited_ms < 10000, "the taker goes on");
        sleep_ms(1);
    }
    die();
}

// Broken by an item that is counted before it is whole, by a producer that the death of another
// holds up, or by a pop that mistakes the end of one producer for the end of all.
void run(const std::string &seed) {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const int rank = sennit_rank();
    require(sennit_size() == 3, "there are a taker and two producers");
    sennit_gptr memory = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(Told), 0, 0, &memory), SENNIT_OK, "alloc");
    auto *told = static_cast<Told *>(sennit_ptr(sennit_gptr_at(memory, 0)));
    require(told != nullptr, "the taker is reached by load and store");
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{};
    if (rank == 0)
        expect(sennit_queue_create(sizeof(Item), 4, 2, &queue, &address), SENNIT_OK,
               "queue_create");
    expect(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &address, sizeof address, SENNIT_FOREVER),
           SENNIT_OK, "broadcast");
    std::int64_t victim = getpid();
    expect(sennit_broadcast(SENNIT_TEAM_WORLD, kVictim, &victim, sizeof victim, SENNIT_FOREVER),
           SENNIT_OK, "broadcast");
    const auto number = static_cast<unsigned>(std::stoul(seed));
    if (rank != 0) return put(address, told, rank, number);
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    take(queue, told, static_cast<pid_t>(victim), number);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, [](const std::string &seed) {
        run(seed);
        (void)sennit_finalize();
    });
}
