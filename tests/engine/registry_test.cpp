// A table of transports with a path that no build uses by default, and with an error: the template
// in another path's place.
#include <gtest/gtest.h>

#include <string>

#include "base/invariant.hpp"
#include "program.hpp"
#include "transport/template/template.hpp"

// The linker finds this table before the library's.
namespace sennit::transport {
const Maker kMakers[] = {
    {SENNIT_PATH_SIM, true, make_template},
    {SENNIT_PATH_MPI, false, make_template},  // the error: traits() has the number of sim
    {SENNIT_PATH_NONE, false, nullptr},
};
}  // namespace sennit::transport

namespace sennit::test {
namespace {

// Broken by a reason that blames SENNIT_PATHS, which is not set.
TEST(registry, a_path_not_taken_by_default_has_a_hint_how_to_take_it) {
    Job job(2, "");
    job.run([&](int rank) {
        char text[200] = "";
        job.expect(sennit_peer_path_reason(1 - rank, SENNIT_PATH_MPI, text, sizeof text), "reason");
        if (std::string(text) != "only if SENNIT_PATHS or the options of init name it")
            job.note(text);
    });
    EXPECT_EQ(job.fault, "");
}

// Broken by a list of names that differs from the table.
TEST(registry, an_unknown_path_is_refused_with_the_names_of_this_build) {
    sennit_bootstrap bootstrap;
    ASSERT_EQ(sennit_bootstrap_inproc_create(1, &bootstrap), SENNIT_OK);
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.bootstrap = &bootstrap;
    options.paths = "self,teleport";
    EXPECT_EQ(sennit_init(&options), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text,
                 "'teleport' in SENNIT_PATHS is no path; this build has self, sim, mpi");
    EXPECT_EQ(sennit_bootstrap_inproc_destroy(1, &bootstrap), SENNIT_OK);
}

// Broken by a second transport of a path: peers would be attached by one and detached by the other.
TEST(registry, a_path_that_is_named_twice_is_refused) {
    sennit_bootstrap bootstrap;
    ASSERT_EQ(sennit_bootstrap_inproc_create(1, &bootstrap), SENNIT_OK);
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.bootstrap = &bootstrap;
    options.paths = "self,sim,sim";
    EXPECT_EQ(sennit_init(&options), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text, "the path sim is in SENNIT_PATHS twice");
    EXPECT_EQ(sennit_bootstrap_inproc_destroy(1, &bootstrap), SENNIT_OK);
}

// Broken by a copied transport that still has its model's name and number.
TEST(registry, different_paths_in_a_table_and_in_traits_are_found) {
    if constexpr (kChecksInvariants) {
        EXPECT_DEATH(
            {
                sennit_bootstrap bootstrap;
                (void)sennit_bootstrap_inproc_create(1, &bootstrap);
                sennit_options options = SENNIT_OPTIONS_INIT;
                options.bootstrap = &bootstrap;
                options.paths = "mpi";
                (void)sennit_init(&options);
            },
            "broken invariant: maker.path == made->traits\\(\\).path");
    }
}

}  // namespace
}  // namespace sennit::test
