// SPDX-License-Identifier: BSD-3-Clause
#include "op/packed.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"

namespace sennit::op {
namespace {

// Packing pays if the mean length of the runs is at most kPackedRunBytes, and a payload has room
// for kRunsOfPayload runs of that length.
constexpr std::uint64_t kPackedRunBytes = 2048;
constexpr std::uint64_t kRunsOfPayload = 4;
// A payload with less room does not pay.
constexpr std::size_t kLeastRoom = 8 * sizeof(RunWord);
constexpr std::uint64_t kMostTasks = EventTask::parts_in(UINT32_MAX);

struct Taken {
    std::uint64_t at = 0;    // position in the layout after the taken runs
    std::uint32_t runs = 0;  // the last one perhaps in part
    std::size_t bytes = 0;   // with their words
};

// Calls `take` with the runs from `at` on that fit into one payload. A run that does not fit is
// left for the next payload, so that its words stay whole; it is cut only if it is longer than any
// payload.
template <class Take>
Taken take_runs(const Layout &layout, std::size_t room, std::uint64_t at, Cursor *cursor,
                Take take) {
    const std::uint64_t most = std::min<std::uint64_t>(room - sizeof(RunWord), kMostRunBytes);
    Taken taken{at};
    while (taken.at < layout.bytes && room - taken.bytes > sizeof(RunWord)) {
        const std::uint64_t left = room - taken.bytes - sizeof(RunWord);
        const LayoutPart part = layout_part(layout, taken.at, cursor);
        if (part.bytes > left && part.bytes <= most) break;
        const std::uint64_t bytes = std::min({part.bytes, left, most});
        take(part, bytes);
        taken.at += bytes;
        taken.bytes += bytes + sizeof(RunWord);
        ++taken.runs;
    }
    return taken;
}

constexpr auto kNothing = [](const LayoutPart &, std::uint64_t) {};

// For runs of one size that are not cut.
PackedSize size_of_box(const Layout &layout, std::size_t room) {
    const std::uint64_t each = layout.run_bytes + sizeof(RunWord);
    const std::uint64_t runs = layout.bytes / layout.run_bytes;
    const std::uint64_t in_one = std::min<std::uint64_t>(room / each, runs);
    return {(runs + in_one - 1) / in_one, in_one * each};
}

PackedSize size_of_list(const Layout &layout, std::size_t room) {
    PackedSize size;
    Cursor cursor;
    for (std::uint64_t at = 0; at < layout.bytes; ++size.tasks) {
        const Taken taken = take_runs(layout, room, at, &cursor, kNothing);
        size.longest = std::max(size.longest, taken.bytes);
        at = taken.at;
    }
    return size;
}

}  // namespace

PackedSize packed_size(const Layout &layout, std::size_t room) {
    if (room < kLeastRoom || layout.bytes == 0 || hull_bytes(layout.remote) >> kRunOffsetBits != 0)
        return {};
    const bool is_cut =
        layout.pieces == nullptr &&
        layout.run_bytes > std::min<std::uint64_t>(room - sizeof(RunWord), kMostRunBytes);
    if (is_cut || layout.bytes / room >= kMostTasks) return {};
    const PackedSize size =
        layout.pieces == nullptr ? size_of_box(layout, room) : size_of_list(layout, room);
    return size.tasks < kMostTasks ? size : PackedSize{};
}

bool pays_to_pack(const Layout &layout, std::size_t room) {
    return layout.bytes <= run_count(layout) * std::min(kPackedRunBytes, room / kRunsOfPayload);
}

std::size_t RunPacker::fill(std::byte *to, std::uint32_t *runs) {
    Cursor cursor = cursor_;
    const Taken all = take_runs(layout_, room_, at_, &cursor, kNothing);
    std::byte *word = to;
    std::byte *data = to + all.runs * sizeof(RunWord);
    (void)take_runs(
        layout_, room_, at_, &cursor_, [&](const LayoutPart &part, std::uint64_t bytes) {
            const RunWord made =
                run_word(static_cast<std::uint64_t>(part.remote - layout_.remote.begin), bytes);
            std::memcpy(word, &made, sizeof made);
            word += sizeof made;
            copy_any(data, local_ + part.local, bytes);
            data += bytes;
        });
    at_ = all.at;
    *runs = all.runs;
    return all.bytes;
}

bool runs_are_sound(std::span<const std::byte> payload, std::uint32_t runs,
                    std::uint64_t memory_bytes) {
    if (runs == 0 || runs > payload.size() / sizeof(RunWord)) return false;
    std::uint64_t left = payload.size() - runs * sizeof(RunWord);
    for (std::uint32_t i = 0; i < runs; ++i) {
        RunWord word = 0;
        std::memcpy(&word, payload.data() + i * sizeof word, sizeof word);
        const std::uint64_t bytes = run_bytes(word);
        if (bytes == 0 || bytes > left || bytes > memory_bytes ||
            run_offset(word) > memory_bytes - bytes)
            return false;
        left -= bytes;
    }
    return left == 0;
}

void spread_runs(std::byte *memory, const std::byte *payload, std::uint32_t runs) {
    const std::byte *data = payload + runs * sizeof(RunWord);
    for (std::uint32_t i = 0; i < runs; ++i) {
        RunWord word = 0;
        std::memcpy(&word, payload + i * sizeof word, sizeof word);
        copy_any(memory + run_offset(word), data, run_bytes(word));
        data += run_bytes(word);
    }
}

}  // namespace sennit::op
