// The calls of a hand-over where something is out of the ordinary, and the waits. See channel.hpp.
#include "base/fail.hpp"
#include "channel/channel.hpp"
#include "op/rma.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace sennit::channel {
namespace {

constexpr std::uint32_t kMissesPerLook = 64;
constexpr std::int64_t kLookNs = 1'000'000;  // as often as waits do

const char *path_of(const Rank &rank, int peer) {
    return sennit_path_name(rank.peers[peer].path);
}

sennit_status closed_by_peer(const Rank &rank, const Channel &it) {
    return fail_peer(SENNIT_ERR_STATE, it.peer, path_of(rank, it.peer),
                     "rank %d has closed the channel", it.peer);
}

// Asked by every test that finds nothing; looks itself about once a millisecond.
bool is_peer_gone(Rank &rank, Channel &it) {
    if (it.peer == rank.world_rank) return false;
    // relaxed: the word stands alone, see detector.cpp.
    if (rank.peers[it.peer].gone.load(std::memory_order_relaxed) != 0) return true;
    // relaxed: a rough count.
    if (it.misses.fetch_add(1, std::memory_order_relaxed) % kMissesPerLook != 0) return false;
    const std::int64_t now = now_ns();
    // relaxed: when somebody looked last, roughly.
    if (now - it.looked_ns.load(std::memory_order_relaxed) < kLookNs) return false;
    // relaxed: as above.
    it.looked_ns.store(now, std::memory_order_relaxed);
    return peer_gone(rank, it.peer) != Gone::no;
}

bool pushes(const Channel &it) {
    return it.mirror != nullptr && (it.flags & SENNIT_CHANNEL_PULL) == 0;
}

// Between the mirror and the peer's memory.
sennit_status move_mirror(Rank &rank, const Channel &it, op::Direction direction) {
    return op::transfer(rank, direction, it.peer_memory, it.mirror, it.peer_bytes,
                        {op::Completion::Mode::blocking, nullptr});
}

// The message that may be read, into the mirror, once.
sennit_status pull(Rank &rank, Channel &it) {
    if (it.mirror == nullptr || pushes(it)) return SENNIT_OK;
    // relaxed: of this thread.
    const std::uint64_t message = it.read.load(std::memory_order_relaxed) + 1;
    if (it.pulled == message) return SENNIT_OK;
    const sennit_status status = move_mirror(rank, it, op::Direction::get);
    if (status == SENNIT_OK) it.pulled = message;
    return status;
}

}  // namespace

sennit_status test_write(Rank &rank, Channel &it, int *can) {
    if (is_closed_by_peer(it)) return closed_by_peer(rank, it);
    bool may = may_write(it);
    if (!may && is_peer_gone(rank, it)) {
        may = may_write(it);  // its last step came before its end
        if (!may)
            return is_closed_by_peer(it) ? closed_by_peer(rank, it) : fail_lost(rank, it.peer);
    }
    if (!may) note_fruitless_poll(rank);
    *can = may ? 1 : 0;
    return SENNIT_OK;
}

sennit_status test_read(Rank &rank, Channel &it, int *can) {
    bool may = may_read(it);
    if (!may && (is_closed_by_peer(it) || is_peer_gone(rank, it))) {
        // Its last message came before its mark, or its end.
        may = may_read(it);
        if (!may)
            return is_closed_by_peer(it) ? closed_by_peer(rank, it) : fail_lost(rank, it.peer);
    }
    if (may) {
        const sennit_status status = pull(rank, it);
        if (status != SENNIT_OK) return status;
    }
    if (!may) note_fruitless_poll(rank);
    *can = may ? 1 : 0;
    return SENNIT_OK;
}

sennit_status hand_over_written(Rank &rank, Channel &it) {
    if (is_closed_by_peer(it)) return closed_by_peer(rank, it);
    if (!may_write(it))
        return fail_peer(SENNIT_ERR_STATE, it.peer, path_of(rank, it.peer),
                         "rank %d has not read the last message: the buffer is not this rank's to "
                         "write (sennit_channel_can_write, sennit_channel_wait_write)",
                         it.peer);
    if (pushes(it)) {
        const sennit_status status = move_mirror(rank, it, op::Direction::put);
        if (status != SENNIT_OK) return status;
    }
    note_written(it);
    return SENNIT_OK;
}

sennit_status hand_over_read(Rank &rank, Channel &it) {
    if (!may_read(it) && is_closed_by_peer(it) && !may_read(it)) return closed_by_peer(rank, it);
    if (!may_read(it))
        return fail_peer(SENNIT_ERR_STATE, it.peer, path_of(rank, it.peer),
                         "there is no message of rank %d that was not read already "
                         "(sennit_channel_can_read, sennit_channel_wait_read)",
                         it.peer);
    note_read(it);
    return SENNIT_OK;
}

sennit_status wait_write(Rank &rank, Channel &it, const Deadline &deadline) {
    const sennit_status status =
        wait_until(rank, deadline, it.peer, [&] { return may_write(it) || is_closed_by_peer(it); });
    if (status != SENNIT_OK) return status;
    return is_closed_by_peer(it) ? closed_by_peer(rank, it) : SENNIT_OK;
}

sennit_status wait_read(Rank &rank, Channel &it, const Deadline &deadline) {
    const sennit_status status =
        wait_until(rank, deadline, it.peer, [&] { return may_read(it) || is_closed_by_peer(it); });
    if (status != SENNIT_OK) return status;
    // Its last message came before its mark.
    if (!may_read(it)) return closed_by_peer(rank, it);
    return pull(rank, it);
}

sennit_status wait_messages(Rank &rank, Channel &it, std::uint32_t least, std::uint32_t *messages,
                            const Deadline &deadline) {
    std::uint32_t found = 0;
    const auto look = [&] {
        found = count_messages(it, least);
        return found >= least;
    };
    // A peer that closes waits for what it wrote to be read, and writes no more.
    const sennit_status status = wait_until(rank, deadline, it.peer, [&] {
        return look() || is_closed_by_peer(it) || is_peer_closing(it);
    });
    if (status != SENNIT_OK) return status;
    // Its last message came before it said that it closes.
    if (found < least && !look())
        return fail_peer(SENNIT_ERR_STATE, it.peer, path_of(rank, it.peer),
                         "rank %d closes the channel, and of %u messages there are %u", it.peer,
                         least, found);
    *messages = found;
    return pull(rank, it);
}

}  // namespace sennit::channel
