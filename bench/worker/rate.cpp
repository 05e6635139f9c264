// Small puts from rank 0 to rank 1, all under way at the same time: a window of puts, and the wait
// for their delivery. The result is the time of one put. Compared with stores or, if rank 1 is on
// another node, with the provider's puts in windows of the same size.
#include <sennit/sennit.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;
constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kWindow = RawNetwork::kWindow;
constexpr std::uint64_t kBytes = kWindow * kWord;
constexpr int kFill = 1;  // value of each byte that is put or stored
constexpr std::uint64_t kStored = 0x0101'0101'0101'0101 * kFill;

template <class Operation>
Subject at_origin(std::string name, const Job &job, Operation operation) {
    const bool is_origin = job.rank() == kOrigin;
    return {name, [=](std::size_t operations) mutable {
                int failures = 0;
                const Interval elapsed =
                    is_origin ? time_batch(operations, [&] { failures |= operation(); })
                              : kNotTimed;
                if (failures != SENNIT_OK) check(sennit_last_error()->status, name.c_str());
                return elapsed;
            }};
}

Subject raw_window(const Job &job, std::byte *there, const std::byte *from) {
    if (job.spans_nodes())
        return raw_by_network(
            job, std::make_shared<RawNetwork>(job, kBytes),
            [from](const RawNetwork &rail) { rail.put_window(from, kWord, kWord); });
    return at_origin("raw-store", job, [there] {
        for (std::uint64_t at = 0; at < kBytes; at += kWord)
            // relaxed: a bare store is measured. The compiler omits none of them.
            Flag(*reinterpret_cast<std::uint64_t *>(there + at))
                .store(kStored, std::memory_order_relaxed);
        return 0;
    });
}

Subject by_nbi(const Job &job, sennit_gptr there, const std::byte *from) {
    return at_origin("sennit-put-nbi", job, [=] {
        int failures = 0;
        for (std::uint64_t at = 0; at < kBytes; at += kWord)
            failures |= sennit_put_nbi(sennit_gptr_add(there, static_cast<std::int64_t>(at)),
                                       from + at, kWord);
        return failures | sennit_flush(kTarget, SENNIT_FOREVER);
    });
}

Subject by_nb(const Job &job, sennit_gptr there, const std::byte *from) {
    return at_origin("sennit-put-nb", job, [=] {
        std::array<sennit_request, kWindow> requests;
        int failures = 0;
        for (std::size_t i = 0; i < kWindow; ++i)
            failures |= sennit_put_nb(sennit_gptr_add(there, static_cast<std::int64_t>(i * kWord)),
                                      from + i * kWord, kWord, &requests[i]);
        return failures | sennit_wait_all(kWindow, requests.data(), SENNIT_FOREVER);
    });
}

}  // namespace

void run_rate(const Run &run) {
    const Job &job = run.job;
    if (job.size() < 2) throw std::runtime_error("puts need two ranks");
    const PrivateBuffer outgoing(kBytes, kFill);
    const PrivateBuffer incoming(kBytes, 0);
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, kBytes, 4096, 0, &own), "sennit_alloc");
    const sennit_gptr there = sennit_gptr_at(own, kTarget);
    auto *const place = static_cast<std::byte *>(sennit_ptr(there));
    if (place == nullptr && !job.spans_nodes()) check(sennit_last_error()->status, "sennit_ptr");
    job.barrier();
    Case what{"rate", kWord, static_cast<double>(kWindow), {}};
    what.subjects.push_back(raw_window(job, place, outgoing.data()));
    what.subjects.push_back(by_nbi(job, there, outgoing.data()));
    what.subjects.push_back(by_nb(job, there, outgoing.data()));
    for (Subject &subject : run.library.rate(job, {outgoing.data(), incoming.data(), kBytes}))
        what.subjects.push_back(std::move(subject));
    measure_in_turn(job, what, run.limits);
    // Check the result of the timed operations.
    check(sennit_get(incoming.data(), there, kBytes), "sennit_get");
    if (!std::equal(incoming.data(), incoming.data() + kBytes, outgoing.data()))
        throw std::runtime_error("a put did not move what it should");
    what.subjects.clear();
    check(sennit_free(own), "sennit_free");
}

}  // namespace sennit::bench
