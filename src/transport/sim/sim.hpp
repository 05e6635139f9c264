// SPDX-License-Identifier: BSD-3-Clause
// The path sim: a small asynchronous network between rank objects of one process, for tests. This
// header is for tests: the common world of the ranks, its counters, and functions that break it.
// docs/design/sim.md has its contract, settings.hpp its settings.
#pragma once

#include <cstdint>

#include "rank/rank.hpp"
#include "transport/transport.hpp"

namespace sennit::transport {

// A new transport object, not opened. Null: no memory.
Transport *make_sim();

}  // namespace sennit::transport

namespace sennit::transport::sim {

class World;

// The world to which `rank` has connected, or null. Valid until release_world(), also after all
// ranks have left. For any thread.
World *hold_world(const Rank &rank);
void release_world(World *world);

struct Counters {
    std::uint64_t steps;       // progress calls of all ranks: the clock of the world
    std::uint64_t trace_hash;  // hash of all submissions, moves, completions and failures
    std::uint64_t puts;        // puts whose data is at the target
    std::uint64_t gets;
    std::uint64_t events;        // passed to their targets
    std::uint64_t tasks;         // passed to their targets
    std::uint64_t lost_answers;  // executed tasks whose rail failed before the answer arrived
    std::uint64_t unacknowledged_events;  // arrived events whose rail failed before completion
    std::uint64_t
        lost_events;  // events that had not arrived when their rail failed, and never arrived
    std::uint64_t dropped_events;    // events that had arrived but were unread when a rail failed
    std::uint64_t parts;             // separately moved parts of puts and gets
    std::uint64_t overtakings;       // a put arrived before an earlier one of its pair and rail
    std::uint64_t rail_overtakings;  // the same over different rails
    std::uint64_t agains;            // submissions refused because a queue was full
    std::uint64_t cancelled;         // operations that a failed rail or a lost rank ended
    std::uint64_t most_open;         // operations one rank had open on one rail at a time
    std::uint64_t turns;             // changes of the running thread, lockstep only
    bool lockstep_broken;            // a rank blocked outside progress; threads run freely since
};
Counters counters(World &world);

// Break a rail or a rank permanently: its operations end with FABRIC or PEER_LOST.
void fail_rail(World &world, unsigned rail);
void kill(World &world, int rank);
bool is_dead(World &world, int rank);

}  // namespace sennit::transport::sim
