// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/give_back.hpp"

#include <algorithm>

#include "memory/adopt/mover.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {
namespace {

// Frees the run's part of the file. Exception: if the process still maps a part of it, for example
// where realloc has moved the memory, the memory stays valid and the file is never closed.
void leave_rest(Table &table, const PageRun &run) {
    RunFile &file = table.files[run.file];
    if (is_shown(file, run.file_offset, run.slot_end, true)) {
        file.abandoned = true;
    } else {
        file_punch(file.file, run.file_offset, run.slot_end - run.file_offset);
    }
}

// Makes private the pages that the kernel's record still shows for the run, including pages that
// realloc has added. Returns the end address of the pages. 0: a part was missing or could not be
// moved.
std::uint64_t take_back_pages(Table &table, const PageRun &run) {
    const RunFile &file = table.files[run.file];
    const std::uint64_t end = run.address + run.bytes;
    const std::uint64_t most = run.address + (run.slot_end - run.file_offset);
    KernelRecord record;
    WriteGuard guard;
    const bool held = guard.open();
    bool whole = true;
    std::uint64_t at = run.address;
    for (Mapping mapping; at < most && record.find(at, &mapping);) {
        if (shows_run(table, run, mapping, at)) {
            PageMove move;
            move.address = at;
            move.bytes = std::min(mapping.end, most) - at;
            move.file_offset = run.file_offset + (at - run.address);
            move.file = file.file;
            move.guard = held ? &guard : nullptr;
            if (move_back(move) != 0) whole = false;
            at += move.bytes;
            continue;
        }
        if (at >= end) break;
        whole = false;
        at = mapping.begin > at ? mapping.begin : mapping.end;
        if (at >= end) break;
    }
    return whole && at >= end ? at : 0;
}

}  // namespace

void give_back(Table &table, PageRun &run) {
    if (!run.lost) {
        run_hide(table, run);
        const std::uint64_t end = take_back_pages(table, run);
        if (end != 0) {
            file_punch(table.files[run.file].file, run.file_offset, end - run.address);
            spare_add(table, Spare{run.file, run.slot_begin, run.slot_end});
        } else {
            leave_rest(table, run);
        }
    } else {
        leave_rest(table, run);
    }
    run_forget(table, run);
}

void give_back_if_free(Table &table, PageRun &run) {
    if (!run.lost && is_held(table, run.address, run.address + run.bytes)) return;
    // A run that cannot be checked now stays adopted. The next registration there uses it, and
    // gives it back at its end.
    if (!run.lost && !KernelRecord().is_open()) return;
    give_back(table, run);
}

void give_back_freed(Table &table, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin / page_bytes() * page_bytes(); at < end;) {
        std::uint64_t next = 0;
        PageRun *const run = run_at(table, at, &next);
        if (run == nullptr) {
            at = next;
            continue;
        }
        at = run->address + run->bytes;
        if (run->references == 0) give_back_if_free(table, *run);
    }
}

void lose(Table &table, PageRun &run) {
    run_hide(table, run);
    run.lost = true;
    if (run.references != 0) return;
    leave_rest(table, run);
    run_forget(table, run);
}

}  // namespace sennit::memory::adopt
