// The invariants of the op engine as a function for the tests.
#include "op/engine_state.hpp"

namespace sennit::op {

namespace {

const char *check_record(const Record &record) {
    if (record.cut > record.bytes) return "more was cut than there is";
    switch (record.state) {
        case State::free:
            break;
        case State::pending:
            if (record.cut == record.bytes && record.bytes != 0)
                return "a pending record is cut to the end";
            if (record.status != SENNIT_OK) return "a failed record is still pending";
            break;
        case State::in_flight:
            if (record.cut != record.bytes) return "a record in flight is not cut to the end";
            if (record.open == 0) return "a record in flight has no piece out";
            break;
        case State::complete:
            if (record.open != 0) return "a complete record has pieces out";
            if (record.own_in_use) return "a complete record has its own piece out";
            if (record.on_flush_list) return "a complete record is on a flush list";
            if (record.kind == Kind::implicit) return "a complete record nobody takes is kept";
            break;
    }
    return nullptr;
}

const char *check_queue(const PeerQueue &queue, std::uint32_t puts_open) {
    if (queue.puts_open != puts_open) return "puts_open is not the number of put pieces out";
    for (const Record *record = queue.pending_first; record != nullptr;
         record = record->next_pending) {
        if (record->state != State::pending) return "a queued record is not pending";
        if (record != queue.pending_first && record->cut != 0)
            return "a record behind the head of its queue was cut";
        if (record->next_pending == nullptr && record != queue.pending_last)
            return "the end of a queue is not its last record";
    }
    if (queue.next_task - queue.first_task > kTaskWindow)
        return "more tasks are open than a window";
    std::uint64_t number = 0;
    for (const Record *record = queue.open_first; record != nullptr; record = record->next_open) {
        if (record->number <= number) return "a flush list is not in the order of starting";
        if (record->state == State::complete) return "a complete record is on a flush list";
        number = record->number;
    }
    if (has_work(queue) && !queue.active) return "a queue with work is not active";
    return nullptr;
}

}  // namespace

const char *engine_check(Engine &engine) {
    std::uint64_t open = 0;
    for (std::uint32_t i = 0; i < engine.records.made(); ++i) {
        const Record &record = engine.records.at(i);
        if (const char *fault = check_record(record)) return fault;
        if (record.state != State::free) open += record.open;
    }
    std::uint64_t waiting = 0;  // pieces out that no transport holds
    for (const Piece *piece = engine.done_first; piece != nullptr; piece = piece->next)
        ++waiting;
    for (int peer = 0; peer < engine.size; ++peer) {
        for (const Piece *piece = engine.queues[peer].retry_first; piece; piece = piece->next)
            ++waiting;
        std::uint32_t puts_open = 0;
        if (const EventAckState *events = engine.queues[peer].events) {
            for (const Piece *piece = events->unacknowledged_first; piece; piece = piece->next)
                ++waiting;
            puts_open = events->message.open;
            open += events->message.open;
        }
        for (std::uint32_t i = 0; i < engine.records.made(); ++i) {
            const Record &record = engine.records.at(i);
            if (record.state != State::free && record.peer == peer &&
                record.direction != Direction::get)
                puts_open += record.open;
        }
        if (const char *fault = check_queue(engine.queues[peer], puts_open)) return fault;
    }
    if (open != waiting + engine.with_transports)
        return "the pieces out are not those that transports hold or that wait";
    return nullptr;
}

}  // namespace sennit::op
