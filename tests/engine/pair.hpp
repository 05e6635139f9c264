// Two ranks on a message path; one sends events with its puts to the other.
#pragma once

#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <string>
#include <vector>

#include "job.hpp"
#include "signal/carried.hpp"
#include "signal/prepared.hpp"

namespace sennit::test {

inline constexpr std::size_t kBytes = op::kSharedFromBytes;  // each rail gets a part
inline constexpr std::int64_t kShort = 50'000'000;
inline constexpr std::size_t kRides = 600;  // more than a task of sim brings

// Rank 1 has memory and a signal, the last of several; rank 0 attaches the block.
struct Pair {
    Job &job;
    int rank;
    sennit_gptr memory = SENNIT_GPTR_NULL;
    sennit_signal arrived = SENNIT_SIGNAL_NULL;  // on both ranks
    sennit_signal other = SENNIT_SIGNAL_NULL;    // the signal before it, on rank 1
    sennit_peer_block block = SENNIT_PEER_BLOCK_NULL;
    sennit_peer_block again = SENNIT_PEER_BLOCK_NULL;  // attached again, for another thread

    Pair(Job &the_job, int the_rank, std::uint32_t events, int signals = 1)
        : job(the_job), rank(the_rank) {
        sennit_block mine{};
        if (rank == 1) {
            ok(sennit_alloc_local(kBytes, 0, 0, &memory), "alloc_local");
            for (int i = 0; i < signals; ++i) {
                other = arrived;
                ok(sennit_signal_create(events, events, 0, &arrived), "signal_create");
            }
            ok(sennit_block_init({memory, kBytes}, 0, kBytes, SENNIT_SIGNAL_NULL, arrived, &mine),
               "block_init");
        }
        ok(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &mine, sizeof mine, kLong), "broadcast");
        ok(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &arrived, sizeof arrived, kLong), "broadcast");
        if (rank == 0) ok(sennit_block_attach(&mine, &block), "block_attach");
        if (rank == 0) ok(sennit_block_attach(&mine, &again), "block_attach");
        barrier();
    }

    void ok(sennit_status status, const char *call) const { job.expect(status, call); }
    void is(sennit_status got, sennit_status wanted, const char *call) const {
        if (got != wanted) job.note(std::string(call) + " gave " + sennit_status_string(got));
    }
    void barrier() const { ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier"); }
    void put(std::size_t bytes, std::uint64_t epoch) const {
        const std::vector<char> data(bytes, 'x');
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        ok(sennit_put_notify_with(block, 0, data.data(), bytes, &notice), "put_notify");
    }
    // Sends a message that a notified put's checks would refuse, with completion data once the
    // owner has given an index. Returns the flush's status.
    sennit_status forge(sennit_signal signal, std::uint64_t epoch) const {
        Rank &self = *current_rank();
        signal::Prepared prepared;
        ok(signal::reach(self, signal, &prepared.remote), "reach");
        prepared.remote.signal = signal;
        prepared.epoch = epoch;
        prepared.place = signal::find_attached(self, block)->gptr;
        std::vector<char> data(kRides, 'f');
        const signal::NotifyArgs args{op::Direction::put, 0, data.data(), data.size(), nullptr};
        ok(signal::start_with_event(self, prepared, args, {op::Completion::Mode::implicit}),
           "start_with_event");
        return sennit_flush(1, kLong);
    }
    // Epochs of one event each. After two, rank 0's messages use completion data.
    void pass(std::size_t bytes = kRides, std::uint64_t epochs = 2) const {
        for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
            if (rank == 0) put(bytes, epoch);
            if (rank == 0) ok(sennit_flush(1, kLong), "flush");
            if (rank == 1) ok(sennit_signal_wait(arrived, kLong), "wait");
            if (rank == 1) ok(sennit_signal_reset(arrived), "reset");
            barrier();
        }
    }
    std::uint32_t left() const {
        std::uint32_t events = 999;
        ok(sennit_signal_remaining(arrived, &events), "remaining");
        return events;
    }
    // Until pending messages have arrived.
    void progress() const {
        for (int i = 0; i < 200; ++i)
            ok(sennit_flush_all(kLong), "flush_all");
    }
};

inline bool mentions(const char *what) {
    return std::string(sennit_last_error()->text).find(what) != std::string::npos;
}

}  // namespace sennit::test
