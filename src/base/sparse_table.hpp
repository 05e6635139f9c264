// SPDX-License-Identifier: BSD-3-Clause
// A table indexed by number, whose rows are mostly unused, such as the peers of a rank in a large
// job. Only pages with used rows take memory. make() allocates nothing and cannot fail: the kernel
// provides a page at the first store to it. Rows do not move and stay until the end of the table.
// One owner, no lock.
//
// A Row has a default constructor and `bool is_used = true`; unused rows are zeros.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "base/invariant.hpp"
#include "base/zero_pages.hpp"

namespace sennit {

template <class Row>
class SparseTable {
    // The user frees what a row owns before the end of the table.
    static_assert(std::is_trivially_destructible_v<Row> && alignof(Row) >= alignof(int));

  public:
    SparseTable() = default;
    ~SparseTable() { free_zero_pages(rows_, bytes_); }
    SparseTable(const SparseTable &) = delete;
    SparseTable &operator=(const SparseTable &) = delete;

    // For the numbers 0 to size - 1. Called once. False: no memory.
    bool open(std::size_t size) {
        bytes_ = size * (sizeof(Row) + sizeof(int));
        rows_ = static_cast<Row *>(zero_pages(bytes_));
        used_ = reinterpret_cast<int *>(rows_ + size);
        return rows_ != nullptr;
    }

    // A used row.
    Row &operator[](int number) const {
        SENNIT_INVARIANT(rows_[number].is_used);
        return rows_[number];
    }
    // Null if the row is not used.
    Row *find(int number) const { return rows_[number].is_used ? rows_ + number : nullptr; }
    // Makes an unused row.
    Row &make(int number) {
        SENNIT_INVARIANT(!rows_[number].is_used);
        used_[used_count_++] = number;
        return *new (rows_ + number) Row;
    }
    // The numbers of all used rows, in the order of their first use.
    std::span<const int> used() const { return {used_, used_count_}; }

  private:
    Row *rows_ = nullptr;  // [size]
    int *used_ = nullptr;  // [size], after the rows
    std::size_t used_count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace sennit
