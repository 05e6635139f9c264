// A table of transports with a path that is not taken by default.
#include <gtest/gtest.h>

#include <string>

#include "program.hpp"
#include "transport/template/template.hpp"

// Found by the linker before the table in the library.
namespace sennit::transport {
const Maker kMakers[] = {
    {SENNIT_PATH_SIM, true, make_template},
    {SENNIT_PATH_MPI, false, make_template},  // not by default
    {SENNIT_PATH_NONE, false, nullptr},
};
}  // namespace sennit::transport

namespace sennit::test {
namespace {

// Broken by a reason that blames SENNIT_PATHS, which is not set.
TEST(registry, a_path_that_is_not_taken_by_default_says_how_to_take_it) {
    Job job(2, "");
    job.run([&](int rank) {
        char text[200] = "";
        job.expect(sennit_peer_path_reason(1 - rank, SENNIT_PATH_MPI, text, sizeof text), "reason");
        if (std::string(text) != "only if SENNIT_PATHS or the options of init name it")
            job.note(text);
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
