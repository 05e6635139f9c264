// Posts of a rank that gives up its team's collective calls. A member may have seen the number of
// an earlier post and be about to copy that post's payload.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cstring>

#include "coll/state.hpp"
#include "rank/process.hpp"

namespace sennit::test {
namespace {

using namespace sennit::coll;

// Broken by a reason that is written over the payload of a tiny post: the member would take the
// reason for the data of a broadcast that returned SENNIT_OK at its root.
TEST(Posts, a_rank_that_gives_up_keeps_the_payload_of_its_posts) {
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    char word[8] = "";
    ASSERT_EQ(sennit_broadcast(SENNIT_TEAM_WORLD, 0, word, sizeof word, SENNIT_FOREVER), SENNIT_OK);
    TeamState *state = current_rank()->collectives->states;
    ASSERT_NE(state, nullptr);
    const auto payload_of_post = [&](std::uint64_t number, SlotSize size) {
        return payload_at(*state->own, {number, size});
    };
    for (const SlotSize size : kSlotSizes)
        for (std::uint64_t i = 0; i < shape_of(size).slots; ++i)
            std::memset(payload_of_post(i, size), 'a', kTinyPayloadBytes);
    (void)sennit_signal_destroy(SENNIT_SIGNAL_NULL);  // sets the thread's last error, the reason
    give_up(*state, SENNIT_ERR_TIMEOUT);
    char wanted[kTinyPayloadBytes];
    std::memset(wanted, 'a', sizeof wanted);
    for (const SlotSize size : kSlotSizes) {
        for (std::uint64_t i = 0; i < shape_of(size).slots; ++i) {
            EXPECT_EQ(std::memcmp(payload_of_post(i, size), wanted, sizeof wanted), 0);
            // relaxed: written by this thread.
            EXPECT_EQ(header_at(*state->own, {i, size}).number.load(std::memory_order_relaxed),
                      kGaveUp);
        }
    }
    (void)sennit_finalize();
}

}  // namespace
}  // namespace sennit::test
