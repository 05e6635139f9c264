// SPDX-License-Identifier: BSD-3-Clause
// The state that the sources of start-up share: startup.cpp (the order of its steps) and paths.cpp
// (the path to each rank).
#pragma once

#include <cstdint>
#include <cstdlib>

#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/card.hpp"
#include "bootstrap/node_exchange.hpp"
#include "path/router.hpp"
#include "rank/rank.hpp"

namespace sennit::life {

// One rank's part of the first exchange.
struct Introduction {
    runtime::Card card;
    transport::Address addresses[path::kTransports];
    std::uint64_t rail_share;  // SENNIT_RAIL_SHARE
};

// State that is needed only during start-up.
struct Startup {
    Rank &rank;
    Deadline deadline;
    int size;
    runtime::Listener listener{};
    Introduction *all = nullptr;              // [size]
    transport::Address *addresses = nullptr;  // [size][kTransports], later [size][kNetworks]
    path::PathSet *usable = nullptr;          // [size], the paths that this rank could use
    path::PathSet *theirs = nullptr;          // [size], the paths to this rank that each could use
    int *places = nullptr;                    // [size], the place of each rank in its node
    int *nodes = nullptr;                     // [size], the number of each rank's node
    int *firsts = nullptr;                    // [node_count], the lowest rank of each node
    int node_count = 0;
    transport::NodeTrial *trials = nullptr;  // [node_count][kNetworks]
    bool is_over = false;                    // no rank waits for this one any more
};

inline sennit_status allgather(Startup &start, const void *mine, void *all, std::size_t bytes) {
    return runtime::bootstrap_allgather(start.rank.bootstrap, mine, all, bytes, start.deadline);
}

template <class T>
sennit_status make_array(std::size_t count, T **out) {
    *out = count <= PTRDIFF_MAX / sizeof(T) ? static_cast<T *>(std::calloc(count, sizeof(T)))
                                            : nullptr;
    return *out != nullptr ? SENNIT_OK
                           : fail(SENNIT_ERR_NOMEM, "no memory for the start-up tables");
}

inline bool has_several_nodes(const Startup &start) {
    return start.node_count > 1;
}
// Rails are needed to other nodes, and also to ranks of the same node if large copies are split.
inline bool needs_rails(const Startup &start) {
    return has_several_nodes(start) || start.rank.rail_share != 0;
}

// Called when every rank knows that some rank has failed; `own` is this rank's status. A rank at
// fault returns its own error. A rank that has not failed, or that blames another, returns
// BOOTSTRAP with the reason of the rank at fault. If all failed ranks blame others, each returns
// its own error.
sennit_status share_failure(Startup &start, sennit_status own);

// In paths.cpp. Makes room for an exchange. If there is no memory, sets *status unless it already
// has an error, and returns the memory of Startup::all, so that this rank still takes part and the
// others do not wait. Null: that memory is too small, and this rank cannot take part.
std::uint8_t *make_room(Startup &start, std::size_t bytes, sennit_status *status);
void free_room(const Startup &start, std::uint8_t *room);
// Tries the paths, and chooses for each rank a path that both sides can use. A rank that has failed
// takes part too.
sennit_status agree_on_paths(Startup &start, sennit_status so_far);

}  // namespace sennit::life
