// A strided put from rank 0 to rank 1, which does nothing, compared with a loop through a plain
// pointer, and with MPI's derived datatypes.
#include "worker/strided.hpp"

#include <sennit/sennit.h>

#include <algorithm>
#include <stdexcept>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;

Subject raw_loop(const Job &job, const Stripes &what, std::byte *there, const std::byte *here) {
    const bool is_origin = job.rank() == kOrigin;
    const auto copy = [what, there, here] {
        std::uint64_t count = what.count;
        keep(count);
        std::byte *to = there;
        keep(to);
        if (what.run_bytes == 8) {
            for (std::uint64_t i = 0; i < count; ++i) {
                std::memcpy(to + i * what.stride, here + i * what.stride, 8);
            }
        } else {
            for (std::uint64_t i = 0; i < count; ++i) {
                std::memcpy(to + i * what.stride, here + i * what.stride, what.run_bytes);
            }
        }
        keep(to);
    };
    return {"raw-" + what.name, [=](std::size_t operations) {
                return is_origin ? time_batch(operations, copy) : kNotTimed;
            }};
}

Subject by_put(const Job &job, const Stripes &what, sennit_gptr there, const std::byte *here) {
    const bool is_origin = job.rank() == kOrigin;
    return {"sennit-" + what.name, [=, box = what.box()](std::size_t operations) {
                int failures = 0;
                const auto put = [&] { failures |= sennit_put_strided(there, here, &box); };
                const Interval elapsed = is_origin ? time_batch(operations, put) : kNotTimed;
                if (failures != 0) {
                    check(sennit_last_error()->status, "sennit_put_strided");
                }
                return elapsed;
            }};
}

// Checks one put of Sennit into cleared memory: the runs must have the data, and the gaps must be
// unchanged.
void verify(const Job &job, const Stripes &what, std::byte *mine, const std::byte *sent,
            const Subject &sennit) {
    std::fill_n(mine, what.span(), std::byte{0});
    job.barrier();
    sennit.run(1);
    job.barrier();
    for (std::uint64_t i = 0; job.rank() == kTarget && i < what.span(); ++i) {
        const bool in_run = i % what.stride < what.run_bytes;
        if (mine[i] != (in_run ? sent[i] : std::byte{0})) {
            throw std::runtime_error("a strided put did not move what it should");
        }
    }
    job.barrier();
}

void run_shape(const Run &run, const Stripes &what, std::uint64_t bytes, std::byte *buffer) {
    const Job &job = run.job;
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, what.span(), 4096, 0, &own), "sennit_alloc");
    auto *const mine = static_cast<std::byte *>(sennit_ptr(own));
    const sennit_gptr at_target = sennit_gptr_at(own, kTarget);
    auto *const there = static_cast<std::byte *>(sennit_ptr(at_target));
    if (mine == nullptr || there == nullptr) {
        check(sennit_last_error()->status, "sennit_ptr");
    }
    std::fill_n(mine, what.span(), std::byte{2});
    job.barrier();
    Case measured{"strided", bytes, 1.0, {}};
    measured.subjects.push_back(raw_loop(job, what, there, buffer));
    measured.subjects.push_back(by_put(job, what, at_target, buffer));
    const auto others = run.library.strided(job, what, buffer);
    measured.subjects.insert(measured.subjects.end(), others.begin(), others.end());
    measure_in_turn(job, measured, run.limits);
    verify(job, what, mine, buffer, measured.subjects[1]);
    measured.subjects.clear();
    check(sennit_free(own), "sennit_free");
}

}  // namespace

void run_strided(const Run &run) {
    if (run.job.size() < 2) {
        throw std::runtime_error("strided puts need two ranks");
    }
    for (const std::uint64_t bytes : run.sizes) {
        const Stripes shapes[] = {words_of(bytes), rows_of(bytes)};
        for (const Stripes &what : shapes) {
            const PrivateBuffer buffer(what.span(), 1);
            run_shape(run, what, bytes, buffer.data());
        }
    }
}

}  // namespace sennit::bench
