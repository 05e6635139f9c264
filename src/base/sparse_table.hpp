// SPDX-License-Identifier: BSD-3-Clause
// A table by number, most of whose rows are never used: of the peers of a rank in a job of many. A
// row is made at its first use, and only pages in which such rows lie take memory. Making one
// allocates nothing and does not fail: the kernel gives the page with the first store. Rows do not
// move, and stay until the end of the table. One owner, no lock.
//
// A Row is made without arguments and has `bool is_used = true`: what is there before is zeros.
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
    // What a row owns its user gives back before.
    static_assert(std::is_trivially_destructible_v<Row> && alignof(Row) >= alignof(int));

  public:
    SparseTable() = default;
    ~SparseTable() { free_zero_pages(rows_, bytes_); }
    SparseTable(const SparseTable &) = delete;
    SparseTable &operator=(const SparseTable &) = delete;

    // For the numbers from 0 to size - 1; once. False: no memory.
    bool open(std::size_t size) {
        bytes_ = size * (sizeof(Row) + sizeof(int));
        rows_ = static_cast<Row *>(zero_pages(bytes_));
        used_ = reinterpret_cast<int *>(rows_ + size);
        return rows_ != nullptr;
    }

    // One that is used.
    Row &operator[](int number) const {
        SENNIT_INVARIANT(rows_[number].is_used);
        return rows_[number];
    }
    // Null: it is not used.
    Row *find(int number) const { return rows_[number].is_used ? rows_ + number : nullptr; }
    // One that is not used yet.
    Row &make(int number) {
        SENNIT_INVARIANT(!rows_[number].is_used);
        used_[used_count_++] = number;
        return *new (rows_ + number) Row;
    }
    // The numbers of the rows that are used now, in the order of their first uses.
    std::span<const int> used() const { return {used_, used_count_}; }

  private:
    Row *rows_ = nullptr;  // [size]
    int *used_ = nullptr;  // [size], behind the rows
    std::size_t used_count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace sennit
