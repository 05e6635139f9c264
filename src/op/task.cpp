// SPDX-License-Identifier: BSD-3-Clause
// The target's side of tasks: executes each task once, even if it is received several times. Called
// by the transports from progress(), with the engine's mutex held.
//
// A sender numbers its tasks to one target from 1. Its open tasks are in a window of kTaskWindow
// numbers, which starts at the oldest open one. So when task s arrives, all tasks up to s -
// kTaskWindow have ended at the sender, and a history of kTaskWindow answers is enough. The
// history's entry for s has
//   - number s: s is a repetition and gets the same answer;
//   - a later number: s is a late copy, for which the sender no longer waits;
//   - an earlier number, or none: s is new. The earlier task will not be repeated.
#include <cstdlib>
#include <cstring>

#include "base/atomics.hpp"
#include "base/copy.hpp"
#include "base/fail.hpp"
#include "op/elements.hpp"
#include "op/engine_state.hpp"
#include "op/packed.hpp"
#include "op/update_lock.hpp"

namespace sennit::op {
namespace {

// Whether a received atomic operation is valid.
bool well_formed(const transport::Arrived &arrived) {
    const transport::Task &task = *arrived.task;
    const std::size_t element = element_bytes(task.type);
    if (element == 0 || !operator_fits(task.operation, task.type)) return false;
    if (arrived.bytes != task.count * element || arrived.bytes > transport::kMostTaskBytes)
        return false;
    std::size_t payload = arrived.bytes;
    if (task.operation == kCompareSwap) payload = 2 * element;
    if (task.operation == kCompareSwap && task.count != 1) return false;
    if (task.operation == SENNIT_NO_OP) payload = 0;
    if (task.payload_bytes != payload) return false;
    if (task.reply_bytes != 0 && task.reply_bytes != arrived.bytes) return false;
    return reinterpret_cast<std::uintptr_t>(arrived.memory) % element == 0;
}

bool is_event(const transport::Arrived &arrived) {
    const transport::Task &task = *arrived.task;
    if (task.operation != kEventTask || task.payload_bytes < sizeof(EventTask) ||
        task.reply_bytes != sizeof(std::uint64_t))
        return false;
    const std::size_t data = task.payload_bytes - sizeof(EventTask);
    EventTask event;
    std::memcpy(&event, arrived.payload, sizeof event);
    if (event.action() == EventAction::scatter)
        return runs_are_sound({arrived.payload + sizeof event, data}, event.number(),
                              arrived.bytes);
    return data == 0 || data == arrived.bytes;
}

// The counter of a message's received tasks. Null: no memory.
ComingParts *coming_parts(TaskHistory &history, std::uint32_t word) {
    if (history.messages == nullptr)
        history.messages =
            static_cast<ComingParts *>(std::calloc(TaskHistory::kMessages, sizeof(ComingParts)));
    if (history.messages == nullptr) return nullptr;
    ComingParts &parts = history.messages[EventTask::message_in(word) % TaskHistory::kMessages];
    // Another message in this place has failed or ended.
    if (parts.word != word) parts = ComingParts{word, 0};
    return &parts;
}

// Executes an event's task. A rank without signals answers kNoSuchSignal. False: no memory.
bool take_event_task(Rank &rank, TaskHistory &history, const transport::Arrived &arrived,
                     std::byte *reply) {
    ArrivedEvent event{arrived.from,
                       {},
                       arrived.memory,
                       arrived.payload + sizeof(EventTask),
                       arrived.task->payload_bytes - sizeof(EventTask)};
    std::memcpy(&event.task, arrived.payload, sizeof event.task);
    const bool is_scatter = event.task.action() == EventAction::scatter;
    if (is_scatter && event.task.index != 0) {
        event.parts = coming_parts(history, event.task.index);
        if (event.parts == nullptr) return false;
    }
    std::uint64_t answer = 0;
    const EventHandlers *const handlers = handlers_of(rank);
    if (event.task.handle == 0 && is_scatter)
        (void)store_arrived(event);
    else
        answer = handlers == nullptr ? kNoSuchSignal : handlers->take_task(rank, event);
    std::memcpy(reply, &answer, sizeof answer);
    return true;
}

TaskHistory *history_of(Engine &engine, int from) {
    TaskHistory *&history = use_queue(engine, from).history;
    if (history == nullptr)
        history = static_cast<TaskHistory *>(std::calloc(1, sizeof(TaskHistory)));
    return history;
}

// The memory for the task's reply in the history. Null: no memory.
std::byte *place_of_reply(TaskHistory &history, const transport::Task &task) {
    const std::uint64_t place = task.sequence % kTaskWindow;
    if (task.reply_bytes <= sizeof TaskHistory::Answer::word) return history.answers[place].word;
    if (history.long_replies == nullptr)
        history.long_replies = static_cast<TaskHistory::LongReply *>(
            std::malloc(kTaskWindow * sizeof(TaskHistory::LongReply)));
    return history.long_replies != nullptr ? history.long_replies[place].bytes : nullptr;
}

// Executes an atomic operation. False: another rank has the lock of the segment, and nothing was
// done.
bool carry_out(Rank &rank, const transport::Arrived &arrived, std::byte *reply) {
    const transport::Task &task = *arrived.task;
    const ElementsArgs args{task.operation,
                            static_cast<sennit_type>(task.type),
                            arrived.memory,
                            task.payload_bytes == 0 ? nullptr : arrived.payload,
                            task.reply_bytes == 0 ? nullptr : reply,
                            task.count};
    const SegmentRecord *segment = arrived.segment;
    if (segment == nullptr || segment->actor != AtomicsActor::lock_holder) {
        update_elements(args);
        return true;
    }
    auto *base = reinterpret_cast<std::byte *>(segment->owner_address);
    UpdateLock &lock = update_lock_of(base, segment->bytes);
    if (!try_update_lock_briefly(rank, lock)) return false;
    update_elements_alone(args);
    release_update_lock(lock);
    return true;
}

bool is_word_task(const transport::Arrived &arrived) {
    return arrived.task->operation == kWordTask && arrived.segment != nullptr &&
           arrived.task->payload_bytes == sizeof(WordTask) + arrived.bytes &&
           arrived.task->reply_bytes == sizeof(std::uint64_t);
}

// Stores the data, then executes the operation on the word, if the segment contains the word.
// kTaskIsToBeRepeated: another rank has the lock of the segment; the repetition stores the data
// again.
sennit_status take_word_task(Rank &rank, const transport::Arrived &arrived, std::byte *reply) {
    WordTask task;
    std::memcpy(&task, arrived.payload, sizeof task);
    const std::uint64_t place = reinterpret_cast<std::uintptr_t>(arrived.memory) +
                                static_cast<std::uint64_t>(task.from_data) -
                                arrived.segment->owner_address;
    const std::uint64_t bytes = arrived.segment->bytes;
    const bool is_known = task.operation == SENNIT_SUM || task.operation == SENNIT_REPLACE;
    if (!is_known || bytes < sizeof task.value || place > bytes - sizeof task.value ||
        (arrived.segment->owner_address + place) % sizeof task.value != 0)
        return SENNIT_ERR_ARG;
    copy_any(arrived.memory, arrived.payload + sizeof task, arrived.bytes);
    order_stores();
    transport::Task of_word = *arrived.task;
    of_word.operation = static_cast<std::uint8_t>(task.operation);
    of_word.type = SENNIT_UINT64;
    of_word.count = 1;
    of_word.reply_bytes = 0;
    transport::Arrived word = arrived;
    word.task = &of_word;
    word.memory = arrived.memory + task.from_data;
    word.bytes = sizeof task.value;
    word.payload = reinterpret_cast<const std::byte *>(&task.value);
    std::memset(reply, 0, sizeof(std::uint64_t));
    return carry_out(rank, word, nullptr) ? SENNIT_OK : kTaskIsToBeRepeated;
}

// Executes a new task, and stores its reply in the history. After kTaskIsToBeRepeated the task is
// still new.
sennit_status take_task(Rank &rank, TaskHistory &history, const transport::Arrived &arrived) {
    if (arrived.memory == nullptr) return SENNIT_ERR_NOT_REGISTERED;
    const bool event = is_event(arrived);
    const bool word = !event && is_word_task(arrived);
    if (!event && !word && !well_formed(arrived)) return SENNIT_ERR_ARG;
    std::byte *const reply = place_of_reply(history, *arrived.task);
    if (reply == nullptr) return SENNIT_ERR_NOMEM;
    if (event) return take_event_task(rank, history, arrived, reply) ? SENNIT_OK : SENNIT_ERR_NOMEM;
    if (word) return take_word_task(rank, arrived, reply);
    return carry_out(rank, arrived, reply) ? SENNIT_OK : kTaskIsToBeRepeated;
}

}  // namespace

bool store_arrived(const ArrivedEvent &arrived) {
    if (arrived.task.action() == EventAction::scatter)
        spread_runs(arrived.memory, arrived.data, arrived.task.number());
    else if (arrived.bytes != 0)
        copy_any(arrived.memory, arrived.data, arrived.bytes);
    return arrived.parts == nullptr ||
           ++arrived.parts->come == EventTask::parts_in(arrived.task.index);
}

void free_history(TaskHistory *history) {
    if (history == nullptr) return;
    std::free(history->long_replies);
    std::free(history->messages);
    std::free(history);
}

sennit_status engine_execute(void *context, const transport::Arrived &arrived) {
    Rank &rank = *static_cast<Rank *>(context);
    Engine *engine = rank.engine;
    const transport::Task &task = *arrived.task;
    if (engine == nullptr) return SENNIT_ERR_PEER_LOST;  // the rank is leaving
    if (task.sequence == 0 || arrived.from < 0 || arrived.from >= engine->size)
        return SENNIT_ERR_ARG;
    TaskHistory *history = history_of(*engine, arrived.from);
    // Without a history the answer cannot be stored: a repetition may be executed later.
    if (history == nullptr) return SENNIT_ERR_NOMEM;
    TaskHistory::Answer &entry = history->answers[task.sequence % kTaskWindow];
    if (entry.sequence > task.sequence) return SENNIT_ERR_FABRIC;
    if (entry.sequence < task.sequence) {
        const sennit_status status = take_task(rank, *history, arrived);
        if (status == kTaskIsToBeRepeated) return status;
        // A failure is stored too: the sender reports that nothing was done, so a repetition that
        // arrives later must not do it.
        entry.status = status;
        entry.reply_bytes = task.reply_bytes;
        entry.sequence = task.sequence;
    }
    if (entry.status != SENNIT_OK || task.reply_bytes == 0) return entry.status;
    // A repetition must ask for the same reply.
    if (task.reply_bytes != entry.reply_bytes) return SENNIT_ERR_ARG;
    std::memcpy(arrived.reply, place_of_reply(*history, task), task.reply_bytes);
    return SENNIT_OK;
}

}  // namespace sennit::op
