// One rank with an engine over a fake transport to two peers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_transport.hpp"
#include "op/engine_state.hpp"
#include "ranks.hpp"
#include "runtime/wait.hpp"

namespace sennit::test {

using op::Direction;

inline constexpr std::int64_t kShort = 20'000'000;

class EngineTest : public testing::Test {
  protected:
    EngineTest() : ranks(3), fake(kBytes) {
        for (int peer = 1; peer < 3; ++peer)
            rank().peers[peer].transport = &fake;
    }
    ~EngineTest() override {
        op::engine_destroy(rank(), Deadline::after(0));
        fake.close(Deadline::never());
    }

    Rank &rank() { return ranks[0]; }
    void start() { ASSERT_EQ(op::engine_create(rank()), SENNIT_OK); }

    op::Target to(int peer, std::uint64_t offset = 0) { return {peer, {nullptr, 1}, offset}; }

    sennit_request put_nb(int peer, std::uint64_t offset, std::size_t bytes) {
        sennit_request request{};
        EXPECT_EQ(op::engine_start(rank(), Direction::put, to(peer, offset), source(offset), bytes,
                                   {op::Completion::Mode::request, &request}),
                  SENNIT_OK);
        return request;
    }
    sennit_status put_nbi(int peer, std::uint64_t offset, std::size_t bytes) {
        return op::engine_start(rank(), Direction::put, to(peer, offset), source(offset), bytes,
                                {op::Completion::Mode::implicit});
    }
    std::byte *source(std::uint64_t offset = 0) {
        if (source_.empty()) {
            source_.resize(kBytes);
            for (std::size_t i = 0; i < source_.size(); ++i)
                source_[i] = static_cast<std::byte>(i * 31 + i / 251);
        }
        return source_.data() + offset;
    }
    bool is_done(sennit_request request, sennit_status expected = SENNIT_OK) {
        int done = -1;
        const sennit_status status = op::engine_test(rank(), request, false, &done);
        EXPECT_EQ(status, done == 1 ? expected : SENNIT_OK);
        return done == 1;
    }
    void expect_sound() {
        const char *fault = op::engine_check(*rank().engine);
        EXPECT_EQ(fault, nullptr) << fault;
    }
    std::vector<std::uint64_t> seen_offsets() {
        std::vector<std::uint64_t> offsets;
        for (const auto &operation : fake.seen)
            offsets.push_back(operation.offset);
        return offsets;
    }

    Ranks ranks;
    FakeTransport fake;

  private:
    static constexpr std::size_t kBytes = op::kSharedFromBytes;
    std::vector<std::byte> source_;
};

}  // namespace sennit::test
