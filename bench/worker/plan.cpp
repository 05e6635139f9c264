// 64 pieces from rank 0 to memory of rank 1, which does nothing: by copies, by one put for each,
// and by a plan. Between nodes the raw limit is the provider's puts, all under way at the same
// time, and the wait for their delivery; Sennit's puts are completed by a flush.
#include <sennit/sennit.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

// Only the origin works. All statuses must be OK.
template <class Operation>
Subject at_origin(std::string name, const Job &job, Operation operation) {
    const bool is_origin = job.rank() == Pieces::kOrigin;
    return {std::move(name), [=](std::size_t operations) {
                int failures = 0;
                const Interval elapsed =
                    is_origin ? time_batch(operations, [&] { failures |= operation(); })
                              : kNotTimed;
                if (failures != SENNIT_OK) throw std::runtime_error("a piece was refused");
                return elapsed;
            }};
}

// The list of sources and destinations that a program would store.
Subject by_hand(const Job &job, std::byte *there, const Pieces &pieces) {
    struct Copy {
        std::byte *to;
        const std::byte *from;
    };
    std::vector<Copy> copies;
    for (std::size_t i = 0; i < Pieces::kCount; ++i)
        copies.push_back({there + pieces.offset(i), pieces.source(i)});
    return at_origin("raw-copies", job, [copies, bytes = pieces.bytes] {
        // The size is hidden from the compiler, which does not know it in the library's code
        // either.
        std::size_t hidden = bytes;
        keep(hidden);
        for (const Copy &copy : copies)
            copy_by_hand(copy.to, copy.from, hidden);
        return 0;
    });
}

Subject by_provider(const Job &job, const Pieces &pieces) {
    static_assert(Pieces::kCount == RawNetwork::kWindow);
    return raw_by_network(job, std::make_shared<RawNetwork>(job, pieces.target_bytes()),
                          [pieces](const RawNetwork &rail) {
                              rail.put_window(pieces.from, pieces.bytes, pieces.stride());
                          });
}

Subject by_puts(const Job &job, sennit_gptr there, const Pieces &pieces) {
    return at_origin("sennit-put", job, [=] {
        int failures = 0;
        for (std::size_t i = 0; i < Pieces::kCount; ++i) {
            const auto offset = static_cast<std::int64_t>(pieces.offset(i));
            failures |= sennit_put(sennit_gptr_add(there, offset), pieces.source(i), pieces.bytes);
        }
        return failures;
    });
}

// All under way at the same time, like those of the provider.
Subject by_puts_between_nodes(const Job &job, sennit_gptr there, const Pieces &pieces) {
    return at_origin("sennit-put-nbi", job, [=] {
        int failures = 0;
        for (std::size_t i = 0; i < Pieces::kCount; ++i) {
            const auto offset = static_cast<std::int64_t>(pieces.offset(i));
            failures |=
                sennit_put_nbi(sennit_gptr_add(there, offset), pieces.source(i), pieces.bytes);
        }
        return failures | sennit_flush(Pieces::kTarget, SENNIT_FOREVER);
    });
}

Subject by_plan(const Job &job, sennit_plan plan) {
    return at_origin("sennit-plan", job, [plan, flushes = job.spans_nodes()] {
        return static_cast<int>(sennit_plan_start(plan)) |
               static_cast<int>(sennit_plan_wait(plan, SENNIT_FOREVER)) |
               static_cast<int>(flushes ? sennit_flush(Pieces::kTarget, SENNIT_FOREVER)
                                        : SENNIT_OK);
    });
}

sennit_peer_block attach_target(const Job &job, sennit_gptr own, std::size_t bytes) {
    sennit_block mine;
    check(sennit_block_init({own, bytes}, 0, bytes, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, &mine),
          "sennit_block_init");
    std::vector<sennit_block> blocks(static_cast<std::size_t>(job.size()));
    check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks.data(), sizeof mine, SENNIT_FOREVER),
          "sennit_allgather");
    sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
    check(sennit_block_attach(&blocks[Pieces::kTarget], &there), "sennit_block_attach");
    return there;
}

// Checks the results of the timed operations.
void verify(const Job &job, const Subject &subject, sennit_gptr own, const Pieces &pieces) {
    std::memset(sennit_ptr(own), 0, pieces.target_bytes());
    job.barrier();
    subject.run(1);
    std::vector<std::byte> found(pieces.target_bytes());
    check(sennit_get(found.data(), sennit_gptr_at(own, Pieces::kTarget), found.size()),
          "sennit_get");
    for (std::size_t i = 0; job.rank() == Pieces::kOrigin && i < Pieces::kCount; ++i)
        if (std::memcmp(&found[pieces.offset(i)], pieces.source(i), pieces.bytes) != 0)
            throw std::runtime_error("a plan did not move what it should");
    job.barrier();
}

void run_size(const Run &run, const Pieces &pieces) {
    const Job &job = run.job;
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, pieces.target_bytes(), 4096, 0, &own), "sennit_alloc");
    const sennit_gptr at_target = sennit_gptr_at(own, Pieces::kTarget);
    const sennit_peer_block block = attach_target(job, own, pieces.target_bytes());
    sennit_plan plan = SENNIT_PLAN_NULL;
    check(sennit_plan_create(&plan), "sennit_plan_create");
    for (std::size_t i = 0; i < Pieces::kCount; ++i)
        check(sennit_plan_put(plan, block, pieces.offset(i), pieces.source(i), pieces.bytes),
              "sennit_plan_put");
    check(sennit_plan_commit(plan, 0, 1), "sennit_plan_commit");

    Case what{"plan", pieces.bytes, 1.0, {}};
    if (job.spans_nodes()) {
        what.subjects.push_back(by_provider(job, pieces));
        what.subjects.push_back(by_puts_between_nodes(job, at_target, pieces));
    } else {
        auto *const there = static_cast<std::byte *>(sennit_ptr(at_target));
        if (there == nullptr) check(sennit_last_error()->status, "sennit_ptr");
        what.subjects.push_back(by_hand(job, there, pieces));
        what.subjects.push_back(by_puts(job, at_target, pieces));
    }
    const Subject planned = by_plan(job, plan);
    what.subjects.push_back(planned);
    for (Subject &subject : run.library.plan(job, pieces))
        what.subjects.push_back(std::move(subject));
    job.barrier();
    Limits limits = run.limits;
    if (job.spans_nodes()) limits.batch_ns = std::max(limits.batch_ns, 2e6);
    measure_in_turn(job, what, limits);
    what.subjects.clear();
    verify(job, planned, own, pieces);
    check(sennit_plan_destroy(plan), "sennit_plan_destroy");
    check(sennit_block_detach(block), "sennit_block_detach");
    check(sennit_free(own), "sennit_free");
}

}  // namespace

void run_plan(const Run &run) {
    if (run.job.size() < 2) throw std::runtime_error("a plan of puts needs two ranks");
    const std::uint64_t most = *std::max_element(run.sizes.begin(), run.sizes.end());
    const PrivateBuffer outgoing(most * Pieces::kCount, 1);
    for (const std::uint64_t bytes : run.sizes)
        run_size(run, {outgoing.data(), static_cast<std::size_t>(bytes)});
}

}  // namespace sennit::bench
