// SPDX-License-Identifier: BSD-3-Clause
// Fills a record from the arguments of its caller.
#include <cstring>

#include "op/engine_state.hpp"
#include "op/packed.hpp"

namespace sennit::op {

bool is_question(const OperationRecord &record) {
    if (record.payload_bytes == 0 || record.operation != kEventTask) return false;
    EventTask task{};
    std::memcpy(&task, record.operands, sizeof task);
    return task.messages == 0 && task.action() != EventAction::scatter;
}

std::size_t data_room(const MessagePath &path) {
    return path.payload_bytes < sizeof(EventTask) ? 0 : path.payload_bytes - sizeof(EventTask);
}

namespace {

std::size_t head_bytes(std::uint8_t operation) {
    return operation == kWordTask ? sizeof(WordTask) : sizeof(EventTask);
}

}  // namespace

std::uint64_t payload_of_event(const OperationArgs &args) {
    const bool is_word = args.target->work->word != nullptr;
    return head_bytes(is_word ? kWordTask : kEventTask) +
           (args.local == nullptr || args.target->layout != nullptr ? 0 : args.bytes);
}

namespace {

// Fills the record of a task with an event or a word. A short payload is inside the record.
void fill_event(OperationRecord *record, const OperationArgs &args) {
    const Work &work = *args.target->work;
    const bool is_word = work.word != nullptr;
    record->operation = is_word ? kWordTask : kEventTask;
    record->type = SENNIT_UINT64;
    record->element_bytes = sizeof(std::uint64_t);
    record->payload_bytes = static_cast<std::uint32_t>(payload_of_event(args));
    record->result = reinterpret_cast<std::byte *>(&record->answer);
    record->answer_to = work.result;
    record->check = work.check;
    const bool is_implicit = args.completion.mode == Completion::Mode::implicit;
    // Not a question: a caller waits for its answer.
    record->may_wait = is_word || (is_implicit && work.event->messages != 0);
    record->is_checked = work.check != nullptr &&
                         (is_implicit || (args.completion.mode == Completion::Mode::request &&
                                          !args.completion.is_buffered));
    record->is_of_message = !is_word && work.event->index != 0;
    const void *head = work.event;
    if (is_word) head = work.word;
    std::memcpy(record->operands, head, head_bytes(record->operation));
    record->local = reinterpret_cast<std::byte *>(record->operands);
}

// Packs all runs of the layout into as many payloads as needed. False: no memory.
bool keep_packed(Engine &engine, OperationRecord *record, const OperationArgs &args) {
    const Layout &layout = *args.target->layout;
    const MessagePath &path = *path_to(engine, record->peer);
    const std::size_t room = data_room(path);
    const PackedSize size = packed_size(layout, room);
    const std::uint64_t payload_bytes = sizeof(EventTask) + size.longest;
    PackedTasks &packed = record->packed;
    packed.count = static_cast<std::uint32_t>(size.tasks);
    packed.hull = hull_bytes(layout.remote);
    if (!engine.records.keep_packed(record, payload_bytes, *path.transport)) return false;
    record->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    record->offset += static_cast<std::uint64_t>(layout.remote.begin);
    record->bytes = size.tasks;
    record->piece_bytes = 1;
    packed.is_numbered = packed.count > 1 && args.target->work->event->messages != 0;
    RunPacker packer(layout, room, static_cast<const std::byte *>(args.local));
    for (std::uint32_t i = 0; i < packed.count; ++i) {
        PackedTask &to = packed_task(*record, i);
        EventTask task = *args.target->work->event;
        std::uint32_t runs = 0;
        const std::size_t bytes = packer.fill(to.payload + sizeof task, &runs);
        task.set(EventAction::scatter, runs);
        std::memcpy(to.payload, &task, sizeof task);
        to.payload_bytes = sizeof task + bytes;
    }
    return true;
}

}  // namespace

bool keep_event(Engine &engine, OperationRecord *record, const void *data) {
    if (data == nullptr) return true;
    const std::size_t head = head_bytes(record->operation);
    auto *place = reinterpret_cast<std::byte *>(record->operands);
    if (record->payload_bytes > sizeof record->operands) {
        if (!engine.records.keep_payload(record, record->payload_bytes,
                                         *path_to(engine, record->peer)->transport))
            return false;
        std::memcpy(record->buffer, record->operands, head);
        record->local = place = record->buffer;
    }
    std::memcpy(place + head, data, record->payload_bytes - head);
    return true;
}

void fill_record(OperationRecord *record, const OperationArgs &args) {
    record->mode = Completion::Mode::blocking;
    record->direction = args.direction;
    record->peer = args.target->peer;
    record->remote = args.target->remote;
    record->offset = args.target->offset;
    record->local = static_cast<std::byte *>(args.local);
    record->bytes = args.bytes;

    record->is_hint = args.completion.is_hint;
    record->then = args.completion.then;
    record->at_end = args.completion.at_end;

    if (args.direction != Direction::execute) return;
    const Work &work = *args.target->work;
    if (work.event != nullptr || work.word != nullptr) return fill_event(record, args);
    record->operation = work.operation;
    record->type = static_cast<std::uint8_t>(work.type);
    record->element_bytes = static_cast<std::uint8_t>(work.element_bytes);
    record->result = static_cast<std::byte *>(work.result);
    // Copy a single operand, so that the caller's variable may go out of scope.
    if (args.bytes != work.element_bytes || args.local == nullptr) return;
    const std::size_t operands = work.operation == kCompareSwap ? 2 : 1;
    std::memcpy(record->operands, args.local, operands * work.element_bytes);
    record->local = reinterpret_cast<std::byte *>(record->operands);
}

bool keep(Engine &engine, OperationRecord *record, const OperationArgs &args) {
    if (record->payload_bytes != 0)
        return args.target->layout != nullptr ? keep_packed(engine, record, args)
                                              : keep_event(engine, record, args.local);
    if (!args.completion.is_buffered) return true;
    if (!engine.records.keep(record, args.bytes)) return false;
    switch (args.direction) {
        case Direction::put:
            if (record->layout != nullptr)
                layout_keep(record->layout, record->buffer, static_cast<std::byte *>(args.local));
            else
                std::memcpy(record->buffer, args.local, args.bytes);
            record->local = record->buffer;
            break;
        case Direction::get:
            record->answer_to = args.local;
            record->local = record->buffer;
            break;
        case Direction::execute:
            // Operands of one element are already in the record.
            record->answer_to = record->result;
            if (record->result != nullptr) record->result = record->buffer;
            break;
    }
    return true;
}

}  // namespace sennit::op
