// SPDX-License-Identifier: BSD-3-Clause
// Plans a registration and carries it out.
#include "memory/adopt/adopt.hpp"

#include <pthread.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cerrno>

#include "memory/adopt/classify.hpp"
#include "memory/adopt/give_back.hpp"
#include "memory/adopt/mover.hpp"
#include "memory/adopt/table.hpp"
#include "memory/file.hpp"
#include "memory/segments.hpp"

namespace sennit::memory::adopt {
namespace {

// Memory limits are not checked below this size: the check would take longer than the move.
constexpr std::uint64_t kLeastChecked = 512u << 10;

// A part of the region: pages of an existing run, or pages that will become a run.
struct RegionPart {
    PageRun *run = nullptr;   // null until make_run()
    Stretch stretch;          // the pages of this part
    bool protected_ = false;  // against writers while the pages move
};

std::uint64_t machine_bytes() {
    struct sysinfo machine {};
    if (sysinfo(&machine) != 0) return 0;
    return (machine.totalram + machine.totalswap) * std::uint64_t{machine.mem_unit};
}

class AdoptionPlan {
  public:
    AdoptionPlan(Rank &rank, Table &table, const AdoptionArgs &args)
        : rank_(rank),
          table_(table),
          buffer_{args.address, args.address + args.bytes},
          begin_(buffer_.begin / page_bytes() * page_bytes()),
          end_(round_up(buffer_.end, page_bytes())),
          question_{buffer_, args.stack_frames != 0, args.stack_frames, table.stacks_are_cut},
          consents_(args.consents) {}

    // Plans the registration without moving pages. Marks runs as lost if other memory is mapped in
    // their place, and adds the rank's file to the table if it is missing.
    Refused make() {
        // Checked first: without the kernel's record every run would look lost.
        if (!record_.is_open()) return {Refusal::no_record, 0};
        const Refused no_file = file_of(table_, rank_, &file_);
        if (!no_file.is_none()) return no_file;
        for (std::uint64_t at = begin_; at < end_;) {
            const Refused refused = next_part(&at);
            if (!refused.is_none()) return refused;
        }
        if (new_bytes_ == 0) return {};
        const Refused fixed = check_fixed(begin_, end_);
        if (!fixed.is_none()) return fixed;
        if (new_bytes_ >= kLeastChecked &&
            memory_check(std::min(new_bytes_, kMostHugeBytes + kHugePageBytes), true) != SENNIT_OK)
            return {Refusal::no_room, 0};
        return {};
    }

    Refused carry_out(Adoption *adoption) {
        Refused refused = hold_other_writers_off();
        for (std::uint32_t i = 0; i < count_ && refused.is_none(); ++i)
            if (parts_[i].run == nullptr) refused = make_run(parts_[i]);
        if (!refused.is_none()) {
            undo();
            return refused;
        }
        for (std::uint32_t i = 0; i < count_; ++i) {
            PageRun &run = *parts_[i].run;
            ++run.references;
            const Stretch &pages = parts_[i].stretch;
            const std::uint64_t offset = run.file_offset + (pages.begin - run.address);
            adoption->extents[i] = Extent{pages.begin, pages.end - pages.begin, offset,
                                          run.slot_end - offset, run_row(table_, run)};
        }
        adoption->count = count_;
        return {};
    }

  private:
    Refused next_part(std::uint64_t *at) {
        std::uint64_t next = 0;
        PageRun *const run = run_at(table_, *at, &next);
        if (run == nullptr) return new_part(at, std::min(next, end_));
        const std::uint64_t stop = std::min(run->address + run->bytes, end_);
        if (!run_is_there(table_, *run, record_, *at, stop)) {
            lose(table_, *run);
            return {};  // the caller repeats the step at this address
        }
        if (&table_.files[run->file] != file_) return {Refusal::other_rank, 0};
        RegionPart part;
        part.run = run;
        part.stretch = Stretch{*at, stop, false, false};
        return add(part, at);
    }

    Refused new_part(std::uint64_t *at, std::uint64_t stop) {
        RegionPart part;
        Refused refused = classify(record_, question_, *at, stop, &part.stretch);
        if (!refused.is_none()) return refused;
        if (is_held(table_, part.stretch.begin, part.stretch.end)) return {Refusal::held, 0};
        new_bytes_ += part.stretch.end - part.stretch.begin;
        return add(part, at);
    }

    Refused add(const RegionPart &part, std::uint64_t *at) {
        if (count_ == kMostExtents) return {Refusal::pieces, 0};
        parts_[count_++] = part;
        *at = part.stretch.end;
        return {};
    }

    bool is_shared(std::uint64_t page) const { return !buffer_.fills(page); }

    // Prevents lost stores of other threads to the pages that will move. A part is accepted if its
    // pages are protected or have no other data, if the process has one thread, or if the caller
    // promises that no thread stores to them (SENNIT_REGISTER_SHARED_PAGES).
    Refused hold_other_writers_off() {
        if (new_bytes_ == 0) return {};
        (void)guard_.open();
        for (std::uint32_t i = 0; i < count_; ++i) {
            RegionPart &part = parts_[i];
            if (part.run != nullptr) continue;
            const std::uint64_t first = part.stretch.begin;
            const std::uint64_t last = part.stretch.end - page_bytes();
            part.protected_ = guard_.cover(first, part.stretch.end - first);
            // Another userfaultfd is active there.
            if (guard_.error() == EBUSY) return {Refusal::kernel_failed, EBUSY};
            if (part.protected_ || consents_ || (!is_shared(first) && !is_shared(last))) continue;
            if (thread_count() != 1) return {Refusal::other_writers, guard_.error()};
        }
        return {};
    }

    Refused make_run(RegionPart &part) {
        const Stretch &pages = part.stretch;
        const std::uint64_t bytes = pages.end - pages.begin;
        const std::uint64_t lead = pages.begin % kHugePageBytes;
        const std::uint64_t room = pages.grows ? std::max(2 * bytes, machine_bytes()) : bytes;
        Spare slot;
        if (!take_slot(round_up(lead + room, kHugePageBytes), &slot)) return {Refusal::no_room, 0};
        PageMove move;
        move.address = pages.begin;
        move.bytes = bytes;
        move.file_offset = slot.begin + lead;
        move.file = rank_.memory_file;
        move.from_file = pages.from_file;
        move.first_shared = is_shared(pages.begin);
        move.last_shared = is_shared(pages.end - page_bytes());
        move.guard = part.protected_ ? &guard_ : nullptr;
        const int error = move_into_file(move);
        if (error != 0) return {Refusal::kernel_failed, error};
        PageRun run{};
        run.address = pages.begin;
        run.bytes = bytes;
        run.file_offset = move.file_offset;
        run.slot_begin = slot.begin;
        run.slot_end = slot.end;
        run.on_stack = pages.on_stack;
        table_.stacks_are_cut |= pages.on_stack;
        run.file = slot.file;
        part.run = run_add(table_, run);
        if (part.run != nullptr) return {};
        if (move_back(move) == 0) file_punch(rank_.memory_file, move.file_offset, bytes);
        return {Refusal::table_full, 0};
    }

    bool take_slot(std::uint64_t bytes, Spare *slot) {
        const auto file = static_cast<std::uint32_t>(file_ - table_.files);
        const std::uint64_t begin = round_up(rank_.segments->file_end, kHugePageBytes);
        if (begin + bytes > table_.file_end) return spare_take(table_, file, bytes, slot);
        // If file sizes are limited, the file does not grow here: allocations need the room, and a
        // region can stay in place instead.
        if (file_has_limit() || file_grow(rank_.memory_file, begin + bytes) != SENNIT_OK)
            return false;
        rank_.segments->file_end = begin + bytes;
        *slot = Spare{file, begin, begin + bytes};
        return true;
    }

    // Gives back each run of the plan, new or old, unless a region uses it or a region that stays
    // in place overlaps it.
    void undo() {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (parts_[i].run != nullptr && parts_[i].run->references == 0)
                give_back_if_free(table_, *parts_[i].run);
    }

    Rank &rank_;
    Table &table_;
    Buffer buffer_;
    std::uint64_t begin_;
    std::uint64_t end_;
    Question question_;
    bool consents_;
    RunFile *file_ = nullptr;
    KernelRecord record_;
    WriteGuard guard_;
    std::uint64_t new_bytes_ = 0;
    std::uint32_t count_ = 0;
    RegionPart parts_[kMostExtents];
};

Refused adopt_here(Rank &rank, const AdoptionArgs &args, Adoption *adoption) {
    Table *const table = table_open();
    if (table == nullptr) return {Refusal::no_room, 0};
    watch_forks();
    const SignalsBlocked quiet;
    const MutexLock lock(table->lock);
    AdoptionPlan plan(rank, *table, args);
    Refused refused = plan.make();
    if (refused.is_none()) refused = plan.carry_out(adoption);
    return refused;
}

void unregister_here(Table &table, const std::uint32_t *runs, std::uint32_t count) {
    const SignalsBlocked quiet;
    const MutexLock lock(table.lock);
    for (std::uint32_t i = 0; i < count; ++i) {
        PageRun &run = table.runs[runs[i]];
        if (--run.references == 0) give_back_if_free(table, run);
    }
}

// Runs `work`, which moves stack memory, in a separate thread. The caller waits with its signals
// blocked, so that no signal handler uses the stack meanwhile. Returns 0, or an errno if no thread
// started.
template <class Work>
int by_a_helper(Work &work) {
    const SignalsBlocked quiet;
    pthread_t helper;
    const int error = pthread_create(
        &helper, nullptr,
        [](void *context) -> void * {
            (*static_cast<Work *>(context))();
            return nullptr;
        },
        &work);
    if (error == 0) (void)pthread_join(helper, nullptr);
    return error;
}

bool any_on_stack(Table &table, const std::uint32_t *runs, std::uint32_t count) {
    const MutexLock lock(table.lock);
    bool found = false;
    for (std::uint32_t i = 0; i < count; ++i)
        found |= table.runs[runs[i]].on_stack;
    return found;
}

}  // namespace

Refused adopt(Rank &rank, const AdoptionArgs &args, Adoption *adoption) {
    if (args.stack_frames == 0) return adopt_here(rank, args, adoption);
    Refused refused;
    auto work = [&] { refused = adopt_here(rank, args, adoption); };
    const int error = by_a_helper(work);
    return error == 0 ? refused : Refused{Refusal::kernel_failed, error};
}

void unregister(const std::uint32_t *runs, std::uint32_t count) {
    Table *const table = table_if_open();
    if (table == nullptr) return;
    auto work = [&] { unregister_here(*table, runs, count); };
    // If no helper starts, this thread moves the stack pages back itself: safe as long as the
    // function that has the buffer has not returned.
    if (any_on_stack(*table, runs, count) && by_a_helper(work) == 0) return;
    work();
}

void detach(const Rank &rank) {
    Table *const table = table_if_open();
    if (table == nullptr || rank.memory_file < 0) return;
    const MutexLock lock(table->lock);
    RunFile *const file = file_known(*table, rank);
    if (file == nullptr) return;
    file->has_left = true;
    file_settle(*table, *file);
}

void hold(std::uint64_t address, std::uint64_t bytes) {
    Table *const table = table_open();
    if (table == nullptr || bytes == 0) return;
    const MutexLock lock(table->lock);
    held_add(*table, address, address + bytes);
}

void let_go(std::uint64_t address, std::uint64_t bytes) {
    Table *const table = table_if_open();
    if (table == nullptr || bytes == 0) return;
    const SignalsBlocked quiet;
    const MutexLock lock(table->lock);
    held_remove(*table, address, address + bytes);
    give_back_freed(*table, address, address + bytes);
}

}  // namespace sennit::memory::adopt
