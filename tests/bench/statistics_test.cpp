// Medians and percentiles, records and their JSON, and the numbers in tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>

#include "bench_table.hpp"
#include "common/record.hpp"
#include "common/statistics.hpp"

namespace {

using namespace sennit::bench;
using ::testing::HasSubstr;

std::vector<double> shuffled_from_zero_to(int last) {
    std::vector<double> samples(static_cast<std::size_t>(last) + 1);
    std::iota(samples.begin(), samples.end(), 0.0);
    std::shuffle(samples.begin(), samples.end(), std::mt19937(7));
    return samples;
}

Record a_time(const char *subject, std::uint64_t bytes, double median) {
    Record record;
    record.bench = "put";
    record.subject = subject;
    record.job = "sennit";
    record.bytes = bytes;
    record.ranks = 2;
    record.time_ns = Summary{median, median * 0.5, median * 2.0, 9};
    record.ratio_to_raw = 1.5;
    return record;
}

// Broken by an interval of the mean, or one that excludes the median.
TEST(Statistics, the_interval_of_a_median_holds_it_and_narrows) {
    std::vector<double> few;
    std::vector<double> many;
    for (int i = 0; i < 1001; ++i) {
        many.push_back((i * 37) % 1001);
        if (i < 11) few.push_back((i * 7) % 11);
    }
    const Interval95 wide = median_interval(few);
    EXPECT_EQ(wide.low, 1.0);
    EXPECT_EQ(wide.high, 9.0);
    const Interval95 narrow = median_interval(many);
    EXPECT_EQ(narrow.low, 468.0);
    EXPECT_EQ(narrow.high, 532.0);
    const Interval95 one = median_interval({3.0});
    EXPECT_EQ(one.low, 3.0);
    EXPECT_EQ(one.high, 3.0);
}

TEST(Statistics, percentiles_do_not_depend_on_the_order_of_samples) {
    const Summary summary = summarise(shuffled_from_zero_to(100));
    EXPECT_DOUBLE_EQ(summary.median, 50.0);
    EXPECT_DOUBLE_EQ(summary.p5, 5.0);
    EXPECT_DOUBLE_EQ(summary.p95, 95.0);
    EXPECT_EQ(summary.rounds, 101u);
}

TEST(Statistics, the_median_of_an_even_number_of_samples_lies_between_the_middle_two) {
    EXPECT_DOUBLE_EQ(summarise({4.0, 1.0, 3.0, 2.0}).median, 2.5);
}

TEST(Statistics, one_sample_is_all_of_its_percentiles) {
    const Summary summary = summarise({3.25});
    EXPECT_DOUBLE_EQ(summary.p5, 3.25);
    EXPECT_DOUBLE_EQ(summary.median, 3.25);
    EXPECT_DOUBLE_EQ(summary.p95, 3.25);
}

TEST(Statistics, one_outlier_does_not_move_the_median) {
    std::vector<double> samples(21, 10.0);
    samples[3] = 1e9;
    EXPECT_DOUBLE_EQ(summarise(samples).median, 10.0);
}

TEST(Statistics, missing_and_infinite_samples_are_refused) {
    EXPECT_THROW(summarise({}), std::invalid_argument);
    EXPECT_THROW(summarise({1.0, std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
    EXPECT_THROW(summarise({1.0, std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

TEST(Record, a_time_comes_back_from_json_unchanged) {
    const Record back = record_from_json(to_json(a_time("sennit-put", 8, 3.5)));
    EXPECT_EQ(back.subject, "sennit-put");
    EXPECT_EQ(back.bytes, 8u);
    EXPECT_EQ(back.ranks, 2);
    ASSERT_TRUE(back.time_ns.has_value());
    EXPECT_DOUBLE_EQ(back.time_ns->median, 3.5);
    EXPECT_EQ(back.time_ns->rounds, 9u);
    EXPECT_FALSE(back.memory.has_value());
}

TEST(Record, records_of_memory_have_bytes_and_no_times) {
    Record record = a_time("sennit-rank", 0, 1.0);
    record.time_ns.reset();
    record.memory = MemoryUse{Summary{4096.0, 4096.0, 8192.0, 6}, 5000.0};
    const auto line = to_json(record);
    EXPECT_TRUE(line.at("median_ns").is_null());
    EXPECT_DOUBLE_EQ(line.at("private_bytes").get<double>(), 4096.0);
    EXPECT_DOUBLE_EQ(record_from_json(line).memory->pss_bytes, 5000.0);
}

TEST(Record, invalid_lines_are_refused) {
    const auto good = to_json(a_time("sennit-put", 8, 3.5));
    const std::vector<std::pair<const char *, nlohmann::ordered_json>> faults{
        {"median_ns", -1.0}, {"median_ns", 0.0}, {"p5_ns", 4.0},
        {"p95_ns", 3.0},     {"rounds", 0},      {"ratio_to_raw", 0.0},
        {"ranks", 0},        {"subject", "put"}, {"bench", ""}};
    for (const auto &[field, value] : faults) {
        auto line = good;
        line[field] = value;
        EXPECT_THROW(record_from_json(line), std::invalid_argument) << field << " = " << value;
    }
    auto line = good;
    line.erase("rounds");
    EXPECT_THROW(record_from_json(line), nlohmann::json::exception);
}

TEST(Table, times_and_sizes_are_printed_with_their_unit) {
    using sennit::cli::format_bytes;
    using sennit::cli::format_time;
    EXPECT_EQ(format_time(0.27), "0.27 ns");
    EXPECT_EQ(format_time(51.23), "51.2 ns");
    EXPECT_EQ(format_time(4100.0), "4.10 us");
    EXPECT_EQ(format_time(31.13e6), "31.13 ms");
    EXPECT_EQ(format_time(2.5e9), "2.50 s");
    EXPECT_EQ(format_bytes(8), "8");
    EXPECT_EQ(format_bytes(1000), "1000");
    EXPECT_EQ(format_bytes(64 * 1024), "64 Ki");
    EXPECT_EQ(format_bytes(16 * 1024 * 1024), "16 Mi");
}

TEST(Table, a_word_is_compared_by_its_added_nanoseconds) {
    const std::string text =
        sennit::cli::time_table({a_time("raw-store", 8, 0.5), a_time("sennit-put", 8, 3.25),
                                 a_time("openmpi-rma", 8, 6.5)});
    EXPECT_THAT(text, HasSubstr("sennit-put takes 2.75 ns more than raw-store"));
    EXPECT_THAT(text, HasSubstr("2.00"));  // openmpi-rma against sennit-put
}

TEST(Table, a_queue_is_reported_in_items_a_second) {
    std::vector<Record> records{a_time("raw-ring", 64, 20.0), a_time("sennit-queue", 64, 62.5),
                                a_time("raw-ring", 512, 200.0)};
    for (Record &record : records)
        record.bench = "queue";
    const std::string text = sennit::cli::time_table(records);
    EXPECT_THAT(text, HasSubstr("  64 bytes, million items a second: raw-ring 50.00, sennit-queue "
                                "16.00\n  512 bytes, million items a second: raw-ring 5.00\n"));
}

}  // namespace
