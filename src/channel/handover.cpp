// SPDX-License-Identifier: BSD-3-Clause
// The cold part of the hand-over calls, and the waits.
#include "base/fail.hpp"
#include "channel/channel.hpp"
#include "op/rma.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace sennit::channel {
namespace {

constexpr std::uint32_t kMissesPerCheck = 64;
constexpr std::int64_t kCheckNs = 1'000'000;  // the same interval as in a wait

const char *path_of(const Rank &rank, int peer) {
    return sennit_path_name(rank.peers[peer].path);
}

sennit_status closed_by_peer(const Rank &rank, const Channel &channel) {
    return fail_peer(SENNIT_ERR_STATE, channel.peer, path_of(rank, channel.peer),
                     "rank %d has closed the channel", channel.peer);
}

// Called by every test that finds nothing. Checks the peer at every 64th call, and at most once a
// millisecond.
bool is_peer_gone(Rank &rank, Channel &channel) {
    if (channel.peer == rank.world_rank) return false;
    if (known_gone(rank, channel.peer) != Gone::no) return true;
    // All relaxed: a rough count and a rough time.
    if (channel.misses.fetch_add(1, std::memory_order_relaxed) % kMissesPerCheck != 0) return false;
    const std::int64_t now = now_ns();
    if (now - channel.checked_ns.load(std::memory_order_relaxed) < kCheckNs) return false;
    channel.checked_ns.store(now, std::memory_order_relaxed);
    return peer_gone(rank, channel.peer) != Gone::no;
}

bool pushes(const Channel &channel) {
    return channel.mirror != nullptr && (channel.flags & SENNIT_CHANNEL_PULL) == 0;
}

// Copies between the mirror and the peer's memory.
sennit_status move_mirror(Rank &rank, const Channel &channel, op::Direction direction) {
    return op::transfer(rank, direction, channel.peer_memory, channel.mirror, channel.peer_bytes,
                        {});
}

// Copies the readable message into the mirror, once.
sennit_status pull(Rank &rank, Channel &channel) {
    if (channel.mirror == nullptr || pushes(channel)) return SENNIT_OK;
    // relaxed: this side's own count.
    const std::uint64_t message = channel.read.load(std::memory_order_relaxed) + 1;
    if (channel.pulled == message) return SENNIT_OK;
    const sennit_status status = move_mirror(rank, channel, op::Direction::get);
    if (status == SENNIT_OK) channel.pulled = message;
    return status;
}

}  // namespace

sennit_status test_write(Rank &rank, Channel &channel, int *can) {
    if (is_closed_by_peer(channel)) return closed_by_peer(rank, channel);
    bool may = may_write(channel);
    if (!may && is_peer_gone(rank, channel)) {
        may = may_write(channel);  // the peer may have acted just before its end
        if (!may)
            return is_closed_by_peer(channel) ? closed_by_peer(rank, channel)
                                              : fail_lost(rank, channel.peer);
    }
    if (!may) note_fruitless_poll(rank);
    *can = may ? 1 : 0;
    return SENNIT_OK;
}

sennit_status test_read(Rank &rank, Channel &channel, int *can) {
    bool may = may_read(channel);
    if (!may && (is_closed_by_peer(channel) || is_peer_gone(rank, channel))) {
        // The peer may have written its last message just before it closed or ended.
        may = may_read(channel);
        if (!may)
            return is_closed_by_peer(channel) ? closed_by_peer(rank, channel)
                                              : fail_lost(rank, channel.peer);
    }
    if (may) {
        const sennit_status status = pull(rank, channel);
        if (status != SENNIT_OK) return status;
    }
    if (!may) note_fruitless_poll(rank);
    *can = may ? 1 : 0;
    return SENNIT_OK;
}

sennit_status hand_over_written(Rank &rank, Channel &channel) {
    if (is_closed_by_peer(channel)) return closed_by_peer(rank, channel);
    // relaxed: this side's own count.
    const bool is_first = channel.written.load(std::memory_order_relaxed) == 0;
    if (!may_write(channel))
        return fail_peer(SENNIT_ERR_STATE, channel.peer, path_of(rank, channel.peer),
                         "rank %d has not %s: this rank may not write to the buffer "
                         "(sennit_channel_can_write, sennit_channel_wait_write)",
                         channel.peer,
                         is_first ? "announced by sennit_channel_have_read that it is ready"
                                  : "read the last message");
    if (pushes(channel)) {
        const sennit_status status = move_mirror(rank, channel, op::Direction::put);
        if (status != SENNIT_OK) return status;
    }
    note_written(channel);
    return SENNIT_OK;
}

sennit_status hand_over_read(Rank &rank, Channel &channel) {
    if (!may_read(channel) && is_closed_by_peer(channel) && !may_read(channel))
        return closed_by_peer(rank, channel);
    if (!is_ready(channel)) {
        publish_read(channel, 0);
        return SENNIT_OK;
    }
    if (!may_read(channel))
        return fail_peer(SENNIT_ERR_STATE, channel.peer, path_of(rank, channel.peer),
                         "this rank has already read all messages of rank %d "
                         "(sennit_channel_can_read, sennit_channel_wait_read)",
                         channel.peer);
    note_read(channel);
    return SENNIT_OK;
}

sennit_status wait_write(Rank &rank, Channel &channel, const Deadline &deadline) {
    const sennit_status status = wait_until(rank, deadline, channel.peer, [&] {
        return may_write(channel) || is_closed_by_peer(channel);
    });
    if (status != SENNIT_OK) return status;
    return is_closed_by_peer(channel) ? closed_by_peer(rank, channel) : SENNIT_OK;
}

sennit_status wait_read(Rank &rank, Channel &channel, const Deadline &deadline) {
    const sennit_status status = wait_until(rank, deadline, channel.peer, [&] {
        return may_read(channel) || is_closed_by_peer(channel);
    });
    if (status != SENNIT_OK) return status;
    // The peer may have written its last message just before it closed.
    if (!may_read(channel)) return closed_by_peer(rank, channel);
    return pull(rank, channel);
}

sennit_status wait_messages(Rank &rank, Channel &channel, std::uint32_t least,
                            std::uint32_t *messages, const Deadline &deadline) {
    std::uint32_t found = 0;
    const auto has_enough = [&] {
        found = count_messages(channel, least);
        return found >= least;
    };
    // A closing peer waits until its messages are read and writes no more.
    const sennit_status status = wait_until(rank, deadline, channel.peer, [&] {
        return has_enough() || is_closed_by_peer(channel) || is_peer_closing(channel);
    });
    if (status != SENNIT_OK) return status;
    // The peer may have written its last message just before it announced its close.
    if (found < least && !has_enough())
        return fail_peer(
            SENNIT_ERR_STATE, channel.peer, path_of(rank, channel.peer),
            "rank %d closes the channel; this rank waits for %u message%s, and only %u came",
            channel.peer, least, plural(least), found);
    *messages = found;
    return pull(rank, channel);
}

}  // namespace sennit::channel
