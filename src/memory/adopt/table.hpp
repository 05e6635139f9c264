// SPDX-License-Identifier: BSD-3-Clause
// The table of runs. A run is a range of whole pages that moved into a rank's memory file. Its slot
// is the range of the file that is reserved for it. Its row in the table counts the regions that
// use it. There is one table per address space, because ranks that are threads may register the
// same pages. One lock guards it, taken after a rank's cold mutex (Rank::cold).
//
// Invariants: runs do not overlap, except lost ones, in whose place other memory is mapped. A row
// exists while a region uses its run or the run's pages are in a file. Nothing calls malloc while
// the lock is held: a fork that waits for this lock may hold an allocator's lock.
#pragma once

#include <cstdint>

#include "base/mutex.hpp"
#include "memory/adopt/kernel_record.hpp"
#include "memory/refusal.hpp"
#include "rank/rank.hpp"

namespace sennit::memory::adopt {

inline constexpr std::uint32_t kMostRuns = 65536;
inline constexpr std::uint32_t kMostHeld = 65536;
inline constexpr std::uint32_t kMostFiles = 128;
inline constexpr std::uint32_t kMostSpares = 256;
inline constexpr std::uint32_t kNoRun = UINT32_MAX;

// Adoption uses a memory file up to this offset.
inline constexpr std::uint64_t kFileEnd = std::uint64_t{1} << 61;

// A memory file with present or past runs. Closed when its rank has left and its last run has
// ended, unless `abandoned`.
struct RunFile {
    int file = -1;  // the table's own descriptor
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint32_t runs = 0;
    bool abandoned = false;  // memory without a run may still be mapped: the file is never closed
    bool has_left = false;   // its rank has left
};

// A free slot of a former run.
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
    std::uint64_t slot_end;    // realloc may grow the memory up to there
    std::uint32_t references;  // number of regions that use the run
    std::uint32_t file;        // index into Table::files
    std::uint32_t next_free;
    bool on_stack;
    bool lost;  // other memory is mapped there: not found or touched any more
};

struct Table {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    PageRun *runs = nullptr;            // [kMostRuns], rows
    std::uint32_t *in_order = nullptr;  // rows of runs that are not lost, by address
    std::uint32_t live = 0;
    std::uint32_t rows_used = 0;
    std::uint32_t first_free = kNoRun;
    // Regions that stay in place; they may overlap. Once the list was full (`held_too_many`), no
    // memory moves any more.
    struct Held {
        std::uint64_t begin;
        std::uint64_t end;
    } *held = nullptr;  // [kMostHeld]
    std::uint32_t held_count = 0;
    bool held_too_many = false;
    bool stacks_are_cut = false;  // stack memory was moved before
    RunFile files[kMostFiles];
    // The latest free slots, the oldest first. Reused only when the file has reached `file_end`.
    Spare spares[kMostSpares];
    std::uint32_t spare_count = 0;
    std::uint64_t file_end = kFileEnd;  // a test lowers it
};

// The table of the process; the first call makes its arrays. Null: no memory for them.
Table *table_open();
// The table if its arrays exist, else null.
Table *table_if_open();

// The following need the lock.

// The run at the address, or null; *next: the lowest address of a run above it, or UINT64_MAX.
PageRun *run_at(Table &table, std::uint64_t address, std::uint64_t *next);
// Adds a row and enters it in Table::in_order. Null: the table is full.
PageRun *run_add(Table &table, const PageRun &run);
// Removes the run from Table::in_order. The row stays.
void run_hide(Table &table, PageRun &run);
// Frees the row; the run is already hidden.
void run_forget(Table &table, PageRun &run);
std::uint32_t run_row(const Table &table, const PageRun &run);

// Whether the kernel's record confirms that the pages of the range are the run's.
bool run_is_there(const Table &table, const PageRun &run, KernelRecord &record, std::uint64_t begin,
                  std::uint64_t end);
// Whether the mapping has the run's page at that address.
bool shows_run(const Table &table, const PageRun &run, const Mapping &mapping,
               std::uint64_t address);

// The entry of the rank's memory file. Null: the table has none.
RunFile *file_known(Table &table, const Rank &rank);
// Returns the entry in *file. If it is missing, adds one with a descriptor of its own.
Refused file_of(Table &table, const Rank &rank, RunFile **file);
// Closes the file if its rank and its last run have ended, and it is not abandoned.
void file_settle(Table &table, RunFile &file);
// Whether the process may have adopted memory, which a forked child must copy.
bool has_adopted(const Table &table);

void spare_add(Table &table, const Spare &spare);
// Takes the oldest free slot that is long enough and not mapped in the process. False: none.
bool spare_take(Table &table, std::uint32_t file, std::uint64_t bytes, Spare *spare);
// Whether the process maps a part of that range of the file; true if unknown. `shared_only`: only
// shared mappings count.
bool is_shown(const RunFile &file, std::uint64_t begin, std::uint64_t end, bool shared_only);

bool is_held(const Table &table, std::uint64_t begin, std::uint64_t end);
void held_add(Table &table, std::uint64_t begin, std::uint64_t end);
void held_remove(Table &table, std::uint64_t begin, std::uint64_t end);

// Called in a child of fork: empties the table and makes its lock anew.
void table_forget_all(Table &table);

}  // namespace sennit::memory::adopt
