// Draws collective calls and computes their results element by element (collective_program.hpp).
#include "collective_program.hpp"

#include <algorithm>
#include <numeric>

namespace conformance {
namespace {

constexpr std::uint8_t kUntouched = 0xC3;

template <class T>
T combine_two(sennit_operator op, T a, T b) {
    switch (op) {
        case SENNIT_SUM:
            return static_cast<T>(a + b);
        case SENNIT_PROD:
            return static_cast<T>(a * b);
        case SENNIT_MIN:
            return std::min(a, b);
        case SENNIT_MAX:
            return std::max(a, b);
        case SENNIT_LOGICAL_AND:
            return static_cast<T>(a != T(0) && b != T(0));
        case SENNIT_LOGICAL_OR:
            return static_cast<T>(a != T(0) || b != T(0));
        case SENNIT_LOGICAL_XOR:
            return static_cast<T>((a != T(0)) != (b != T(0)));
        case SENNIT_USER_OPERATOR:
            return static_cast<T>(a - b);
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (op == SENNIT_AND) return static_cast<T>(a & b);
        if (op == SENNIT_OR) return static_cast<T>(a | b);
        if (op == SENNIT_XOR) return static_cast<T>(a ^ b);
    }
    return a;
}

// Calls body(T{}) with the type.
template <class Body>
auto with_type(sennit_type type, Body body) {
    switch (type) {
        case SENNIT_INT8:
            return body(std::int8_t{});
        case SENNIT_INT16:
            return body(std::int16_t{});
        case SENNIT_INT32:
            return body(std::int32_t{});
        case SENNIT_INT64:
            return body(std::int64_t{});
        case SENNIT_UINT16:
            return body(std::uint16_t{});
        case SENNIT_UINT32:
            return body(std::uint32_t{});
        case SENNIT_UINT64:
            return body(std::uint64_t{});
        case SENNIT_FLOAT:
            return body(float{});
        case SENNIT_DOUBLE:
            return body(double{});
        case SENNIT_LONG_DOUBLE:
            return body(static_cast<long double>(0));
        default:
            return body(std::uint8_t{});
    }
}

// The program's own operator: a difference, so that any other order or grouping shows. The context
// is the type.
void subtract(const void *left, const void *right, void *result, std::size_t count, void *context) {
    with_type(*static_cast<const sennit_type *>(context), [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t i = 0; i < count; ++i) {
            T a;
            T b;
            std::memcpy(&a, static_cast<const T *>(left) + i, sizeof a);
            std::memcpy(&b, static_cast<const T *>(right) + i, sizeof b);
            a = combine_two<T>(SENNIT_USER_OPERATOR, a, b);
            std::memcpy(static_cast<T *>(result) + i, &a, kBytesThatCount<T>);
        }
        return 0;
    });
}

// The input of `rank`: `bytes` of a pattern, or small elements, so that no signed sum overflows,
// with fractions for floats, so that the order of a sum shows.
Bytes input_of(const CollStep &step, int rank, std::size_t bytes) {
    Bytes out(bytes);
    if (!reduces(step.kind)) {
        fill(out.data(), bytes, step.salt * 64 + static_cast<std::uint64_t>(rank));
        return out;
    }
    Random draw(step.salt * 64 + static_cast<std::uint64_t>(rank));
    with_type(step.type, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
            T value{};
            // The padding of a long double has to be the same on all ranks.
            std::memset(static_cast<void *>(&value), 0, sizeof value);
            if constexpr (std::is_integral_v<T>) {
                value = static_cast<T>(step.op == SENNIT_PROD ? draw.below(2) + 1 : draw.below(13));
            } else {
                value = static_cast<T>(draw.below(100000)) / T(7);
            }
            std::memcpy(out.data() + at, &value, sizeof value);
        }
        return 0;
    });
    return out;
}

// The elements of members 0 to `last`, combined in this order.
Bytes reduced(const CollStep &step, int last, std::size_t bytes) {
    Bytes result = input_of(step, 0, bytes);
    with_type(step.type, [&](auto zero) {
        using T = decltype(zero);
        for (int member = 1; member <= last; ++member) {
            const Bytes next = input_of(step, member, bytes);
            for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
                T a;
                T b;
                std::memcpy(&a, result.data() + at, sizeof a);
                std::memcpy(&b, next.data() + at, sizeof b);
                a = combine_two<T>(step.op, a, b);
                std::memcpy(result.data() + at, &a, kBytesThatCount<T>);
            }
        }
        return 0;
    });
    return result;
}

// Sizes and places of the blocks of one side.
std::size_t lay_out(const CollStep &step, std::vector<std::size_t> *sizes,
                    std::vector<std::size_t> *offsets) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
        if (step.offsets) end += i % 3;
        offsets->push_back(end);
        end += (*sizes)[i];
    }
    if (!step.offsets) offsets->clear();
    return end;
}

std::size_t begin_of(const std::vector<std::size_t> &sizes, const std::vector<std::size_t> &offsets,
                     std::size_t block) {
    if (!offsets.empty()) return offsets[block];
    return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(block),
                           std::size_t{0});
}

void place(Bytes &into, std::size_t at, const Bytes &from, std::size_t begin, std::size_t bytes) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                into.begin() + static_cast<std::ptrdiff_t>(at));
}

// One row of alltoallv's table of sizes.
std::vector<std::size_t> sent_sizes(const CollStep &step, int size, int from) {
    std::vector<std::size_t> sizes;
    for (int to = 0; to < size; ++to)
        sizes.push_back(step.sizes[static_cast<std::size_t>(from * size + to)]);
    return sizes;
}

std::size_t sum(const std::vector<std::size_t> &sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

// The buffers of the calls from scatter to alltoallv, which copy blocks. Calls without sizes have
// blocks of equal sizes.
CollBuffers copied(const CollStep &step, const Members &members) {
    const auto size = static_cast<std::size_t>(members.size);
    const auto own = static_cast<std::size_t>(members.rank);
    const bool is_root = members.rank == step.root;
    const bool one_to_all = step.kind == CollKind::scatter || step.kind == CollKind::scatterv;
    const bool all_to_all = step.kind == CollKind::alltoall || step.kind == CollKind::alltoallv;
    const bool all_to_one = step.kind == CollKind::gather || step.kind == CollKind::gatherv;
    CollBuffers out;
    if (one_to_all) {
        out.source_sizes = step.sizes;
        const std::size_t end = lay_out(step, &out.source_sizes, &out.source_offsets);
        const Bytes all = input_of(step, step.root, end);
        if (is_root) out.source = all;
        out.destination.assign(step.sizes[own], kUntouched);
        out.expected = out.destination;
        place(out.expected, 0, all, begin_of(out.source_sizes, out.source_offsets, own),
              step.sizes[own]);
        return out;
    }
    if (!all_to_all) {
        out.source = input_of(step, members.rank, step.sizes[own]);
        if (all_to_one && !is_root) return out;
        out.destination_sizes = step.sizes;
        out.destination.assign(lay_out(step, &out.destination_sizes, &out.destination_offsets),
                               kUntouched);
        out.expected = out.destination;
        for (std::size_t from = 0; from < size; ++from)
            place(out.expected, begin_of(out.destination_sizes, out.destination_offsets, from),
                  input_of(step, static_cast<int>(from), step.sizes[from]), 0, step.sizes[from]);
        return out;
    }
    out.source_sizes = sent_sizes(step, members.size, members.rank);
    out.source =
        input_of(step, members.rank, lay_out(step, &out.source_sizes, &out.source_offsets));
    for (std::size_t from = 0; from < size; ++from)
        out.destination_sizes.push_back(step.sizes[from * size + own]);
    out.destination.assign(lay_out(step, &out.destination_sizes, &out.destination_offsets),
                           kUntouched);
    out.expected = out.destination;
    for (std::size_t from = 0; from < size; ++from) {
        std::vector<std::size_t> sizes = sent_sizes(step, members.size, static_cast<int>(from));
        std::vector<std::size_t> offsets;
        const std::size_t end = lay_out(step, &sizes, &offsets);
        place(out.expected, begin_of(out.destination_sizes, out.destination_offsets, from),
              input_of(step, static_cast<int>(from), end), begin_of(sizes, offsets, own),
              sizes[own]);
    }
    return out;
}

CollBuffers combined(const CollStep &step, const Members &members) {
    const auto own = static_cast<std::size_t>(members.rank);
    const std::size_t each = element_bytes(step.type);
    const bool scatters =
        step.kind == CollKind::reduce_scatter || step.kind == CollKind::reduce_scatter_block;
    CollBuffers out;
    out.counts = step.sizes;
    const std::size_t bytes = (scatters ? sum(step.sizes) : step.count) * each;
    out.source = input_of(step, members.rank, bytes);
    if (step.kind == CollKind::reduce && members.rank != step.root) return out;
    if (scatters) {
        const std::size_t part = step.sizes[own] * each;
        const std::size_t begin =
            std::accumulate(step.sizes.begin(),
                            step.sizes.begin() + static_cast<std::ptrdiff_t>(own), std::size_t{0}) *
            each;
        out.destination.assign(part, kUntouched);
        out.expected = out.destination;
        place(out.expected, 0, reduced(step, members.size - 1, bytes), begin, part);
        return out;
    }
    out.destination.assign(bytes, kUntouched);
    out.expected = out.destination;
    int last = members.size - 1;
    if (step.kind == CollKind::scan) last = members.rank;
    if (step.kind == CollKind::scan_exclusive) last = members.rank - 1;
    if (last >= 0) out.expected = reduced(step, last, bytes);
    return out;
}

// Turns the buffers into those of a call in place.
void make_in_place(const CollStep &step, const Members &members, CollBuffers &out) {
    const auto own = static_cast<std::size_t>(members.rank);
    switch (step.kind) {
        case CollKind::gather:
        case CollKind::gatherv:
        case CollKind::allgather:
        case CollKind::allgatherv:
            if (out.expected.empty() && out.destination_sizes.empty()) return;
            place(out.destination, begin_of(out.destination_sizes, out.destination_offsets, own),
                  out.source, 0, out.source.size());
            break;
        case CollKind::scatter:
        case CollKind::scatterv:
            out.expected = out.destination;  // the root's own block stays in the source
            break;
        case CollKind::alltoallv: {
            Bytes after = out.source;
            for (std::size_t from = 0; from < out.destination_sizes.size(); ++from) {
                const std::size_t begin =
                    begin_of(out.destination_sizes, out.destination_offsets, from);
                place(after, begin, out.expected, begin, out.destination_sizes[from]);
            }
            // Bytes between the blocks stay.
            out.destination = out.source;
            out.expected = after;
            break;
        }
        default: {
            // Reductions: the result replaces the start of the elements.
            Bytes after = out.source;
            const bool none = step.kind == CollKind::scan_exclusive && members.rank == 0;
            if (!none) std::copy(out.expected.begin(), out.expected.end(), after.begin());
            out.destination = out.source;
            out.expected = after;
            break;
        }
    }
}

bool works_in_place(const CollStep &step, const Members &members) {
    switch (step.kind) {
        case CollKind::broadcast:
        case CollKind::barrier:
            return false;
        case CollKind::scatter:
        case CollKind::scatterv:
        case CollKind::gather:
        case CollKind::gatherv:
        case CollKind::reduce:
            return members.rank == step.root;
        default:
            return true;
    }
}

}  // namespace

std::size_t element_bytes(sennit_type type) {
    return with_type(type, [](auto zero) { return sizeof zero; });
}

bool reduces(CollKind kind) {
    return kind >= CollKind::reduce;
}

const char *name_of(CollKind kind) {
    static const char *const names[] = {"barrier",        "broadcast",
                                        "scatter",        "gather",
                                        "allgather",      "alltoall",
                                        "scatterv",       "gatherv",
                                        "allgatherv",     "alltoallv",
                                        "reduce",         "allreduce",
                                        "reduce_scatter", "reduce_scatter_block",
                                        "scan",           "scan_exclusive"};
    return names[static_cast<int>(kind)];
}

CollStep draw_step(Random &draw, const Members &members, std::size_t most_bytes) {
    CollStep step;
    const auto size = static_cast<std::size_t>(members.size);
    step.kind = static_cast<CollKind>(draw.below(kCollKinds));
    step.root = static_cast<int>(draw.below(size));
    step.in_place = draw.one_in(3);
    step.offsets = draw.one_in(2);
    step.salt = draw.next() >> 8;
    step.type = static_cast<sennit_type>(draw.between(1, SENNIT_TYPE_END - 1));
    static const sennit_operator operators[] = {
        SENNIT_SUM,        SENNIT_PROD,        SENNIT_MIN, SENNIT_MAX, SENNIT_LOGICAL_AND,
        SENNIT_LOGICAL_OR, SENNIT_LOGICAL_XOR, SENNIT_AND, SENNIT_OR,  SENNIT_XOR};
    const bool is_float = step.type >= SENNIT_FLOAT;
    step.op = operators[draw.below(is_float ? 7 : 10)];
    if (draw.one_in(5)) step.op = SENNIT_USER_OPERATOR;
    // Some calls have no data. Most are small; in a program of long calls, half of them are long.
    const std::uint64_t small_below = most_bytes > 10000 ? 4 : 6;
    const auto draw_size = [&] {
        const std::uint64_t kind = draw.below(8);
        if (kind == 0) return std::size_t{0};
        return static_cast<std::size_t>(draw.below(kind < small_below ? 300 : most_bytes) + 1);
    };
    step.memory = static_cast<CollMemory>(draw.below(3));
    const bool sized = (step.kind >= CollKind::scatterv && step.kind <= CollKind::alltoallv) ||
                       step.kind == CollKind::reduce_scatter;
    const bool is_table = step.kind == CollKind::alltoall || step.kind == CollKind::alltoallv;
    step.count = draw_size();
    if (reduces(step.kind)) step.count /= element_bytes(step.type);
    const bool has_blocks = step.kind == CollKind::alltoall || step.kind == CollKind::scatter ||
                            step.kind == CollKind::reduce_scatter_block ||
                            step.kind == CollKind::gather || step.kind == CollKind::allgather;
    if (has_blocks && step.count > most_bytes / size) step.count = most_bytes / size;
    if (!sized) step.offsets = false;
    for (std::size_t i = 0; i < (is_table ? size * size : size); ++i) {
        std::size_t one = step.count;
        if (sized) one = draw_size() / size;
        if (sized && reduces(step.kind)) one /= element_bytes(step.type);
        step.sizes.push_back(one);
    }
    // In place, a rank's block to a peer is replaced by that peer's block: their sizes must be
    // equal.
    if (step.kind == CollKind::alltoallv && step.in_place)
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = 0; j < i; ++j)
                step.sizes[i * size + j] = step.sizes[j * size + i];
    return step;
}

CollBuffers make_buffers(const CollStep &step, const Members &members) {
    CollBuffers out;
    if (step.kind == CollKind::barrier) return out;
    if (step.kind == CollKind::broadcast) {
        out.expected = input_of(step, step.root, step.count);
        out.destination = members.rank == step.root ? out.expected : Bytes(step.count, kUntouched);
        return out;
    }
    out = reduces(step.kind) ? combined(step, members) : copied(step, members);
    if (step.kind == CollKind::alltoall && step.in_place) out.destination = out.source;
    if (step.kind != CollKind::alltoall && step.in_place && works_in_place(step, members))
        make_in_place(step, members, out);
    return out;
}

namespace {

// A call with a blocking and a non-blocking form.
template <class Blocking, class Later, class... Arguments>
sennit_status either(Blocking blocking, Later later, const Form &form, Arguments... arguments) {
    return form.request == nullptr ? blocking(arguments..., form.timeout_ns)
                                   : later(arguments..., form.request);
}

sennit_status call_sized(const CollStep &step, const Members &members, const CollBuffers &buffers,
                         void *source, void *destination, const Form &form) {
    const std::size_t *from_offsets =
        buffers.source_offsets.empty() ? nullptr : buffers.source_offsets.data();
    const std::size_t *to_offsets =
        buffers.destination_offsets.empty() ? nullptr : buffers.destination_offsets.data();
    const sennit_vbuffer from{source, buffers.source_sizes.data(), from_offsets};
    const sennit_vbuffer to{destination, buffers.destination_sizes.data(), to_offsets};
    const std::size_t own = step.sizes[static_cast<std::size_t>(members.rank)];
    switch (step.kind) {
        case CollKind::scatterv:
            return either(sennit_scatterv, sennit_scatterv_nb, form, members.team, step.root, &from,
                          destination, own);
        case CollKind::gatherv:
            return either(sennit_gatherv, sennit_gatherv_nb, form, members.team, step.root, source,
                          own, &to);
        case CollKind::allgatherv:
            return either(sennit_allgatherv, sennit_allgatherv_nb, form, members.team, source, own,
                          &to);
        default:
            return either(sennit_alltoallv, sennit_alltoallv_nb, form, members.team, &from, &to);
    }
}

sennit_status call_reduction(const CollStep &step, const Members &members,
                             const CollBuffers &buffers, void *source, void *destination,
                             const Form &form) {
    const bool by_program = step.op == SENNIT_USER_OPERATOR;
    const sennit_reduction what =
        by_program ? sennit_reduction_by(step.count, element_bytes(step.type), subtract,
                                         const_cast<sennit_type *>(&step.type))
                   : sennit_reduction_of(step.count, step.type, step.op);
    switch (step.kind) {
        case CollKind::reduce:
            return either(sennit_reduce, sennit_reduce_nb, form, members.team, step.root, source,
                          destination, what);
        case CollKind::allreduce:
            return either(sennit_allreduce, sennit_allreduce_nb, form, members.team, source,
                          destination, what);
        case CollKind::reduce_scatter:
            return either(sennit_reduce_scatter, sennit_reduce_scatter_nb, form, members.team,
                          source, destination, buffers.counts.data(), what);
        case CollKind::reduce_scatter_block:
            return either(sennit_reduce_scatter_block, sennit_reduce_scatter_block_nb, form,
                          members.team, source, destination, what);
        case CollKind::scan:
            return either(sennit_scan, sennit_scan_nb, form, members.team, source, destination,
                          what);
        default:
            return either(sennit_scan_exclusive, sennit_scan_exclusive_nb, form, members.team,
                          source, destination, what);
    }
}

}  // namespace

sennit_status call(const CollStep &step, const Members &members, const CollBuffers &buffers,
                   void *source, void *destination, const Form &form) {
    if (step.in_place && (works_in_place(step, members) || step.kind == CollKind::alltoall)) {
        if (step.kind == CollKind::scatter || step.kind == CollKind::scatterv) {
            destination = SENNIT_IN_PLACE;
        } else {
            source = SENNIT_IN_PLACE;
        }
    }
    const sennit_team team = members.team;
    switch (step.kind) {
        case CollKind::barrier:
            return either(sennit_barrier, sennit_barrier_nb, form, team);
        case CollKind::broadcast:
            return either(sennit_broadcast, sennit_broadcast_nb, form, team, step.root, destination,
                          step.count);
        case CollKind::scatter:
            return either(sennit_scatter, sennit_scatter_nb, form, team, step.root, source,
                          destination, step.count);
        case CollKind::gather:
            return either(sennit_gather, sennit_gather_nb, form, team, step.root, source,
                          destination, step.count);
        case CollKind::allgather:
            return either(sennit_allgather, sennit_allgather_nb, form, team, source, destination,
                          step.count);
        case CollKind::alltoall:
            return either(sennit_alltoall, sennit_alltoall_nb, form, team, source, destination,
                          step.count);
        default:
            break;
    }
    if (step.kind < CollKind::reduce)
        return call_sized(step, members, buffers, source, destination, form);
    return call_reduction(step, members, buffers, source, destination, form);
}

}  // namespace conformance
