// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a node hand each other their descriptors: the memory file, and a pidfd that each
// opened on itself. The lowest rank of the node listens on an abstract socket with a random name;
// every other connects, shows the job's cookie and gives its two descriptors, and gets everybody's.
// Used once, in start-up; leaves nothing behind.
#pragma once

#include "base/clock.hpp"
#include "rank/rank.hpp"

namespace sennit::runtime {

inline constexpr std::size_t kSocketNameBytes = 16;

// A socket that listens, before anybody knows the name.
struct Listener {
    int socket = -1;
    std::uint8_t name[kSocketNameBytes] = {};
};

// Errors: OS.
sennit_status listener_open(Listener *listener);
void listener_close(Listener *listener);

// `members` are the world ranks of this node in rising order, `count` of them, this rank among
// them; `socket_names` are those of their listeners. Fills memory_file and pid_fd of those peers. A
// stranger that connects (other uid, wrong cookie) is turned away. Errors: OS, TIMEOUT, BOOTSTRAP;
// one that blames another rank has it as its peer. After an error the caller closes its listener,
// which tells the others.
struct NodeExchange {
    Listener *listener = nullptr;
    const int *members = nullptr;
    const std::uint8_t *const *socket_names = nullptr;
    int count = 0;
};
sennit_status node_exchange(Rank &rank, const NodeExchange &exchange, const Deadline &deadline);

}  // namespace sennit::runtime
