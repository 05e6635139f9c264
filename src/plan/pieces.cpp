// SPDX-License-Identifier: BSD-3-Clause
// Packs all puts of a group into one put of many contiguous runs, if tasks carry the data.
#include "base/fail.hpp"
#include "op/strided.hpp"
#include "plan/plan.hpp"
#include "signal/event_task.hpp"

namespace sennit::plan {
namespace {

std::int64_t distance(const void *from, const void *to) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) -
                                     reinterpret_cast<std::uintptr_t>(from));
}

// Lists the contiguous runs of the parts `first` to `end` - 1, with offsets from the block and from
// the local buffer of the first part. Returns their number.
std::size_t list_runs(const BatchParts &parts, std::uint32_t first, std::uint32_t end,
                      sennit_piece *runs) {
    std::size_t count = 0;
    for (std::uint32_t i = first; i < end; ++i) {
        const sennit_notify_part &part = parts.parts[i];
        const std::int64_t local = distance(parts.parts[first].local, part.local);
        const auto remote = static_cast<std::int64_t>(part.offset);
        op::Cursor cursor;
        for (std::uint64_t at = 0; at < part.bytes;) {
            op::LayoutPart run{0, 0, part.bytes};
            if (parts.layouts[i] != nullptr) run = layout_part(*parts.layouts[i], at, &cursor);
            runs[count++] = {remote + run.remote, local + run.local, run.bytes};
            at += run.bytes;
        }
    }
    return count;
}

}  // namespace

sennit_status pack_group(Rank &rank, const Plan &plan, BlockGroup *group, std::uint32_t first) {
    const signal::RemoteSignal &remote = group->notified->remote;
    const BatchParts &parts = plan.executed_parts;
    const std::uint32_t end = first + group->part_count;
    const bool is_plain = group->part_count == 1 && parts.layouts[first] == nullptr;
    if (!group->goes_by_message || group->part_count == 0 || is_plain) return SENNIT_OK;
    const int peer = group->attached->gptr.rank;
    if (remote.is_none() && !op::engine_puts_in_software(rank, peer)) return SENNIT_OK;
    std::uint64_t bytes = 0;
    std::uint64_t runs = 0;
    for (std::uint32_t i = first; i < end; ++i) {
        if (parts.directions[i] != op::Direction::put) return SENNIT_OK;
        bytes += parts.parts[i].bytes;
        runs += op::piece_count(parts.layouts[i], parts.parts[i].bytes, parts.parts[i].bytes);
    }
    if (runs > bytes) return SENNIT_OK;
    const Array<sennit_piece> list(runs);
    op::Layout layout;
    if (list == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the runs of a plan");
    const std::size_t count = list_runs(parts, first, end, list);
    const sennit_status status = op::layout_of_list(list, count, &layout);
    if (status != SENNIT_OK) return status;
    const bool is_packed = remote.is_none() ? op::goes_packed(rank, peer, layout)
                                            : signal::goes_packed(rank, remote, layout);
    if (!is_packed) return SENNIT_OK;
    group->packed = op::layout_copy(layout);
    return group->packed != nullptr ? SENNIT_OK
                                    : fail(SENNIT_ERR_NOMEM, "no memory for the runs of a plan");
}

}  // namespace sennit::plan
