// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/table.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sennit::memory::adopt {
namespace {

Table process_table;

template <class T>
T *make_array(std::size_t count) {
    void *const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<T *>(memory);
}

// The index in `in_order` of the first run that begins at or above the address.
std::uint32_t place_of(const Table &table, std::uint64_t address) {
    const std::uint32_t *const begin = table.in_order;
    const auto starts_before = [&](std::uint32_t row, std::uint64_t wanted) {
        return table.runs[row].address < wanted;
    };
    return static_cast<std::uint32_t>(
        std::lower_bound(begin, begin + table.live, address, starts_before) - begin);
}

}  // namespace

Table *table_open() {
    Table &table = process_table;
    const MutexLock lock(table.lock);
    if (table.runs == nullptr) table.runs = make_array<PageRun>(kMostRuns);
    if (table.in_order == nullptr) table.in_order = make_array<std::uint32_t>(kMostRuns);
    if (table.held == nullptr) table.held = make_array<Table::Held>(kMostHeld);
    const bool made = table.runs != nullptr && table.in_order != nullptr && table.held != nullptr;
    return made ? &table : nullptr;
}

Table *table_if_open() {
    Table &table = process_table;
    const MutexLock lock(table.lock);
    return table.held != nullptr ? &table : nullptr;
}

PageRun *run_at(Table &table, std::uint64_t address, std::uint64_t *next) {
    const std::uint32_t above = place_of(table, address + 1);
    *next = above < table.live ? table.runs[table.in_order[above]].address : UINT64_MAX;
    if (above == 0) return nullptr;
    PageRun &run = table.runs[table.in_order[above - 1]];
    return address < run.address + run.bytes ? &run : nullptr;
}

PageRun *run_add(Table &table, const PageRun &run) {
    std::uint32_t row = table.first_free;
    if (row != kNoRun) {
        table.first_free = table.runs[row].next_free;
    } else if (table.rows_used < kMostRuns) {
        row = table.rows_used++;
    } else {
        return nullptr;
    }
    table.runs[row] = run;
    const std::uint32_t place = place_of(table, run.address);
    std::memmove(table.in_order + place + 1, table.in_order + place,
                 (table.live - place) * sizeof *table.in_order);
    table.in_order[place] = row;
    ++table.live;
    ++table.files[run.file].runs;
    return &table.runs[row];
}

void run_hide(Table &table, PageRun &run) {
    const std::uint32_t place = place_of(table, run.address);
    --table.live;
    std::memmove(table.in_order + place, table.in_order + place + 1,
                 (table.live - place) * sizeof *table.in_order);
}

void run_forget(Table &table, PageRun &run) {
    RunFile &file = table.files[run.file];
    --file.runs;
    run.next_free = table.first_free;
    table.first_free = run_row(table, run);
    file_settle(table, file);
}

std::uint32_t run_row(const Table &table, const PageRun &run) {
    return static_cast<std::uint32_t>(&run - table.runs);
}

bool shows_run(const Table &table, const PageRun &run, const Mapping &mapping,
               std::uint64_t address) {
    const RunFile &file = table.files[run.file];
    return mapping.begin <= address && mapping.shared && mapping.readable && mapping.writable &&
           mapping.device == file.device && mapping.inode == file.inode &&
           mapping.file_offset + (address - mapping.begin) ==
               run.file_offset + (address - run.address);
}

bool run_is_there(const Table &table, const PageRun &run, KernelRecord &record, std::uint64_t begin,
                  std::uint64_t end) {
    for (std::uint64_t at = begin; at < end;) {
        Mapping mapping;
        if (!record.find(at, &mapping) || !shows_run(table, run, mapping, at)) return false;
        at = mapping.end;
    }
    return true;
}

RunFile *file_known(Table &table, const Rank &rank) {
    struct stat identity {};
    if (fstat(rank.memory_file, &identity) != 0) return nullptr;
    for (RunFile &run_file : table.files)
        if (run_file.file >= 0 && run_file.device == identity.st_dev &&
            run_file.inode == identity.st_ino)
            return &run_file;
    return nullptr;
}

Refused file_of(Table &table, const Rank &rank, RunFile **file) {
    *file = file_known(table, rank);
    if (*file != nullptr) return {};
    struct stat identity {};
    if (fstat(rank.memory_file, &identity) != 0) return {Refusal::no_descriptor, errno};
    for (RunFile &run_file : table.files) {
        if (run_file.file >= 0) continue;
        const int copy = fcntl(rank.memory_file, F_DUPFD_CLOEXEC, 0);
        if (copy < 0) return {Refusal::no_descriptor, errno};
        run_file = RunFile{copy, identity.st_dev, identity.st_ino, 0, false, false};
        *file = &run_file;
        return {};
    }
    return {Refusal::table_full, 0};
}

void file_settle(Table &table, RunFile &file) {
    if (file.file < 0 || file.runs != 0 || file.abandoned || !file.has_left) return;
    const auto index = static_cast<std::uint32_t>(&file - table.files);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < table.spare_count; ++i)
        if (table.spares[i].file != index) table.spares[kept++] = table.spares[i];
    table.spare_count = kept;
    (void)close(file.file);
    file = RunFile{};
}

bool has_adopted(const Table &table) {
    for (const RunFile &run_file : table.files)
        if (run_file.file >= 0 && (run_file.runs != 0 || run_file.abandoned)) return true;
    return false;
}

bool is_shown(const RunFile &file, std::uint64_t begin, std::uint64_t end, bool shared_only) {
    KernelRecord record;
    if (!record.is_open()) return true;
    Mapping mapping;
    for (std::uint64_t at = 0; record.find(at, &mapping); at = mapping.end) {
        const std::uint64_t stop = mapping.file_offset + (mapping.end - mapping.begin);
        if ((mapping.shared || !shared_only) && mapping.device == file.device &&
            mapping.inode == file.inode && mapping.file_offset < end && stop > begin)
            return true;
    }
    return false;
}

void spare_add(Table &table, const Spare &spare) {
    if (table.spare_count == kMostSpares) {
        --table.spare_count;
        std::memmove(table.spares, table.spares + 1, table.spare_count * sizeof spare);
    }
    table.spares[table.spare_count++] = spare;
}

bool spare_take(Table &table, std::uint32_t file, std::uint64_t bytes, Spare *spare) {
    for (std::uint32_t i = 0; i < table.spare_count; ++i) {
        const Spare candidate = table.spares[i];
        if (candidate.file != file || candidate.end - candidate.begin < bytes ||
            is_shown(table.files[file], candidate.begin, candidate.end, false))
            continue;
        --table.spare_count;
        std::memmove(table.spares + i, table.spares + i + 1,
                     (table.spare_count - i) * sizeof candidate);
        *spare = candidate;
        return true;
    }
    return false;
}

bool is_held(const Table &table, std::uint64_t begin, std::uint64_t end) {
    if (table.held_too_many) return true;
    for (std::uint32_t i = 0; i < table.held_count; ++i)
        if (table.held[i].begin < end && begin < table.held[i].end) return true;
    return false;
}

void held_add(Table &table, std::uint64_t begin, std::uint64_t end) {
    if (table.held_count == kMostHeld) {
        table.held_too_many = true;
    } else {
        table.held[table.held_count++] = {begin, end};
    }
}

void held_remove(Table &table, std::uint64_t begin, std::uint64_t end) {
    for (std::uint32_t i = 0; i < table.held_count; ++i) {
        if (table.held[i].begin != begin || table.held[i].end != end) continue;
        table.held[i] = table.held[--table.held_count];
        return;
    }
}

void table_forget_all(Table &table) {
    for (RunFile &run_file : table.files) {
        if (run_file.file >= 0) (void)close(run_file.file);
        run_file = RunFile{};
    }
    table.live = 0;
    table.rows_used = 0;
    table.first_free = kNoRun;
    table.held_count = 0;
    table.held_too_many = false;
    table.spare_count = 0;
    (void)pthread_mutex_init(&table.lock, nullptr);
}

}  // namespace sennit::memory::adopt
