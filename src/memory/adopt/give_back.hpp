// SPDX-License-Identifier: BSD-3-Clause
// The end of runs: their pages become private again, wherever the kernel still shows them. Called
// with the table's lock held and the thread's signals blocked.
#pragma once

#include "memory/adopt/table.hpp"

namespace sennit::memory::adopt {

// No region counts on the run any more, and none is copied there. The row is forgotten.
void give_back(Table &table, PageRun &run);
// The same if no region that stays where it is has a byte of it.
void give_back_if_free(Table &table, PageRun &run);
// Such a region has gone: what waited for it goes back.
void give_back_freed(Table &table, std::uint64_t begin, std::uint64_t end);

// The kernel shows something else where the run was. Its regions keep the row.
void lose(Table &table, PageRun &run);

}  // namespace sennit::memory::adopt
