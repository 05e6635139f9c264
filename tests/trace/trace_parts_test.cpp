// Parts of the trace that need no ranks: clock offsets, and events as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "observe/clocks.hpp"
#include "observe/observer_state.hpp"
#include "observe/text.hpp"

namespace {

using namespace sennit;
using namespace sennit::runtime;
using testing::HasSubstr;

TEST(Clocks, the_true_offset_is_within_the_error_whatever_the_delays) {
    std::mt19937_64 random(7);
    for (int run = 0; run < 2000; ++run) {
        const auto draw = [&](std::int64_t most) {
            return std::uniform_int_distribution<std::int64_t>(0, most)(random);
        };
        const std::int64_t offset = draw(2'000'000'000) - 1'000'000'000;
        ClockSample first[4];
        ClockSample other[4];
        std::int64_t now = draw(1'000'000);
        for (int i = 0; i < 4; ++i) {
            const std::int64_t a = now + draw(50'000);
            const std::int64_t b = now + draw(50'000);
            const std::int64_t met = std::max(a, b);  // no rank leaves earlier
            first[i] = {a, met + draw(90'000)};
            other[i] = {b - offset, met + draw(90'000) - offset};
            now = met + 200'000;
        }
        const ClockOffset found = clock_offset(first, other, 4);
        EXPECT_LE(std::abs(found.offset_ns - offset), found.error_ns);
        EXPECT_LE(found.error_ns, 140'000);
    }
}

TEST(Clocks, one_clock_compared_with_itself_has_the_offset_0) {
    const ClockSample samples[2] = {{100, 200}, {300, 350}};
    const ClockOffset found = clock_offset(samples, samples, 2);
    EXPECT_EQ(found.offset_ns, 0);
    EXPECT_EQ(found.error_ns, 50);
}

TEST(TraceText, the_longest_event_fits_into_its_place) {
    TraceFile file{};
    file.rank = INT32_MAX;
    file.clock_offset_ns = -5;
    std::string name(sizeof(TraceName) - 1, '"');
    name.copy(file.names[1].text, name.size());
    std::string host(sizeof file.host - 1, '\\');
    host.copy(file.host, host.size());
    const TraceRecord record{INT64_MAX,  INT64_MIN, UINT64_MAX, INT32_MIN, 1,
                             UINT16_MAX, 7,         255,        {}};
    char text[2 * kEventTextBytes];
    EXPECT_LT(record_text(file, record, text, sizeof text), static_cast<int>(kEventTextBytes));
    EXPECT_THAT(text, HasSubstr("\"name\":\"____"));
    file.clock_error_ns = INT64_MIN;
    file.process_id = INT32_MIN;
    EXPECT_LT(rank_text(file, UINT64_MAX, text, sizeof text), static_cast<int>(sizeof text));
    EXPECT_THAT(text, testing::Not(HasSubstr("\\")));
}

TEST(TraceText, times_are_microseconds_with_three_digits) {
    EXPECT_STREQ(Microseconds(0).text, "0.000");
    EXPECT_STREQ(Microseconds(1'234'005).text, "1234.005");
    EXPECT_STREQ(Microseconds(-1'005).text, "-1.005");
}

TEST(TraceFileName, percent_r_in_a_file_name_is_the_rank) {
    char name[kFileNameBytes];
    ASSERT_TRUE(file_name("/a.%r.b%r%", 12, ".part", name));
    EXPECT_STREQ(name, "/a.12.b12%.part");
    ASSERT_TRUE(file_name("a", 0, "", name));
    EXPECT_EQ(std::string(name), std::filesystem::current_path().string() + "/a");
    EXPECT_FALSE(file_name(std::string(kFileNameBytes, 'x').c_str(), 0, "", name));
    EXPECT_FALSE(file_name(("/" + std::string(kFileNameBytes - 4, 'x')).c_str(), 0, ".part", name));
    EXPECT_TRUE(names_rank("%r") && !names_rank("r%"));
}

TEST(TraceNames, names_beyond_the_table_are_other) {
    auto trace = std::make_unique<TraceFile>();
    Observer observer;
    observer.trace = trace.get();
    static char texts[kTraceNames + 8][16];
    for (std::size_t i = 0; i < kTraceNames + 8; ++i) {
        (void)std::snprintf(texts[i], sizeof texts[i], "name %zu", i);
        EXPECT_EQ(trace_name(observer, texts[i]), i < kTraceNames ? i + 1 : 0);
    }
    EXPECT_EQ(trace_name(observer, texts[3]), 4);
    EXPECT_STREQ(trace->names[4].text, "name 3");
}

}  // namespace
