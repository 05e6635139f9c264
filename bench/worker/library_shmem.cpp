// A job with Open MPI's OpenSHMEM, which also starts MPI. MPI is the bootstrap of Sennit's ranks;
// OpenSHMEM is measured. It is OpenSHMEM 1.4, which has no put with a signal. So a message with an
// event is a put, a fence, and an update of a counter.
#include <mpi.h>
#include <sennit/sennit_mpi.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "worker/library.hpp"
#include "worker/mpi_version.hpp"

namespace sennit::bench {

namespace {

// Symmetric memory: a message, and a counter on the line behind it. Collective. All ranks free it
// together, with the last subject that uses it.
class Symmetric {
  public:
    explicit Symmetric(std::uint64_t bytes) {
        const std::size_t counter_at = whole_lines(static_cast<std::size_t>(bytes));
        m_message = static_cast<std::byte *>(shmem_align(4096, counter_at + kLineBytes));
        if (m_message == nullptr)
            throw std::runtime_error("OpenSHMEM has not enough symmetric memory");
        std::memset(m_message, 0, counter_at + kLineBytes);
        m_counter = reinterpret_cast<unsigned long *>(m_message + counter_at);
        shmem_barrier_all();
    }
    ~Symmetric() { shmem_free(m_message); }
    Symmetric(const Symmetric &) = delete;
    Symmetric &operator=(const Symmetric &) = delete;

    std::byte *message() const { return m_message; }
    unsigned long *counter() const { return m_counter; }

  private:
    std::byte *m_message;
    unsigned long *m_counter;
};

static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));

// How the counter is updated: by an addition, or by a store of its only sender.
enum class Update { add, write };
// How the owner waits: by OpenSHMEM's call, or first by polls of its memory, which are enough if a
// put is a store.
enum class Wait { until, poll };

void wait_for_counter(unsigned long *counter, std::uint64_t value, Wait wait, bool yields) {
    constexpr int kPollsOfMemoryAlone = 200;
    const int polls = wait == Wait::poll && !yields ? kPollsOfMemoryAlone : 0;
    for (int i = 0; i < polls; ++i) {
        // SYNC bench-flag: pairs with the library's own release in shmem_fence() of the sender;
        // payload before counter.
        const std::atomic_ref<unsigned long> seen(*counter);
        if (seen.load(std::memory_order_acquire) >= value) return;
        cpu_pause();
    }
    shmem_ulong_wait_until(counter, SHMEM_CMP_GE, value);
}

Subject put_and_count(const std::string &name, const Job &job, const Messages &messages,
                      Update update, Wait wait) {
    const Pair pair(job);
    auto memory = std::make_shared<Symmetric>(messages.bytes);
    return {name, [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                std::byte *const message = memory->message();
                unsigned long *const counter = memory->counter();
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    shmem_putmem(message, messages.outgoing, messages.bytes, pair.partner);
                    shmem_fence();
                    if (update == Update::add)
                        shmem_ulong_atomic_add(counter, 1, pair.partner);
                    else
                        shmem_ulong_p(counter, trip, pair.partner);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_counter(counter, trip, wait, pair.yields);
                    return messages.consume_at(message, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

class ShmemLibrary final : public Library {
  public:
    explicit ShmemLibrary(MPI_Comm comm) : m_comm(comm) {}

    std::string version() const override {
        int major = 0;
        int minor = 0;
        shmem_info_get_version(&major, &minor);
        return "OpenSHMEM " + std::to_string(major) + "." + std::to_string(minor) + " of " +
               mpi_version();
    }

    sennit_status start_sennit(const sennit_options &options) const override {
        return sennit_init_mpi(m_comm, &options);
    }

    // Does not call shmem_finalize(): in Open MPI 4.1.4 it ends with a segmentation fault.
    void finish() override {
        std::fflush(stdout);
        shmem_barrier_all();
        shmem_global_exit(0);
    }

    void abort() const override {
        shmem_global_exit(1);
        std::_Exit(1);
    }

    std::vector<Subject> notify(const Job &job, const Messages &messages) const override {
        return {put_and_count("openshmem-put-add", job, messages, Update::add, Wait::until),
                put_and_count("openshmem-put-p", job, messages, Update::write, Wait::until),
                put_and_count("openshmem-put-p-poll", job, messages, Update::write, Wait::poll)};
    }

  private:
    MPI_Comm m_comm;
};

}  // namespace

std::unique_ptr<Library> start_library(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    shmem_init();
    return std::make_unique<ShmemLibrary>(comm);
}

}  // namespace sennit::bench
