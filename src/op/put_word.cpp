// SPDX-License-Identifier: BSD-3-Clause
// Short data and the operation are sent as one task. With longer data a put, a fence and the
// operation are sent. The operation is not held until the put has ended (Completion::held), because
// a fence of the program ignores held operations.
#include "op/put_word.hpp"

#include "base/fail.hpp"
#include "op/atomic.hpp"
#include "op/resolve.hpp"
#include "op/rma.hpp"

namespace sennit::op {
namespace {

sennit_status misaligned(sennit_gptr word) {
    return fail_peer(SENNIT_ERR_ARG, word.rank, "",
                     "the word at offset %llu is not aligned to 8 bytes",
                     static_cast<unsigned long long>(word.offset));
}

sennit_status check_put_word(const PutWordArgs &args) {
    if (args.operation != SENNIT_SUM && args.operation != SENNIT_REPLACE)
        return fail(SENNIT_ERR_ARG, "operator %d neither adds nor sets",
                    static_cast<int>(args.operation));
    if (args.word.rank != args.destination.rank)
        return fail(SENNIT_ERR_ARG, "the word belongs to rank %d, but the data goes to rank %d",
                    args.word.rank, args.destination.rank);
    if (args.word.offset % sizeof args.value != 0) return misaligned(args.word);
    if (args.source == nullptr && args.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    return SENNIT_OK;
}

// Sets *is_sent if data and operation were sent as one task.
sennit_status send_together(Rank &rank, const PutWordArgs &args, bool *is_sent) {
    *is_sent = false;
    const int peer = args.destination.rank;
    if (args.bytes == 0 || args.word.segment != args.destination.segment) return SENNIT_OK;
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = resolve(rank, args.destination, &entry);
    if (status == SENNIT_OK) status = check_range(*entry, args.word, sizeof args.value);
    if (status != SENNIT_OK || entry->actor == AtomicsActor::network_card) return status;
    Target target;
    status = message_target(rank, args.destination, args.bytes, &target, is_sent);
    *is_sent = *is_sent && args.bytes <= engine_most_word_data(rank, peer) &&
               engine_may_copy(rank, args.bytes);
    if (status != SENNIT_OK || !*is_sent) return status;
    const WordTask task{args.value,
                        static_cast<std::int64_t>(args.word.offset - args.destination.offset),
                        static_cast<std::uint32_t>(args.operation),
                        {}};
    return start_word_task(rank, target, args.source, args.bytes, task,
                           {Completion::Mode::implicit});
}

}  // namespace

sennit_status start_word_task(Rank &rank, Target target, const void *data, std::size_t bytes,
                              const WordTask &task, const Completion &completion) {
    Work work;
    work.word = &task;
    target.work = &work;
    // The engine only reads the data of a task.
    return engine_start(rank, Direction::execute, target, const_cast<void *>(data), bytes,
                        completion);
}

sennit_status put_word(Rank &rank, const PutWordArgs &args) {
    sennit_status status = check_put_word(args);
    bool is_sent = false;
    if (status == SENNIT_OK) status = send_together(rank, args, &is_sent);
    if (status != SENNIT_OK || is_sent) return status;
    // Check the word before the data is sent.
    memory::SegmentEntry *entry = nullptr;
    status = resolve(rank, args.word, &entry);
    if (status == SENNIT_OK) status = check_range(*entry, args.word, sizeof args.value);
    // Registered memory may begin at any address.
    if (status == SENNIT_OK &&
        reinterpret_cast<std::uintptr_t>(entry->base) % sizeof args.value != 0)
        return misaligned(args.word);
    if (status == SENNIT_OK)
        status = transfer(rank, Direction::put, args.destination, const_cast<void *>(args.source),
                          args.bytes, {args.mode});
    if (status == SENNIT_OK) status = fence_to(rank, args.word.rank);
    if (status != SENNIT_OK) return status;
    return atomic(rank,
                  {static_cast<std::uint8_t>(args.operation), SENNIT_UINT64, args.word, &args.value,
                   nullptr, 1},
                  {Completion::Mode::implicit});
}

}  // namespace sennit::op
