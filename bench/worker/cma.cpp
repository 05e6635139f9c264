// Rank 0 reads and writes private memory of rank 1, which does nothing: by Sennit, with registered
// memory, compared with the bare system calls on the same addresses.
#include <limits.h>
#include <sennit/sennit.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/strided.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;

// Process and address of the memory for the bare calls.
struct Place {
    std::int64_t process;
    std::uint64_t address;
    sennit_region region;
};

Place place_of_target(const Place &mine) {
    sennit_gptr table = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof mine, 0, 0, &table), "sennit_alloc");
    check(sennit_put(table, &mine, sizeof mine), "sennit_put");
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    Place theirs{};
    check(sennit_get(&theirs, sennit_gptr_at(table, kTarget), sizeof theirs), "sennit_get");
    check(sennit_free(table), "sennit_free");
    return theirs;
}

[[noreturn]] void fail_call(const char *name) {
    throw std::runtime_error(std::string(name) + ": " + std::strerror(errno));
}

// Only the origin works; the others enter the barrier after the batch at once.
template <class Operation>
Subject at_origin(std::string name, const Job &job, Operation operation, const char *what) {
    const bool is_origin = job.rank() == kOrigin;
    return {std::move(name), [=](std::size_t operations) mutable {
                bool all_right = true;
                const auto once = [&] { all_right &= operation(); };
                const Interval elapsed = is_origin ? time_batch(operations, once) : kNotTimed;
                if (!all_right) {
                    check(sennit_last_error()->status, what);
                    fail_call(what);
                }
                return elapsed;
            }};
}

using Call = ssize_t (*)(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                         unsigned long);

Subject raw(const Job &job, const Place &there, std::byte *here, std::uint64_t bytes, bool is_put) {
    const Call call = is_put ? process_vm_writev : process_vm_readv;
    const char *const name = is_put ? "raw-writev" : "raw-readv";
    return at_origin(
        name, job,
        [=] {
            const iovec local{here, bytes};
            const iovec remote{reinterpret_cast<void *>(there.address), bytes};
            return call(static_cast<pid_t>(there.process), &local, 1, &remote, 1, 0) ==
                   static_cast<ssize_t>(bytes);
        },
        name);
}

Subject by_sennit(const Job &job, const Place &there, std::byte *here, std::uint64_t bytes,
                  bool is_put) {
    const sennit_gptr gptr = there.region.gptr;
    if (is_put) {
        return at_origin(
            "sennit-put", job, [=] { return sennit_put(gptr, here, bytes) == SENNIT_OK; },
            "sennit_put");
    }
    return at_origin(
        "sennit-get", job, [=] { return sennit_get(here, gptr, bytes) == SENNIT_OK; },
        "sennit_get");
}

// Uses lists of the kernel's maximum length, made before the measurement.
Subject raw_rows(const Job &job, const Place &there, std::byte *here, const Stripes &what) {
    std::vector<iovec> local;
    std::vector<iovec> remote;
    for (std::uint64_t i = 0; i < what.count; ++i) {
        local.push_back({here + i * what.stride, what.run_bytes});
        remote.push_back(
            {reinterpret_cast<void *>(there.address + i * what.stride), what.run_bytes});
    }
    return at_origin(
        "raw-readv-rows", job,
        [=] {
            for (std::size_t at = 0; at < local.size(); at += IOV_MAX) {
                const std::size_t count = std::min<std::size_t>(IOV_MAX, local.size() - at);
                if (process_vm_readv(static_cast<pid_t>(there.process), &local[at], count,
                                     &remote[at], count,
                                     0) != static_cast<ssize_t>(count * what.run_bytes)) {
                    return false;
                }
            }
            return true;
        },
        "process_vm_readv");
}

Subject sennit_rows(const Job &job, const Place &there, std::byte *here, const Stripes &what) {
    return at_origin(
        "sennit-get-rows", job,
        [=, box = what.box()] {
            return sennit_get_strided(here, there.region.gptr, &box) == SENNIT_OK;
        },
        "sennit_get_strided");
}

void run_size(const Run &run, const Place &there, std::byte *here, std::uint64_t bytes) {
    for (const bool is_put : {false, true}) {
        Case what{"cma", bytes, 1.0, {}};
        what.subjects.push_back(raw(run.job, there, here, bytes, is_put));
        what.subjects.push_back(by_sennit(run.job, there, here, bytes, is_put));
        measure_in_turn(run.job, what, run.limits);
    }
    const Stripes rows = rows_of(bytes);
    if (rows.count < 2) {
        return;
    }
    Case what{"cma", bytes, 1.0, {}};
    what.subjects.push_back(raw_rows(run.job, there, here, rows));
    what.subjects.push_back(sennit_rows(run.job, there, here, rows));
    measure_in_turn(run.job, what, run.limits);
}

// Checks the results of the timed operations.
void verify(const Run &run, const Place &there, std::byte *here, const std::byte *mine,
            std::uint64_t bytes) {
    const bool is_origin = run.job.rank() == kOrigin;
    if (is_origin) {
        std::memset(here, 7, bytes);
        check(sennit_put(there.region.gptr, here, bytes), "sennit_put");
    }
    run.job.barrier();
    for (std::uint64_t i = 0; run.job.rank() == kTarget && i < bytes; ++i) {
        if (mine[i] != std::byte{7}) {
            throw std::runtime_error("a put to private memory did not move what it should");
        }
    }
    run.job.barrier();
}

}  // namespace

void run_cma(const Run &run) {
    if (run.job.size() < 2) {
        throw std::runtime_error("copies between processes need two ranks");
    }
    for (const std::uint64_t bytes : run.sizes) {
        const std::uint64_t span = std::max(bytes, rows_of(bytes).span());
        const PrivateBuffer buffer(span, 1 + run.job.rank());
        Place mine{getpid(), reinterpret_cast<std::uintptr_t>(buffer.data()), SENNIT_REGION_NULL};
        check(sennit_register(buffer.data(), span, 0, &mine.region), "sennit_register");
        const Place there = place_of_target(mine);
        run_size(run, there, buffer.data(), bytes);
        verify(run, there, buffer.data(), buffer.data(), bytes);
        check(sennit_deregister(mine.region), "sennit_deregister");
    }
}

}  // namespace sennit::bench
