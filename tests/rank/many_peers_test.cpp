// The memory that a rank keeps for each other rank of its job. A rank is started with the cards of
// a large job; all other ranks are made up: 128 per node, none on this rank's node. Broken by a
// table of all ranks in each rank.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "rank/life/start_state.hpp"

namespace sennit::test {
namespace {

constexpr int kOfNode = 128;

struct MadeUpJob {
    int size = 0;

    // All other ranks send the same as this rank, except for their identity and place.
    static int allgather(void *context, const void *mine, void *all, std::size_t bytes,
                         std::int64_t) {
        const int size = static_cast<MadeUpJob *>(context)->size;
        auto *const rows = static_cast<std::byte *>(all);
        for (int r = 0; r < size; ++r)
            std::memcpy(rows + static_cast<std::size_t>(r) * bytes, mine, bytes);
        if (bytes != sizeof(life::Introduction)) return 0;
        for (int r = 1; r < size; ++r) {
            std::byte *const row = rows + static_cast<std::size_t>(r) * bytes;
            life::Introduction other;
            std::memcpy(&other, row, bytes);
            other.card.rank = r;
            other.card.process_id = r + 1;
            other.card.node[0] = other.card.kernel =
                ~(other.card.node[0] + static_cast<std::uint64_t>((r - 1) / kOfNode));
            ++other.card.process_cookie;
            std::memcpy(row, &other, bytes);
        }
        return 0;
    }
};

// In KiB.
long anonymous_memory() {
    std::FILE *const file = std::fopen("/proc/self/smaps_rollup", "r");
    if (file == nullptr) return -1;
    char line[256];
    long found = -1;
    while (found < 0 && std::fgets(line, sizeof line, file) != nullptr)
        (void)std::sscanf(line, "Anonymous: %ld", &found);
    (void)std::fclose(file);
    return found;
}

// The memory in KiB that remains after the start of a rank in a job of that size. Uses a separate
// process.
long memory_of_rank(int size) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        MadeUpJob job{size};
        const sennit_bootstrap bootstrap{sizeof(sennit_bootstrap),
                                         "made up",
                                         &job,
                                         0,
                                         size,
                                         MadeUpJob::allgather,
                                         [](void *, std::int64_t) { return 0; },
                                         nullptr};
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.bootstrap = &bootstrap;
        options.paths = "self,mapped";
        const long before = anonymous_memory();
        long kept = -1;
        if (sennit_init(&options) == SENNIT_OK) {
            kept = anonymous_memory() - before;
            if (sennit_finalize() != SENNIT_OK) kept = -2;
        } else {
            std::fprintf(stderr, "%s\n", sennit_last_error()->text);
        }
        _exit(write(ends[1], &kept, sizeof kept) == sizeof kept ? 0 : 1);
    }
    (void)close(ends[1]);
    long kept = -3;
    if (read(ends[0], &kept, sizeof kept) != sizeof kept) kept = -4;
    (void)close(ends[0]);
    (void)waitpid(child, nullptr, 0);
    return kept;
}

TEST(ManyPeers, a_rank_keeps_few_bytes_of_each_rank_of_another_node) {
    constexpr int kFew = 1 + 8 * kOfNode;
    constexpr int kMany = 1 + 780 * kOfNode;
    const long few = memory_of_rank(kFew);
    const long many = memory_of_rank(kMany);
    ASSERT_GT(few, 0);
    ASSERT_GT(many, 0);
    const double each = static_cast<double>(many - few) * 1024 / (kMany - kFew);
    std::printf("%ld KiB with %d ranks, %ld KiB with %d: %.1f bytes of each\n", few, kFew, many,
                kMany, each);
    EXPECT_LT(each, 26);
}

}  // namespace
}  // namespace sennit::test
