// SPDX-License-Identifier: BSD-3-Clause
#include "op/layout.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/copy.hpp"
#include "base/fail.hpp"

namespace sennit::op {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

// `number` is a count or size from the caller. A negative number from Fortran arrives as a large
// one.
sennit_status too_large(std::uint64_t number) {
    if (number > INT64_MAX)
        return fail(SENNIT_ERR_RANGE, "%lld is negative: counts and sizes are at least 0",
                    static_cast<long long>(number));
    return fail(SENNIT_ERR_RANGE, "counts and strides describe more than an address space holds");
}

std::uint64_t size_of_stride(std::int64_t stride) {
    return stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride)
                      : static_cast<std::uint64_t>(stride);
}

// Widens the hull by one dimension.
bool widen(Hull *hull, std::uint64_t count, std::int64_t stride) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(count - 1), stride, &reach)) return false;
    std::int64_t *end = reach < 0 ? &hull->begin : &hull->end;
    return !__builtin_add_overflow(*end, reach, end) && size_of_stride(*end) <= kMost;
}

// Dimensions with more than one element, in the user's order.
struct Dimensions {
    int count = 0;
    int index[kBoxDimensions];
};

// Whether the elements do not overlap: with the dimensions sorted by stride, each stride must be at
// least the span of all shorter ones.
bool elements_are_apart(const sennit_box &box, const std::int64_t *strides, Dimensions dimensions) {
    std::uint64_t span = box.element_bytes;
    for (int *left = dimensions.index; dimensions.count > 0; --dimensions.count, ++left) {
        for (int i = 1; i < dimensions.count; ++i)
            if (size_of_stride(strides[left[i]]) < size_of_stride(strides[*left]))
                std::swap(left[i], *left);
        const std::uint64_t stride = size_of_stride(strides[*left]);
        if (stride < span) return false;
        span += stride * (box.counts[*left] - 1);
    }
    return true;
}

// Appends a dimension, or extends the run or the last dimension if there is no gap.
void append(Layout *layout, int *dimensions, std::uint64_t count, std::int64_t remote,
            std::int64_t local) {
    const auto run = static_cast<std::int64_t>(layout->run_bytes);
    if (*dimensions == 0 && remote == run && local == run) {
        layout->run_bytes *= count;
        return;
    }
    if (*dimensions > 0) {
        const int last = *dimensions - 1;
        const auto so_far = static_cast<std::int64_t>(layout->counts[last]);
        // The products do not overflow, since the hull did not.
        if (remote == layout->remote_strides[last] * so_far &&
            local == layout->local_strides[last] * so_far) {
            layout->counts[last] *= count;
            return;
        }
    }
    layout->counts[*dimensions] = count;
    layout->remote_strides[*dimensions] = remote;
    layout->local_strides[*dimensions] = local;
    ++*dimensions;
}

bool is_empty(const sennit_box &box) {
    return box.counts[0] == 0 || box.counts[1] == 0 || box.counts[2] == 0;
}

// Copies a run; `bytes` is its constant size, or 0: unknown. Words are moved whole, since others
// poll them.
template <std::size_t bytes>
void copy_run(std::byte *to, const std::byte *from, std::uint64_t run_bytes) {
    if constexpr (bytes == 8) {
        if (copy_word<std::uint64_t>(to, from)) return;
    } else if constexpr (bytes == 4) {
        if (copy_word<std::uint32_t>(to, from)) return;
    }
    if constexpr (bytes == 0) {
        copy_bytes(to, from, run_bytes);
    } else {
        std::memcpy(to, from, bytes);
    }
}

struct BoxSide {
    std::byte *base;
    const std::int64_t *strides;
};

template <std::size_t bytes>
void copy_box(const Layout &layout, const BoxSide &to, const BoxSide &from) {
    const std::uint64_t n = layout.counts[0];
    const std::int64_t to_step = to.strides[0];
    const std::int64_t from_step = from.strides[0];
    const std::uint64_t run_bytes = layout.run_bytes;
    for (std::uint64_t k = 0; k < layout.counts[2]; ++k) {
        for (std::uint64_t j = 0; j < layout.counts[1]; ++j) {
            const auto jj = static_cast<std::int64_t>(j);
            const auto kk = static_cast<std::int64_t>(k);
            std::byte *out = to.base + jj * to.strides[1] + kk * to.strides[2];
            const std::byte *in = from.base + jj * from.strides[1] + kk * from.strides[2];
            for (std::uint64_t i = 0; i < n; ++i) {
                copy_run<bytes>(out, in, run_bytes);
                out += to_step;
                in += from_step;
            }
        }
    }
}

void copy_any_box(const Layout &layout, const BoxSide &to, const BoxSide &from) {
    switch (layout.run_bytes) {
        case 1:
            return copy_box<1>(layout, to, from);
        case 2:
            return copy_box<2>(layout, to, from);
        case 4:
            return copy_box<4>(layout, to, from);
        case 8:
            return copy_box<8>(layout, to, from);
        case 16:
            return copy_box<16>(layout, to, from);
        default:
            return copy_box<0>(layout, to, from);
    }
}

void copy_list(const Layout &layout, Direction direction, std::byte *remote, std::byte *local) {
    for (std::size_t i = 0; i < layout.piece_count; ++i) {
        const sennit_piece &piece = layout.pieces[i];
        std::byte *there = remote + piece.remote_offset;
        std::byte *here = local + piece.local_offset;
        if (direction == Direction::put) {
            copy_any(there, here, piece.bytes);
        } else {
            copy_any(here, there, piece.bytes);
        }
    }
}

// Copies one side of the transfer run by run: to `packed` (`is_in`), or from it. `place` is the
// address of that side.
void pack(const Layout &layout, std::byte *packed, std::byte *place, bool is_remote, bool is_in) {
    Cursor cursor;
    for (std::uint64_t at = 0; at < layout.bytes;) {
        const LayoutPart part = layout_part(layout, at, &cursor);
        std::byte *there = place + (is_remote ? part.remote : part.local);
        if (is_in) {
            copy_any(packed + at, there, part.bytes);
        } else {
            copy_any(there, packed + at, part.bytes);
        }
        at += part.bytes;
    }
}

sennit_status move_through_buffer(const Layout &layout, Direction direction, std::byte *remote,
                                  std::byte *local) {
    auto *buffer = static_cast<std::byte *>(std::malloc(layout.bytes));
    if (buffer == nullptr)
        return fail(SENNIT_ERR_NOMEM,
                    "no memory for a buffer of %llu bytes: source and destination overlap",
                    static_cast<unsigned long long>(layout.bytes));
    const bool is_put = direction == Direction::put;
    pack(layout, buffer, is_put ? local : remote, !is_put, true);
    pack(layout, buffer, is_put ? remote : local, is_put, false);
    std::free(buffer);
    return SENNIT_OK;
}

}  // namespace

sennit_status layout_of_box(const sennit_box &box, Direction direction, Layout *layout) {
    *layout = Layout{};
    if (is_empty(box)) return SENNIT_OK;
    if (box.element_bytes == 0) return fail(SENNIT_ERR_ARG, "the elements have no bytes");
    std::uint64_t bytes = box.element_bytes;
    if (bytes > kMost) return too_large(bytes);
    layout->remote.end = layout->local.end = static_cast<std::int64_t>(bytes);
    Dimensions dimensions;
    for (int d = 0; d < kBoxDimensions; ++d) {
        if (box.counts[d] == 1) continue;
        dimensions.index[dimensions.count++] = d;
        if (__builtin_mul_overflow(bytes, box.counts[d], &bytes) || bytes > kMost ||
            !widen(&layout->remote, box.counts[d], box.remote_strides[d]) ||
            !widen(&layout->local, box.counts[d], box.local_strides[d]))
            return too_large(box.counts[d]);
    }
    const bool is_put = direction == Direction::put;
    if (!elements_are_apart(box, is_put ? box.remote_strides : box.local_strides, dimensions))
        return fail(SENNIT_ERR_ARG,
                    "elements of the destination overlap: a stride is shorter than the element, "
                    "row or plane that it steps over");
    layout->bytes = bytes;
    layout->run_bytes = box.element_bytes;
    int made = 0;
    for (int i = 0; i < dimensions.count; ++i) {
        const int d = dimensions.index[i];
        append(layout, &made, box.counts[d], box.remote_strides[d], box.local_strides[d]);
    }
    return SENNIT_OK;
}

bool layout_of_plain_box(const sennit_box &box, Direction direction, Layout *layout) {
    // Products of two smaller numbers, and sums of three products, fit 62 bits.
    constexpr std::uint64_t kSmall = std::uint64_t{1} << 30;
    std::uint64_t remote_end = box.element_bytes;
    std::uint64_t local_end = box.element_bytes;
    if (box.element_bytes == 0 || box.element_bytes >= kSmall) return false;
    layout->run_bytes = box.element_bytes;
    int made = 0;
    for (int d = 0; d < kBoxDimensions; ++d) {
        const std::uint64_t count = box.counts[d];
        if (count == 1) continue;
        const auto remote = static_cast<std::uint64_t>(box.remote_strides[d]);
        const auto local = static_cast<std::uint64_t>(box.local_strides[d]);
        if (count == 0 || (count | remote | local) >= kSmall) return false;
        const bool is_apart =
            direction == Direction::put ? remote >= remote_end : local >= local_end;
        if (!is_apart) return false;
        remote_end += remote * (count - 1);
        local_end += local * (count - 1);
        append(layout, &made, count, box.remote_strides[d], box.local_strides[d]);
    }
    layout->bytes = layout->run_bytes * layout->counts[0] * layout->counts[1] * layout->counts[2];
    layout->remote.end = static_cast<std::int64_t>(remote_end);
    layout->local.end = static_cast<std::int64_t>(local_end);
    return true;
}

sennit_status layout_of_list(const sennit_piece *pieces, std::size_t count, Layout *layout) {
    *layout = Layout{};
    layout->pieces = pieces;
    layout->piece_count = count;
    Hull remote{INT64_MAX, INT64_MIN};
    Hull local{INT64_MAX, INT64_MIN};
    for (std::size_t i = 0; i < count; ++i) {
        const sennit_piece &piece = pieces[i];
        if (piece.bytes == 0) continue;
        const auto bytes = static_cast<std::int64_t>(piece.bytes);
        std::int64_t remote_end = 0;
        std::int64_t local_end = 0;
        if (piece.bytes > kMost || layout->bytes + piece.bytes > kMost ||
            __builtin_add_overflow(piece.remote_offset, bytes, &remote_end) ||
            __builtin_add_overflow(piece.local_offset, bytes, &local_end))
            return too_large(piece.bytes);
        layout->bytes += piece.bytes;
        if (piece.remote_offset < remote.begin) remote.begin = piece.remote_offset;
        if (piece.local_offset < local.begin) local.begin = piece.local_offset;
        if (remote_end > remote.end) remote.end = remote_end;
        if (local_end > local.end) local.end = local_end;
    }
    if (layout->bytes == 0) return SENNIT_OK;
    layout->remote = remote;
    layout->local = local;
    return SENNIT_OK;
}

std::uint64_t run_count(const Layout &layout) {
    return piece_count(layout, kMost);
}

std::uint64_t piece_count(const Layout &layout, std::uint64_t most) {
    const auto pieces_of = [most](std::uint64_t bytes) { return (bytes + most - 1) / most; };
    if (layout.bytes == 0) return 0;
    if (layout.pieces == nullptr)
        return layout.bytes / layout.run_bytes * pieces_of(layout.run_bytes);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < layout.piece_count; ++i)
        count += pieces_of(layout.pieces[i].bytes);
    return count;
}

std::uint64_t piece_count(const Layout *layout, std::uint64_t bytes, std::uint64_t most) {
    return layout != nullptr ? piece_count(*layout, most) : (bytes + most - 1) / most;
}

Layout *layout_copy(const Layout &layout) {
    const std::size_t list_bytes = layout.piece_count * sizeof(sennit_piece);
    auto *memory = static_cast<std::byte *>(std::malloc(sizeof(Layout) + list_bytes));
    if (memory == nullptr) return nullptr;
    auto *made = new (memory) Layout(layout);
    if (layout.pieces == nullptr) return made;
    auto *list = reinterpret_cast<sennit_piece *>(memory + sizeof(Layout));
    std::memcpy(list, layout.pieces, list_bytes);
    made->pieces = list;
    return made;
}

void layout_free(Layout *layout) {
    std::free(layout);
}

void layout_keep(Layout *layout, std::byte *packed, const std::byte *local) {
    pack(*layout, packed, const_cast<std::byte *>(local), false, true);
    // The copy owns its pieces.
    auto *const pieces = const_cast<sennit_piece *>(layout->pieces);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < layout->piece_count; ++i) {
        pieces[i].local_offset = at;
        at += static_cast<std::int64_t>(pieces[i].bytes);
    }
    auto stride = static_cast<std::int64_t>(layout->run_bytes);
    for (int d = 0; d < kBoxDimensions; ++d) {
        layout->local_strides[d] = stride;
        stride *= static_cast<std::int64_t>(layout->counts[d]);
    }
    layout->local = Hull{0, static_cast<std::int64_t>(layout->bytes)};
}

LayoutPart layout_part(const Layout &layout, std::uint64_t at, Cursor *cursor) {
    if (layout.pieces != nullptr) {
        while (at < cursor->start)
            cursor->start -= layout.pieces[--cursor->piece].bytes;
        while (at - cursor->start >= layout.pieces[cursor->piece].bytes)
            cursor->start += layout.pieces[cursor->piece++].bytes;
        const sennit_piece &piece = layout.pieces[cursor->piece];
        const std::uint64_t in = at - cursor->start;
        const auto step = static_cast<std::int64_t>(in);
        return {piece.remote_offset + step, piece.local_offset + step, piece.bytes - in};
    }
    const std::uint64_t in = at % layout.run_bytes;
    std::uint64_t run = at / layout.run_bytes;
    LayoutPart part{static_cast<std::int64_t>(in), static_cast<std::int64_t>(in),
                    layout.run_bytes - in};
    for (int d = 0; d < kBoxDimensions && run != 0; ++d) {
        const auto index = static_cast<std::int64_t>(run % layout.counts[d]);
        part.remote += index * layout.remote_strides[d];
        part.local += index * layout.local_strides[d];
        run /= layout.counts[d];
    }
    return part;
}

sennit_status layout_move(const Layout &layout, Direction direction, std::byte *remote,
                          std::byte *local) {
    const std::byte *const remote_begin = remote + layout.remote.begin;
    const std::byte *const local_begin = local + layout.local.begin;
    if (remote_begin < local + layout.local.end && local_begin < remote + layout.remote.end)
        return move_through_buffer(layout, direction, remote, local);
    if (layout.pieces != nullptr) {
        copy_list(layout, direction, remote, local);
        return SENNIT_OK;
    }
    const BoxSide there{remote, layout.remote_strides};
    const BoxSide here{local, layout.local_strides};
    if (direction == Direction::put) {
        copy_any_box(layout, there, here);
    } else {
        copy_any_box(layout, here, there);
    }
    return SENNIT_OK;
}

}  // namespace sennit::op
