// The settings file: its syntax, its priority, and the messages about wrong lines. Each test runs
// in its own process, because warnings are printed once per process.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

// A settings file, named by SENNIT_CONFIG as long as the object lives.
class File {
  public:
    explicit File(const std::string &text) {
        const int file = mkstemp(path_);
        EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        (void)close(file);
        (void)setenv("SENNIT_CONFIG", path_, 1);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() {
        (void)unlink(path_);
        (void)unsetenv("SENNIT_CONFIG");
    }
    std::string at(int line) const { return path_ + (":" + std::to_string(line) + ": "); }
    const char *path() const { return path_; }

  private:
    char path_[32] = "/tmp/sennit-knobs-XXXXXX";
};

sennit_status start_and_stop() {
    const sennit_status status = sennit_init(nullptr);
    return status == SENNIT_OK ? sennit_finalize() : status;
}

sennit_knob knob_of(const char *name) {
    sennit_knob knob{};
    for (int index = 0; sennit_knob_get(index, &knob) == SENNIT_OK; ++index)
        if (std::strcmp(knob.name, name) == 0) return knob;
    ADD_FAILURE() << "no knob " << name;
    return knob;
}

void expect_knob(const char *name, const char *value, int is_set) {
    SCOPED_TRACE(name);
    const sennit_knob knob = knob_of(name);
    EXPECT_STREQ(knob.value, value);
    EXPECT_EQ(knob.is_set, is_set);
}

void keep(void *context, sennit_log_level, const char *text) {
    static_cast<std::vector<std::string> *>(context)->emplace_back(text);
}

}  // namespace

// Broken by a form of line that is refused, by blanks that become part of a value, or by a file
// that is only read when there is no rank.
TEST(knob_file, a_line_is_a_name_and_a_value_with_an_equals_sign_or_blanks_between) {
    const File file(
        "# a comment\n\n   \t\nSENNIT_TIMEOUT=2.5\nSENNIT_INIT_TIMEOUT 30\n"
        "  SENNIT_NODE \t=  left = right \t\r\n\tSENNIT_PEER_TIMEOUT\t20");
    const auto check = [] {
        expect_knob("SENNIT_TIMEOUT", "2.5", 2);
        expect_knob("SENNIT_INIT_TIMEOUT", "30", 2);
        expect_knob("SENNIT_NODE", "left = right", 2);
        expect_knob("SENNIT_PEER_TIMEOUT", "20", 2);
        expect_knob("SENNIT_FINALIZE_TIMEOUT", "0", 0);
    };
    check();
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    check();
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
}

// Broken by a file that overrides the environment, or by an empty variable that counts.
TEST(knob_file, the_environment_wins_if_it_is_not_empty) {
    const File file("SENNIT_TIMEOUT=2.5\nSENNIT_INIT_TIMEOUT=30\n");
    (void)setenv("SENNIT_TIMEOUT", "4", 1);
    (void)setenv("SENNIT_INIT_TIMEOUT", "", 1);
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    expect_knob("SENNIT_TIMEOUT", "4", 1);
    expect_knob("SENNIT_INIT_TIMEOUT", "30", 2);
    expect_knob("SENNIT_CONFIG", file.path(), 1);
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
}

// Broken by using the first line.
TEST(knob_file, the_last_of_two_equal_names_counts) {
    const File file("SENNIT_TIMEOUT=2\nSENNIT_TIMEOUT=3\n");
    expect_knob("SENNIT_TIMEOUT", "3", 2);
}

// Broken by a value that does not take effect.
TEST(knob_file, the_log_level_can_be_set_in_the_file) {
    const File file("SENNIT_LOG=none\nSENNIT_FROBNICATE=1\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Broken by a warning at every start, by no warning, or by one without file and line.
TEST(knob_file, unknown_names_are_warned_of_once_with_file_and_line) {
    const File file(
        "SENNIT_TIMEOUT=2\n\nSENNIT_FROBNICATE=1\nTIMEOUT 3\nSENNIT_CONFIG=/dev/null\n");
    std::vector<std::string> lines;
    ASSERT_EQ(sennit_log_set(keep, &lines, SENNIT_LOG_WARNING), SENNIT_OK);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
    const std::vector<std::string> wanted{
        file.at(3) + "SENNIT_FROBNICATE is no knob and has no effect",
        file.at(4) + "TIMEOUT is no knob and has no effect",
        file.at(5) + "SENNIT_CONFIG has no effect in the file that it names"};
    EXPECT_EQ(lines, wanted);
}

// Broken by skipping the line, or by an error without file and line.
TEST(knob_file, a_malformed_line_ends_init_with_file_and_line) {
    const std::string bad[] = {"SENNIT_TIMEOUT",
                               "SENNIT_TIMEOUT=",
                               "=2",
                               "SENNIT_TIMEOUT= \t",
                               "sennit_timeout=2",
                               "SENNIT_TIMEOUT:2",
                               std::string("SENNIT_TIMEOUT=2\0003", 18)};
    for (const std::string &line : bad) {
        const File file("SENNIT_NODE=a\n" + line + "\nSENNIT_TIMEOUT=x\n");
        SCOPED_TRACE(line);
        EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
        EXPECT_EQ(sennit_last_error()->text,
                  file.at(2) + "the line is not NAME=value, NAME value, or # comment");
        EXPECT_EQ(sennit_initialized(), 0);
    }
}

// Broken by using the default instead, or by an error without file and line.
TEST(knob_file, a_value_of_the_wrong_type_ends_init_with_file_and_line) {
    const File file("# comment\nSENNIT_TIMEOUT=soon\n");
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    EXPECT_EQ(sennit_last_error()->text,
              file.at(2) + "SENNIT_TIMEOUT=soon is not a number of seconds, such as 60 or 0.5");
}

// Broken by a wrong file name that goes unnoticed, or by reading a file although "none" is set.
TEST(knob_file, a_named_file_must_exist_and_none_means_no_file) {
    (void)setenv("SENNIT_CONFIG", "/nowhere/sennit.conf", 1);
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text,
                 "SENNIT_CONFIG=/nowhere/sennit.conf cannot be opened: No such file or directory");
    (void)setenv("SENNIT_CONFIG", "/tmp", 1);
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text, "SENNIT_CONFIG=/tmp cannot be read: Is a directory");
    (void)setenv("SENNIT_CONFIG", "none", 1);
    EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
    (void)unsetenv("SENNIT_CONFIG");
}
