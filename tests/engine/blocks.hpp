// Ranks on a message path, each with a block that all ranks have attached.
#pragma once

#include <sennit/sennit.h>

#include <string>
#include <vector>

#include "job.hpp"

namespace sennit::test {

inline constexpr std::size_t kBytes = 4096;

// Each rank has a block with a signal of `events` events (0: no signal), and attaches every rank's
// block.
struct Blocks {
    Job &job;
    int rank;
    sennit_gptr memory = SENNIT_GPTR_NULL;
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    std::vector<sennit_peer_block> peers;

    Blocks(Job &the_job, int the_rank, int size, std::uint32_t events, std::size_t bytes = kBytes)
        : job(the_job), rank(the_rank), peers(static_cast<std::size_t>(size)) {
        ok(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &memory), "alloc");
        if (events != 0) ok(sennit_signal_create(events, events, 0, &arrived), "signal_create");
        sennit_block mine{};
        ok(sennit_block_init({sennit_gptr_at(memory, rank), bytes}, 0, bytes, SENNIT_SIGNAL_NULL,
                             arrived, &mine),
           "block_init");
        for (int owner = 0; owner < size; ++owner) {
            sennit_block block = mine;
            ok(sennit_broadcast(SENNIT_TEAM_WORLD, owner, &block, sizeof block, kLong),
               "broadcast");
            ok(sennit_block_attach(&block, &peers[static_cast<std::size_t>(owner)]), "attach");
        }
        ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    }
    void ok(sennit_status status, const char *call) const { job.expect(status, call); }
    std::uint32_t left() const {
        std::uint32_t events = 999;
        ok(sennit_signal_remaining(arrived, &events), "remaining");
        return events;
    }
};

}  // namespace sennit::test
