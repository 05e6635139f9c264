// Blocking put and get from rank 0 to rank 1, which does nothing, compared with a store, load or
// memcpy between the same two buffers; if rank 1 is on another node, compared with the provider's
// calls.
#include <sennit/sennit.h>

#include <algorithm>
#include <memory>
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

// Only the origin works; the others enter the barrier after the batch at once.
template <class Operation>
Subject at_origin(std::string name, const Job &job, Operation operation) {
    const bool is_origin = job.rank() == kOrigin;
    return {std::move(name), [=](std::size_t operations) mutable {
                return is_origin ? time_batch(operations, operation) : kNotTimed;
            }};
}

Subject raw_store(const Job &job, std::byte *there) {
    auto *const word = reinterpret_cast<std::uint64_t *>(there);
    return at_origin("raw-store", job, [word] {
        // relaxed: a bare store is measured. The compiler omits none of them.
        Flag(*word).store(1, std::memory_order_relaxed);
    });
}

Subject raw_load(const Job &job, std::byte *there) {
    auto *const word = reinterpret_cast<std::uint64_t *>(there);
    return at_origin("raw-load", job, [word] {
        // relaxed: a bare load is measured.
        std::uint64_t value = Flag(*word).load(std::memory_order_relaxed);
        keep(value);
    });
}

// The size is hidden from the compiler, which does not know it in the library's code either.
Subject raw_memcpy(const Job &job, std::byte *to, const std::byte *from, std::uint64_t bytes) {
    return at_origin("raw-memcpy", job, [=]() mutable {
        keep(bytes);
        std::memcpy(to, from, bytes);
        keep(to);
    });
}

Subject raw_transfer(const Job &job, std::byte *there, const Messages &messages, bool is_put) {
    const std::uint64_t bytes = messages.bytes;
    if (job.spans_nodes()) {
        const auto network = std::make_shared<RawNetwork>(job, bytes);
        return raw_by_network(job, network, [messages, is_put](const RawNetwork &rail) {
            if (is_put)
                rail.put(messages.outgoing, messages.bytes);
            else
                rail.get(messages.incoming, messages.bytes);
        });
    }
    if (bytes == 8) return is_put ? raw_store(job, there) : raw_load(job, there);
    return is_put ? raw_memcpy(job, there, messages.outgoing, bytes)
                  : raw_memcpy(job, messages.incoming, there, bytes);
}

void check_all(bool all_right, const char *what) {
    if (!all_right) {
        check(sennit_last_error()->status, what);
        throw std::runtime_error(std::string(what) + " failed");
    }
}

// Copies the arguments to local variables, so that the compiler can hold them in registers: loading
// them is not part of Sennit's time.
Subject by_put(const Job &job, sennit_gptr there, const Messages &messages) {
    const bool is_origin = job.rank() == kOrigin;
    return {"sennit-put", [=](std::size_t operations) {
                int failures = 0;
                const auto put = [&failures, there, from = messages.outgoing,
                                  bytes = messages.bytes] {
                    failures |= sennit_put(there, from, bytes);
                };
                const Interval elapsed = is_origin ? time_batch(operations, put) : kNotTimed;
                check_all(failures == SENNIT_OK, "sennit_put");
                return elapsed;
            }};
}

Subject by_get(const Job &job, sennit_gptr there, const Messages &messages) {
    const bool is_origin = job.rank() == kOrigin;
    return {"sennit-get", [=](std::size_t operations) {
                int failures = 0;
                const auto get = [&failures, there, to = messages.incoming,
                                  bytes = messages.bytes] {
                    failures |= sennit_get(to, there, bytes);
                };
                const Interval elapsed = is_origin ? time_batch(operations, get) : kNotTimed;
                check_all(failures == SENNIT_OK, "sennit_get");
                return elapsed;
            }};
}

// Checks the data after the measurement.
void verify(const Job &job, const std::byte *received, std::uint64_t bytes, std::byte expected) {
    job.barrier();
    if (job.rank() == kOrigin &&
        !std::all_of(received, received + bytes, [=](std::byte b) { return b == expected; })) {
        throw std::runtime_error("a transfer did not move what it should");
    }
    job.barrier();
}

void run_size(const Run &run, const Messages &messages, bool is_put) {
    const Job &job = run.job;
    const std::uint64_t bytes = messages.bytes;
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 4096, 0, &own), "sennit_alloc");
    auto *const mine = static_cast<std::byte *>(sennit_ptr(own));
    const sennit_gptr at_target = sennit_gptr_at(own, kTarget);
    auto *const there = static_cast<std::byte *>(sennit_ptr(at_target));
    if (mine == nullptr || (there == nullptr && !job.spans_nodes()))
        check(sennit_last_error()->status, "sennit_ptr");
    std::fill_n(mine, bytes, std::byte{static_cast<unsigned char>(2)});
    job.barrier();

    Case what{is_put ? "put" : "get", bytes, 1.0, {}};
    what.subjects.push_back(raw_transfer(job, there, messages, is_put));
    what.subjects.push_back(is_put ? by_put(job, at_target, messages)
                                   : by_get(job, at_target, messages));
    const auto others = is_put ? run.library.put(job, messages) : run.library.get(job, messages);
    what.subjects.insert(what.subjects.end(), others.begin(), others.end());
    measure_in_turn(job, what, run.limits);

    // Repeat Sennit's operation once and check its result.
    if (is_put) {
        std::fill_n(mine, bytes, std::byte{0});
        job.barrier();
        what.subjects[1].run(1);
        if (job.rank() == kOrigin && there == nullptr)
            check(sennit_get(messages.incoming, at_target, bytes), "sennit_get");
        verify(job, there != nullptr ? there : messages.incoming, bytes, messages.outgoing[0]);
    } else {
        std::fill_n(messages.incoming, bytes, std::byte{0});
        what.subjects[1].run(1);
        verify(job, messages.incoming, bytes, std::byte{2});
    }
    what.subjects.clear();
    check(sennit_free(own), "sennit_free");
}

void run_transfer(const Run &run, bool is_put) {
    if (run.job.size() < 2) {
        throw std::runtime_error("put and get need two ranks");
    }
    const std::uint64_t most = *std::max_element(run.sizes.begin(), run.sizes.end());
    const PrivateBuffer outgoing(most, 1);
    const PrivateBuffer incoming(most, 0);
    for (const std::uint64_t bytes : run.sizes) {
        run_size(run, {outgoing.data(), incoming.data(), bytes}, is_put);
    }
}

}  // namespace

void run_put(const Run &run) {
    run_transfer(run, true);
}
void run_get(const Run &run) {
    run_transfer(run, false);
}

}  // namespace sennit::bench
