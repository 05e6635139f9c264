// Ranks that count their wake calls to the kernel, and whose sleeps end only by a wake. Normally
// Sennit's sleeps end by themselves after some milliseconds, so a surplus wake or a missing one
// would only cost time. Two ranks under `sennit run`; the argument names the scene.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <string>

#include "scenes.hpp"

namespace {

using Word = std::atomic<std::uint32_t>;

std::atomic<unsigned> wakes{0};       // wake calls of this rank
std::atomic<Word *> asleep{nullptr};  // if set, sleeps end only by a wake, and each sleep raises it

}  // namespace

// Replaces the C library's function, for Sennit too.
extern "C" long syscall(long number, ...) noexcept {
    using Function = long (*)(long, ...);
    static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));
    long words[6];
    va_list list;
    va_start(list, number);
    for (long &word : words)
        word = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) ++wakes;
    Word *counted = asleep.load();
    if (number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT && counted != nullptr) {
        words[3] = 0;  // no timeout
        counted->fetch_add(1);
    }
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

namespace {

using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;

constexpr unsigned kMessages = 1000;
constexpr unsigned kSleeps = 12;

// Words from one rank to the other without calls of Sennit, which might wait or wake.
struct Told {
    Word is_awake;  // out of the barrier, and in no wait from here on
    Word is_over;   // has done its part of the scene, and waits next
    Word sleeps;    // number of sleeps so far
};

struct Pair {
    bool is_owner = sennit_rank() == 0;
    sennit_gptr memory = SENNIT_GPTR_NULL;
    Told *mine = nullptr;
    Told *other = nullptr;

    Pair() {
        require(sennit_size() == 2, "there are two ranks");
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &memory), SENNIT_OK, "alloc");
        mine = static_cast<Told *>(sennit_ptr(sennit_gptr_at(memory, sennit_rank())));
        other = static_cast<Told *>(sennit_ptr(sennit_gptr_at(memory, 1 - sennit_rank())));
        require(other != nullptr, "the other rank is reached by load and store");
    }
    // Afterwards neither rank is in a wait of Sennit.
    void meet() const {
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
        mine->is_awake = 1;
        while (other->is_awake == 0)
            (void)usleep(10);
    }
    void part() const {
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
        mine->is_awake = 0;
        mine->is_over = 0;
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    }
};

// One rank runs `act` while the other polls with `poll`, a call that never waits: nobody is woken.
template <class Act, class Poll>
void while_nobody_sleeps(const Pair &pair, bool acts, Act act, Poll poll) {
    pair.meet();
    const unsigned before = wakes;
    for (unsigned i = 0; i < kMessages; ++i)
        acts ? act(i) : poll(i);
    // The faster rank must not sleep in the barrier while the other is still in the loop.
    pair.mine->is_over = 1;
    while (pair.other->is_over == 0)
        (void)usleep(10);
    require(wakes == before,
            "no rank sleeps, but " + std::to_string(wakes - before) + " wake calls were made");
    pair.part();
}

// One rank runs `act` while the other sleeps in `wait`: it makes exactly one wake call.
template <class Act, class Wait>
void while_the_other_sleeps(const Pair &pair, bool acts, Act act, Wait wait) {
    const unsigned first = pair.other->sleeps;
    pair.meet();
    if (!acts) asleep = &pair.mine->sleeps;
    for (unsigned i = 0; i < kSleeps; ++i) {
        if (!acts) {
            wait(i);
            continue;
        }
        while (pair.other->sleeps == first + i)
            (void)usleep(10);
        const unsigned before = wakes;
        act(i);
        require(wakes == before + 1, "the other sleeps, but this rank made " +
                                         std::to_string(wakes - before) + " wake calls");
    }
    asleep = nullptr;
    pair.part();
}

// Events of each kind: put and get by the short way and by the general way, batch, plan, add.
class Sender {
  public:
    explicit Sender(const Pair &pair) {
        sennit_block blocks[2];
        expect(sennit_signal_create(1, 1, 0, &signal), SENNIT_OK, "signal_create");
        expect(sennit_block_init({sennit_gptr_at(pair.memory, sennit_rank()), 4096}, 1024, 64,
                                 signal, signal, &blocks[0]),
               SENNIT_OK, "block_init");
        sennit_signal signals[2];
        expect(sennit_allgather(SENNIT_TEAM_WORLD, &signal, signals, sizeof signal, SENNIT_FOREVER),
               SENNIT_OK, "allgather");
        const sennit_block mine = blocks[0];
        expect(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks, sizeof mine, SENNIT_FOREVER),
               SENNIT_OK, "allgather");
        peer_ = signals[1 - sennit_rank()];
        expect(sennit_block_attach(&blocks[1 - sennit_rank()], &block_), SENNIT_OK, "block_attach");
        // Plan 0 puts whole words, plan 1 does not.
        for (std::size_t i = 0; i < 2; ++i) {
            expect(sennit_plan_create(&plans_[i]), SENNIT_OK, "plan_create");
            expect(sennit_plan_put(plans_[i], block_, 0, &word_, 8 - i), SENNIT_OK, "plan_put");
            expect(sennit_plan_commit(plans_[i], kKinds - 2 + i, kKinds), SENNIT_OK, "commit");
        }
    }
    void send(std::uint64_t epoch) {
        sennit_status status = SENNIT_ERR_SIGNAL_EARLY;
        for (; status == SENNIT_ERR_SIGNAL_EARLY; (void)sched_yield())
            status = send_once(epoch);
        expect(status, SENNIT_OK, "an event");
        if (epoch % kKinds >= kKinds - 2)
            expect(sennit_plan_wait(plans_[epoch % 2], 0), SENNIT_OK, "plan_wait");
    }
    void poll() const {
        int done = 0;
        for (; done == 0; (void)sched_yield())
            expect(sennit_signal_test(signal, &done), SENNIT_OK, "signal_test");
        expect(sennit_signal_reset(signal), SENNIT_OK, "reset");
    }
    void wait() const {
        expect(sennit_signal_wait(signal, SENNIT_FOREVER), SENNIT_OK, "signal_wait");
        expect(sennit_signal_reset(signal), SENNIT_OK, "reset");
    }
    void wait_in(sennit_waitset set) const {
        sennit_fired fired{};
        expect(sennit_waitset_wait_any(set, SENNIT_FOREVER, &fired), SENNIT_OK, "wait_any");
        expect(sennit_signal_reset(fired.signal), SENNIT_OK, "reset");
    }
    sennit_signal signal = SENNIT_SIGNAL_NULL;

  private:
    static constexpr std::uint64_t kKinds = 8;

    sennit_status send_once(std::uint64_t epoch) {
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        sennit_notify_part part{block_, SENNIT_OK, 0, &word_, 8, &notice};
        std::size_t done = 0;
        switch (epoch % kKinds) {
            case 0:
                return sennit_put_notify_with(block_, 0, &word_, 8, &notice);
            case 1:  // in the next epoch
                return sennit_put_notify(block_, 0, &word_, 8);
            case 2:
                return sennit_get_notify_with(&word_, block_, 0, 8, &notice);
            case 3:
                return sennit_get_notify(&word_, block_, 0, 8);
            case 4:
                return sennit_put_notify_batch(1, &part, &done);
            case 5:
                return sennit_signal_notify(peer_, epoch);
            default:
                return sennit_plan_start(plans_[epoch % 2]);
        }
    }

    sennit_signal peer_ = SENNIT_SIGNAL_NULL;
    sennit_peer_block block_ = SENNIT_PEER_BLOCK_NULL;
    sennit_plan plans_[2] = {};
    std::uint64_t word_ = 0;
};

// Broken by an event that makes a wake call although nobody sleeps, or that makes none for a
// sleeper.
void events() {
    const Pair pair;
    Sender sender(pair);
    std::uint64_t epoch = 0;
    while_nobody_sleeps(
        pair, !pair.is_owner, [&](unsigned i) { sender.send(epoch + i); },
        [&](unsigned) { sender.poll(); });
    epoch += kMessages;
    while_the_other_sleeps(
        pair, !pair.is_owner, [&](unsigned i) { sender.send(epoch + i); },
        [&](unsigned) { sender.wait(); });
    epoch += kSleeps;
    sennit_waitset set = SENNIT_WAITSET_NULL;
    expect(sennit_waitset_create(&set), SENNIT_OK, "set_create");
    expect(sennit_waitset_add(set, sender.signal, 0), SENNIT_OK, "set_add");
    while_the_other_sleeps(
        pair, !pair.is_owner, [&](unsigned i) { sender.send(epoch + i); },
        [&](unsigned) { sender.wait_in(set); });
}

// Broken by a push or pop that makes a wake call although nobody sleeps, or none for a sleeper.
void queues() {
    constexpr std::uint64_t kCapacity = 4;
    const Pair pair;
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{};
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    if (pair.is_owner)
        expect(sennit_queue_create(8, kCapacity, 1, &queue, &address), SENNIT_OK, "queue_create");
    expect(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &address, sizeof address, SENNIT_FOREVER),
           SENNIT_OK, "broadcast");
    if (!pair.is_owner) expect(sennit_queue_attach(address, &producer), SENNIT_OK, "queue_attach");
    const auto push = [&](std::int64_t timeout_ns) {
        const std::uint64_t word = 5;
        sennit_status status = SENNIT_ERR_TIMEOUT;
        for (; status == SENNIT_ERR_TIMEOUT; (void)sched_yield())
            status = sennit_queue_push(producer, &word, timeout_ns);
        expect(status, SENNIT_OK, "push");
    };
    const auto pop = [&](std::int64_t timeout_ns) {
        std::uint64_t word = 0;
        sennit_status status = SENNIT_ERR_TIMEOUT;
        for (; status == SENNIT_ERR_TIMEOUT; (void)sched_yield())
            status = sennit_queue_pop(queue, &word, timeout_ns);
        expect(status, SENNIT_OK, "pop");
    };
    while_nobody_sleeps(
        pair, !pair.is_owner, [&](unsigned) { push(0); }, [&](unsigned) { pop(0); });
    while_the_other_sleeps(
        pair, !pair.is_owner, [&](unsigned) { push(0); }, [&](unsigned) { pop(SENNIT_FOREVER); });
    if (!pair.is_owner)
        for (std::uint64_t i = 0; i < kCapacity; ++i)
            push(0);
    while_the_other_sleeps(
        pair, pair.is_owner, [&](unsigned) { pop(0); }, [&](unsigned) { push(SENNIT_FOREVER); });
}

void run(const std::string &what) {
    (void)alarm(20);  // a sleeper that nobody wakes sleeps forever
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    if (what == "events") {
        events();
    } else if (what == "queues") {
        queues();
    } else {
        fail("there is no scene " + what);
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
