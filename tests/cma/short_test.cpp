// Short transfers on the path cma: the kernel moves only a part of a list, and the library must
// continue with the rest. The real kernel moves a part only above 2 GiB, so this program defines
// process_vm_readv and process_vm_writev, which pass on a part of the list.
// Broken by bytes that are skipped or moved twice after a short call.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "transport/cma/batch.hpp"

namespace {

// Maximum bytes of one call; 0: no limit.
std::atomic<std::size_t> most_bytes{0};
std::atomic<int> short_calls{0};

ssize_t pass_on(long call, pid_t process, const iovec *local, std::size_t local_count,
                const iovec *remote, std::size_t remote_count) {
    std::vector<iovec> part(local, local + local_count);
    const std::size_t most = most_bytes;
    std::size_t left = most == 0 ? SIZE_MAX : most;
    for (iovec &entry : part) {
        if (entry.iov_len > left) {
            entry.iov_len = left;
            ++short_calls;
        }
        left -= entry.iov_len;
    }
    return syscall(call, process, part.data(), part.size(), remote, remote_count, 0);
}

}  // namespace

// Replace the C library's functions.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec *local, unsigned long local_count,
                                    const iovec *remote, unsigned long remote_count,
                                    unsigned long) {
    return pass_on(SYS_process_vm_readv, process, local, local_count, remote, remote_count);
}
extern "C" ssize_t process_vm_writev(pid_t process, const iovec *local, unsigned long local_count,
                                     const iovec *remote, unsigned long remote_count,
                                     unsigned long) {
    return pass_on(SYS_process_vm_writev, process, local, local_count, remote, remote_count);
}

namespace sennit::transport {
namespace {

// The address of every byte, in order.
std::vector<std::uintptr_t> bytes_of(const iovec *list, std::size_t count) {
    std::vector<std::uintptr_t> all;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t at = 0; at < list[i].iov_len; ++at)
            all.push_back(reinterpret_cast<std::uintptr_t>(list[i].iov_base) + at);
    return all;
}

// Runs; some continue the run before on one side or both sides.
std::vector<CopyRun> draw_runs(std::mt19937 &random, std::byte *buffer) {
    std::vector<CopyRun> runs(1 + random() % 12);
    std::uint64_t offset = random() % 100;
    std::size_t local = random() % 100;
    for (CopyRun &run : runs) {
        run.offset = offset;
        run.local = buffer + local;
        run.bytes = 1 + random() % 20;
        offset += run.bytes + random() % 2 * (random() % 30);
        local += run.bytes + random() % 2 * (random() % 30);
    }
    return runs;
}

TEST(cma_short, the_rest_of_a_batch_is_the_unmoved_part) {
    constexpr std::uint64_t kBase = 0x10000;
    std::vector<std::byte> buffer(2000);
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const auto runs = draw_runs(random, buffer.data());
        std::vector<std::uintptr_t> local;
        std::vector<std::uintptr_t> remote;
        for (const auto &run : runs) {
            for (std::size_t at = 0; at < run.bytes; ++at) {
                local.push_back(reinterpret_cast<std::uintptr_t>(run.local) + at);
                remote.push_back(kBase + run.offset + at);
            }
        }
        // First drops each possible number of bytes, and then the rest in random steps.
        for (std::size_t first = 0; first <= local.size(); ++first) {
            RunBatch batch;
            ASSERT_EQ(batch.fill(kBase, runs.data(), runs.size()), runs.size());
            std::size_t dropped = first;
            batch.drop(first);
            for (;;) {
                ASSERT_EQ(batch.bytes(), local.size() - dropped) << "seed " << seed;
                const auto at = static_cast<std::ptrdiff_t>(dropped);
                ASSERT_EQ(bytes_of(batch.local(), batch.local_count()),
                          std::vector<std::uintptr_t>(local.begin() + at, local.end()))
                    << "seed " << seed << ", " << dropped << " bytes dropped";
                ASSERT_EQ(bytes_of(batch.remote(), batch.remote_count()),
                          std::vector<std::uintptr_t>(remote.begin() + at, remote.end()))
                    << "seed " << seed << ", " << dropped << " bytes dropped";
                if (dropped == local.size()) break;
                const std::size_t step = 1 + random() % (local.size() - dropped);
                batch.drop(step);
                dropped += step;
            }
        }
    }
}

constexpr std::size_t kBytes = 60000;

// Ordered pieces without overlap on either side; often more than one system call takes.
std::vector<sennit_piece> draw_pieces(std::mt19937 &random) {
    std::vector<sennit_piece> pieces(1 + random() % 700);
    std::int64_t remote = 0;
    std::int64_t local = 0;
    for (sennit_piece &piece : pieces) {
        piece = {remote, local, random() % 64};
        remote += static_cast<std::int64_t>(piece.bytes + random() % 2 * (random() % 20));
        local += static_cast<std::int64_t>(piece.bytes + random() % 2 * (random() % 20));
    }
    return pieces;
}

void fill(std::vector<std::uint8_t> &bytes, std::mt19937 &random) {
    for (std::uint8_t &byte : bytes)
        byte = static_cast<std::uint8_t>(random());
}

// Puts and gets, single and indexed, on memory that only this rank changes.
void transfer(sennit_gptr there, const std::uint8_t *memory) {
    std::mt19937 random(7);
    std::vector<std::uint8_t> mine(kBytes);
    std::vector<std::uint8_t> wanted(memory, memory + kBytes);
    for (int round = 0; round < 25; ++round) {
        most_bytes = 1 + random() % (round % 2 == 0 ? 100 : 10000);
        fill(mine, random);
        const std::vector<sennit_piece> pieces = draw_pieces(random);
        ASSERT_EQ(sennit_put_indexed(there, mine.data(), pieces.size(), pieces.data()), SENNIT_OK)
            << sennit_last_error()->text;
        for (const sennit_piece &piece : pieces)
            std::copy_n(mine.begin() + piece.local_offset, piece.bytes,
                        wanted.begin() + piece.remote_offset);
        const std::size_t bytes = random() % 5000;
        const std::size_t offset = random() % (kBytes - bytes);
        const sennit_gptr place = sennit_gptr_add(there, static_cast<std::int64_t>(offset));
        ASSERT_EQ(sennit_put(place, mine.data(), bytes), SENNIT_OK) << sennit_last_error()->text;
        std::copy_n(mine.begin(), bytes, wanted.begin() + static_cast<std::ptrdiff_t>(offset));
        ASSERT_EQ(std::memcmp(memory, wanted.data(), kBytes), 0) << "round " << round;
        std::vector<std::uint8_t> got(kBytes, 0);
        ASSERT_EQ(sennit_get(got.data(), there, kBytes), SENNIT_OK) << sennit_last_error()->text;
        ASSERT_EQ(got, wanted) << "round " << round;
        std::fill(got.begin(), got.end(), std::uint8_t{0});
        ASSERT_EQ(sennit_get_indexed(got.data(), there, pieces.size(), pieces.data()), SENNIT_OK);
        for (const sennit_piece &piece : pieces)
            ASSERT_TRUE(std::equal(
                got.begin() + piece.local_offset,
                got.begin() + piece.local_offset + static_cast<std::ptrdiff_t>(piece.bytes),
                wanted.begin() + piece.remote_offset))
                << "round " << round;
    }
}

TEST(cma_short, partly_moved_transfers_go_on) {
    std::vector<sennit_bootstrap> bootstraps(2);
    ASSERT_EQ(sennit_bootstrap_inproc_create(2, bootstraps.data()), SENNIT_OK);
    std::atomic<const std::uint8_t *> memory{nullptr};
    const auto rank_main = [&](int rank) {
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.bootstrap = &bootstraps[static_cast<std::size_t>(rank)];
        options.paths = "cma";
        ASSERT_EQ(sennit_init(&options), SENNIT_OK) << sennit_last_error()->text;
        sennit_path path = SENNIT_PATH_NONE;
        EXPECT_EQ(sennit_peer_path(1 - rank, &path), SENNIT_OK);
        EXPECT_EQ(path, SENNIT_PATH_CMA);
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        EXPECT_EQ(sennit_alloc(SENNIT_TEAM_WORLD, kBytes, 0, 0, &gptr), SENNIT_OK);
        if (rank == 1) memory = static_cast<const std::uint8_t *>(sennit_ptr(gptr));
        EXPECT_EQ(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK);
        if (rank == 0) {
            transfer(sennit_gptr_at(gptr, 1), memory);
            most_bytes = 0;
        }
        EXPECT_EQ(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK);
        EXPECT_EQ(sennit_free(gptr), SENNIT_OK);
        EXPECT_EQ(sennit_finalize(), SENNIT_OK);
    };
    std::thread other(rank_main, 1);
    rank_main(0);
    other.join();
    EXPECT_EQ(sennit_bootstrap_inproc_destroy(2, bootstraps.data()), SENNIT_OK);
    EXPECT_GT(short_calls.load(), 500);
}

}  // namespace
}  // namespace sennit::transport
