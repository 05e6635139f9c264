// SPDX-License-Identifier: BSD-3-Clause
// The runs of the process: which pages lie in the memory file of which rank, and how many regions
// count on it. Owns the one table of the address space (part of the process object: ranks are
// threads and may register the same pages). Guarded by one lock, taken after a rank's cold mutex.
//
// Invariants: runs that are not lost do not overlap; a row lives while a region counts on it or its
// pages are still in a file; nothing is allocated by malloc while the lock is held, so that fork,
// which waits for the lock, may hold an allocator's.
#pragma once

#include <cstdint>

#include "base/mutex.hpp"
#include "memory/adopt/kernel_record.hpp"
#include "rank/rank.hpp"

namespace sennit::memory::adopt {

inline constexpr std::uint32_t kMostRuns = 65536;
inline constexpr std::uint32_t kMostHeld = 65536;
inline constexpr std::uint32_t kMostFiles = 128;
inline constexpr std::uint32_t kMostSpares = 256;
inline constexpr std::uint32_t kNoRun = UINT32_MAX;

// The end of memory files, as far as adoption uses them.
inline constexpr std::uint64_t kFileEnd = std::uint64_t{1} << 61;

// A memory file that has runs, or had: until its rank has left and the last of them has gone.
struct RunFile {
    int file = -1;  // a descriptor of the table's own
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint32_t runs = 0;
    bool abandoned = false;  // some mapping may show it without a run: the file is kept
    bool has_left = false;   // its rank
};

// A slot that was given back.
struct Spare {
    std::uint32_t file;
    std::uint64_t begin;
    std::uint64_t end;
};

struct PageRun {
    std::uint64_t address;  // of the first page
    std::uint64_t bytes;    // whole pages
    std::uint64_t file_offset;
    std::uint64_t slot_begin;  // in the file, at or before file_offset
    std::uint64_t slot_end;    // room for a realloc up to there
    std::uint32_t references;  // of regions
    std::uint32_t file;        // index
    std::uint32_t next_free;
    bool on_stack;
    bool lost;  // the kernel shows something else there: found no more, touched no more
};

struct Table {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    PageRun *runs = nullptr;            // [kMostRuns], rows
    std::uint32_t *in_order = nullptr;  // rows of runs that are not lost, by address
    std::uint32_t live = 0;
    std::uint32_t rows_used = 0;
    std::uint32_t first_free = kNoRun;
    // Pages of regions that stay where they are; they may overlap. More than there is room for:
    // nothing moves any more.
    struct Held {
        std::uint64_t begin;
        std::uint64_t end;
    } *held = nullptr;  // [kMostHeld]
    std::uint32_t held_count = 0;
    bool held_too_many = false;
    bool stacks_are_cut = false;  // memory on a stack was moved once
    RunFile files[kMostFiles];
    // The last ones, the oldest first. Used only when the file is at its end.
    Spare spares[kMostSpares];
    std::uint32_t spare_count = 0;
    std::uint64_t file_end = kFileEnd;  // a test lowers it
};

// The table of the process, its arrays made on the first use. Null: no memory for them.
Table *table_open();
// The same if it was ever made.
Table *table_if_open();

// All of what follows needs the lock.

// The run that holds the address, or null; and the lowest address of a run above it, or UINT64_MAX.
PageRun *run_at(Table &table, std::uint64_t address, std::uint64_t *next);
// A new row in the order. Null: the table is full.
PageRun *run_add(Table &table, const PageRun &run);
// Takes it out of the order. The row stays.
void run_hide(Table &table, PageRun &run);
// The row may serve again; it is hidden already.
void run_forget(Table &table, PageRun &run);
std::uint32_t run_row(const Table &table, const PageRun &run);

// Does the kernel's record agree that the pages of the range are the run's?
bool run_is_there(const Table &table, const PageRun &run, KernelRecord &record, std::uint64_t begin,
                  std::uint64_t end);
// Is the mapping the run's at that address of its?
bool shows_run(const Table &table, const PageRun &run, const Mapping &mapping,
               std::uint64_t address);

// The entry of the rank's memory file. Null: it never had a run.
RunFile *file_known(Table &table, const Rank &rank);
// The same, made if needed. Null: the table is full, or no descriptor is to be had.
RunFile *file_of(Table &table, const Rank &rank);
// Closes it if nothing of it is left.
void file_settle(Table &table, RunFile &file);
// Adopted memory, or what may show it, is there: a fork has to be watched.
bool has_adopted(const Table &table);

void spare_add(Table &table, const Spare &spare);
// The oldest that is long enough and that no mapping of the process shows. False: there is none.
bool spare_take(Table &table, std::uint32_t file, std::uint64_t bytes, Spare *spare);
// Does a mapping of the process show the file there, or is that not known? `shared_only`: to
// others.
bool is_shown(const RunFile &file, std::uint64_t begin, std::uint64_t end, bool shared_only);

bool is_held(const Table &table, std::uint64_t begin, std::uint64_t end);
void held_add(Table &table, std::uint64_t begin, std::uint64_t end);
void held_remove(Table &table, std::uint64_t begin, std::uint64_t end);

// Empties it in a child of fork, where its lock is anew.
void table_forget_all(Table &table);

}  // namespace sennit::memory::adopt
