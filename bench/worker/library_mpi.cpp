// A job of an MPI's own launcher, and the subjects of this MPI; library_mpi_*.cpp have more of
// them. Compiled once with each MPI. Failing MPI calls end the job, as by default.
#include <mpi.h>
#include <sennit/sennit_mpi.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "worker/library.hpp"
#include "worker/library_mpi.hpp"
#include "worker/mpi_version.hpp"
#include "worker/spin.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

std::shared_ptr<Window> make_window(MPI_Comm comm, std::size_t bytes, Kind kind) {
    auto window = std::make_shared<Window>();
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    // Hints that allow faster methods: pieces on separate pages, all of the same size.
    MPI_Info_set(info, kind == Kind::kShared ? "alloc_shared_noncontig" : "same_size", "true");
    MPI_Info_set(info, "same_disp_unit", "true");
    const MPI_Aint size = window_bytes(bytes);
    if (kind == Kind::kShared) {
        MPI_Win_allocate_shared(size, 1, info, comm, &window->own, &window->win);
    } else {
        MPI_Win_allocate(size, 1, info, comm, &window->own, &window->win);
    }
    MPI_Info_free(&info);
    std::memset(window->own, 0, bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win);
    MPI_Win_sync(window->win);
    MPI_Barrier(comm);
    return window;
}

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;
constexpr unsigned kFinalizeSeconds = 10;

std::byte *shared_piece(const Window &window, int rank) {
    MPI_Aint size = 0;
    int unit = 0;
    std::byte *piece = nullptr;
    MPI_Win_shared_query(window.win, rank, &size, &unit, &piece);
    return piece;
}

struct PersistentPair {
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Request receive = MPI_REQUEST_NULL;

    PersistentPair() = default;
    PersistentPair(const PersistentPair &) = delete;
    PersistentPair &operator=(const PersistentPair &) = delete;
    ~PersistentPair() {
        MPI_Request_free(&send);
        MPI_Request_free(&receive);
    }
};

// Doubles in runs that lie a stride apart.
struct VectorType {
    MPI_Datatype type = MPI_DATATYPE_NULL;

    explicit VectorType(const Stripes &what) {
        MPI_Type_vector(static_cast<int>(what.count), static_cast<int>(what.run_bytes / 8),
                        static_cast<int>(what.stride / 8), MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
    }
    VectorType(const VectorType &) = delete;
    VectorType &operator=(const VectorType &) = delete;
    ~VectorType() { MPI_Type_free(&type); }
};

// How a receiver waits for a put. Some MPIs deliver puts only while the target is inside MPI: then
// it must call MPI in every poll. If puts are stores, such a call only delays the next poll.
enum class Polling { kMemory, kProgress };

void wait_for_put_flag(MPI_Comm comm, std::uint64_t *flag, std::uint64_t value, Polling polling,
                       bool yields) {
    constexpr int kPollsOfMemoryAlone = 200;
    int polls = polling == Polling::kMemory ? 0 : kPollsOfMemoryAlone;
    // SYNC bench-flag: pairs with the MPI's own release in MPI_Win_flush() of the sender; payload
    // before flag.
    while (Flag(*flag).load(std::memory_order_acquire) < value) {
        if (yields) {
            sched_yield();
        }
        if (polls >= kPollsOfMemoryAlone) {
            int arrived = 0;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &arrived, MPI_STATUS_IGNORE);
        } else {
            ++polls;
            cpu_pause();
        }
    }
}

class MpiLibrary final : public Library {
  public:
    explicit MpiLibrary(MPI_Comm comm) : m_comm(comm) {}

    std::string version() const override { return mpi_version(); }

    sennit_status start_sennit(const sennit_options &options) const override {
        return sennit_init_mpi(m_comm, &options);
    }

    void finish() override {
        MPI_Comm_free(&m_comm);
        // Between hosts MPICH 4.0.2 over UCX may hang here after large messages. All results have
        // been printed.
        (void)std::signal(SIGALRM, [](int) { std::_Exit(0); });
        (void)alarm(kFinalizeSeconds);
        MPI_Finalize();
        (void)alarm(0);
    }

    void abort() const override {
        MPI_Abort(m_comm, 1);
        std::_Exit(1);
    }

    std::vector<Subject> pingpong(const Job &job, const Messages &messages) const override {
        return {send_and_receive(job, messages), persistent(job, messages),
                put_and_poll(job, messages, Polling::kMemory),
                put_and_poll(job, messages, Polling::kProgress)};
    }

    std::vector<Subject> notify(const Job &job, const Messages &messages) const override {
        // Between nodes windows are not polled.
        std::vector<Subject> subjects =
            job.spans_nodes()
                ? std::vector<Subject>{send_and_receive(job, messages), persistent(job, messages)}
                : pingpong(job, messages);
        if (!job.spans_nodes())
            subjects.push_back(put_and_poll(job, messages, Polling::kMemory, Kind::kShared));
        for (Subject &subject : mpi_notify(m_comm, job, messages))
            subjects.push_back(std::move(subject));
        return subjects;
    }

    std::vector<Subject> plan(const Job &job, const Pieces &pieces) const override {
        return mpi_plan(m_comm, job, pieces);
    }

    std::vector<Subject> queue(const Job &job, const Stream &stream) const override {
        return mpi_queue(m_comm, job, stream);
    }

    std::vector<Subject> put(const Job &job, const Messages &messages) const override {
        if (job.spans_nodes()) return {rma_put(job, messages)};
        return {rma_put(job, messages), shared_put(job, messages)};
    }

    std::vector<Subject> rate(const Job &job, const Messages &messages) const override {
        return {rma_window(job, messages)};
    }

    std::vector<Subject> get(const Job &job, const Messages &messages) const override {
        if (job.spans_nodes()) return {rma_get(job, messages)};
        return {rma_get(job, messages), shared_get(job, messages)};
    }

    std::vector<Subject> strided(const Job &job, const Stripes &what,
                                 const std::byte *here) const override {
        return {rma_strided(job, what, here)};
    }

    std::vector<Subject> barrier(const Job &job) const override {
        return {{job.name() + "-barrier", [comm = m_comm](std::size_t operations) {
                     return time_batch(operations, [&] { MPI_Barrier(comm); });
                 }}};
    }

    std::vector<Subject> atomic(const Job &job, AtomicKind kind,
                                std::uint64_t bytes) const override;

    std::vector<Subject> collective(const Job &job, const Collective &what) const override {
        return {{job.name() + "-collective",
                 [=, comm = m_comm, number = 0.0](std::size_t operations) mutable {
                     bool all_right = true;
                     const Interval elapsed = time_batch(operations, [&] {
                         number += 1.0;
                         what.produce(number);
                         call_collective(what, comm);
                         all_right &= what.consume(number);
                     });
                     if (!all_right) {
                         throw std::runtime_error("a collective call gave wrong data");
                     }
                     return elapsed;
                 }}};
    }

  private:
    Subject fetch_and_op(const Job &job, AtomicKind kind, Kind window_kind) const;
    Subject compare_and_swap(const Job &job) const;
    Subject accumulate(const Job &job, std::uint64_t bytes, Kind window_kind) const;
    Subject window_lock(const Job &job, AtomicKind kind) const;
    static void call_collective(const Collective &what, MPI_Comm comm) {
        const int bytes = static_cast<int>(what.bytes);
        switch (what.kind) {
            case CollectiveKind::broadcast:
                MPI_Bcast(what.destination, bytes, MPI_BYTE, 0, comm);
                break;
            case CollectiveKind::allreduce:
                MPI_Allreduce(what.source, what.destination, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
                break;
            case CollectiveKind::alltoall:
                MPI_Alltoall(what.source, bytes, MPI_BYTE, what.destination, bytes, MPI_BYTE, comm);
                break;
        }
    }

    Subject send_and_receive(const Job &job, const Messages &messages) const;
    Subject persistent(const Job &job, const Messages &messages) const;
    Subject put_and_poll(const Job &job, const Messages &messages, Polling polling,
                         Kind kind = Kind::kRemote) const;
    Subject rma_put(const Job &job, const Messages &messages) const;
    Subject rma_get(const Job &job, const Messages &messages) const;
    Subject rma_window(const Job &job, const Messages &messages) const;
    Subject rma_strided(const Job &job, const Stripes &what, const std::byte *here) const;
    Subject shared_put(const Job &job, const Messages &messages) const;
    Subject shared_get(const Job &job, const Messages &messages) const;

    template <class Operation>
    Subject at_workers(std::string name, bool works, Operation operation) const {
        return while_others_wait(std::move(name), m_comm, works, std::move(operation));
    }
    template <class Operation>
    Subject at_origin(std::string name, const Job &job, Operation operation) const {
        return at_workers(std::move(name), job.rank() == kOrigin, operation);
    }

    MPI_Comm m_comm;
};

Subject MpiLibrary::send_and_receive(const Job &job, const Messages &messages) const {
    const Pair pair(job);
    const int count = static_cast<int>(messages.bytes);
    return {job.name() + "-sendrecv",
            [=, comm = m_comm, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    MPI_Send(messages.outgoing, count, MPI_BYTE, pair.partner, kMpiTag, comm);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    MPI_Recv(messages.incoming, count, MPI_BYTE, pair.partner, kMpiTag, comm,
                             MPI_STATUS_IGNORE);
                    return messages.consume_at(messages.incoming, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

Subject MpiLibrary::persistent(const Job &job, const Messages &messages) const {
    const Pair pair(job);
    const int count = static_cast<int>(messages.bytes);
    auto requests = std::make_shared<PersistentPair>();
    MPI_Send_init(messages.outgoing, count, MPI_BYTE, pair.partner, kMpiTag, m_comm,
                  &requests->send);
    MPI_Recv_init(messages.incoming, count, MPI_BYTE, pair.partner, kMpiTag, m_comm,
                  &requests->receive);
    return {job.name() + "-persistent",
            [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    MPI_Start(&requests->send);
                    MPI_Wait(&requests->send, MPI_STATUS_IGNORE);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    MPI_Start(&requests->receive);
                    MPI_Wait(&requests->receive, MPI_STATUS_IGNORE);
                    return messages.consume_at(messages.incoming, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

// A put, a flush, a put of the flag, a flush; the receiver polls its own window.
Subject MpiLibrary::put_and_poll(const Job &job, const Messages &messages, Polling polling,
                                 Kind kind) const {
    const Pair pair(job);
    const std::size_t flag_at = whole_lines(static_cast<std::size_t>(messages.bytes));
    auto window = make_window(m_comm, flag_at + kLineBytes, kind);
    auto *const own_flag = reinterpret_cast<std::uint64_t *>(window->own + flag_at);
    const auto displacement = static_cast<MPI_Aint>(flag_at);
    const int count = static_cast<int>(messages.bytes);
    const char *const suffix = polling == Polling::kMemory ? "-put" : "-put-probe";
    return {job.name() + suffix + suffix_of(kind),
            [=, comm = m_comm, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    if (count > 0) {
                        MPI_Put(messages.outgoing, count, MPI_BYTE, pair.partner, 0, count,
                                MPI_BYTE, window->win);
                        MPI_Win_flush(pair.partner, window->win);
                    }
                    MPI_Put(&trip, 1, MPI_UINT64_T, pair.partner, displacement, 1, MPI_UINT64_T,
                            window->win);
                    MPI_Win_flush(pair.partner, window->win);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_put_flag(comm, own_flag, trip, polling, pair.yields);
                    MPI_Win_sync(window->win);
                    return messages.consume_at(window->own, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

Subject MpiLibrary::rma_put(const Job &job, const Messages &messages) const {
    auto window = make_window(m_comm, messages.bytes, Kind::kRemote);
    const int count = static_cast<int>(messages.bytes);
    return at_origin(job.name() + "-rma", job, [=] {
        MPI_Put(messages.outgoing, count, MPI_BYTE, kTarget, 0, count, MPI_BYTE, window->win);
        MPI_Win_flush(kTarget, window->win);
    });
}

// A put for each 8 bytes of `messages`, and a flush.
Subject MpiLibrary::rma_window(const Job &job, const Messages &messages) const {
    auto window = make_window(m_comm, messages.bytes, Kind::kRemote);
    return at_origin(job.name() + "-rma", job, [=] {
        for (std::uint64_t at = 0; at < messages.bytes; at += 8)
            MPI_Put(messages.outgoing + at, 8, MPI_BYTE, kTarget, static_cast<MPI_Aint>(at), 8,
                    MPI_BYTE, window->win);
        MPI_Win_flush(kTarget, window->win);
    });
}

Subject MpiLibrary::rma_get(const Job &job, const Messages &messages) const {
    auto window = make_window(m_comm, messages.bytes, Kind::kRemote);
    const int count = static_cast<int>(messages.bytes);
    return at_origin(job.name() + "-rma", job, [=] {
        MPI_Get(messages.incoming, count, MPI_BYTE, kTarget, 0, count, MPI_BYTE, window->win);
        MPI_Win_flush(kTarget, window->win);
    });
}

Subject MpiLibrary::rma_strided(const Job &job, const Stripes &what, const std::byte *here) const {
    auto window = make_window(m_comm, what.span(), Kind::kRemote);
    auto type = std::make_shared<VectorType>(what);
    return at_origin(job.name() + "-rma-" + what.name, job, [=] {
        MPI_Put(here, 1, type->type, kTarget, 0, 1, type->type, window->win);
        MPI_Win_flush(kTarget, window->win);
    });
}

Subject MpiLibrary::shared_put(const Job &job, const Messages &messages) const {
    auto window = make_window(m_comm, messages.bytes, Kind::kShared);
    std::byte *const there = shared_piece(*window, kTarget);
    return at_origin(job.name() + "-shared-window", job, [=, bytes = messages.bytes]() mutable {
        keep(bytes);
        copy_by_hand(there, messages.outgoing, bytes);
        (void)window;  // lives as long as its memory is used
    });
}

Subject MpiLibrary::shared_get(const Job &job, const Messages &messages) const {
    auto window = make_window(m_comm, messages.bytes, Kind::kShared);
    const std::byte *const there = shared_piece(*window, kTarget);
    return at_origin(job.name() + "-shared-window", job, [=, bytes = messages.bytes]() mutable {
        keep(bytes);
        copy_by_hand(messages.incoming, there, bytes);
        (void)window;  // lives as long as its memory is used
    });
}

Subject MpiLibrary::fetch_and_op(const Job &job, AtomicKind kind, Kind window_kind) const {
    auto window = make_window(m_comm, kLineBytes, window_kind);
    const bool works = is_contended(kind) || job.rank() == kOrigin;
    return at_workers(job.name() + "-fetch-and-op" + suffix_of(window_kind), works, [=] {
        const std::uint64_t one = 1;
        std::uint64_t old = 0;
        MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, kTarget, 0, MPI_SUM, window->win);
        MPI_Win_flush(kTarget, window->win);
        keep(old);
    });
}

// Only in a shared window: in others the target of Open MPI 4.1.4 ends with a segmentation fault.
Subject MpiLibrary::compare_and_swap(const Job &job) const {
    auto window = make_window(m_comm, kLineBytes, Kind::kShared);
    return at_origin(job.name() + "-compare-and-swap-shared", job,
                     [=, value = std::uint64_t{0}]() mutable {
                         const std::uint64_t expected = value;
                         const std::uint64_t desired = expected + 1;
                         MPI_Compare_and_swap(&desired, &expected, &value, MPI_UINT64_T, kTarget, 0,
                                              window->win);
                         MPI_Win_flush(kTarget, window->win);
                         if (value == expected) {
                             ++value;
                         }
                     });
}

Subject MpiLibrary::accumulate(const Job &job, std::uint64_t bytes, Kind window_kind) const {
    auto window = make_window(m_comm, bytes, window_kind);
    auto ones = std::make_shared<std::vector<double>>(bytes / sizeof(double), 1.0);
    const int count = static_cast<int>(ones->size());
    return at_origin(job.name() + "-accumulate" + suffix_of(window_kind), job, [=] {
        MPI_Accumulate(ones->data(), count, MPI_DOUBLE, kTarget, 0, count, MPI_DOUBLE, MPI_SUM,
                       window->win);
        MPI_Win_flush(kTarget, window->win);
    });
}

// An exclusive lock of a window that has no other locks.
Subject MpiLibrary::window_lock(const Job &job, AtomicKind kind) const {
    auto window = make_window(m_comm, kLineBytes, Kind::kRemote);
    const bool works = is_contended(kind) || job.rank() == kOrigin;
    window->unlock(m_comm);
    return at_workers(job.name() + "-win-lock", works, [=] {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, window->win);
        MPI_Win_unlock(kTarget, window->win);
    });
}

std::vector<Subject> MpiLibrary::atomic(const Job &job, AtomicKind kind,
                                        std::uint64_t bytes) const {
    switch (kind) {
        case AtomicKind::fetch_add:
        case AtomicKind::fetch_add_contended:
            if (job.spans_nodes()) return {fetch_and_op(job, kind, Kind::kRemote)};
            return {fetch_and_op(job, kind, Kind::kRemote), fetch_and_op(job, kind, Kind::kShared)};
        case AtomicKind::compare_swap:
            if (job.spans_nodes()) return {};
            return {compare_and_swap(job)};
        case AtomicKind::accumulate:
            return {accumulate(job, bytes, Kind::kRemote), accumulate(job, bytes, Kind::kShared)};
        case AtomicKind::lock:
        case AtomicKind::lock_contended:
            break;
    }
    return {window_lock(job, kind)};
}

}  // namespace

std::unique_ptr<Library> start_library(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return std::make_unique<MpiLibrary>(comm);
}

}  // namespace sennit::bench
