// Puts that carry events, and what comes of them: the sender's tickets and the receiver's word,
// with the rules of tickets.hpp. Cutting and completing are in engine_pump.cpp.
#include <algorithm>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/engine_state.hpp"
#include "op/rma.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

const PeerQueue *queue_of(const Rank &rank, int peer) {
    if (rank.engine == nullptr || peer < 0 || peer >= rank.engine->size) return nullptr;
    return &rank.engine->queues[peer];
}

// How a put is divided: pieces that go before, and those that carry events.
struct Split {
    std::uint64_t piece_bytes;
    std::uint64_t plain_bytes;
    unsigned parts;
};

Split split_of(const Lane &lane, const EventPut &put) {
    const std::uint64_t piece = piece_bytes_of(lane, put.bytes);
    const std::uint64_t pieces = put.bytes == 0 ? 1 : (put.bytes + piece - 1) / piece;
    // Half of the tickets, so that the messages of two threads may be under way.
    const std::uint64_t half = (1u << ticket_bits_of(lane.event_bits)) / 2;
    const std::uint64_t parts = std::min({pieces, std::uint64_t{put.most_parts}, half});
    return Split{piece, (pieces - parts) * piece, static_cast<unsigned>(parts)};
}

// Writes down what the events mean, for the case that their rail fails.
void describe(EventState &state, const EventPut &put, const Split &split, std::uint64_t tickets) {
    std::uint8_t parts = static_cast<std::uint8_t>(split.parts);
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        const int ticket = std::countr_zero(left);
        state.meanings[ticket] = put.meaning;
        state.parts[ticket] = parts;
        parts = 0;  // the first event has the lowest ticket
    }
}

std::uint64_t addend_of(const EventMeaning &meaning, std::uint8_t parts) {
    return parts == 0 ? 0 - meaning.per_part : (parts - 1u) * meaning.per_part - 1;
}

void collect(const EventState &state, std::uint64_t tickets, bool is_surplus,
             Settlement *settlement) {
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        const auto ticket = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t addend = addend_of(state.meanings[ticket], state.parts[ticket]);
        settlement->owed[settlement->count++] =
            Owed{state.meanings[ticket], is_surplus ? 0 - addend : addend, ticket};
    }
}

// Asks, if the question is not under way from a settlement before; its answer is then as good.
sennit_status ask(Rank &rank, int peer, EventState &state) {
    {
        const Locked locked(*rank.engine);
        if (state.question.handle != 0) return SENNIT_OK;
        state.asked = close_rails(state.tickets);
    }
    const Work work{kTellEvents, SENNIT_UINT64, sizeof(std::uint64_t), &state.answer};
    const Target target{peer, transport::Remote{nullptr, rank.peers[peer].control_handle}, 0,
                        nullptr, &work};
    return engine_request(rank, Direction::execute, target, &state.asked, sizeof state.asked,
                          &state.question);
}

sennit_status question_and_answer(Rank &rank, int peer, EventState &state) {
    const sennit_status status = ask(rank, peer, state);
    return status != SENNIT_OK ? status : wait(rank, &state.question, default_deadline());
}

}  // namespace

unsigned engine_event_bits(const Rank &rank, int peer) {
    const PeerQueue *queue = queue_of(rank, peer);
    return queue == nullptr || queue->lane == nullptr ? 0 : queue->lane->event_bits;
}

sennit_status engine_put_events(Rank &rank, const EventPut &put, bool *begun) {
    Engine &engine = *rank.engine;
    PeerQueue &queue = engine.queues[put.target.peer];
    Record *record = nullptr;
    *begun = false;
    {
        const Locked locked(engine);
        if (queue.events == nullptr) queue.events = new (std::nothrow) EventState;
        if (queue.events == nullptr)
            return fail_peer(SENNIT_ERR_NOMEM, put.target.peer, "", "no memory for events");
        EventState &state = *queue.events;
        const Split split = split_of(*queue.lane, put);
        Carried carried;
        carried.tickets =
            take(state.tickets, split.parts, all_tickets(ticket_bits_of(queue.lane->event_bits)));
        if (carried.tickets == 0) return SENNIT_OK;
        carried.uncut = carried.tickets;
        carried.plain_bytes = split.plain_bytes;
        carried.first = put.first;
        carried.first.low += std::uint64_t{split.parts - 1} << put.code_shift;
        carried.further = put.further;
        describe(state, put, split, carried.tickets);
        *begun = true;
        const sennit_status status = start(engine,
                                           Wish{Kind::blocking, Direction::put, &put.target,
                                                put.local, put.bytes, &carried, split.piece_bytes},
                                           &record);
        // Still there where no record was made.
        give_back(state.tickets, carried.tickets);
        if (status != SENNIT_OK || record == nullptr) return status;
    }
    return wait_for_record(engine, record);
}

bool engine_needs_settling(Rank &rank, int peer) {
    const Locked locked(*rank.engine);
    const EventState *state = rank.engine->queues[peer].events;
    return state != nullptr && needs_settling(state->tickets);
}

sennit_status engine_settle(Rank &rank, int peer, Settlement *settlement) {
    Engine &engine = *rank.engine;
    EventState &state = *engine.queues[peer].events;
    settlement->count = 0;
    // A thread that has waited for another one's settlement looks for itself again.
    bool is_other = false;
    sennit_status status = wait_until(rank, default_deadline(), peer, [&] {
        const Locked locked(engine);
        if (state.is_settling) {
            is_other = true;
            progress(engine);
            return false;
        }
        state.is_settling = !is_other;
        return true;
    });
    if (status != SENNIT_OK || is_other) return status;
    status = question_and_answer(rank, peer, state);
    const Locked locked(engine);
    state.is_settling = false;
    if (status != SENNIT_OK) return status;
    const Verdict verdict = judge(state.tickets, state.answer, state.asked);
    collect(state, verdict.missing, false, settlement);
    collect(state, verdict.surplus, true, settlement);
    return SENNIT_OK;
}

void engine_paid(Rank &rank, int peer, const Owed &owed, bool is_paid) {
    const Locked locked(*rank.engine);
    Tickets &tickets = rank.engine->queues[peer].events->tickets;
    (is_paid ? paid : unpaid)(tickets, ticket_bit(owed.ticket));
}

void engine_take_events(Rank &rank, EventConsumer consumer) {
    if (rank.engine == nullptr) return;
    const Locked locked(*rank.engine);
    rank.engine->consumer = consumer;
}

void engine_event_arrived(void *context, int from, unsigned rail,
                          const transport::EventData &event) {
    Rank &rank = *static_cast<Rank *>(context);
    Engine *engine = rank.engine;
    if (engine == nullptr || from < 0 || from >= engine->size) return;  // this rank is leaving
    const Lane *lane = engine->queues[from].lane;
    if (lane == nullptr || lane->event_bits == 0 || rail >= kRails) return;
    const auto ticket = static_cast<unsigned>(event.low % (1u << ticket_bits_of(lane->event_bits)));
    if (!take_in(engine->intakes[from], rail, ticket)) return;
    if (engine->consumer != nullptr) return engine->consumer(rank, from, lane->event_bits, event);
    if (engine->event_lost) return;
    engine->event_lost = true;
    log(SENNIT_LOG_ERROR, "rank %d sends events, and this rank expects none", from);
}

}  // namespace sennit::op
