// See atomic.hpp.
#include "op/atomic.hpp"

#include "base/fail.hpp"
#include "op/resolve.hpp"

namespace sennit::op {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 46;

sennit_status check(const AtomicWish &wish) {
    if (wish.type == SENNIT_LONG_DOUBLE ||
        (wish.operation > SENNIT_NO_OP && wish.operation < SENNIT_OPERATOR_END))
        return fail(SENNIT_ERR_UNSUPPORTED,
                    "long double, logical operators and those of the program are for reductions");
    if (element_bytes(wish.type) == 0)
        return fail(SENNIT_ERR_ARG, "%d is no type", static_cast<int>(wish.type));
    if (wish.operation != kCompareSwap &&
        (wish.operation < SENNIT_SUM || wish.operation >= SENNIT_OPERATOR_END))
        return fail(SENNIT_ERR_ARG, "%d is no operator", static_cast<int>(wish.operation));
    if (!operator_fits(wish.operation, wish.type))
        return fail(SENNIT_ERR_UNSUPPORTED, "bitwise operators are for integers only");
    if (wish.source == nullptr && wish.count != 0 && wish.operation != SENNIT_NO_OP)
        return fail(SENNIT_ERR_ARG, "the source is null");
    if (wish.count > kMostElements)
        return fail(SENNIT_ERR_RANGE, "%zu elements leave every segment", wish.count);
    return SENNIT_OK;
}

sennit_status misaligned(const AtomicWish &wish, std::size_t bytes) {
    return fail_peer(SENNIT_ERR_ARG, wish.target.rank, "",
                     "offset %llu is not aligned to an element of %zu bytes",
                     static_cast<unsigned long long>(wish.target.offset), bytes);
}

// Who may operate on the segment, as far as this rank is concerned?
sennit_status check_actor(const memory::Entry &entry, sennit_gptr gptr) {
    const char *path = sennit_path_name(static_cast<sennit_path>(entry.path));
    if (entry.actor != AtomicsActor::processor)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, gptr.rank, path,
                         "atomic operations on this segment belong to the network card");
    if (entry.base == nullptr && entry.path == SENNIT_PATH_CMA)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, gptr.rank, path,
                         "the memory is private to rank %d: the kernel copies from and to it, but "
                         "operates on it for nobody; allocate it with sennit_alloc",
                         gptr.rank);
    return SENNIT_OK;
}

sennit_status start(Rank &rank, const AtomicWish &wish, const Target &target, std::size_t bytes,
                    const Completion &completion) {
    // The engine only reads the operands.
    void *source = const_cast<void *>(wish.source);
    return start_operation(rank, Direction::execute, target, source, bytes, completion);
}

}  // namespace

sennit_status atomic(Rank &rank, const AtomicWish &wish, const Completion &completion) {
    sennit_status status = check(wish);
    if (status != SENNIT_OK) return status;
    memory::Entry *entry = nullptr;
    status = resolve(rank, wish.target, &entry);
    if (status != SENNIT_OK) return status;
    const std::size_t element = element_bytes(wish.type);
    const std::size_t bytes = element * wish.count;
    status = check_range(*entry, wish.target, bytes);
    if (status == SENNIT_OK) status = check_actor(*entry, wish.target);
    if (status != SENNIT_OK) return status;
    std::byte *place = entry->base == nullptr ? nullptr : entry->base + wish.target.offset;
    const std::uint64_t skew =
        place == nullptr ? wish.target.offset : reinterpret_cast<std::uintptr_t>(place);
    if (skew % element != 0) return misaligned(wish, element);
    if (wish.count == 0 || place != nullptr) {
        if (completion.request != nullptr) *completion.request = SENNIT_REQUEST_NULL;
        if (wish.count != 0)
            update_elements(ElementsWish{wish.operation, wish.type, place,
                                         static_cast<const std::byte *>(wish.source),
                                         static_cast<std::byte *>(wish.result), wish.count});
        return SENNIT_OK;
    }
    const Work work{wish.operation, wish.type, static_cast<std::uint32_t>(element), wish.result};
    const Target target{wish.target.rank, transport::Remote{nullptr, entry->handle},
                        wish.target.offset, nullptr, &work};
    return start(rank, wish, target, bytes, completion);
}

}  // namespace sennit::op
