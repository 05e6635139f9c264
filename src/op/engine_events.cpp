// Puts that carry events, and both halves of the acknowledgement protocol of event_ack.hpp. Cutting
// and completing are in engine_pump.cpp.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/engine_state.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

// How a put is divided: pieces that go before, and those that carry events.
struct Split {
    std::uint64_t piece_bytes;
    std::uint64_t plain_bytes;
    unsigned parts;
};

Split split_of(const MessagePath &path, const EventPut &put) {
    const std::uint64_t piece = piece_bytes_of(path, put.target.peer, put.bytes);
    const std::uint64_t pieces = put.bytes == 0 ? 1 : (put.bytes + piece - 1) / piece;
    // Half of the tickets, so that the messages of two threads may be under way.
    const std::uint64_t half = (1u << ticket_bits_of(path.event_bits)) / 2;
    const std::uint64_t parts = std::min({pieces, std::uint64_t{put.most_parts}, half});
    return Split{piece, (pieces - parts) * piece, static_cast<unsigned>(parts)};
}

transport::EventData first_of(const EventForm &form, const Split &split) {
    transport::EventData data = form.first;
    data.low += std::uint64_t{split.parts - 1} << form.code_shift;
    return data;
}

// Writes down what the events are, for the case that their rail fails.
void describe(EventAckState &state, const EventPut &put, const Split &split,
              std::uint64_t tickets) {
    transport::EventData data = first_of(put.counted, split);
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        state.counted[std::countr_zero(left)] = data;
        data = put.counted.further;  // the first event has the lowest ticket
    }
}

// The pieces of the list that are among `tickets` go to another one.
PieceQueue take_pieces(PieceQueue &list, std::uint64_t tickets) {
    PieceQueue taken;
    PieceQueue left;
    while (OperationPiece *piece = list.pop())
        ((ticket_bit(piece->ticket) & tickets) != 0 ? taken : left).push(piece);
    list = left;
    return taken;
}

// kMostTickets if there is none.
unsigned first_to_retransmit(const EventAckSender &tickets) {
    return static_cast<unsigned>(std::countr_zero(tickets.retransmit));
}

void prepare_retransmission(EventAckState &state, unsigned ticket) {
    const EventRetransmission retransmission = retransmission_of(state.tickets, ticket);
    state.payload[0] = retransmission.ticket | (retransmission.bit ? 1u << 8 : 0u) |
                       (retransmission.is_surplus ? 1u << 9 : 0u);
    state.payload[1] = state.counted[ticket].low;
    state.payload[2] = state.counted[ticket].high;
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
    if (rank.engine == nullptr || peer < 0 || peer >= rank.engine->size) return 0;
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path == nullptr ? 0 : path->event_bits;
}

sennit_status engine_put_events(Rank &rank, const EventPut &put, bool *begun) {
    Engine &engine = *rank.engine;
    OperationRecord *record = nullptr;
    *begun = false;
    {
        const MutexLock locked(engine.lock);
        PeerQueue &queue = use_queue(engine, put.target.peer);
        if (queue.events == nullptr) queue.events = new (std::nothrow) EventAckState;
        if (queue.events == nullptr)
            return fail_peer(SENNIT_ERR_NOMEM, put.target.peer, "", "no memory for events");
        EventAckState &state = *queue.events;
        const Split split = split_of(*queue.path, put);
        CarriedEvents carried;
        carried.tickets = take_tickets(state.tickets, split.parts,
                                       all_tickets(ticket_bits_of(queue.path->event_bits)));
        if (carried.tickets == 0) return SENNIT_OK;
        carried.uncut = carried.tickets;
        carried.plain_bytes = split.plain_bytes;
        carried.first = first_of(put.sent, split);
        carried.further = put.sent.further;
        describe(state, put, split, carried.tickets);
        *begun = true;
        const sennit_status status = start(
            engine,
            OperationArgs{
                Direction::put, &put.target, put.local, put.bytes, {}, &carried, split.piece_bytes},
            &record);
        // Still there where no record was made.
        give_back_tickets(state.tickets, carried.tickets);
        if (status != SENNIT_OK || record == nullptr) return status;
    }
    return wait_for_record(engine, record);
}

sennit_status engine_await_acks(Rank &rank, int peer, AckWait until) {
    if (rank.engine == nullptr || peer < 0 || peer >= rank.engine->size) return SENNIT_OK;
    Engine &engine = *rank.engine;
    PeerQueue *queue = nullptr;
    std::uint64_t replies = 0;
    std::uint64_t failures = 0;
    const auto is_over = [&] {
        const EventAckState &state = *queue->events;
        if (state.failures != failures) return true;
        return until == AckWait::reply ? state.replies != replies : !is_outstanding(state.tickets);
    };
    {
        const MutexLock locked(engine.lock);
        queue = engine.queues.find(peer);
        if (queue == nullptr || queue->events == nullptr) return SENNIT_OK;
        EventAckState &state = *queue->events;
        replies = state.replies;
        failures = state.failures;
        if (is_over()) return SENNIT_OK;
        state.has_failed = false;
        if (until == AckWait::reply) state.is_wanted = true;
        activate(engine, *queue);
    }
    const sennit_status waited = wait_until(rank, default_deadline(), peer, [&] {
        const MutexLock locked(engine.lock);
        if (!is_over()) progress(engine);
        return is_over();
    });
    if (waited == SENNIT_ERR_TIMEOUT)
        return fail_peer(waited, peer, queue->path->transport->traits().name,
                         "rank %d does not acknowledge the events of this rank", peer);
    const MutexLock locked(engine.lock);
    const EventAckState &state = *queue->events;
    if (waited != SENNIT_OK || state.failures == failures) return waited;
    return fail_peer(state.failure, peer, queue->path->transport->traits().name,
                     "rank %d could not be asked to acknowledge the events of this rank: %s", peer,
                     sennit_status_string(state.failure));
}

bool has_ack_work(const PeerQueue &queue) {
    const EventAckState *state = queue.events;
    if (state == nullptr || state->has_failed || state->message.state == RecordState::in_flight)
        return false;
    return state->is_wanted || state->tickets.unacknowledged != 0 || is_outstanding(state->tickets);
}

void prepare_ack_message(Engine &engine, PeerQueue &queue) {
    EventAckState &state = *queue.events;
    const unsigned ticket = first_to_retransmit(state.tickets);
    const bool is_query = ticket == kMostTickets;
    OperationRecord &message = *new (&state.message) OperationRecord{};
    message.state = RecordState::complete;
    message.mode = Completion::Mode::blocking;
    message.direction = Direction::execute;
    message.peer = queue.peer;
    message.remote =
        transport::RemoteMemory{nullptr, engine.rank->peers[queue.peer].control_handle};
    message.local = reinterpret_cast<std::byte *>(state.payload);
    message.operation = is_query ? kQueryEvents : kRetransmitEvent;
    message.type = SENNIT_UINT64;
    message.element_bytes = sizeof(std::uint64_t);
    message.result = is_query ? reinterpret_cast<std::byte *>(&state.reply) : nullptr;
    message.bytes = sizeof(std::uint64_t) * (is_query ? 1 : kRetransmissionWords);
    message.piece_bytes = message.bytes;
    if (is_query) {
        state.payload[0] = close_rails(state.tickets);
    } else {
        prepare_retransmission(state, ticket);
    }
}

AckedPieces take_ack_reply(PeerQueue &queue) {
    EventAckState &state = *queue.events;
    AckedPieces acked;
    const sennit_status status = state.message.status;
    // Without memory the message is sent again, until there is some or the waits for it end.
    if (status == SENNIT_ERR_NOMEM) return acked;
    if (status != SENNIT_OK) {
        state.failure = status;
        ++state.failures;
        state.has_failed = true;
        state.is_wanted = false;
    } else if (state.message.operation == kQueryEvents) {
        const EventAck ack = acknowledge(state.tickets, state.reply, state.payload[0]);
        acked.arrived = take_pieces(state.unacknowledged, ack.arrived);
        acked.lost = take_pieces(state.unacknowledged, ack.lost);
        state.is_wanted = false;
        ++state.replies;
    } else {
        free_tickets(state.tickets,
                     ticket_bit(static_cast<unsigned>(state.payload[0] % kMostTickets)));
    }
    return acked;
}

void reply_to_event_query(Engine &engine, const transport::Arrived &arrived, std::byte *reply) {
    std::uint64_t rails = 0;
    std::memcpy(&rails, arrived.payload, sizeof rails);
    const std::uint64_t word = reply_to_query(use_queue(engine, arrived.from).ack_receiver, rails);
    std::memcpy(reply, &word, sizeof word);
}

void count_retransmitted(Engine &engine, const transport::Arrived &arrived) {
    std::uint64_t words[kRetransmissionWords];
    std::memcpy(words, arrived.payload, sizeof words);
    const EventRetransmission retransmission{static_cast<unsigned>(words[0] % kMostTickets),
                                             (words[0] >> 8 & 1) != 0, (words[0] >> 9 & 1) != 0};
    if (!receive_retransmission(use_queue(engine, arrived.from).ack_receiver, retransmission))
        return;
    deliver(engine, arrived.from, kCountedBits, {words[1], words[2]}, retransmission.is_surplus);
}

std::size_t engine_most_event_data(const Rank &rank, int peer) {
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path == nullptr || path->payload_bytes < sizeof(EventTask)
               ? 0
               : path->payload_bytes - sizeof(EventTask);
}

void hurry(PeerQueue &queue) {
    if (queue.answers_waited == 0 || queue.is_hurried) return;
    queue.is_hurried = true;
    queue.path->transport->hurry(queue.peer);
}

// Whose thread this is has nothing to do with it, and keeps its own last error.
void end_event(Engine &engine, OperationRecord *record) {
    EventTask task;
    std::memcpy(&task, record->operands, sizeof task);
    if (record->status != SENNIT_OK) {
        char why[160];
        (void)std::snprintf(why, sizeof why, "an event for signal %#x of rank %d failed: %s",
                            task.handle, record->peer, sennit_status_string(record->status));
        record->why = strdup(why);
        return;
    }
    const sennit_error unrelated = *thread_error();
    record->status = record->judge(*engine.rank, record->peer, task, record->answer);
    if (record->status == SENNIT_OK) return;
    record->why = strdup(thread_error()->text);
    *thread_error() = unrelated;
}

sennit_status engine_await_sent(Rank &rank, int peer, const Deadline &deadline) {
    Engine &engine = *rank.engine;
    const auto is_sent = [&] {
        const PeerQueue *const queue = engine.queues.find(peer);
        return queue == nullptr || queue->events_pending == 0;
    };
    {
        const MutexLock locked(engine.lock);
        if (is_sent()) return SENNIT_OK;
    }
    return wait_until(rank, deadline, peer, [&] {
        const MutexLock locked(engine.lock);
        if (!is_sent()) progress(engine);
        return is_sent();
    });
}

void engine_take_events(Rank &rank, EventConsumer consumer, EventTaskConsumer task_consumer) {
    if (rank.engine == nullptr) return;
    const MutexLock locked(rank.engine->lock);
    rank.engine->consumer = consumer;
    rank.engine->task_consumer = task_consumer;
}

void engine_event_arrived(void *context, int from, unsigned rail,
                          const transport::EventData &event) {
    Rank &rank = *static_cast<Rank *>(context);
    Engine *engine = rank.engine;
    if (engine == nullptr || from < 0 || from >= engine->size) return;  // this rank is leaving
    const MessagePath *const path = path_to(*engine, from);
    if (path == nullptr || path->event_bits == 0 || rail >= kRails) return;
    const auto ticket = static_cast<unsigned>(event.low % (1u << ticket_bits_of(path->event_bits)));
    if (receive_event(use_queue(*engine, from).ack_receiver, rail, ticket))
        deliver(*engine, from, path->event_bits, event, false);
}

}  // namespace sennit::op
