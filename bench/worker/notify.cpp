// A message and the event that reports it: two ranks put messages into each other's memory and wait
// for a signal. By hand: a copy, and an atomic add to the partner's counter on a separate line,
// which the partner polls. Between two nodes: a put of the provider with completion data, which the
// partner reads. The result is half a round trip. Each message is written and read.
#include <sennit/sennit.h>

#include <memory>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

namespace {

// Payload first, then the counter on the next line.
std::size_t counter_offset(std::uint64_t bytes) {
    return whole_lines(static_cast<std::size_t>(bytes));
}

Subject raw(const Run &run, const Pair &pair, const Messages &messages) {
    std::byte *const own = run.job.raw_payload(pair.self);
    std::byte *const theirs = run.job.raw_payload(pair.partner);
    const std::size_t behind = counter_offset(messages.bytes);
    auto *const own_counter = reinterpret_cast<std::uint64_t *>(own + behind);
    auto *const their_counter = reinterpret_cast<std::uint64_t *>(theirs + behind);
    *own_counter = 0;
    return {"raw-store-add", [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    // Fetch both lines at the same time, since the locked add waits for the copy.
                    prefetch_to_write(theirs);
                    prefetch_to_write(their_counter);
                    copy_by_hand(theirs, messages.outgoing, messages.bytes);
                    // SYNC bench-flag: pairs with acquire in wait_for_flag(); payload before
                    // count.
                    Flag(*their_counter).fetch_add(1, std::memory_order_release);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_flag(own_counter, trip, pair.yields);
                    return messages.consume_at(own, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

Subject raw_events(const Run &run, const Pair &pair, const Messages &messages) {
    auto network = std::make_shared<RawNetwork>(run.job, static_cast<std::size_t>(messages.bytes),
                                                RawNetwork::Use::events);
    const std::string provider = network->provider();
    return {"raw-" + provider,
            [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    network->put_event(messages.outgoing, static_cast<std::size_t>(messages.bytes));
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    network->await_event();
                    return messages.consume_at(network->memory(), trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            },
            provider};
}

// The partner's block and this rank's signal, for the life of the subject. Collective.
class Notified {
  public:
    Notified(const Run &run, int partner, std::uint64_t bytes) {
        check(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 4096, 0, &m_memory), "sennit_alloc");
        check(sennit_signal_create(1, 1, 0, &m_arrived), "sennit_signal_create");
        sennit_block mine;
        check(sennit_block_init({m_memory, bytes}, 0, bytes, SENNIT_SIGNAL_NULL, m_arrived, &mine),
              "sennit_block_init");
        std::vector<sennit_block> blocks(static_cast<std::size_t>(run.job.size()));
        check(
            sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks.data(), sizeof mine, SENNIT_FOREVER),
            "sennit_allgather");
        check(sennit_block_attach(&blocks[static_cast<std::size_t>(partner)], &m_there),
              "sennit_block_attach");
    }
    ~Notified() {
        (void)sennit_block_detach(m_there);
        (void)sennit_signal_destroy(m_arrived);
    }
    Notified(const Notified &) = delete;
    Notified &operator=(const Notified &) = delete;

    // One message in each direction, which is not read.
    void pass_one(const Messages &messages) const {
        check(sennit_put_notify(m_there, 0, messages.outgoing, messages.bytes),
              "sennit_put_notify");
        check(sennit_signal_wait(m_arrived, SENNIT_FOREVER), "sennit_signal_wait");
    }

    sennit_peer_block there() const { return m_there; }
    sennit_signal arrived() const { return m_arrived; }
    const std::byte *own() const { return static_cast<const std::byte *>(sennit_ptr(m_memory)); }

  private:
    sennit_gptr m_memory = SENNIT_GPTR_NULL;
    sennit_signal m_arrived = SENNIT_SIGNAL_NULL;
    sennit_peer_block m_there = SENNIT_PEER_BLOCK_NULL;
};

// When the signal is reset: after the message is read, or after the answer, before the wait for the
// next message.
enum class Reset : std::uint8_t { once_read, once_answered };

template <Reset kReset>
Subject by_signal(const char *name, const Run &run, const Pair &pair, const Messages &messages) {
    auto notified = std::make_shared<Notified>(run, pair.partner, messages.bytes);
    // One message first, so that the signal has fired before each reset.
    if (kReset == Reset::once_answered) notified->pass_one(messages);
    return {name, [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const sennit_peer_block there = notified->there();
                const sennit_signal arrived = notified->arrived();
                const std::byte *const own = notified->own();
                // Collects the statuses: OK only if all are.
                unsigned statuses = SENNIT_OK;
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    statuses |= sennit_put_notify(there, 0, messages.outgoing, messages.bytes);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    if (kReset == Reset::once_answered) statuses |= sennit_signal_reset(arrived);
                    statuses |= sennit_signal_wait(arrived, SENNIT_FOREVER);
                    const bool is_right = messages.consume_at(own, trip);
                    if (kReset == Reset::once_read) statuses |= sennit_signal_reset(arrived);
                    return is_right && statuses == SENNIT_OK;
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

void run_size(const Run &run, const Messages &messages) {
    const Pair pair(run.job);
    Case what{"notify", messages.bytes, 2.0, {}};
    what.subjects.push_back(run.job.spans_nodes() ? raw_events(run, pair, messages)
                                                  : raw(run, pair, messages));
    what.subjects.push_back(by_signal<Reset::once_read>("sennit-put-notify", run, pair, messages));
    what.subjects.push_back(
        by_signal<Reset::once_answered>("sennit-put-notify-late", run, pair, messages));
    for (Subject &subject : run.library.notify(run.job, messages))
        what.subjects.push_back(std::move(subject));
    run.job.barrier();
    // Between nodes a trip takes some 10 us, and ranks leave a barrier at times that differ as
    // much.
    Limits limits = run.limits;
    if (run.job.spans_nodes()) limits.batch_ns = std::max(limits.batch_ns, 2e6);
    measure_in_turn(run.job, what, limits);
}

}  // namespace

void run_notify(const Run &run) {
    if (run.job.size() % 2 != 0)
        throw std::runtime_error("messages there and back need an even number of ranks");
    std::uint64_t most = 8;
    for (const std::uint64_t bytes : run.sizes)
        most = std::max(most, bytes);
    const PrivateBuffer outgoing(most, 1);
    const PrivateBuffer incoming(most, 1);
    for (const std::uint64_t bytes : run.sizes) {
        run_size(run, {outgoing.data(), incoming.data(), bytes, run.stride});
        // The blocks are detached; the memory is freed with the job.
        run.job.barrier();
    }
}

}  // namespace sennit::bench
