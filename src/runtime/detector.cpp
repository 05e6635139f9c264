// SPDX-License-Identifier: BSD-3-Clause
// How the detector finds that ranks have ended:
// - A pidfd shows that a peer's process has died. The peer opened it on itself and sent it, so it
//   cannot mean a later process with the same number. If the kernel has none, /proc replaces it.
// - The state word in a peer's control block shows that the peer has left.
// - The connection to the launcher shows that the job has ended.
// - The watch (runtime/watch/) shows which ranks of other nodes have ended.
#include "runtime/detector.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstddef>

#include "base/process_age.hpp"
#include "runtime/wait.hpp"
#include "runtime/watch/watch.hpp"

namespace sennit {
namespace {

// Whether the peer's process no longer exists in /proc. A read takes microseconds, so a call soon
// after the last read returns false without reading.
bool is_gone_from_proc(Peer &peer) {
    constexpr std::int64_t kPause_ns = 5'000'000;
    if (peer.start_ticks == 0) return false;
    const std::int64_t now = now_ns();
    // relaxed twice: one check more or less does no harm.
    if (now - peer.proc_read_ns.load(std::memory_order_relaxed) < kPause_ns) return false;
    peer.proc_read_ns.store(now, std::memory_order_relaxed);
    return process_start_ticks(peer.process_id) != peer.start_ticks;
}

// The end of the launcher counts as the end of the job, even if the launcher was killed before it
// could end the ranks.
bool launcher_ended(const Rank &rank) {
    if (rank.launcher_fd < 0) return false;
    pollfd one{rank.launcher_fd, 0, 0};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
}

bool has_ended(const Rank &rank, Peer &peer) {
    // poll() ignores negative descriptors.
    pollfd both[2] = {{peer.pid_fd, POLLIN, 0}, {rank.launcher_fd, 0, 0}};
    if ((peer.pid_fd >= 0 || rank.launcher_fd >= 0) && poll(both, 2, 0) > 0 &&
        ((both[0].revents & (POLLIN | POLLHUP)) != 0 || (both[1].revents & POLLHUP) != 0))
        return true;
    return is_gone_from_proc(peer);
}

// Checks all peers if the count of ends has changed. Ends on other nodes are in the table of this
// node's watch; the end of the launcher counts as one more, because it ends all ranks.
void note_ends_elsewhere(Rank &rank) {
    const std::uint32_t ends = watch::watch_ended(rank) + (launcher_ended(rank) ? 1 : 0);
    // SYNC ended-elsewhere: pairs with the release below, of another thread; the ends that it has
    // noted come before.
    if (ends == rank.ended_elsewhere.load(std::memory_order_acquire)) return;
    for (int peer = 0; peer < world_size(rank); ++peer)
        (void)peer_gone(rank, peer);
    // SYNC ended-elsewhere: pairs with the acquire above, of another thread; the noted ends of
    // peers come before. A count that is too low makes others check again.
    rank.ended_elsewhere.store(ends, std::memory_order_release);
}

// Reads the state word of a peer of this node from its control block or, if no path maps that, from
// its memory file. False: this rank has neither.
bool read_state(const ControlBlock *control, int memory_file, RankState *state) {
    std::uint32_t word = 0;
    if (control != nullptr) {
        // SYNC rank-left: pairs with the releases in shutdown(); everything that the rank did comes
        // before.
        word = control->header.state.load(std::memory_order_acquire);
    } else {
        constexpr off_t kPlace = offsetof(ControlBlock, header) + offsetof(ControlHeader, state);
        if (memory_file < 0 || pread(memory_file, &word, sizeof word, kPlace) != sizeof word)
            return false;
        // SYNC rank-left: pairs with the releases in shutdown(); pread() has loaded the word.
        std::atomic_thread_fence(std::memory_order_acquire);
    }
    *state = static_cast<RankState>(word);
    return true;
}

bool has_state(const Rank &rank, int peer, RankState wanted) {
    RankState state{};
    return read_state(control_of(rank, peer), rank.peers[peer].memory_file, &state) &&
           state == wanted;
}

}  // namespace

void note_gone(Rank &rank, int peer, Gone how) {
    Gone known = Gone::no;
    // relaxed: the count below orders it. A reader of the word alone needs only its value.
    if (!rank.peers.end(peer).compare_exchange_strong(known, how, std::memory_order_relaxed))
        return;
    std::uint32_t none = 0;
    const auto dead = static_cast<std::uint32_t>(peer) + 1;
    if (how == Gone::died)
        // relaxed: the count below orders it. The word keeps the first dead rank.
        (void)rank.first_dead.compare_exchange_strong(none, dead, std::memory_order_relaxed);
    // SYNC peers-ended: pairs with the acquire in count_ended(); the words above come before.
    rank.ended.fetch_add(1, std::memory_order_release);
}

std::uint32_t count_ended(Rank &rank) {
    note_ends_elsewhere(rank);
    // SYNC peers-ended: pairs with the release in note_gone(); the words of these peers come
    // before.
    return rank.ended.load(std::memory_order_acquire);
}

int find_dead(const Rank &rank) {
    // relaxed: the acquire in count_ended() orders it, and a caller that misses it checks again
    // soon.
    return static_cast<int>(rank.first_dead.load(std::memory_order_relaxed)) - 1;
}

Gone peer_gone(Rank &rank, int peer) {
    Peer &target = rank.peers[peer];
    const Gone known = known_gone(rank, peer);
    if (known != Gone::no) return known;
    if (peer == rank.world_rank) return Gone::no;
    // Reads the end of the process first: a rank that leaves stores its state before its process
    // ends.
    const Gone elsewhere = target.same_node ? Gone::no : watch::watch_gone(rank, peer);
    const bool ended = has_ended(rank, target) || elsewhere == Gone::died;
    if (has_state(rank, peer, RankState::left) || elsewhere == Gone::left) {
        note_gone(rank, peer, Gone::left);
    } else if (ended) {
        note_gone(rank, peer, Gone::died);
    }
    return known_gone(rank, peer);
}

bool is_leaving(const Rank &rank, int peer) {
    return has_state(rank, peer, RankState::leaving);
}

bool is_staying(const Rank &rank, int peer) {
    RankState state{};
    return read_state(control_of(rank, peer), rank.peers[peer].memory_file, &state) &&
           state != RankState::leaving && state != RankState::left;
}

int find_lost(Rank &rank, const void *peer) {
    const int wanted = *static_cast<const int *>(peer);
    if (wanted != kAnyPeer) return peer_gone(rank, wanted) != Gone::no ? wanted : -1;
    for (int i = 0; i < rank.mate_count && find_dead(rank) < 0; ++i)
        (void)peer_gone(rank, rank.mates[i]);
    (void)count_ended(rank);
    return find_dead(rank);
}

const char *how_lost(const Rank &rank, int peer) {
    if (known_gone(rank, peer) != Gone::died) return "has left: it called sennit_finalize";
    if (watch::watch_unheard(rank, peer))
        return "counts as lost: nothing came from its host by any rail for SENNIT_PEER_TIMEOUT, "
               "though its watch answered: a firewall, or a broken card?";
    if (watch::watch_silent(rank, peer))
        return "counts as lost: its host has been silent for SENNIT_PEER_TIMEOUT";
    return launcher_ended(rank) ? "counts as lost: the launcher has ended, and with it the job"
                                : "has ended without sennit_finalize";
}

sennit_status fail_lost(const Rank &rank, int peer) {
    const Peer &target = rank.peers[peer];
    const char *const path = sennit_path_name(target.path);
    if (!target.same_node)
        return fail_peer(SENNIT_ERR_PEER_LOST, peer, path, "rank %d %s", peer,
                         how_lost(rank, peer));
    return fail_peer(SENNIT_ERR_PEER_LOST, peer, path, "rank %d (process %d) %s", peer,
                     target.process_id, how_lost(rank, peer));
}

}  // namespace sennit
