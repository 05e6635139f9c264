// Tests the INI reader and the table of settings. Breaks when a wrong file or command line is
// accepted, when a message does not name the place, or when the file overrides the command line.
#include "options.hpp"
#include "failure.hpp"
#include "ini.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

namespace heat3d {
namespace {

using testing::HasSubstr;

template <typename Call>
std::string failure_of(Call call) {
    try {
        call();
    } catch (const Failure &failure) {
        return failure.what();
    }
    return "no failure";
}

std::string ini_failure(const char *text) {
    return failure_of([text] { parse_ini(text, "a.ini"); });
}

Options parsed(std::vector<const char *> words) {
    words.insert(words.begin(), "heat3d");
    return parse_options(static_cast<int>(words.size()), words.data());
}

std::string options_failure(std::vector<const char *> words) {
    return failure_of([&words] { parsed(words); });
}

class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string &text)
        : path_(testing::TempDir() + "heat3d_" + std::to_string(getpid()) + ".ini") {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    const char *path() const { return path_.c_str(); }

  private:
    std::string path_;
};

TEST(Ini, entries_keep_their_order_and_lines) {
    const auto entries = parse_ini("\n[heat3d]\n size = 1,2,3 \nquiet=true", "a.ini");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].key, "size");
    EXPECT_EQ(entries[0].value, "1,2,3");
    EXPECT_EQ(entries[0].line, 3);
    EXPECT_EQ(entries[1].key, "quiet");
    EXPECT_EQ(entries[1].value, "true");
}

TEST(Ini, comments_and_line_ends_of_other_systems_are_passed_over) {
    const auto entries = parse_ini("# a\r\n; b\r\nup = 4 ; warm\r\noutput = a#b\r\n", "a.ini");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].value, "4");
    EXPECT_EQ(entries[1].value, "a#b");
}

TEST(Ini, a_value_may_be_empty_or_hold_an_equals_sign) {
    const auto entries = parse_ini("a =\nb = c=d\n", "a.ini");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].value, "");
    EXPECT_EQ(entries[1].value, "c=d");
}

TEST(Ini, an_empty_file_has_no_entries) {
    EXPECT_TRUE(parse_ini("", "a.ini").empty());
}

TEST(Ini, a_wrong_line_is_named) {
    EXPECT_THAT(ini_failure("size = 1,1,1\nnonsense\n"), HasSubstr("a.ini:2: 'nonsense'"));
    EXPECT_THAT(ini_failure("= 4\n"), HasSubstr("a.ini:1: the key"));
    EXPECT_THAT(ini_failure("[other]\n"), HasSubstr("a.ini:1: section [other]"));
    EXPECT_THAT(ini_failure("up = 1\n\nup = 2\n"),
                HasSubstr("a.ini:3: 'up' was given before, in line 1"));
}

TEST(Ini, a_file_that_can_not_be_read_is_named) {
    EXPECT_THAT(failure_of([] { read_ini("/nowhere/a.ini"); }), HasSubstr("/nowhere/a.ini"));
    EXPECT_THAT(failure_of([] { read_ini("/"); }), HasSubstr("/ cannot be read"));
}

TEST(Options, the_defaults_hold_without_arguments) {
    const Options options = parsed({});
    EXPECT_EQ(options.size, (Triple{64, 64, 64}));
    EXPECT_EQ(options.ranks_grid, (Triple{0, 0, 0}));
    EXPECT_EQ(options.max_steps, 1000);
    EXPECT_FALSE(options.quiet);
    EXPECT_TRUE(options.help.empty());
}

TEST(Options, the_command_line_is_read) {
    const Options options =
        parsed({"--size", "3,4,5", "--ranks-grid=1,2,1", "--west", "-7.5", "--east", "insulated",
                "--case", "sine", "--tolerance", "1e-9", "--json", "--layers", "get"});
    EXPECT_EQ(options.size, (Triple{3, 4, 5}));
    EXPECT_EQ(options.ranks_grid, (Triple{1, 2, 1}));
    EXPECT_EQ(options.sides[west].temperature, -7.5);
    EXPECT_TRUE(options.sides[east].insulated);
    EXPECT_EQ(options.problem, Case::sine);
    EXPECT_EQ(options.tolerance, 1e-9);
    EXPECT_TRUE(options.json);
    EXPECT_EQ(options.layers, "get");
}

TEST(Options, the_last_of_two_equal_settings_counts) {
    EXPECT_EQ(parsed({"--up", "3", "--quiet", "--up", "4", "--quiet"}).sides[up].temperature, 4);
    EXPECT_EQ(parsed({"--size", "1,2,3", "--size", "4,5,6"}).size, (Triple{4, 5, 6}));
}

TEST(Options, the_command_line_overrides_the_file) {
    const TemporaryFile file("[heat3d]\nmax-steps = 7\ncheck-every = 3\nquiet = yes\n");
    const Options options = parsed({"--max-steps", "9", "--config", file.path()});
    EXPECT_EQ(options.max_steps, 9);
    EXPECT_EQ(options.check_every, 3);
    EXPECT_TRUE(options.quiet);
}

TEST(Options, a_wrong_setting_in_the_file_is_named_with_its_line) {
    const TemporaryFile unknown("\nspeed = 3\n");
    EXPECT_THAT(options_failure({"--config", unknown.path()}), HasSubstr(".ini:2: 'speed'"));
    const TemporaryFile wrong("max-steps = many\n");
    EXPECT_THAT(options_failure({"--config", wrong.path()}),
                HasSubstr(".ini:1: max-steps: 'many' is not an integer"));
    const TemporaryFile nested("config = other.ini\n");
    EXPECT_THAT(options_failure({"--config", nested.path()}), HasSubstr("'config' is no setting"));
}

TEST(Options, wrong_arguments_are_refused_with_a_reason) {
    EXPECT_THAT(options_failure({"--speed", "3"}), HasSubstr("--speed"));
    EXPECT_THAT(options_failure({"word"}), HasSubstr("word"));
    EXPECT_THAT(options_failure({"--size", "-1,2,3"}), HasSubstr("--size: -1 is not positive"));
    EXPECT_THAT(options_failure({"--size", "1,2"}), HasSubstr("is not X,Y,Z"));
    EXPECT_THAT(options_failure({"--size", "1,2,3,4"}), HasSubstr("'3,4' is not an integer"));
    EXPECT_THAT(options_failure({"--size", "99999999999999999999,1,1"}),
                HasSubstr("not an integer"));
    EXPECT_THAT(options_failure({"--size", "2000000,1,1"}), HasSubstr("more than"));
    EXPECT_THAT(options_failure({"--size", "999999,999999,999999"}), HasSubstr("more than"));
    EXPECT_THAT(options_failure({"--ranks-grid", "0,1,1"}), HasSubstr("not positive"));
    EXPECT_THAT(options_failure({"--up", "nan"}), HasSubstr("'nan' is not a number"));
    EXPECT_THAT(options_failure({"--up", "1e200"}), HasSubstr("larger than"));
    EXPECT_THAT(options_failure({"--up", "hot"}), HasSubstr("--up: 'hot'"));
    EXPECT_THAT(options_failure({"--diffusivity", "0"}), HasSubstr("not positive"));
    EXPECT_THAT(options_failure({"--tolerance", "-1"}), HasSubstr("negative"));
    EXPECT_THAT(options_failure({"--max-steps", "0"}), HasSubstr("not positive"));
    EXPECT_THAT(options_failure({"--case", "ring"}), HasSubstr("'ring' is none of"));
}

TEST(Options, help_names_every_setting) {
    const std::string help = parsed({"--help"}).help;
    for (const char *name : {"--size", "--ranks-grid", "--up", "--config", "--layers", "--json"}) {
        EXPECT_THAT(help, HasSubstr(name));
    }
}

}  // namespace
}  // namespace heat3d
