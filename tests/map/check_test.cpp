// The check of the copies that `sennit map` times: with a real source of one rank, and with
// sources that copy wrong data or nothing.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "worker/map_source.hpp"

namespace {

using namespace sennit::bench;

constexpr std::uint64_t kBytes = 64 * 1024;

// Copies the source's data with one bit changed.
class Spoiled final : public MapSource {
  public:
    Spoiled(const MapSource &source, std::uint64_t at) : m_source(source), m_at(at) {}
    void copy(std::byte *to, std::uint64_t offset, std::uint64_t bytes) const override {
        m_source.copy(to, offset, bytes);
        to[m_at] ^= std::byte{1};
    }

  private:
    const MapSource &m_source;
    std::uint64_t m_at;
};

class Lazy final : public MapSource {
  public:
    void copy(std::byte *, std::uint64_t, std::uint64_t) const override {}
};

TEST(Check, a_copy_that_differs_in_a_bit_is_found) {
    const sennit_options options = SENNIT_OPTIONS_INIT;
    ASSERT_EQ(sennit_init(&options), SENNIT_OK);
    {
        const Job job("test", 4096);
        const MapRole role{0, true, 0, false};
        const MadeSource made = make_source(job, "mapped", role, 2 * kBytes);
        ASSERT_NE(made.source, nullptr) << made.reason;
        std::vector<std::uint64_t> words(kBytes / sizeof(std::uint64_t));
        auto *const to = reinterpret_cast<std::byte *>(words.data());
        for (const std::uint64_t offset : {std::uint64_t{0}, kBytes})
            EXPECT_NO_THROW(check_copy(*made.source, "mapped", role, to, offset, kBytes));
        for (const std::uint64_t at : {std::uint64_t{0}, kBytes / 2 + 3, kBytes - 1})
            EXPECT_THROW(check_copy(Spoiled(*made.source, at), "mapped", role, to, 0, kBytes),
                         std::runtime_error);
        // Found even after a right copy: a source that copies nothing, and words of another way.
        EXPECT_NO_THROW(check_copy(*made.source, "mapped", role, to, 0, kBytes));
        EXPECT_THROW(check_copy(Lazy(), "mapped", role, to, 0, kBytes), std::runtime_error);
        EXPECT_THROW(check_copy(*made.source, "cma", role, to, 0, kBytes), std::runtime_error);
        EXPECT_THROW(
            check_copy(Spoiled(*made.source, kBytes - 1), "mapped", role, to, kBytes, kBytes),
            std::runtime_error);
        made.source->leave();
    }
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
}

TEST(Check, a_way_that_does_not_work_has_a_reason) {
    ASSERT_EQ(setenv("SENNIT_REGISTER", "xpmem", 1), 0);
    const sennit_options options = SENNIT_OPTIONS_INIT;
    ASSERT_EQ(sennit_init(&options), SENNIT_OK);
    if (access("/dev/xpmem", F_OK) != 0) {
        const Job job("test", 4096);
        const MadeSource made = make_source(job, "xpmem", {0, true, 0, false}, kBytes);
        EXPECT_EQ(made.source, nullptr);
        EXPECT_NE(made.reason.find("xpmem"), std::string::npos) << made.reason;
    }
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
}

}  // namespace
