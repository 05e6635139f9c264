// SPDX-License-Identifier: BSD-3-Clause
// Passes descriptors between the ranks of a node: each rank's memory file, and a pidfd that it
// opened on itself. The lowest rank of the node listens on an abstract socket with a random name.
// Every other rank connects, shows the job's cookie, sends its two descriptors and receives
// everybody's. Used once, in start-up; leaves nothing behind.
#pragma once

#include "base/clock.hpp"
#include "rank/rank.hpp"

namespace sennit::runtime {

inline constexpr std::size_t kSocketNameBytes = 16;

// A listening socket whose name nobody knows yet.
struct Listener {
    int socket = -1;
    std::uint8_t name[kSocketNameBytes] = {};
};

// Errors: OS.
sennit_status listener_open(Listener *listener);
void listener_close(Listener *listener);

// `members` are the `count` world ranks of this node in rising order, this rank included;
// `socket_names` are the names of their listeners. Fills memory_file and pid_fd of these peers.
// Turns away a stranger (other uid, wrong cookie). Errors: OS, TIMEOUT, BOOTSTRAP; an error that
// another rank caused names it as its peer. After an error the caller closes its listener, which
// tells the others.
struct NodeExchange {
    Listener *listener = nullptr;
    const int *members = nullptr;
    const std::uint8_t *const *socket_names = nullptr;
    int count = 0;
};
sennit_status node_exchange(Rank &rank, const NodeExchange &exchange, const Deadline &deadline);

}  // namespace sennit::runtime
