// Ping-pong: a message to the partner and one back; half of the time is reported. The receiver
// polls its own memory and reads the payload.
#include <sennit/sennit.h>

#include <memory>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/spin.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

namespace {

// Payload first, then the flag on the next line.
std::size_t flag_offset(std::uint64_t bytes) {
    return whole_lines(static_cast<std::size_t>(bytes));
}

// The destination of a message, here and at the partner.
struct Landing {
    std::byte *own_payload;
    std::uint64_t *own_flag;
    std::byte *partner_payload;
    std::uint64_t *partner_flag;
};

// A copy and a flag; the raw limit and sennit_ptr differ only in the kind of memory.
Subject by_stores(std::string name, const Pair &pair, const Messages &messages, Landing landing) {
    return {std::move(name), [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    if (messages.bytes > 0) {
                        copy_by_hand(landing.partner_payload, messages.outgoing, messages.bytes);
                    }
                    post_flag_at_once(landing.partner_flag, trip);
                    return true;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_flag(landing.own_flag, trip, pair.yields);
                    return messages.consume_at(landing.own_payload, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

// A put of the payload, then one of the flag. A blocking put is complete before the next one
// starts.
Subject by_put(const Pair &pair, const Messages &messages, Landing landing, sennit_gptr payload) {
    const auto flag =
        sennit_gptr_add(payload, static_cast<std::int64_t>(flag_offset(messages.bytes)));
    return {"sennit-put", [=, number = std::uint64_t{0}](std::size_t operations) mutable {
                const auto send = [&](std::uint64_t trip) {
                    messages.produce(trip);
                    bool sent = true;
                    if (messages.bytes > 0) {
                        sent = sennit_put(payload, messages.outgoing, messages.bytes) == SENNIT_OK;
                    }
                    return (sennit_put(flag, &trip, sizeof trip) == SENNIT_OK) && sent;
                };
                const auto receive = [&](std::uint64_t trip) {
                    wait_for_flag(landing.own_flag, trip, pair.yields);
                    return messages.consume_at(landing.own_payload, trip);
                };
                return time_trips(pair.starts, number, operations, send, receive);
            }};
}

void run_size(const Run &run, const Messages &messages) {
    const Job &job = run.job;
    const Pair pair(job);
    const std::size_t flag_at = flag_offset(messages.bytes);

    // The same layout as below: subjects differ only in the transfer.
    std::byte *const raw_own = job.raw_payload(pair.self);
    std::byte *const raw_partner = job.raw_payload(pair.partner);
    std::memset(raw_own, 0, flag_at + kLineBytes);
    const Landing raw{raw_own, reinterpret_cast<std::uint64_t *>(raw_own + flag_at), raw_partner,
                      reinterpret_cast<std::uint64_t *>(raw_partner + flag_at)};

    // Two areas, since put and pointer must not use each other's flags.
    const std::size_t place_bytes = flag_at + kLineBytes;
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, 2 * place_bytes, 4096, 0, &own), "sennit_alloc");
    const auto landing = [&](std::size_t offset) {
        const sennit_gptr here = sennit_gptr_add(own, static_cast<std::int64_t>(offset));
        auto *const mine = static_cast<std::byte *>(sennit_ptr(here));
        auto *const theirs =
            static_cast<std::byte *>(sennit_ptr(sennit_gptr_at(here, pair.partner)));
        if (mine == nullptr || theirs == nullptr) {
            check(sennit_last_error()->status, "sennit_ptr");
        }
        return Landing{mine, reinterpret_cast<std::uint64_t *>(mine + flag_at), theirs,
                       reinterpret_cast<std::uint64_t *>(theirs + flag_at)};
    };

    Case what{"pingpong", messages.bytes, 2.0, {}};
    what.subjects.push_back(
        by_stores(messages.bytes == 0 ? "raw-flag" : "raw-payload-flag", pair, messages, raw));
    what.subjects.push_back(by_put(pair, messages, landing(0), sennit_gptr_at(own, pair.partner)));
    what.subjects.push_back(by_stores("sennit-pointer", pair, messages, landing(place_bytes)));
    for (Subject &subject : run.library.pingpong(job, messages)) {
        what.subjects.push_back(std::move(subject));
    }
    measure_in_turn(job, what, run.limits);
    what.subjects.clear();
    check(sennit_free(own), "sennit_free");
}

}  // namespace

void run_pingpong(const Run &run) {
    if (run.job.size() % 2 != 0) {
        throw std::runtime_error("a ping-pong needs an even number of ranks");
    }
    std::uint64_t most = 8;
    for (const std::uint64_t bytes : run.sizes) {
        most = std::max(most, bytes);
    }
    const PrivateBuffer outgoing(most, 1);
    const PrivateBuffer incoming(most, 1);
    for (const std::uint64_t bytes : run.sizes) {
        run_size(run, {outgoing.data(), incoming.data(), bytes, run.stride});
    }
}

}  // namespace sennit::bench
