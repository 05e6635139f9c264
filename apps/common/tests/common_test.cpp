// Tests the code that the applications share. Breaks when an option outside its bounds is accepted,
// when a result is not JSON or loses digits, when a median or a spread is wrong, when a hash does
// not see that two cells changed places, or when an error of one rank is not reported.
#include "common/command_line.hpp"
#include "common/failure.hpp"
#include "common/field_hash.hpp"
#include "common/file.hpp"
#include "common/ranks.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <vector>

namespace apps {
namespace {

using testing::HasSubstr;

struct Options {
    std::int64_t size = 4;
    std::string way = "push";
    std::array<std::int64_t, 3> cells{2, 3, 4};
    bool json = false;
};

// The message of parse(): "" if it accepted the words.
std::string parsed(Options &options, std::vector<const char *> words) {
    words.insert(words.begin(), "program");
    CommandLine line("program", "a test");
    line.number("--size", options.size, {1, 9}, "cells");
    line.triple("--cells", options.cells, {1, 9}, "cells in each direction");
    line.word("--way", options.way, {"push", "pull"}, "direction");
    line.flag("--json", options.json, "one line");
    try {
        return line.parse(static_cast<int>(words.size()), words.data()) ? "" : line.help();
    } catch (const Failure &failure) {
        return failure.what();
    }
}

TEST(CommandLine, options_are_set_and_others_keep_their_defaults) {
    Options options;
    EXPECT_EQ(parsed(options, {"--size", "2", "--json", "--size", "9"}), "");
    EXPECT_EQ(options.size, 9);
    EXPECT_EQ(options.way, "push");
    EXPECT_TRUE(options.json);
}

TEST(CommandLine, the_file_fills_in_missing_options) {
    const std::string path = testing::TempDir() + "/apps-common.ini";
    double length = 1;
    Options options;
    const auto said = [&](std::vector<const char *> words) -> std::string {
        words.insert(words.begin(), {"program", "--config", path.c_str()});
        CommandLine line("program", "a test");
        line.real("--length", length, {0.5, 8}, "metres");
        line.number("--size", options.size, {1, 9}, "cells");
        line.triple("--cells", options.cells, {1, 9}, "cells in each direction");
        line.flag("--json", options.json, "one line");
        line.config("--config", "a file");
        try {
            return line.parse(static_cast<int>(words.size()), words.data()) ? "" : line.help();
        } catch (const Failure &failure) {
            return failure.what();
        }
    };
    std::ofstream(path) << "# comment\nlength = 2.5\nsize = 3\ncells = 4,5,6\njson = true\n";
    EXPECT_EQ(said({"--size", "7"}), "");
    EXPECT_EQ(length, 2.5);
    EXPECT_EQ(options.size, 7);
    EXPECT_EQ(options.cells, (std::array<std::int64_t, 3>{4, 5, 6}));
    EXPECT_TRUE(options.json);
    EXPECT_THAT(said({"--length", "9"}), HasSubstr("--length"));
    std::ofstream(path) << "lenght = 2.5\n";
    EXPECT_THAT(said({}), HasSubstr("lenght"));
    std::remove(path.c_str());
    EXPECT_THAT(said({}), HasSubstr(path));
}

TEST(File, bytes_are_read_at_the_offset_of_the_write) {
    const std::string path = testing::TempDir() + "/apps-common.bin";
    {
        File out("save", path, O_WRONLY | O_CREAT | O_TRUNC);
        out.resize(16);
        out.write("abcd", 4, 8);
        out.shut();
    }
    const File in("restart", path, O_RDONLY);
    EXPECT_EQ(in.size(), 16u);
    char text[5] = {};
    in.read(text, 4, 8);
    EXPECT_STREQ(text, "abcd");
    try {
        in.read(text, 4, 14);
        ADD_FAILURE() << "more was read than there is";
    } catch (const Failure &failure) {
        EXPECT_EQ(failure.what(), "restart: " + path + " ends too early");
    }
    std::remove(path.c_str());
    EXPECT_THROW(File("restart", path, O_RDONLY), Failure);
}

TEST(CommandLine, errors_in_arguments_are_reported) {
    Options options;
    EXPECT_THAT(parsed(options, {"--size", "10"}), HasSubstr("--size"));
    EXPECT_THAT(parsed(options, {"--size", "0"}), HasSubstr("--size"));
    EXPECT_THAT(parsed(options, {"--size", "x"}), HasSubstr("--size"));
    EXPECT_THAT(parsed(options, {"--way", "up"}), HasSubstr("--way"));
    EXPECT_NE(parsed(options, {"--sise", "3"}), "");
    EXPECT_NE(parsed(options, {"3"}), "");
}

TEST(CommandLine, a_triple_is_three_numbers_within_the_bounds) {
    Options options;
    EXPECT_EQ(parsed(options, {"--cells", "9,1,5"}), "");
    EXPECT_EQ(options.cells, (std::array<std::int64_t, 3>{9, 1, 5}));
    for (const char *wrong : {"1,2", "1,2,3,4", "1,2,", "1,2,x", "1,2,3x", "", "1;2;3"}) {
        EXPECT_THAT(parsed(options, {"--cells", wrong}), HasSubstr("is not X,Y,Z")) << wrong;
    }
    EXPECT_THAT(parsed(options, {"--cells", "1,10,3"}), HasSubstr("10 is not from 1 to 9"));
    EXPECT_THAT(parsed(options, {"--cells", "1,0,3"}), HasSubstr("0 is not from 1 to 9"));
    EXPECT_EQ(options.cells, (std::array<std::int64_t, 3>{9, 1, 5}));
    EXPECT_THAT(parsed(options, {"--help"}), HasSubstr("9,1,5"));
}

TEST(FieldHash, a_hash_depends_on_place_and_value_and_not_on_cuts) {
    const std::vector<double> cells{1, 2, 3, 4, 5};
    const std::uint64_t whole = hash_of_row(7, cells.data(), 5);
    EXPECT_EQ(hash_of_row(7, cells.data(), 2) + hash_of_row(9, cells.data() + 2, 3), whole);
    EXPECT_NE(hash_of_row(8, cells.data(), 5), whole);
    const std::vector<double> turned{2, 1, 3, 4, 5};
    EXPECT_NE(hash_of_row(7, turned.data(), 5), whole);
}

TEST(CommandLine, help_names_options_and_defaults) {
    Options options;
    const std::string help = parsed(options, {"--help"});
    EXPECT_THAT(help, HasSubstr("--size"));
    EXPECT_THAT(help, HasSubstr("push"));
}

TEST(Result, json_is_one_object_on_one_line) {
    Result result;
    result.add("ranks", 2);
    result.add("name", "a \"b\"\n");
    result.add("rate", 0.123456789);
    result.add("wrong", std::numeric_limits<double>::infinity());
    result.add("right", true);
    result.add("list", std::vector<double>{1, 2.5});
    EXPECT_EQ(result.json(),
              "{\"ranks\":2,\"name\":\"a \\\"b\\\"\\n\",\"rate\":0.123456789,\"wrong\":null,"
              "\"right\":true,\"list\":[1,2.5]}\n");
    EXPECT_THAT(result.table(), HasSubstr("ranks  2\n"));
}

TEST(Times, a_median_is_the_middle) {
    EXPECT_EQ(median_of({}), 0);
    EXPECT_EQ(median_of({3}), 3);
    EXPECT_EQ(median_of({9, 1, 3}), 3);
    EXPECT_EQ(median_of({9, 1, 3, 5}), 4);
}

TEST(Times, batches_cover_all_iterations) {
    for (const std::int64_t iterations : {1, 2, 25, 26, 1000}) {
        std::int64_t done = 0;
        const BatchTimes times = time_batches(iterations, [&](std::int64_t count) {
            EXPECT_GT(count, 0);
            done += count;
        });
        EXPECT_EQ(done, iterations);
        EXPECT_GE(times.total_ns, 0);
        EXPECT_GE(times.median_iteration_ns, 0);
    }
}

TEST(Ranks, a_spread_covers_one_column) {
    const Spread spread = spread_of({1, 10, 3, 30, 8, 20}, 1, 2);
    EXPECT_EQ(spread.min, 10);
    EXPECT_EQ(spread.max, 30);
    EXPECT_DOUBLE_EQ(spread.mean, 20);
}

TEST(Ranks, an_error_is_reported_and_refuses_all) {
    OneRank ranks("one");
    testing::internal::CaptureStderr();
    EXPECT_THROW(together(ranks, "program", [] { throw Failure("a reason"); }), Refused);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: a reason\n");
    EXPECT_THROW(together(ranks, "program", [] { throw Lost("gone"); }), Lost);
    EXPECT_NO_THROW(together(ranks, "program", [] {}));
}

}  // namespace
}  // namespace apps
