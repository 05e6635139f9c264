// The memory limits of the machine and of control groups, read from folders that the test makes.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "memory/file.hpp"

namespace {

namespace fs = std::filesystem;
using sennit::memory::LimitPlaces;
using sennit::memory::memory_check;

constexpr std::uint64_t kMi = 1 << 20;

// A machine of 1024 MiB, 512 MiB of it available, without a control group until a test makes one.
class Limits : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "sennit-limits-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root = name;
        write("meminfo",
              "MemTotal:        1048576 kB\nMemFree:          1 kB\n"
              "MemAvailable:     524288 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    }
    void TearDown() override { fs::remove_all(root); }

    void write(const fs::path &name, const std::string &text) {
        fs::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    }

    sennit_status check(std::uint64_t bytes, bool now) {
        const std::string meminfo = root / "meminfo";
        const std::string own = root / "own";
        const std::string groups = root / "groups";
        return memory_check(bytes, now, LimitPlaces{meminfo.c_str(), own.c_str(), groups.c_str()});
    }

    // Checks the largest size that fits and one byte more, for an empty machine (`all`) and now.
    void expect_bounds(std::uint64_t all, std::uint64_t now) {
        EXPECT_EQ(check(all, false), SENNIT_OK);
        EXPECT_EQ(check(all + 1, false), SENNIT_ERR_NOMEM);
        EXPECT_EQ(check(now, true), SENNIT_OK);
        EXPECT_EQ(check(now + 1, true), SENNIT_ERR_NOMEM);
    }

    fs::path root;
};

}  // namespace

// Broken by reading kB as bytes, or free memory as available memory.
TEST_F(Limits, without_a_group_the_machine_is_the_limit) {
    expect_bounds(1024 * kMi, 512 * kMi);
}

// Broken by ignoring swap.
TEST_F(Limits, swap_counts) {
    write("meminfo",
          "MemTotal: 1024 kB\nMemAvailable: 512 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
    expect_bounds(3 * kMi, 3 * kMi / 2);
}

TEST_F(Limits, unreadable_files_are_no_limit) {
    fs::remove(root / "meminfo");
    EXPECT_EQ(check(UINT64_MAX, true), SENNIT_OK);
}

TEST_F(Limits, the_group_of_the_process_is_the_limit) {
    write("own", "0::/job/step\n");
    write("groups/job/step/memory.max", "104857600\n");
    write("groups/job/step/memory.current", "94371840\n");
    expect_bounds(100 * kMi, 10 * kMi);
}

// Broken by reading only the innermost group.
TEST_F(Limits, a_tighter_group_above_is_the_limit) {
    write("own", "0::/job/step\n");
    write("groups/job/step/memory.max", "max\n");
    write("groups/job/step/memory.current", "1\n");
    write("groups/job/memory.max", "8388608\n");
    write("groups/job/memory.current", "4194304\n");
    expect_bounds(8 * kMi, 4 * kMi);
}

// Broken by taking the group with the smallest limit instead of the one with the least room left.
TEST_F(Limits, a_nearly_full_outer_group_is_the_current_limit) {
    write("own", "0::/job/step\n");
    write("groups/job/step/memory.max", "8388608\n");
    write("groups/job/step/memory.current", "1048576\n");
    write("groups/job/memory.max", "104857600\n");
    write("groups/job/memory.current", "102760448\n");
    expect_bounds(8 * kMi, 2 * kMi);
}

// A container sees its group at the mount point.
TEST_F(Limits, the_group_at_the_mount_point_is_found_when_the_path_is_hidden) {
    write("own", "0::/../../hidden/by/the/container\n");
    write("groups/memory.max", "16777216\n");
    write("groups/memory.current", "0\n");
    expect_bounds(16 * kMi, 16 * kMi);
}

// Version 1 of control groups has a hierarchy for memory, and 9223372036854771712 means no limit.
TEST_F(Limits, groups_of_the_first_version_limit_too) {
    write("own", "9:name=systemd:/\n4:memory:/job\n1:cpu:/\n0::/\n");
    write("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("groups/memory/job/memory.limit_in_bytes", "33554432\n");
    write("groups/memory/job/memory.usage_in_bytes", "33554432\n");
    expect_bounds(32 * kMi, 0);
}

// Broken by a difference that wraps around: more may be in use than the limit allows.
TEST_F(Limits, a_group_beyond_its_limit_has_nothing_left) {
    write("own", "0::/\n");
    write("groups/memory.max", "4096\n");
    write("groups/memory.current", "8192\n");
    expect_bounds(4096, 0);
}
