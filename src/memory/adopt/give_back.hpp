// SPDX-License-Identifier: BSD-3-Clause
// Ends runs: makes their pages private again where the kernel's record still shows them. Called
// with the table's lock held and the thread's signals blocked.
#pragma once

#include "memory/adopt/table.hpp"

namespace sennit::memory::adopt {

// Gives the run back and frees its row. Called when no region uses the run or overlaps it.
void give_back(Table &table, PageRun &run);
// The same, unless a region that stays in place overlaps the run, or the kernel's record cannot be
// read.
void give_back_if_free(Table &table, PageRun &run);
// Called after a region that stayed in place has ended: gives back the runs in its range that no
// other region uses.
void give_back_freed(Table &table, std::uint64_t begin, std::uint64_t end);

// Called if other memory is mapped in the place of the run. Frees the row unless regions use it.
void lose(Table &table, PageRun &run);

}  // namespace sennit::memory::adopt
