// A random program of all ranks through the public interface, checked by the oracle: allocation,
// put, get, every kind of wait, flush, fence, barrier and free. Drawn from a seed, so over a path
// in lockstep it repeats exactly.
#pragma once

#include <sennit/sennit.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "job.hpp"
#include "oracle.hpp"

namespace sennit::test {

struct Network {
    int ranks = 2;
    bool in_order = false;  // puts of a pair arrive in the order of their start
    bool self_too = true;   // ranks also put to themselves, which is a plain copy
    std::string paths;
};

// A segment of the world and the oracle of its contents.
struct Shared {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    std::size_t bytes = 0;
    std::unique_ptr<Oracle> oracle;
};

// The program of one seed: rounds of random operations, separated by collective calls that all
// ranks draw alike.
class Program {
  public:
    Program(std::uint64_t seed, int rounds, Network network)
        : seed_(seed), rounds_(rounds), network_(std::move(network)), segments_(kSegments) {}

    void run() {
        Job job(network_.ranks, network_.paths);
        job_ = &job;
        job.run([this](int rank) { Body(*this, rank).run(); });
        fault = job.fault;
        counters = job.counters;
    }

    const Network &network() const { return network_; }
    std::string fault;
    transport::sim::Counters counters{};
    std::atomic<int> operations{0};

  private:
    static constexpr std::size_t kSegments = 3;

    // The program of one rank.
    class Body {
      public:
        Body(Program &program, int rank)
            : program_(program),
              job_(*program.job_),
              rank_(rank),
              random_(program.seed_ * 1000 + static_cast<unsigned>(rank)),
              common_(program.seed_) {}

        void run() {
            for (int round = 0; round < program_.rounds_; ++round) {
                replace(common_() % kSegments, 8 + common_() % 600);
                const int actions = static_cast<int>(random_() % 20);
                for (int i = 0; i < actions; ++i)
                    act();
                if (common_() % 2 == 0) barrier();
            }
            for (std::size_t slot = 0; slot < kSegments; ++slot)
                replace(slot, 0);
        }

      private:
        struct Open {
            sennit_request request;
            Shared *shared;
            Oracle::Operation *operation;
        };

        unsigned draw(std::size_t limit) { return static_cast<unsigned>(random_() % limit); }

        // All ranks check and free the segment in the slot, and allocate a new one unless `bytes`
        // is 0.
        void replace(std::size_t slot, std::size_t bytes) {
            Shared &shared = program_.segments_[slot];
            if (shared.oracle != nullptr) {
                wait_all();
                barrier();
                const sennit_gptr mine = sennit_gptr_at(shared.gptr, rank_);
                const auto *memory = static_cast<const std::byte *>(sennit_ptr(mine));
                if (memory == nullptr) {
                    job_.note("no pointer to this rank's piece");
                } else {
                    job_.note(shared.oracle->check(rank_, memory));
                }
                job_.expect(sennit_free(mine), "sennit_free");
                std::byte one{};
                if (sennit_get(&one, mine, 1) != SENNIT_ERR_NOT_REGISTERED)
                    job_.note("a freed segment is still known");
                barrier();
                if (rank_ == 0) shared = Shared{};
                barrier();
            }
            if (bytes == 0) return;
            sennit_gptr gptr = SENNIT_GPTR_NULL;
            job_.expect(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &gptr), "sennit_alloc");
            if (rank_ == 0) {
                shared.bytes = bytes;
                shared.gptr = gptr;
                shared.oracle = std::make_unique<Oracle>(program_.network_.ranks, bytes,
                                                         program_.network_.in_order);
            }
            barrier();
        }

        void act() {
            ++program_.operations;
            switch (draw(12)) {
                case 0:
                    return wait_one();
                case 1:
                    return test_one();
                case 2:
                    return wait_any();
                case 3:
                    return draw(2) == 0 ? wait_all() : test_all();
                case 4:
                    return draw(2) == 0
                               ? flush(-1)
                               : flush(static_cast<int>(draw(static_cast<std::size_t>(size()))));
                case 5:
                    for (Shared &shared : program_.segments_)
                        if (shared.oracle != nullptr) shared.oracle->fence(rank_);
                    return job_.expect(sennit_fence(), "sennit_fence");
                default:
                    return start();
            }
        }

        int size() const { return program_.network_.ranks; }

        void start() {
            Shared &shared = program_.segments_[draw(kSegments)];
            if (shared.oracle == nullptr) return;
            const int owner = static_cast<int>(draw(static_cast<std::size_t>(size())));
            if (owner == rank_ && !program_.network_.self_too) return;
            const bool is_put = draw(3) != 0;
            const std::uint64_t offset =
                draw(draw(2) == 0 ? std::min<std::size_t>(shared.bytes, 32) : shared.bytes);
            const std::size_t room = shared.bytes - offset;
            const std::size_t bytes =
                draw(std::min<std::size_t>(room, draw(4) == 0 ? 400 : 16) + 1);
            std::vector<std::byte> buffer(bytes);
            for (std::byte &byte : buffer)
                byte = is_put ? static_cast<std::byte>(draw(256)) : std::byte{0};
            Oracle::Operation *operation =
                shared.oracle->start(rank_, owner, is_put, offset, std::move(buffer));
            const sennit_gptr there =
                sennit_gptr_add(sennit_gptr_at(shared.gptr, owner), static_cast<int64_t>(offset));
            void *local = bytes == 0 ? static_cast<void *>(&nothing_) : operation->buffer.data();
            sennit_request request = SENNIT_REQUEST_NULL;
            sennit_status status = SENNIT_OK;
            const unsigned mode = draw(3);
            if (mode == 0) {
                status = is_put ? sennit_put(there, local, bytes) : sennit_get(local, there, bytes);
                job_.note(shared.oracle->finish(operation, status == SENNIT_OK));
            } else if (mode == 1) {
                status = is_put ? sennit_put_nb(there, local, bytes, &request)
                                : sennit_get_nb(local, there, bytes, &request);
                open_.push_back({request, &shared, operation});
            } else {
                status = is_put ? sennit_put_nbi(there, local, bytes)
                                : sennit_get_nbi(local, there, bytes);
                implicit_.push_back({SENNIT_REQUEST_NULL, &shared, operation});
            }
            job_.expect(status, "put or get");
        }

        void over(const Open &pending) {
            job_.note(pending.shared->oracle->finish(pending.operation, true));
        }

        // Removes finished requests (handle 0) from the list.
        void collect(const std::vector<sennit_request> &requests) {
            std::vector<Open> left;
            for (std::size_t i = 0; i < open_.size(); ++i) {
                open_[i].request = requests[i];
                if (requests[i].handle == 0) {
                    over(open_[i]);
                } else {
                    left.push_back(open_[i]);
                }
            }
            open_ = left;
        }
        std::vector<sennit_request> requests() const {
            std::vector<sennit_request> all;
            for (const Open &pending : open_)
                all.push_back(pending.request);
            return all;
        }

        void wait_one() {
            if (open_.empty()) return;
            std::vector<sennit_request> all = requests();
            job_.expect(sennit_wait(&all[draw(all.size())], kLong), "sennit_wait");
            collect(all);
        }
        void test_one() {
            if (open_.empty()) return;
            std::vector<sennit_request> all = requests();
            sennit_request &one = all[draw(all.size())];
            int done = 0;
            job_.expect(sennit_test(&one, &done), "sennit_test");
            if ((done == 1) != (one.handle == 0)) job_.note("done and handle disagree");
            collect(all);
        }
        void wait_any() {
            std::vector<sennit_request> all = requests();
            std::size_t index = 0;
            const auto open = static_cast<std::size_t>(
                std::count_if(all.begin(), all.end(),
                              [](const sennit_request &request) { return request.handle != 0; }));
            job_.expect(sennit_wait_any(all.size(), all.data(), kLong, &index), "sennit_wait_any");
            if ((index == all.size()) != (open == 0)) job_.note("wait_any gave a wrong index");
            collect(all);
        }
        void wait_all() {
            std::vector<sennit_request> all = requests();
            job_.expect(sennit_wait_all(all.size(), all.data(), kLong), "sennit_wait_all");
            for (const sennit_request &request : all)
                if (request.handle != 0) job_.note("wait_all left a request open");
            collect(all);
        }
        void test_all() {
            std::vector<sennit_request> all = requests();
            int done = 0;
            job_.expect(sennit_test_all(all.size(), all.data(), &done), "sennit_test_all");
            for (const sennit_request &request : all)
                if (done == 1 && request.handle != 0) job_.note("test_all left a request open");
            collect(all);
        }

        // Implicit operations and all puts to `owner` (-1: all ranks) are complete.
        void flushed(int owner) {
            for (const Open &pending : implicit_)
                if (owner < 0 || pending.operation->owner == owner) over(pending);
            std::erase_if(implicit_, [](const Open &pending) { return pending.operation->over; });
            for (const Open &pending : open_)
                if (pending.operation->is_put && (owner < 0 || pending.operation->owner == owner))
                    over(pending);
        }
        void flush(int owner) {
            job_.expect(owner < 0 ? sennit_flush_all(kLong) : sennit_flush(owner, kLong),
                        "sennit_flush");
            flushed(owner);
        }
        void barrier() {
            job_.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            flushed(-1);
        }

        Program &program_;
        Job &job_;
        int rank_;
        std::mt19937_64 random_;  // for this rank
        std::mt19937_64 common_;  // drawn alike by all
        std::vector<Open> open_;
        std::vector<Open> implicit_;
        std::byte nothing_{};
    };

    std::uint64_t seed_;
    int rounds_;
    Network network_;
    std::vector<Shared> segments_;
    Job *job_ = nullptr;
};

}  // namespace sennit::test
