// Ranks as threads of this process, through the public interface, for tests of message paths.
#pragma once

#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../support/one_processor.hpp"
#include "rank/process.hpp"
#include "transport/sim/sim.hpp"

namespace sennit::test {

inline constexpr std::int64_t kLong = 60'000'000'000;

// Ranks as threads of this process, with the first error of any of them.
class Job {
  public:
    Job(int ranks, std::string paths, sennit_thread_level level = SENNIT_THREAD_SINGLE)
        : paths_(std::move(paths)), level_(level), bootstraps_(static_cast<std::size_t>(ranks)) {}

    // Runs body(rank) between init and finalize; finalize may end with one of `allowed`.
    void run(const std::function<void(int)> &body, std::vector<sennit_status> allowed = {}) {
        allowed.push_back(SENNIT_OK);
        const int size = static_cast<int>(bootstraps_.size());
        ASSERT_EQ(sennit_bootstrap_inproc_create(size, bootstraps_.data()), SENNIT_OK);
        const OneProcessor one_processor(is_in_lockstep(paths_));
        std::vector<std::thread> threads;
        for (int rank = 0; rank < size; ++rank)
            threads.emplace_back([&, rank] { one(rank, body, allowed); });
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(sennit_bootstrap_inproc_destroy(size, bootstraps_.data()), SENNIT_OK);
        if (world_ == nullptr) return;
        counters = transport::sim::counters(*world_);
        transport::sim::release_world(world_);
        world_ = nullptr;
    }

    void note(const std::string &what) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (fault.empty() && !what.empty()) fault = what;
    }
    void expect(sennit_status status, const char *call) {
        if (status == SENNIT_OK) return;
        note(std::string(call) + ": " + sennit_status_string(status) + ", " +
             sennit_last_error()->text);
    }

    std::string fault;
    transport::sim::Counters counters{};

  private:
    void one(int rank, const std::function<void(int)> &body,
             const std::vector<sennit_status> &allowed) {
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.bootstrap = &bootstraps_[static_cast<std::size_t>(rank)];
        options.paths = paths_.c_str();
        options.thread_level = level_;
        const sennit_status status = sennit_init(&options);
        expect(status, "sennit_init");
        if (status != SENNIT_OK) return;
        if (rank == 0) world_ = transport::sim::hold_world(*current_rank());
        body(rank);
        const sennit_status end = sennit_finalize();
        if (std::find(allowed.begin(), allowed.end(), end) == allowed.end())
            expect(end, "sennit_finalize");
    }

    std::string paths_;
    sennit_thread_level level_;
    std::vector<sennit_bootstrap> bootstraps_;
    std::mutex lock_;
    transport::sim::World *world_ = nullptr;
};

}  // namespace sennit::test
