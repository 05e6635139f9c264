// The op engine without free memory. Broken by a call that crashes or hangs instead of returning
// SENNIT_ERR_NOMEM, or by a recorded operation that is lost because a piece has no memory. Not
// under a sanitizer, whose own memory the limit would hit.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine_fixture.hpp"

namespace sennit::test {
namespace {

// Allows the process only `more` bytes of additional address space.
void limit_memory(std::size_t more) {
    unsigned long pages = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) _exit(90);
    (void)std::fclose(file);
    const rlimit limit{pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + more,
                       RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(91);
}

TEST_F(EngineTest, a_start_without_memory_fails_and_earlier_operations_complete) {
    start();
    fake.room = 0;
    fake.seen.reserve(2'000'000);
    std::vector<sennit_request> requests(2'000'000);
    (void)source();
    const auto child = [&] {
        limit_memory(std::size_t{8} << 20);
        std::size_t count = 0;
        sennit_status status = SENNIT_OK;
        while (status == SENNIT_OK && count < requests.size()) {
            status = op::engine_start(rank(), Direction::put, to(1), source(), 4096,
                                      {op::Completion::Mode::request, &requests[count]});
            if (status == SENNIT_OK) ++count;
        }
        if (status != SENNIT_ERR_NOMEM) _exit(1);
        if (count < 1000) _exit(2);
        // Four pieces each, and no memory for another: the operations continue with the existing
        // pieces.
        fake.room = 4;
        fake.complete_in_progress = true;
        for (std::size_t i = 0; i < count; ++i) {
            int done = 0;
            while (done == 0)
                if (op::engine_test(rank(), requests[i], true, &done) != SENNIT_OK) _exit(3);
        }
        _exit(op::engine_check(*rank().engine) == nullptr ? 0 : 4);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

// Broken by a task that is executed although its answer cannot be kept: a repetition would execute
// it again; and by a repetition that is executed once there is memory.
TEST_F(EngineTest, without_memory_for_its_reply_a_task_is_refused_and_changes_nothing) {
    start();
    const auto child = [&] {
        static std::uint64_t words[64] = {};
        static std::uint64_t ones[64];
        static std::uint64_t reply[64];
        const auto arrive = [&](int from, std::uint64_t sequence, std::uint32_t count) {
            const auto bytes = static_cast<std::uint16_t>(count * 8);
            const transport::Task task{sequence,   count,         bytes, bytes,
                                       SENNIT_SUM, SENNIT_UINT64, 0,     {}};
            return op::engine_execute(
                &rank(),
                transport::Arrived{from, &task, nullptr, reinterpret_cast<std::byte *>(words),
                                   bytes, reinterpret_cast<const std::byte *>(ones),
                                   reinterpret_cast<std::byte *>(reply)});
        };
        for (std::uint64_t &one : ones)
            one = 1;
        if (arrive(1, 1, 1) != SENNIT_OK) _exit(1);
        limit_memory(0);
        // Takes the free memory that malloc has kept.
        static void *kept = nullptr;
        for (const std::size_t bytes : {std::size_t{4096}, std::size_t{512}})
            while (void *const piece = std::malloc(bytes)) {
                std::memcpy(piece, &kept, sizeof kept);
                kept = piece;
            }
        if (arrive(1, 2, 64) != SENNIT_ERR_NOMEM) _exit(2);
        if (arrive(2, 1, 1) != SENNIT_ERR_NOMEM) _exit(3);
        if (words[0] != 1 || words[1] != 0) _exit(4);
        // A task with a short reply needs no memory.
        if (arrive(1, 3, 1) != SENNIT_OK || words[0] != 2) _exit(5);
        // The sender has reported the failure: with memory again, a repetition changes nothing.
        while (kept != nullptr) {
            void *const piece = kept;
            std::memcpy(&kept, piece, sizeof kept);
            std::free(piece);
        }
        if (arrive(1, 2, 64) != SENNIT_ERR_NOMEM || words[1] != 0) _exit(6);
        if (arrive(1, 4, 64) != SENNIT_OK || words[1] != 1) _exit(7);
        _exit(0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sennit::test
