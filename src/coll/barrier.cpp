// The two barriers and the exchange of small messages. See world.hpp.
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "coll/world.hpp"
#include "op/peer_memory.hpp"
#include "op/rma.hpp"
#include "runtime/bootstrap.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

std::uint32_t size_of(const Rank &rank) {
    // relaxed: constant while the rank is in use.
    return rank.size.load(std::memory_order_relaxed);
}

// This rank's line says the epoch; sleepers are woken.
void publish_arrival(Rank &rank, std::uint64_t epoch) {
    // SYNC barrier-arrival: pairs with the acquire in wait_for_all(); all this rank did comes
    // before.
    rank.control->arrived.epoch.store(epoch, std::memory_order_release);
    // SYNC doorbell: pairs with the fence in announce_sleep(); the arrival before the looks at
    // sleepers.
    store_load_fence();
    const std::uint32_t size = size_of(rank);
    for (std::uint32_t i = 1; i < size; ++i) {
        const auto peer =
            static_cast<int>((static_cast<std::uint32_t>(rank.world_rank) + i) % size);
        Doorbell &bell = rank.peers[peer].control->doorbell;
        // relaxed: the one fence above serves all peers, see ring_doorbell().
        if (bell.sleepers.load(std::memory_order_relaxed) != 0) ring_sleepers(bell);
    }
}

int peer_at(const Rank &rank, std::uint32_t place) {
    return static_cast<int>((static_cast<std::uint32_t>(rank.world_rank) + place + 1) %
                            size_of(rank));
}

// A rank that is gone and has not come to the epoch, whoever is waited for at the moment: a rank
// that is only late must not hide it.
int find_lost_arrival(Rank &rank, const void *epoch) {
    const World &world = *rank.world;
    for (std::uint32_t place = world.next_peer; place + 1 < size_of(rank); ++place) {
        const int peer = peer_at(rank, place);
        // The order counts: a rank comes first and goes then.
        // SYNC barrier-arrival: pairs with the release in publish_arrival().
        if (peer_gone(rank, peer) != Gone::no &&
            world.arrivals[place]->load(std::memory_order_acquire) <
                *static_cast<const std::uint64_t *>(epoch))
            return peer;
    }
    return -1;
}

sennit_status wait_for_all(Rank &rank, std::uint64_t epoch, const Deadline &deadline) {
    World &world = *rank.world;
    const std::uint32_t size = size_of(rank);
    for (; world.next_peer + 1 < size; ++world.next_peer) {
        const std::atomic<std::uint64_t> &arrival = *world.arrivals[world.next_peer];
        const auto ready = [&] {
            // SYNC barrier-arrival: pairs with the release in publish_arrival().
            return arrival.load(std::memory_order_acquire) >= epoch;
        };
        if (ready()) continue;
        const LostSearch search{find_lost_arrival, &epoch};
        const sennit_status status = wait_until(rank, deadline, search, ready);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status flat(Rank &rank, std::uint64_t epoch, const Deadline &deadline) {
    World &world = *rank.world;
    if (!world.published) {
        publish_arrival(rank, epoch);
        world.published = true;
        world.next_peer = 0;
    }
    return wait_for_all(rank, epoch, deadline);
}

// Stores `epoch` into the word of round `round` at `peer`, whichever way leads there.
sennit_status send_round(Rank &rank, int peer, std::uint32_t round, std::uint64_t epoch) {
    ControlBlock *control = rank.peers[peer].control;
    if (control != nullptr) {
        // SYNC barrier-round: pairs with the acquire in await_round(); all before comes before.
        control->rounds[round].epoch.store(epoch, std::memory_order_release);
        ring_doorbell(*control);
        return SENNIT_OK;
    }
    const std::size_t offset = offsetof(ControlBlock, rounds) + sizeof(EpochLine) * round;
    // Blocking, so that the next epoch's word can not be overtaken by this one.
    return op::put_control(rank, peer, offset, &epoch, sizeof epoch);
}

// Waits for the word of the present round from `partner`. The death of any rank ends the wait, and
// the partner's leaving, which then came without its word.
sennit_status await_round(Rank &rank, int partner, std::uint64_t epoch, const Deadline &deadline) {
    const std::atomic<std::uint64_t> &word = rank.control->rounds[rank.world->round].epoch;
    const auto arrived = [&] {
        // SYNC barrier-round: pairs with the release in send_round() or the transport's delivery.
        return word.load(std::memory_order_acquire) >= epoch;
    };
    const auto left = [&] {
        // relaxed: see note_gone(); the wait itself looks after every rank about once a
        // millisecond.
        return rank.peers[partner].gone.load(std::memory_order_relaxed) ==
               static_cast<std::uint32_t>(Gone::left);
    };
    const sennit_status status =
        wait_until(rank, deadline, kAnyPeer, [&] { return arrived() || left(); });
    if (status != SENNIT_OK || arrived()) return status;
    return fail_peer(SENNIT_ERR_PEER_LOST, partner, "", "rank %d has left without this barrier",
                     partner);
}

sennit_status disseminate(Rank &rank, std::uint64_t epoch, const Deadline &deadline) {
    World &world = *rank.world;
    const std::uint32_t size = size_of(rank);
    const auto self = static_cast<std::uint32_t>(rank.world_rank);
    if (!world.published) {
        world.published = true;
        world.round = 0;
        world.round_sent = false;
    }
    for (; (1u << world.round) < size; ++world.round) {
        const std::uint32_t distance = 1u << world.round;
        if (!world.round_sent) {
            const sennit_status status =
                send_round(rank, static_cast<int>((self + distance) % size), world.round, epoch);
            if (status != SENNIT_OK) return status;
            world.round_sent = true;
        }
        const sennit_status status =
            await_round(rank, static_cast<int>((self + size - distance) % size), epoch, deadline);
        if (status != SENNIT_OK) return status;
        world.round_sent = false;
    }
    return SENNIT_OK;
}

// Some peer is out of reach: the launcher still reaches it.
sennit_status by_bootstrap(Rank &rank) {
    return runtime::bootstrap_barrier(rank.bootstrap);
}

// The mailbox carries what kind of call this is, and its number, so that ranks that are in
// different calls find out.
struct Letter {
    std::uint32_t purpose;
    std::uint32_t bytes;
    std::uint64_t number;
    std::uint8_t payload[kExchangeBytes];
};
static_assert(sizeof(Letter) == kMailboxBytes);

sennit_status read_letter(Rank &rank, int peer, std::size_t turn, Letter *letter) {
    ControlBlock *control = control_of(rank, peer);
    if (control != nullptr) {
        std::memcpy(letter, control->mailboxes[turn].bytes, sizeof *letter);
        return SENNIT_OK;
    }
    const std::size_t offset = offsetof(ControlBlock, mailboxes) + sizeof(Mailbox) * turn;
    return op::get_control(rank, peer, offset, letter, sizeof *letter);
}

sennit_status exchange_by_bootstrap(Rank &rank, const Exchange &what) {
    return runtime::bootstrap_allgather(rank.bootstrap, what.mine, what.all, what.bytes);
}

}  // namespace

sennit_status world_open(Rank &rank) {
    // Zero is the initial value of every field, and calloc leaves untouched pages unused.
    rank.world = static_cast<World *>(std::calloc(1, sizeof(World)));
    const std::uint32_t size = size_of(rank);
    if (rank.world != nullptr)
        rank.world->arrivals = new (std::nothrow) const std::atomic<std::uint64_t> *[size];
    if (rank.world == nullptr || rank.world->arrivals == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the world's tables");
    for (std::uint32_t i = 0; rank.all_load_store && i + 1 < size; ++i) {
        const auto peer =
            static_cast<int>((static_cast<std::uint32_t>(rank.world_rank) + i + 1) % size);
        rank.world->arrivals[i] = &rank.peers[peer].control->arrived.epoch;
    }
    return SENNIT_OK;
}

void world_close(Rank &rank) {
    if (rank.world == nullptr) return;
    delete[] rank.world->arrivals;
    std::free(rank.world);
    rank.world = nullptr;
}

CollectiveCall::CollectiveCall(Rank &rank) : rank_(rank), status_(SENNIT_OK) {
    // SYNC collective-turn: pairs with the release in the destructor; the world's tables.
    if (rank_.world->busy.exchange(true, std::memory_order_acquire))
        status_ = fail(SENNIT_ERR_STATE, "another thread of this rank is in a collective call");
}

CollectiveCall::~CollectiveCall() {
    // SYNC collective-turn: pairs with the acquire in the constructor.
    if (status_ == SENNIT_OK) rank_.world->busy.store(false, std::memory_order_release);
}

namespace {

sennit_status meet(Rank &rank, const Deadline &deadline) {
    World &world = *rank.world;
    const std::uint64_t epoch = world.epoch + 1;
    const sennit_status status = !rank.all_reached     ? by_bootstrap(rank)
                                 : rank.all_load_store ? flat(rank, epoch, deadline)
                                                       : disseminate(rank, epoch, deadline);
    if (status != SENNIT_OK) return status;
    world.epoch = epoch;
    world.published = false;
    return SENNIT_OK;
}

}  // namespace

sennit_status barrier(Rank &rank, const Deadline &deadline) {
    World &world = *rank.world;
    if (!world.published && rank.engine != nullptr) {
        const sennit_status status = op::flush(rank, kAnyPeer, deadline);
        if (status == SENNIT_ERR_TIMEOUT) return status;  // not arrived: the call may be repeated
        // The others wait for this rank whatever became of its operations.
        if (status != SENNIT_OK) world.flush_error = *thread_error();
    }
    const sennit_status status = meet(rank, deadline);
    if (status != SENNIT_OK || world.flush_error.status == SENNIT_OK) return status;
    *thread_error() = world.flush_error;
    world.flush_error.status = SENNIT_OK;
    return thread_error()->status;
}

sennit_status exchange(Rank &rank, const Exchange &what, const Deadline &deadline) {
    if (!rank.all_reached) return exchange_by_bootstrap(rank, what);
    World &world = *rank.world;
    if (world.published)
        return fail(SENNIT_ERR_STATE,
                    "the last barrier timed out on this rank and is still under way: call "
                    "sennit_barrier again until it returns SENNIT_OK, then this");
    // The epoch that the exchange completes: alike on all ranks whatever failed before.
    const std::uint64_t number = world.epoch + 1;
    world.read_failed = false;
    Letter letter{what.purpose, static_cast<std::uint32_t>(what.bytes), number, {}};
    std::memcpy(letter.payload, what.mine, what.bytes);
    const std::size_t turn = number % 2;
    // The barrier's release makes the letter visible before this rank's arrival.
    std::memcpy(rank.control->mailboxes[turn].bytes, &letter, sizeof letter);
    sennit_status status = meet(rank, deadline);
    if (status != SENNIT_OK) return status;
    const auto size = static_cast<int>(size_of(rank));
    for (int peer = 0; peer < size; ++peer) {
        status = read_letter(rank, peer, turn, &letter);
        world.read_failed = status != SENNIT_OK;
        if (status != SENNIT_OK) return status;
        if (letter.purpose != what.purpose || letter.number != number)
            return fail_peer(SENNIT_ERR_ARG, peer, "",
                             "rank %d is in another collective call: all ranks must make the same "
                             "ones in the same order",
                             peer);
        std::memcpy(static_cast<char *>(what.all) + what.bytes * static_cast<std::size_t>(peer),
                    letter.payload, what.bytes);
    }
    return SENNIT_OK;
}

}  // namespace sennit::coll
