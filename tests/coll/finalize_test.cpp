// The last barrier of the world, which is a call of its own kind.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include "../engine/job.hpp"

namespace sennit::test {
namespace {

// Broken by a rank that takes another one's sennit_barrier for its sennit_finalize.
TEST(finalize, a_barrier_that_meets_it_is_an_error_of_one_side) {
    Job job(2, "self,inproc");
    sennit_status met = SENNIT_OK;
    job.run(
        [&](int rank) {
            if (rank == 1) job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            if (rank == 0) met = sennit_finalize();
        },
        {SENNIT_ERR_STATE, SENNIT_ERR_PEER_LOST});
    EXPECT_EQ(job.fault, "");
    EXPECT_EQ(met, SENNIT_ERR_ARG);
}

}  // namespace
}  // namespace sennit::test
