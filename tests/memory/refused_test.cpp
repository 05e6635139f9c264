// Segments that a network refuses when they are published.
#include <sennit/sennit.h>
#include <sys/mman.h>

#include <cerrno>

#include "../engine/job.hpp"
#include "memory/file.hpp"

namespace sennit::test {
namespace {

std::uint64_t refused_address = 0;

sennit_status refuse(void *, const SegmentRecord &record, std::uint32_t) {
    refused_address = record.owner_address;
    return fail(SENNIT_ERR_FABRIC, "refused by the test");
}

// Broken by unmapping a segment inside a window of the memory file separately: the next user of
// its addresses would lose them when the window is unmapped.
TEST(refused_segments, addresses_of_a_refused_segment_stay_with_their_window) {
    Job job(1, "self");
    job.run([&](int) {
        Rank &rank = *current_rank();
        rank.segment_watch = {refuse, nullptr, nullptr};
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        if (sennit_alloc_local(4096, 0, 0, &gptr) != SENNIT_ERR_FABRIC) job.note("no refusal");
        rank.segment_watch = {};
        void *const taken =
            mmap(reinterpret_cast<void *>(refused_address), memory::page_bytes(), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (taken != MAP_FAILED || errno != EEXIST) job.note("the addresses are free");
        job.expect(sennit_alloc_local(4096, 0, 0, &gptr), "the next alloc_local");
        job.expect(sennit_free(gptr), "free");
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
