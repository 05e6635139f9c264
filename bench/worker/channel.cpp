// Hand-over of a buffer: two ranks pass buffers to each other and back. A buffer is allocated, or
// is private memory that sennit_channel_open() registers. The writer changes the first and last
// word in place and the reader reads them. So only the hand-over is measured, without copies, but
// MPI copies the message. The result is half a round trip; 0 bytes is the flag alone.
#include <sennit/sennit.h>

#include <memory>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/spin.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

namespace {

// With this stride only the ends of an MPI's message are written and read.
constexpr std::size_t kEndsOnly = SIZE_MAX / 2;

inline void stamp_ends(std::byte *message, std::uint64_t bytes, std::uint64_t number) {
    if (bytes == 0) return;
    std::memcpy(message, &number, sizeof number);
    std::memcpy(message + bytes - sizeof number, &number, sizeof number);
}

inline bool ends_are(const std::byte *message, std::uint64_t bytes, std::uint64_t number) {
    if (bytes == 0) return true;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::memcpy(&first, message, sizeof first);
    std::memcpy(&last, message + bytes - sizeof last, sizeof last);
    return first == number && last == number;
}

// Payload first, then the flag on the next line.
std::size_t flag_offset(std::uint64_t bytes) {
    return whole_lines(static_cast<std::size_t>(bytes));
}

Subject raw(const Job &job, const Pair &pair, std::uint64_t bytes) {
    std::byte *const own = job.raw_payload(pair.self);
    std::byte *const theirs = job.raw_payload(pair.partner);
    auto *const own_flag = reinterpret_cast<std::uint64_t *>(own + flag_offset(bytes));
    auto *const their_flag = reinterpret_cast<std::uint64_t *>(theirs + flag_offset(bytes));
    *own_flag = 0;
    return {bytes == 0 ? "raw-flag" : "raw-payload-flag",
            [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    stamp_ends(theirs, bytes, trip);
                    post_flag_at_once(their_flag, trip);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_flag(own_flag, trip, pair.yields);
                    return ends_are(own, bytes, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

// An open channel and its memory. Collective.
class Over {
  public:
    // `own` must live as long as this object.
    Over(int partner, void *own, std::uint64_t bytes) : m_own(static_cast<std::byte *>(own)) {
        const sennit_channel_ends ends{1, &partner, &own, &bytes};
        m_status =
            sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, &m_theirs, &m_channel);
    }
    ~Over() {
        if (m_status == SENNIT_OK) (void)sennit_channel_close(&m_channel, 1, SENNIT_FOREVER);
    }
    Over(const Over &) = delete;
    Over &operator=(const Over &) = delete;

    sennit_status status() const { return m_status; }
    sennit_channel channel() const { return m_channel; }
    std::byte *own() const { return m_own; }
    std::byte *theirs() const { return static_cast<std::byte *>(m_theirs); }

  private:
    std::byte *m_own;
    void *m_theirs = nullptr;
    sennit_channel m_channel = SENNIT_CHANNEL_NULL;
    sennit_status m_status;
};

Subject by_channel(std::string name, const Pair &pair, std::uint64_t bytes,
                   std::shared_ptr<Over> over) {
    return {std::move(name), [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const sennit_channel channel = over->channel();
                std::byte *const own = over->own();
                std::byte *const theirs = over->theirs();
                // Collects the statuses: OK only if all are.
                unsigned statuses = SENNIT_OK;
                const auto send = [&](std::uint64_t trip) {
                    statuses |= sennit_channel_wait_write(channel, SENNIT_FOREVER);
                    stamp_ends(theirs, bytes, trip);
                    statuses |= sennit_channel_have_written(channel);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    statuses |= sennit_channel_wait_read(channel, SENNIT_FOREVER);
                    const bool is_right = ends_are(own, bytes, trip);
                    statuses |= sennit_channel_have_read(channel);
                    return is_right && statuses == SENNIT_OK;
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

void run_size(const Run &run, const Messages &messages, std::byte *registered) {
    const Pair pair(run.job);
    const std::uint64_t bytes = messages.bytes;
    Case what{"channel", bytes, 2.0, {}};
    what.subjects.push_back(raw(run.job, pair, bytes));
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 4096, 0, &own), "sennit_alloc");
    const auto allocated = std::make_shared<Over>(pair.partner, sennit_ptr(own), bytes);
    check(allocated->status(), "sennit_channel_open");
    what.subjects.push_back(by_channel("sennit-channel", pair, bytes, allocated));
    if (bytes > 0) {
        const auto over = std::make_shared<Over>(pair.partner, registered, bytes);
        // Without a pointer to the memory no hand-over in place is possible.
        if (over->status() == SENNIT_OK)
            what.subjects.push_back(by_channel("sennit-registered", pair, bytes, over));
        else if (over->status() != SENNIT_ERR_UNSUPPORTED)
            check(over->status(), "sennit_channel_open");
    }
    for (Subject &subject : run.library.pingpong(run.job, messages))
        what.subjects.push_back(std::move(subject));
    run.job.barrier();
    measure_in_turn(run.job, what, run.limits);
}

}  // namespace

void run_channel(const Run &run) {
    if (run.job.size() % 2 != 0)
        throw std::runtime_error("hand-overs need an even number of ranks");
    std::uint64_t most = 8;
    for (const std::uint64_t bytes : run.sizes)
        most = std::max(most, bytes);
    const PrivateBuffer outgoing(most, 1);
    const PrivateBuffer incoming(most, 1);
    const PrivateBuffer registered(most, 1);
    for (const std::uint64_t bytes : run.sizes) {
        run_size(run, {outgoing.data(), incoming.data(), bytes, kEndsOnly}, registered.data());
        // The channels are closed; the memory is freed with the job.
        run.job.barrier();
    }
}

}  // namespace sennit::bench
