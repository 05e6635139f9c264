// SPDX-License-Identifier: BSD-3-Clause
// Passes descriptors between the ranks of a node: each rank's memory file, and a pidfd that the
// rank opened on itself. Every rank listens on an abstract socket with a random name. The other
// ranks connect to the lowest rank of the node, the leader. Each sends the job's cookie and its two
// descriptors, and receives the descriptors of all ranks. Used once, during start-up.
#pragma once

#include "base/clock.hpp"
#include "rank/rank.hpp"

namespace sennit::runtime {

inline constexpr std::size_t kSocketNameBytes = 16;

// A listening socket with a random name, which other ranks learn from the card.
struct Listener {
    int socket = -1;
    std::uint8_t name[kSocketNameBytes] = {};
};

// Errors: OS.
sennit_status listener_open(Listener *listener);
void listener_close(Listener *listener);

// `members` are the `count` world ranks of this node in rising order, this rank included;
// `socket_names` are the names of their listeners. Fills memory_file and pid_fd of these peers.
// Closes connections of another uid or with a wrong cookie. Errors: OS, NOMEM, TIMEOUT, BOOTSTRAP.
// If another rank gave up, the error has its number. After an error the caller closes its listener,
// so that the leader detects the failure.
struct NodeExchange {
    Listener *listener = nullptr;
    const int *members = nullptr;
    const std::uint8_t *const *socket_names = nullptr;
    int count = 0;
};
sennit_status node_exchange(Rank &rank, const NodeExchange &exchange, const Deadline &deadline);

}  // namespace sennit::runtime
