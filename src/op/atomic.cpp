// SPDX-License-Identifier: BSD-3-Clause
#include "op/atomic.hpp"

#include "base/fail.hpp"
#include "op/resolve.hpp"
#include "op/update_lock.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 46;

sennit_status check_args(const AtomicArgs &args) {
    if (args.type == SENNIT_LONG_DOUBLE ||
        (args.operation > SENNIT_NO_OP && args.operation < SENNIT_OPERATOR_END))
        return fail(
            SENNIT_ERR_UNSUPPORTED,
            "long double, logical operators and operators of the program are for reductions only");
    if (element_bytes(args.type) == 0)
        return fail(SENNIT_ERR_ARG, "there is no type %d", static_cast<int>(args.type));
    if (args.operation != kCompareSwap &&
        (args.operation < SENNIT_SUM || args.operation >= SENNIT_OPERATOR_END))
        return fail(SENNIT_ERR_ARG, "there is no operator %d", static_cast<int>(args.operation));
    if (!operator_fits(args.operation, args.type))
        return fail(SENNIT_ERR_UNSUPPORTED, "bitwise operators are for integers only");
    if (args.source == nullptr && args.count != 0 && args.operation != SENNIT_NO_OP)
        return fail(SENNIT_ERR_ARG, "the source is null");
    if (args.count > kMostElements)
        return fail(SENNIT_ERR_RANGE, "%zu elements leave every segment", args.count);
    return SENNIT_OK;
}

sennit_status misaligned(const AtomicArgs &args, std::size_t bytes) {
    return fail_peer(SENNIT_ERR_ARG, args.target.rank, "",
                     "offset %llu is not aligned to an element of %zu bytes",
                     static_cast<unsigned long long>(args.target.offset), bytes);
}

// Checks that this rank may operate on the segment.
sennit_status check_actor(const memory::SegmentEntry &entry, sennit_gptr gptr) {
    const char *path = sennit_path_name(static_cast<sennit_path>(entry.path));
    if (entry.actor == AtomicsActor::network_card)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, gptr.rank, path,
                         "atomic operations on this segment belong to the network card");
    if (entry.base == nullptr && entry.path == SENNIT_PATH_CMA)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, gptr.rank, path,
                         "rank %d's memory is reached by the kernel's copies (cma) alone, which do "
                         "no atomic operations; allocate it with sennit_alloc",
                         gptr.rank);
    return SENNIT_OK;
}

// Executes the operation on this rank.
sennit_status update(Rank &rank, const memory::SegmentEntry &entry, std::byte *place,
                     const AtomicArgs &args) {
    const ElementsArgs elements{args.operation,
                                args.type,
                                place,
                                static_cast<const std::byte *>(args.source),
                                static_cast<std::byte *>(args.result),
                                args.count};
    if (entry.actor == AtomicsActor::processor) {
        update_elements(elements);
        return SENNIT_OK;
    }
    UpdateLock &lock = update_lock_of(entry.base, entry.bytes);
    if (!try_update_lock(rank, lock)) {
        const sennit_status status = wait_for_update_lock(rank, lock, default_deadline());
        if (status != SENNIT_OK) return status;
    }
    update_elements_alone(elements);
    release_update_lock(lock);
    return SENNIT_OK;
}

}  // namespace

sennit_status atomic(Rank &rank, const AtomicArgs &args, const Completion &completion) {
    sennit_status status = check_args(args);
    if (status != SENNIT_OK) return status;
    memory::SegmentEntry *entry = nullptr;
    status = resolve(rank, args.target, &entry);
    if (status != SENNIT_OK) return status;
    const std::size_t element = element_bytes(args.type);
    const std::size_t bytes = element * args.count;
    status = check_range(*entry, args.target, bytes);
    if (status == SENNIT_OK) status = check_actor(*entry, args.target);
    if (status != SENNIT_OK) return status;
    std::byte *place = entry->base == nullptr ? nullptr : entry->base + args.target.offset;
    const std::uint64_t skew =
        place == nullptr ? args.target.offset : reinterpret_cast<std::uintptr_t>(place);
    if (skew % element != 0) return misaligned(args, element);
    if (args.count == 0 || place != nullptr) {
        if (args.count != 0) status = update(rank, *entry, place, args);
        if (status == SENNIT_OK && completion.request != nullptr)
            *completion.request = SENNIT_REQUEST_NULL;
        return status;
    }
    const Work work{args.operation, args.type, static_cast<std::uint32_t>(element), args.result};
    const Target target{args.target.rank, transport::RemoteMemory{nullptr, entry->handle},
                        args.target.offset, nullptr, &work};
    // The engine only reads the operands.
    void *source = const_cast<void *>(args.source);
    return engine_start(rank, Direction::execute, target, source, bytes, completion);
}

}  // namespace sennit::op
