// The op engine when memory is exhausted. Would break: a call that crashes or hangs instead of
// returning NOMEM, an operation that was recorded and then lost for lack of a piece. Not under a
// sanitizer, whose own memory the limit would hit.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "engine_fixture.hpp"

namespace sennit::test {
namespace {

// From now on the process gets `more` bytes of address space.
void limit_memory(std::size_t more) {
    unsigned long pages = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) _exit(90);
    (void)std::fclose(file);
    const rlimit limit{pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + more,
                       RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(91);
}

TEST_F(EngineTest, without_memory_starting_fails_with_nomem_and_what_was_started_completes) {
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
        // Four pieces each, and no memory for one more: they go on with what they have.
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

}  // namespace
}  // namespace sennit::test
