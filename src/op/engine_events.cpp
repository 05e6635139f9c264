// Puts that carry events, and what comes of them: the sender's tickets, its talk with the receiver
// about them, and the receiver's word, with the rules of tickets.hpp. Cutting and completing are in
// engine_pump.cpp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/engine_state.hpp"
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

transport::EventData first_of(const EventForm &form, const Split &split) {
    transport::EventData data = form.first;
    data.low += std::uint64_t{split.parts - 1} << form.code_shift;
    return data;
}

// Writes down what the events are, for the case that their rail fails.
void describe(EventState &state, const EventPut &put, const Split &split, std::uint64_t tickets) {
    transport::EventData data = first_of(put.counted, split);
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        state.counted[std::countr_zero(left)] = data;
        data = put.counted.further;  // the first event has the lowest ticket
    }
}

// The pieces of the list that are among `tickets` go to another one.
Piece *take_pieces(Piece **list, std::uint64_t tickets) {
    Piece *taken = nullptr;
    for (Piece **at = list; *at != nullptr;) {
        Piece *piece = *at;
        if ((ticket_bit(piece->ticket) & tickets) == 0) {
            at = &piece->next;
            continue;
        }
        *at = piece->next;
        piece->next = taken;
        taken = piece;
    }
    return taken;
}

// The lowest of what is owed, kMostTickets if nothing is.
unsigned first_owed(const Tickets &tickets) {
    return static_cast<unsigned>(std::countr_zero(tickets.owed));
}

void choose_debt(EventState &state, unsigned ticket) {
    const Debt debt = debt_of(state.tickets, ticket);
    state.words[0] = debt.ticket | (debt.bit ? 1u << 8 : 0u) | (debt.is_surplus ? 1u << 9 : 0u);
    state.words[1] = state.counted[ticket].low;
    state.words[2] = state.counted[ticket].high;
}

void deliver(Engine &engine, int from, unsigned event_bits, const transport::EventData &event,
             bool is_surplus) {
    if (engine.consumer != nullptr)
        return engine.consumer(*engine.rank, from, event_bits, event, is_surplus);
    if (engine.event_lost) return;
    engine.event_lost = true;
    log(SENNIT_LOG_ERROR, "rank %d sends events, and this rank expects none", from);
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
        carried.first = first_of(put.sent, split);
        carried.further = put.sent.further;
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

sennit_status engine_settle(Rank &rank, int peer, Until until) {
    if (queue_of(rank, peer) == nullptr) return SENNIT_OK;
    Engine &engine = *rank.engine;
    PeerQueue &queue = engine.queues[peer];
    std::uint64_t told = 0;
    std::uint64_t failures = 0;
    const auto is_over = [&] {
        const EventState &state = *queue.events;
        if (state.failures != failures) return true;
        return until == Until::told ? state.told != told : !needs_settling(state.tickets);
    };
    {
        const Locked locked(engine);
        if (queue.events == nullptr) return SENNIT_OK;
        EventState &state = *queue.events;
        told = state.told;
        failures = state.failures;
        if (is_over()) return SENNIT_OK;
        state.is_silent = false;
        if (until == Until::told) state.is_asked_for = true;
        activate(engine, queue);
    }
    const sennit_status waited = wait_until(rank, default_deadline(), peer, [&] {
        const Locked locked(engine);
        if (!is_over()) progress(engine);
        return is_over();
    });
    if (waited == SENNIT_ERR_TIMEOUT)
        return fail_peer(waited, peer, queue.lane->transport->traits().name,
                         "rank %d does not say which events of this rank have come", peer);
    const Locked locked(engine);
    const EventState &state = *queue.events;
    if (waited != SENNIT_OK || state.failures == failures) return waited;
    return fail_peer(state.failure, peer, queue.lane->transport->traits().name,
                     "rank %d could not be asked which events of this rank have come: %s", peer,
                     sennit_status_string(state.failure));
}

bool has_to_talk(const PeerQueue &queue) {
    const EventState *state = queue.events;
    if (state == nullptr || state->is_silent || state->talk.state == State::in_flight) return false;
    return state->is_asked_for || state->tickets.doubtful != 0 || needs_settling(state->tickets);
}

void choose_words(Engine &engine, PeerQueue &queue) {
    EventState &state = *queue.events;
    const unsigned ticket = first_owed(state.tickets);
    const bool is_question = ticket == kMostTickets;
    Record &talk = state.talk;
    talk = Record{};
    talk.state = State::complete;
    talk.kind = Kind::blocking;
    talk.direction = Direction::execute;
    talk.peer = queue.peer;
    talk.remote = transport::Remote{nullptr, engine.rank->peers[queue.peer].control_handle};
    talk.local = reinterpret_cast<std::byte *>(state.words);
    talk.operation = is_question ? kTellEvents : kCountEvent;
    talk.type = SENNIT_UINT64;
    talk.element_bytes = sizeof(std::uint64_t);
    talk.result = is_question ? reinterpret_cast<std::byte *>(&state.answer) : nullptr;
    talk.bytes = sizeof(std::uint64_t) * (is_question ? 1 : kEventWords);
    talk.piece_bytes = talk.bytes;
    if (is_question) {
        state.words[0] = close_rails(state.tickets);
    } else {
        choose_debt(state, ticket);
    }
}

Decided hear(PeerQueue &queue) {
    EventState &state = *queue.events;
    Decided decided;
    const sennit_status status = state.talk.status;
    // Without memory it is said again, until there is some or the waits for it are over.
    if (status == SENNIT_ERR_NOMEM) return decided;
    if (status != SENNIT_OK) {
        state.failure = status;
        ++state.failures;
        state.is_silent = true;
        state.is_asked_for = false;
    } else if (state.talk.operation == kTellEvents) {
        const Verdict verdict = judge(state.tickets, state.answer, state.words[0]);
        decided.come = take_pieces(&state.doubtful_first, verdict.come);
        decided.lost = take_pieces(&state.doubtful_first, verdict.lost);
        state.is_asked_for = false;
        ++state.told;
    } else {
        paid(state.tickets, ticket_bit(static_cast<unsigned>(state.words[0] % kMostTickets)));
    }
    return decided;
}

Piece *give_up_doubtful(EventState &state) {
    return take_pieces(&state.doubtful_first, UINT64_MAX);
}

void tell_events(Engine &engine, const transport::Arrived &arrived, std::byte *reply) {
    std::uint64_t rails = 0;
    std::memcpy(&rails, arrived.payload, sizeof rails);
    const std::uint64_t word = close_and_tell(engine.intakes[arrived.from], rails);
    std::memcpy(reply, &word, sizeof word);
}

void count_event(Engine &engine, const transport::Arrived &arrived) {
    std::uint64_t words[kEventWords];
    std::memcpy(words, arrived.payload, sizeof words);
    const Debt debt{static_cast<unsigned>(words[0] % kMostTickets), (words[0] >> 8 & 1) != 0,
                    (words[0] >> 9 & 1) != 0};
    if (!settle_one(engine.intakes[arrived.from], debt)) return;
    deliver(engine, arrived.from, kCountedBits, {words[1], words[2]}, debt.is_surplus);
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
    if (take_in(engine->intakes[from], rail, ticket))
        deliver(*engine, from, lane->event_bits, event, false);
}

}  // namespace sennit::op
