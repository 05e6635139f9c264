// Calls that run on a thread for others keep the thread's last error.
#include "base/fail.hpp"

#include <gtest/gtest.h>

namespace {

using sennit::ErrorGuard;
using sennit::fail;
using sennit::thread_error;

TEST(ErrorGuards, an_error_within_a_guard_is_undone_at_its_end) {
    (void)fail(SENNIT_ERR_RANGE, "the program's");
    {
        const ErrorGuard guard;
        (void)fail(SENNIT_ERR_STATE, "first");
        (void)fail(SENNIT_ERR_ARG, "second");
        EXPECT_STREQ(thread_error()->text, "second");
    }
    EXPECT_STREQ(thread_error()->text, "the program's");
    EXPECT_EQ(thread_error()->status, SENNIT_ERR_RANGE);
}

TEST(ErrorGuards, nested_guards_restore_their_first_errors) {
    (void)fail(SENNIT_ERR_RANGE, "the program's");
    {
        const ErrorGuard outer;
        { const ErrorGuard early; }
        (void)fail(SENNIT_ERR_STATE, "outer");
        {
            const ErrorGuard inner;
            (void)fail(SENNIT_ERR_ARG, "inner");
        }
        EXPECT_STREQ(thread_error()->text, "outer");
    }
    EXPECT_STREQ(thread_error()->text, "the program's");
}

TEST(ErrorGuards, an_error_after_a_guard_stays) {
    { const ErrorGuard guard; }
    (void)fail(SENNIT_ERR_ARG, "after");
    EXPECT_STREQ(thread_error()->text, "after");
}

// Broken by an error report that names its own call after a death and forgets the lost peer.
TEST(ErrorReports, a_lost_peer_reported_again_is_still_named) {
    (void)sennit::fail_peer(SENNIT_ERR_PEER_LOST, 3, "mapped", "rank 3 has ended");
    (void)sennit_error_report(SENNIT_ERR_PEER_LOST, "a_header", "rank 3 has ended", 0);
    EXPECT_STREQ(thread_error()->operation, "a_header");
    EXPECT_EQ(thread_error()->peer, 3);
    EXPECT_STREQ(thread_error()->path, "mapped");
    (void)sennit_error_report(SENNIT_ERR_RANGE, "a_header", "another error", 0);
    EXPECT_EQ(thread_error()->peer, -1);
}

}  // namespace
