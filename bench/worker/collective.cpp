// Broadcast, allreduce and alltoall of all ranks: by Sennit with private buffers and with buffers
// in a segment, by the MPI of the job, and by hand. By hand each rank copies its data into memory
// that all map, increments a flag, and reads the data of the others. Between two nodes each of two
// ranks puts the data for the other with completion data, by the provider's calls. The size is that
// of one block: the data of a broadcast, the vector of an allreduce (doubles), the data from one
// rank to another in an alltoall. Before every call a rank writes one word of each cache line of
// its source, and afterwards reads one of each line of its destination, as a program would. Both
// are part of the time of all subjects.
#include "worker/collective.hpp"

#include <sennit/sennit.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

// A barrier by hand: each rank increments a word on its own line.
class Flags {
  public:
    explicit Flags(const Job &job)
        : m_rank(static_cast<std::size_t>(job.rank())), m_yields(job.is_oversubscribed()) {
        for (int rank = 0; rank < job.size(); ++rank) {
            m_flags.push_back(job.raw_flag(rank, rank));
        }
        m_number = *m_flags[m_rank];
    }
    void barrier() {
        ++m_number;
        post_flag(m_flags[m_rank], m_number);
        // seq_cst: the store leaves the store buffer before this core polls; without it the others
        // wait longer.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (std::uint64_t *flag : m_flags) {
            wait_for_flag(flag, m_number, m_yields);
        }
    }

  private:
    std::size_t m_rank;
    bool m_yields;
    std::vector<std::uint64_t *> m_flags;
    std::uint64_t m_number;
};

// Writes the buffers, runs `operation` and reads the result. Throws if the first word of the result
// is wrong.
template <class Operation>
Subject subject(std::string name, const Collective &what, Operation operation) {
    return {std::move(name), [=, number = 0.0](std::size_t operations) mutable {
                bool all_right = true;
                const Interval elapsed = time_batch(operations, [&] {
                    number += 1.0;
                    what.produce(number);
                    operation(what.source, what.destination);
                    all_right &= what.consume(number);
                });
                if (!all_right) {
                    throw std::runtime_error("a collective call gave wrong data");
                }
                return elapsed;
            }};
}

void check_call(sennit_status status) {
    if (status != SENNIT_OK) [[unlikely]] {
        check(status, "collective call");
    }
}

Subject by_sennit(std::string name, const Collective &what) {
    const std::size_t bytes = what.bytes;
    switch (what.kind) {
        case CollectiveKind::broadcast:
            return subject(std::move(name), what, [=](std::byte *, std::byte *destination) {
                check_call(
                    sennit_broadcast(SENNIT_TEAM_WORLD, 0, destination, bytes, SENNIT_FOREVER));
            });
        case CollectiveKind::allreduce:
            return subject(std::move(name), what, [=](std::byte *source, std::byte *destination) {
                check_call(sennit_allreduce(
                    SENNIT_TEAM_WORLD, source, destination,
                    sennit_reduction_of(bytes / 8, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER));
            });
        case CollectiveKind::alltoall:
            break;
    }
    return subject(std::move(name), what, [=](std::byte *source, std::byte *destination) {
        check_call(sennit_alltoall(SENNIT_TEAM_WORLD, source, destination, bytes, SENNIT_FOREVER));
    });
}

void add_up(double *to, const std::byte *other, std::size_t bytes) {
    const auto *from = reinterpret_cast<const double *>(other);
    for (std::size_t i = 0; i < bytes / sizeof(double); ++i) {
        to[i] += from[i];
    }
}

Subject by_hand(const Job &job, const Collective &what) {
    const auto flags = std::make_shared<Flags>(job);
    const auto rank = static_cast<std::size_t>(job.rank());
    const auto size = static_cast<std::size_t>(job.size());
    std::vector<std::byte *> shared;
    for (int other = 0; other < job.size(); ++other) {
        shared.push_back(job.raw_payload(other));
    }
    const std::size_t bytes = what.bytes;
    const CollectiveKind kind = what.kind;
    return subject("raw-copy", what, [=](std::byte *source, std::byte *destination) {
        if (kind == CollectiveKind::broadcast) {
            if (rank == 0) std::memcpy(shared[0], destination, bytes);
            flags->barrier();
            if (rank != 0) std::memcpy(destination, shared[0], bytes);
        } else if (kind == CollectiveKind::allreduce) {
            std::memcpy(shared[rank], source, bytes);
            flags->barrier();
            std::memcpy(destination, shared[0], bytes);
            for (std::size_t other = 1; other < size; ++other) {
                add_up(reinterpret_cast<double *>(destination), shared[other], bytes);
            }
        } else {
            std::memcpy(shared[rank], source, size * bytes);
            flags->barrier();
            for (std::size_t other = 0; other < size; ++other) {
                std::memcpy(destination + other * bytes, shared[other] + rank * bytes, bytes);
            }
        }
        flags->barrier();
    });
}

// Two ranks on two nodes. A rank puts its blocks into two places in turn: the other rank may still
// read the last block, but has read the one before it.
Subject by_network(const Job &job, const Collective &what) {
    const auto network = std::make_shared<RawNetwork>(job, 2 * what.bytes, RawNetwork::Use::events);
    const std::size_t bytes = what.bytes;
    const CollectiveKind kind = what.kind;
    const auto own = static_cast<std::size_t>(job.rank());
    const std::size_t other = 1 - own;
    Subject found = subject(
        "raw-" + network->provider(), what,
        [=, stream = 0u](std::byte *source, std::byte *destination) mutable {
            stream = 1 - stream;
            const bool is_broadcast = kind == CollectiveKind::broadcast;
            const std::byte *from = is_broadcast ? destination : source;
            if (kind == CollectiveKind::alltoall) from += other * bytes;
            // In a broadcast rank 1 puts one word: it has read the previous block.
            network->put_event(from, is_broadcast && own != 0 ? sizeof(double) : bytes, stream);
            network->await_event(stream);
            const std::byte *const come = network->memory() + stream * bytes;
            if (is_broadcast && own != 0) std::memcpy(destination, come, bytes);
            if (is_broadcast) return;
            if (kind == CollectiveKind::alltoall) {
                std::memcpy(destination + own * bytes, source + own * bytes, bytes);
                std::memcpy(destination + other * bytes, come, bytes);
                return;
            }
            std::memcpy(destination, source, bytes);
            add_up(reinterpret_cast<double *>(destination), come, bytes);
        });
    found.provider = network->provider();
    return found;
}

// Buffers in a segment of the world, freed with the last subject that uses them. Collective.
class SegmentBuffers {
  public:
    explicit SegmentBuffers(std::size_t bytes) {
        check(sennit_alloc(SENNIT_TEAM_WORLD, 2 * bytes, 4096, 0, &m_segment), "sennit_alloc");
        source = static_cast<std::byte *>(sennit_ptr(m_segment));
        destination = source + bytes;
        std::memset(source, 0, 2 * bytes);
    }
    ~SegmentBuffers() { (void)sennit_free(m_segment); }
    SegmentBuffers(const SegmentBuffers &) = delete;
    SegmentBuffers &operator=(const SegmentBuffers &) = delete;

    std::byte *source;
    std::byte *destination;

  private:
    sennit_gptr m_segment{};
};

void run_collective(const Run &run, const char *bench, CollectiveKind kind) {
    const auto ranks = static_cast<std::size_t>(run.job.size());
    // Ranks on several nodes leave a barrier some 10 us apart.
    Limits limits = run.limits;
    if (run.job.spans_nodes()) limits.batch_ns = std::max(limits.batch_ns, 2e6);
    for (const std::uint64_t bytes : run.sizes) {
        const std::size_t total = kind == CollectiveKind::alltoall ? bytes * ranks : bytes;
        const std::size_t room = (total + 4095) / 4096 * 4096;
        const PrivateBuffer source(room, 0);
        const PrivateBuffer destination(room, 0);
        const SegmentBuffers segment(room);
        Collective what{kind,           bytes,      total,         run.job.rank(),
                        run.job.size(), run.stride, source.data(), destination.data()};
        Case one{bench, bytes, 1.0, {}};
        one.subjects.push_back(run.job.spans_nodes() ? by_network(run.job, what)
                                                     : by_hand(run.job, what));
        one.subjects.push_back(by_sennit("sennit-private", what));
        for (Subject &other : run.library.collective(run.job, what)) {
            one.subjects.push_back(std::move(other));
        }
        what.source = segment.source;
        what.destination = segment.destination;
        one.subjects.push_back(by_sennit("sennit-segment", what));
        measure_in_turn(run.job, one, limits);
    }
}

}  // namespace

void run_broadcast(const Run &run) {
    run_collective(run, "broadcast", CollectiveKind::broadcast);
}

void run_allreduce(const Run &run) {
    run_collective(run, "allreduce", CollectiveKind::allreduce);
}

void run_alltoall(const Run &run) {
    run_collective(run, "alltoall", CollectiveKind::alltoall);
}

}  // namespace sennit::bench
