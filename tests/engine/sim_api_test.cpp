// The public interface over the path sim, ranks as threads in lockstep: random programs of
// allocation, put, get, waits, flush, fence, barrier and free against the oracle, over networks
// drawn from the seed; a death in every kind of wait; failing rails. Would break: what the layers
// above the engine assume about a network and only a load/store path keeps, a wait that does not
// end, a run that does not repeat. A failing seed is printed and repeats exactly.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "oracle.hpp"
#include "runtime/process.hpp"
#include "transport/sim/sim.hpp"

namespace sennit::test {
namespace {

constexpr std::int64_t kLong = 60'000'000'000;

// Ranks as threads of this process, with what went wrong in any of them.
class Job {
  public:
    Job(int ranks, std::string paths) : paths_(std::move(paths)), bootstraps_(ranks) {}

    // Runs body(rank) between init and finalize; finalize may end with one of `allowed`.
    void run(const std::function<void(int)> &body, std::vector<sennit_status> allowed = {}) {
        allowed.push_back(SENNIT_OK);
        const int size = static_cast<int>(bootstraps_.size());
        ASSERT_EQ(sennit_bootstrap_inproc_create(size, bootstraps_.data()), SENNIT_OK);
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
    std::vector<sennit_bootstrap> bootstraps_;
    std::mutex lock_;
    transport::sim::World *world_ = nullptr;
};

struct Shape {
    int ranks = 2;
    bool in_order = false;
    std::string settings;

    static Shape of(std::uint64_t seed) {
        std::mt19937_64 random(seed ^ 0xABCD);
        Shape shape;
        const int counts[] = {2, 2, 3, 3, 4, 5, 8};
        shape.ranks = counts[random() % 7];
        const auto rails = 1 + random() % 3;
        const auto order = random() % 2;
        shape.in_order = order == 1 && rails == 1;
        shape.settings = "lockstep=1+seed=" + std::to_string(seed) +
                         "+rails=" + std::to_string(rails) + "+order=" + std::to_string(order) +
                         "+depth=" + std::to_string(1 + random() % 8) +
                         "+delay=" + std::to_string(1 + random() % 24) +
                         "+max_piece=" + std::to_string(16 << random() % 5);
        for (std::uint64_t rail = 1; rail < rails; ++rail)
            if (random() % 2 == 0)
                shape.settings += "+fail_rail=" + std::to_string(rail) + "@" +
                                  std::to_string(1 + random() % 2000);
        return shape;
    }
};

// A segment of the world and what is known of its content.
struct Shared {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    std::size_t bytes = 0;
    std::unique_ptr<Oracle> oracle;
};

// One seed's program: rounds of random operations, between them collective calls that all ranks
// draw alike.
class Program {
  public:
    Program(std::uint64_t seed, int rounds)
        : seed_(seed), rounds_(rounds), shape_(Shape::of(seed)), segments_(kSegments) {}

    void run() {
        Job job(shape_.ranks, "sim:" + shape_.settings);
        job_ = &job;
        job.run([this](int rank) { Body(*this, rank).run(); });
        fault = job.fault;
        counters = job.counters;
    }

    const Shape &shape() const { return shape_; }
    std::string fault;
    transport::sim::Counters counters{};
    std::atomic<int> operations{0};

  private:
    static constexpr std::size_t kSegments = 3;

    // What one rank does.
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

        // Everybody frees what is in the slot, checked, and allocates anew unless bytes is 0.
        void replace(std::size_t slot, std::size_t bytes) {
            Shared &shared = program_.segments_[slot];
            if (shared.oracle != nullptr) {
                wait_all();
                barrier();
                const sennit_gptr mine = sennit_gptr_at(shared.gptr, rank_);
                const auto *memory = static_cast<const std::byte *>(sennit_ptr(mine));
                if (memory == nullptr) {
                    job_.note("no pointer to the own piece");
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
                shared.oracle = std::make_unique<Oracle>(program_.shape_.ranks, bytes,
                                                         program_.shape_.in_order);
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

        int size() const { return program_.shape_.ranks; }

        void start() {
            Shared &shared = program_.segments_[draw(kSegments)];
            if (shared.oracle == nullptr) return;
            const int owner = static_cast<int>(draw(static_cast<std::size_t>(size())));
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

        void over(const Open &it) { job_.note(it.shared->oracle->finish(it.operation, true)); }

        // Takes the requests that are {0} now off the list.
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
            for (const Open &it : open_)
                all.push_back(it.request);
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
            job_.expect(sennit_waitany(all.size(), all.data(), kLong, &index), "sennit_waitany");
            if ((index == all.size()) != (open == 0)) job_.note("waitany gave a wrong index");
            collect(all);
        }
        void wait_all() {
            std::vector<sennit_request> all = requests();
            job_.expect(sennit_waitall(all.size(), all.data(), kLong), "sennit_waitall");
            for (const sennit_request &request : all)
                if (request.handle != 0) job_.note("waitall left a request open");
            collect(all);
        }
        void test_all() {
            std::vector<sennit_request> all = requests();
            int done = 0;
            job_.expect(sennit_testall(all.size(), all.data(), &done), "sennit_testall");
            for (const sennit_request &request : all)
                if (done == 1 && request.handle != 0) job_.note("testall left a request open");
            collect(all);
        }

        // Implicit operations and all puts towards `owner` (-1: all) are over.
        void flushed(int owner) {
            for (const Open &it : implicit_)
                if (owner < 0 || it.operation->owner == owner) over(it);
            std::erase_if(implicit_, [](const Open &it) { return it.operation->over; });
            for (const Open &it : open_)
                if (it.operation->is_put && (owner < 0 || it.operation->owner == owner)) over(it);
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
        std::mt19937_64 random_;  // of this rank
        std::mt19937_64 common_;  // drawn alike by all
        std::vector<Open> open_;
        std::vector<Open> implicit_;
        std::byte nothing_{};
    };

    std::uint64_t seed_;
    int rounds_;
    Shape shape_;
    std::vector<Shared> segments_;
    Job *job_ = nullptr;
};

void run_programs(std::uint64_t first, std::uint64_t end) {
    std::uint64_t cancelled = 0;
    std::uint64_t overtakings = 0;
    std::uint64_t agains = 0;
    int operations = 0;
    for (std::uint64_t seed = first; seed < end; ++seed) {
        Program program(seed, 5);
        program.run();
        ASSERT_EQ(program.fault, "") << "seed " << seed << ", sim:" << program.shape().settings;
        ASSERT_FALSE(program.counters.lockstep_broken) << "seed " << seed;
        cancelled += program.counters.cancelled;
        overtakings += program.counters.overtakings + program.counters.rail_overtakings;
        agains += program.counters.agains;
        operations += program.operations.load();
    }
    // That the runs were about something; rails failed under way and nobody noticed.
    const std::uint64_t seeds = end - first;
    EXPECT_GT(operations, static_cast<int>(seeds * 50));
    EXPECT_GT(overtakings, seeds);
    EXPECT_GT(agains, seeds);
    EXPECT_GT(cancelled, seeds / 10);
}

TEST(sim_api, random_programs_agree_with_the_oracle_for_200_seeds) {
    run_programs(1, 201);
}

TEST(sim_api, a_program_repeats_exactly_with_its_seed) {
    for (std::uint64_t seed = 301; seed <= 310; ++seed) {
        Program one(seed, 3);
        Program two(seed, 3);
        one.run();
        two.run();
        ASSERT_EQ(one.fault + two.fault, "") << "seed " << seed;
        EXPECT_EQ(one.counters.trace_hash, two.counters.trace_hash) << "seed " << seed;
        EXPECT_EQ(one.counters.steps, two.counters.steps) << "seed " << seed;
        EXPECT_GT(one.counters.steps, 0u);
    }
}

TEST(sim_api, the_path_is_sim_and_there_is_no_pointer_to_a_peer) {
    Job job(2, "sim:lockstep=1");
    job.run([&](int rank) {
        sennit_path path = SENNIT_PATH_NONE;
        job.expect(sennit_peer_path(1 - rank, &path), "sennit_peer_path");
        if (path != SENNIT_PATH_SIM) job.note("the path is not sim");
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
        if (sennit_ptr(sennit_gptr_at(gptr, 1 - rank)) != nullptr) job.note("a pointer over sim");
        job.expect(sennit_free(gptr), "sennit_free");
    });
    EXPECT_EQ(job.fault, "");
}

TEST(sim_api, an_allocation_of_one_rank_is_reached_by_who_gets_the_pointer) {
    for (int seed = 1; seed <= 20; ++seed) {
        Job job(3, "sim:lockstep=1+order=0+seed=" + std::to_string(seed));
        sennit_gptr shared = SENNIT_GPTR_NULL;
        job.run([&](int rank) {
            for (int round = 0; round < 5; ++round) {
                if (rank == 0) job.expect(sennit_alloc_local(64, 0, 0, &shared), "alloc_local");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
                const sennit_gptr mine = sennit_gptr_add(shared, 8 * rank);
                const std::uint64_t value = static_cast<std::uint64_t>(round * 10 + rank);
                job.expect(sennit_put(mine, &value, 8), "put");
                std::uint64_t back = 99;
                job.expect(sennit_get(&back, mine, 8), "get");
                if (back != value) job.note("the value is not there");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
                if (rank == 0) job.expect(sennit_free(shared), "free");
                const sennit_gptr stale = shared;
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
                if (sennit_put(stale, &value, 8) != SENNIT_ERR_NOT_REGISTERED)
                    job.note("a stale pointer was taken");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            }
        });
        ASSERT_EQ(job.fault, "") << "seed " << seed;
    }
}

// A call that rank 0 and 1 repeat until it fails, while rank 2 lives and then dies.
struct Waiting {
    const char *name;
    std::function<sennit_status(sennit_gptr there, std::byte *local)> call;
    bool collective = false;  // rank 2 calls it as well
};

std::vector<Waiting> ways_to_wait() {
    const auto nb = [](sennit_gptr there, std::byte *local, sennit_request *requests) {
        const sennit_status status = sennit_put_nb(there, local, 64, &requests[0]);
        return status != SENNIT_OK ? status : sennit_get_nb(local + 64, there, 64, &requests[1]);
    };
    // A call that could not start has left {0}, or a request whose wait ends like it.
    return {
        {"put", [](auto there, auto *local) { return sennit_put(there, local, 64); }},
        {"get", [](auto there, auto *local) { return sennit_get(local, there, 64); }},
        {"wait",
         [nb](auto there, auto *local) {
             sennit_request requests[2] = {};
             const sennit_status status = nb(there, local, requests);
             const sennit_status first = sennit_wait(&requests[0], kLong);
             const sennit_status second = sennit_wait(&requests[1], kLong);
             return status != SENNIT_OK ? status : first != SENNIT_OK ? first : second;
         }},
        {"test",
         [nb](auto there, auto *local) {
             sennit_request requests[2] = {};
             sennit_status status = nb(there, local, requests);
             for (sennit_request &request : requests) {
                 int done = 0;
                 while (done == 0) {
                     const sennit_status own = sennit_test(&request, &done);
                     if (own != SENNIT_OK) status = own;
                 }
             }
             return status;
         }},
        {"waitall",
         [nb](auto there, auto *local) {
             sennit_request requests[2] = {};
             const sennit_status status = nb(there, local, requests);
             const sennit_status own = sennit_waitall(2, requests, kLong);
             return status != SENNIT_OK ? status : own;
         }},
        {"waitany",
         [nb](auto there, auto *local) {
             sennit_request requests[2] = {};
             sennit_status status = nb(there, local, requests);
             for (std::size_t index = 0; index < 2;) {
                 const sennit_status own = sennit_waitany(2, requests, kLong, &index);
                 if (own != SENNIT_OK) status = own;
             }
             return status;
         }},
        {"flush",
         [](auto there, auto *local) {
             const sennit_status status = sennit_put_nbi(there, local, 64);
             const sennit_status own = sennit_flush(2, kLong);
             return status != SENNIT_OK ? status : own;
         }},
        {"flush_all",
         [](auto there, auto *local) {
             const sennit_status status = sennit_get_nbi(local, there, 64);
             const sennit_status own = sennit_flush_all(kLong);
             return status != SENNIT_OK ? status : own;
         }},
        {"barrier", [](auto, auto *) { return sennit_barrier(SENNIT_TEAM_WORLD, kLong); }, true},
        {"alloc and free",
         [](auto, auto *) {
             sennit_gptr gptr = SENNIT_GPTR_NULL;
             const sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &gptr);
             return status != SENNIT_OK ? status : sennit_free(gptr);
         },
         true},
    };
}

// Returns what went wrong, or "".
std::string die_in(const Waiting &waiting, int seed) {
    const std::string settings =
        "sim:lockstep=1+rails=2+order=0+depth=2+delay=15+seed=" + std::to_string(seed) +
        "+kill=2@" + std::to_string(400 + 37 * seed);
    Job job(3, settings);
    std::atomic<bool> survivors_done{false};
    const auto body = [&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        std::vector<std::byte> local(128);
        sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr);
        job.expect(status, "sennit_alloc");
        if (status != SENNIT_OK) return;
        if (rank == 2 && !waiting.collective) {
            while (status == SENNIT_OK)
                status = sennit_get(local.data(), sennit_gptr_at(gptr, 0), 8);
        } else {
            while (status == SENNIT_OK)
                status = waiting.call(sennit_gptr_at(gptr, 2), local.data());
        }
        if (status != SENNIT_ERR_PEER_LOST) job.expect(status, waiting.name);
        // The survivors still reach each other.
        if (rank == 0) {
            job.expect(sennit_put(sennit_gptr_at(gptr, 1), local.data(), 64), "put after death");
            job.expect(sennit_flush(1, kLong), "flush after death");
            survivors_done.store(true);
        }
        while (rank == 1 && !survivors_done.load())
            (void)sennit_get(local.data(), sennit_gptr_at(gptr, 0), 8);
    };
    job.run(body, {SENNIT_ERR_PEER_LOST});
    return job.fault;
}

TEST(sim_api, a_death_ends_every_kind_of_wait_with_peer_lost) {
    for (const Waiting &waiting : ways_to_wait())
        for (int seed = 1; seed <= 12; ++seed)
            ASSERT_EQ(die_in(waiting, seed), "") << waiting.name << ", seed " << seed;
}

TEST(sim_api, programs_survive_the_loss_of_all_rails_but_one) {
    for (int seed = 1; seed <= 20; ++seed) {
        Job job(2,
                "sim:lockstep=1+rails=4+order=0+delay=20+max_piece=64+fail_rail=0@200"
                "+fail_rail=1@350+fail_rail=3@500+seed=" +
                    std::to_string(seed));
        job.run([&](int rank) {
            sennit_gptr gptr = SENNIT_GPTR_NULL;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 2000, 0, 0, &gptr), "sennit_alloc");
            const sennit_gptr there = sennit_gptr_at(gptr, 1 - rank);
            std::vector<std::byte> mine(2000);
            for (int round = 0; round < 10; ++round) {
                std::fill(mine.begin(), mine.end(), static_cast<std::byte>(round * 2 + rank));
                std::vector<std::byte> back(2000);
                job.expect(sennit_put(there, mine.data(), mine.size()), "sennit_put");
                job.expect(sennit_get(back.data(), there, back.size()), "sennit_get");
                if (back != mine) job.note("the data is not there");
            }
            job.expect(sennit_free(gptr), "sennit_free");
        });
        ASSERT_EQ(job.fault, "") << "seed " << seed;
        EXPECT_GT(job.counters.cancelled, 0u);
    }
}

TEST(sim_api, without_a_rail_left_operations_fail_with_fabric) {
    Job job(2, "sim:lockstep=1+delay=20+fail_rail=0@400");
    std::atomic<int> told{0};
    const auto body = [&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr);
        job.expect(status, "sennit_alloc");
        std::byte local[64] = {};
        while (status == SENNIT_OK)
            status = sennit_put(sennit_gptr_at(gptr, 1 - rank), local, 64);
        // The one that hears of it first may have left when the other looks.
        if (status == SENNIT_ERR_PEER_LOST) return;
        if (status != SENNIT_ERR_FABRIC) job.expect(status, "sennit_put");
        ++told;
    };
    job.run(body, {SENNIT_ERR_FABRIC, SENNIT_ERR_PEER_LOST});
    EXPECT_EQ(job.fault, "");
    EXPECT_GE(told.load(), 1);
}

TEST(sim_api, threads_run_freely_without_lockstep) {
    for (int seed = 1; seed <= 5; ++seed) {
        Job job(4, "sim:order=0+rails=2+depth=4+delay=10+seed=" + std::to_string(seed));
        job.run([&](int rank) {
            sennit_gptr gptr = SENNIT_GPTR_NULL;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 4 * 256, 0, 0, &gptr), "sennit_alloc");
            for (int round = 1; round <= 10; ++round) {
                // Everybody writes its own part at everybody.
                std::vector<std::byte> mine(256, static_cast<std::byte>(round * 4 + rank));
                for (int peer = 0; peer < 4; ++peer)
                    job.expect(
                        sennit_put_nbi(sennit_gptr_add(sennit_gptr_at(gptr, peer), 256 * rank),
                                       mine.data(), mine.size()),
                        "sennit_put_nbi");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
                const auto *memory = static_cast<const std::byte *>(sennit_ptr(gptr));
                for (int i = 0; i < 4 * 256; ++i)
                    if (memory[i] != static_cast<std::byte>(round * 4 + i / 256))
                        job.note("a byte is missing after the barrier");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            }
            job.expect(sennit_free(gptr), "sennit_free");
        });
        ASSERT_EQ(job.fault, "") << "seed " << seed;
    }
}

}  // namespace
}  // namespace sennit::test
