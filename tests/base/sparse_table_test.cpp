// A table takes memory only for its used rows.
#include "base/sparse_table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace sennit {
namespace {

struct Line {
    std::uint64_t value = 7;
    void *owned = nullptr;
    bool is_used = true;
    char more[256 - 17] = {};
};
static_assert(sizeof(Line) == 256);

std::vector<int> listed(const SparseTable<Line> &table) {
    return {table.used().begin(), table.used().end()};
}

// Broken by a row that is not made, is made twice, or is missed by a loop over those in use.
TEST(sparse_table, a_row_is_made_at_its_first_use_and_is_listed_in_that_order) {
    SparseTable<Line> table;
    ASSERT_TRUE(table.open(1000));
    EXPECT_TRUE(table.used().empty());
    for (const int number : {999, 0, 500}) {
        EXPECT_EQ(table.find(number), nullptr);
        Line &made = table.make(number);
        EXPECT_EQ(made.value, 7u);
        made.value = static_cast<std::uint64_t>(number) + 1;
        EXPECT_EQ(table.find(number), &made);
        EXPECT_EQ(&table[number], &made);
    }
    EXPECT_EQ(table.find(1), nullptr);
    EXPECT_EQ(listed(table), (std::vector<int>{999, 0, 500}));
    for (const int number : table.used())
        EXPECT_EQ(table[number].value, static_cast<std::uint64_t>(number) + 1);
}

// A loop over the rows may create other rows.
TEST(sparse_table, a_list_of_used_rows_stays_good_while_others_are_made) {
    SparseTable<Line> table;
    ASSERT_TRUE(table.open(1000));
    (void)table.make(3);
    (void)table.make(4);
    int seen = 0;
    for (const int number : table.used()) {
        EXPECT_EQ(number, 3 + seen++);
        (void)table.make(100 + number);
    }
    EXPECT_EQ(seen, 2);
    EXPECT_EQ(listed(table), (std::vector<int>{3, 4, 103, 104}));
}

TEST(sparse_table, all_rows_may_be_used) {
    SparseTable<Line> table;
    constexpr int kSize = 100;
    ASSERT_TRUE(table.open(kSize));
    for (int number = kSize; number-- > 0;)
        table.make(number).value = static_cast<std::uint64_t>(number);
    EXPECT_EQ(table.used().size(), std::size_t{kSize});
    for (int number = 0; number < kSize; ++number)
        EXPECT_EQ(table[number].value, static_cast<std::uint64_t>(number));
}

// Resident kilobytes of the mapping that contains the address; -1: not found.
long resident_kb(const void *address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::FILE *const file = std::fopen("/proc/self/smaps", "r");
    if (file == nullptr) return -1;
    char line[256];
    bool is_here = false;
    long found = -1;
    while (found < 0 && std::fgets(line, sizeof line, file) != nullptr) {
        unsigned long begin = 0;
        unsigned long end = 0;
        if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_here = begin <= wanted && wanted < end;
        else if (is_here)
            (void)std::sscanf(line, "Rss: %ld kB", &found);
    }
    (void)std::fclose(file);
    return found;
}

// Broken by a table that is cleared when it is opened, by huge pages, and by reads that write.
TEST(sparse_table, only_used_rows_take_memory) {
    constexpr int kSize = 400'000;  // 100 MB
    SparseTable<Line> table;
    ASSERT_TRUE(table.open(kSize));
    for (const int number : {5, 123'456, 399'999})
        table.make(number).value = 1;
    int unused = 0;
    for (int number = 0; number < kSize; number += 1000)
        unused += table.find(number) == nullptr ? 1 : 0;
    EXPECT_EQ(unused, 400);
    // One page for each row, and one for the list.
    const long page_kb = sysconf(_SC_PAGESIZE) / 1024;
    const long taken = resident_kb(&table[5]);
    EXPECT_GE(taken, 3 * page_kb);
    EXPECT_LE(taken, 4 * page_kb);
}

TEST(sparse_table, a_table_that_finds_no_memory_says_so) {
    SparseTable<Line> table;
    EXPECT_FALSE(table.open(std::size_t{1} << 50));
}

}  // namespace
}  // namespace sennit
