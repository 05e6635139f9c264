// Settings from the environment: wrong values, unknown names, and the log. Each test runs in its
// own process, because warnings are printed once per process.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

struct Lines {
    std::mutex lock;
    std::vector<std::string> texts;
    std::vector<sennit_log_level> levels;

    int count(const std::string &part) const {
        int found = 0;
        for (const std::string &text : texts)
            found += text.find(part) != std::string::npos ? 1 : 0;
        return found;
    }
};

void keep(void *context, sennit_log_level level, const char *text) {
    auto &lines = *static_cast<Lines *>(context);
    const std::lock_guard<std::mutex> guard(lines.lock);
    lines.texts.emplace_back(text);
    lines.levels.push_back(level);
}

sennit_status start_and_stop() {
    const sennit_status status = sennit_init(nullptr);
    return status == SENNIT_OK ? sennit_finalize() : status;
}

}  // namespace

// Broken by reading an invalid value as 0 or as the default.
TEST(knobs, an_invalid_value_ends_init_and_names_the_knob) {
    const struct {
        const char *name;
        const char *value;
        sennit_status wanted;
    } wrong[] = {
        {"SENNIT_LOG", "loud", SENNIT_ERR_ARG},
        {"SENNIT_PATHS", "self,teleport", SENNIT_ERR_ARG},
        {"SENNIT_BOOTSTRAP", "carrier-pigeon", SENNIT_ERR_BOOTSTRAP},
        {"SENNIT_INIT_TIMEOUT", "soon", SENNIT_ERR_ARG},
        {"SENNIT_INIT_TIMEOUT", "-1", SENNIT_ERR_ARG},
        {"SENNIT_INIT_TIMEOUT", "nan", SENNIT_ERR_ARG},
        {"SENNIT_INIT_TIMEOUT", "1e99", SENNIT_ERR_ARG},
        {"SENNIT_FINALIZE_TIMEOUT", "5 s", SENNIT_ERR_ARG},
        {"SENNIT_TIMEOUT", "0x", SENNIT_ERR_ARG},
        {"SENNIT_REPORT", "perhaps", SENNIT_ERR_ARG},
    };
    for (const auto &one : wrong) {
        SCOPED_TRACE(std::string(one.name) + "=" + one.value);
        (void)setenv(one.name, one.value, 1);
        EXPECT_STREQ(sennit_status_string(sennit_init(nullptr)), sennit_status_string(one.wanted));
        EXPECT_NE(std::strstr(sennit_last_error()->text, one.name), nullptr)
            << sennit_last_error()->text;
        EXPECT_EQ(sennit_initialized(), 0);
        (void)unsetenv(one.name);
        EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
    }
    const std::string longer(5000, 'x');
    (void)setenv("SENNIT_PATHS", longer.c_str(), 1);
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    (void)unsetenv("SENNIT_PATHS");
}

// Broken by a job that starts although its first put has no path.
TEST(knobs, a_list_of_missing_paths_only_ends_init) {
    if (sennit_path_built(SENNIT_PATH_MPI) != 0) GTEST_SKIP() << "this build has the path mpi";
    for (const char *paths : {"mpi", "self,mpi"}) {
        (void)setenv("SENNIT_PATHS", paths, 1);
        EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG) << paths;
        EXPECT_NE(std::strstr(sennit_last_error()->text, "this build does not have mpi"), nullptr)
            << sennit_last_error()->text;
    }
    // The same list of paths must work in builds with and without libfabric.
    (void)setenv("SENNIT_PATHS", "mpi,mapped", 1);
    EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
    (void)unsetenv("SENNIT_PATHS");
}

// Broken by a value that is read only once, or that sennit_knob_get does not show.
TEST(knobs, values_are_read_at_each_start_and_can_be_asked_for) {
    (void)setenv("SENNIT_TIMEOUT", "2.5", 1);
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    sennit_knob knob;
    bool found = false;
    for (int index = 0; sennit_knob_get(index, &knob) == SENNIT_OK; ++index) {
        EXPECT_EQ(std::strncmp(knob.name, "SENNIT_", 7), 0);
        EXPECT_STRNE(knob.type, "");
        EXPECT_STRNE(knob.help, "");
        if (std::strcmp(knob.name, "SENNIT_TIMEOUT") != 0) continue;
        found = true;
        EXPECT_STREQ(knob.value, "2.5");
        EXPECT_EQ(knob.is_set, 1);
    }
    EXPECT_EQ(sennit_last_error()->status, SENNIT_ERR_RANGE);
    EXPECT_TRUE(found);
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    for (int index = 0; sennit_knob_get(index, &knob) == SENNIT_OK; ++index)
        if (std::strcmp(knob.name, "SENNIT_TIMEOUT") == 0) {
            EXPECT_STREQ(knob.value, knob.default_value);
            EXPECT_EQ(knob.is_set, 0);
        }
}

// Broken by a warning at every start, by no warning, or by one about a variable that Sennit sets
// itself.
TEST(knobs, unknown_names_are_warned_of_once) {
    Lines lines;
    ASSERT_EQ(sennit_log_set(keep, &lines, SENNIT_LOG_WARNING), SENNIT_OK);
    (void)setenv("SENNIT_FROBNICATE", "1", 1);
    (void)setenv("SENNIT_RANKS", "4", 1);
    (void)setenv("SENNITARIUM", "1", 1);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(start_and_stop(), SENNIT_OK);
    EXPECT_EQ(lines.count("SENNIT_FROBNICATE"), 1);
    EXPECT_EQ(lines.count("SENNIT_RANKS"), 1);
    EXPECT_EQ(lines.count("SENNITARIUM"), 0);
    for (const sennit_log_level level : lines.levels)
        EXPECT_EQ(level, SENNIT_LOG_WARNING);
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
}

// Broken by a log level that is ignored, or by newlines within a line.
TEST(knobs, the_log_goes_to_the_given_function_up_to_its_level) {
    Lines lines;
    (void)setenv("SENNIT_UNKNOWN_BY_ALL", "1", 1);
    ASSERT_EQ(sennit_log_set(keep, &lines, SENNIT_LOG_ERROR), SENNIT_OK);
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    EXPECT_EQ(lines.count("SENNIT_UNKNOWN_BY_ALL"), 0) << "a warning came at level error";
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
}

// Broken by holding a lock while the program's function is called.
TEST(knobs, a_log_function_may_call_sennit) {
    (void)alarm(20);  // ends the test if it hangs
    (void)setenv("SENNIT_UNKNOWN_AS_WELL", "1", 1);
    static int calls = 0;
    const auto call_back = [](void *, sennit_log_level, const char *) {
        ++calls;
        std::uint64_t word = 0;
        EXPECT_EQ(sennit_put(SENNIT_GPTR_NULL, &word, 8), SENNIT_ERR_STATE);
        EXPECT_EQ(sennit_rank(), -1);
    };
    ASSERT_EQ(sennit_log_set(call_back, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    EXPECT_GT(calls, 0);
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
    (void)alarm(0);
}

// Broken by calling the function for its own log lines, without end, or by replacing an error with
// one from a call that the function makes.
TEST(knobs, a_log_function_that_fails_does_not_call_itself) {
    static int calls = 0;
    const auto call_back = [](void *, sennit_log_level, const char *) {
        if (++calls < 1000) (void)sennit_flush(0, 0);
    };
    ASSERT_EQ(sennit_log_set(call_back, nullptr, SENNIT_LOG_INFO), SENNIT_OK);
    std::uint64_t word = 0;
    EXPECT_EQ(sennit_put(SENNIT_GPTR_NULL, &word, 8), SENNIT_ERR_STATE);
    EXPECT_EQ(calls, 1);
    EXPECT_STREQ(sennit_last_error()->operation, "sennit_put");
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
}

// Broken by logging each call of a loop that retries until its receiver is ready.
TEST(knobs, a_loop_of_early_calls_is_logged_once_a_second) {
    Lines lines;
    ASSERT_EQ(sennit_log_set(keep, &lines, SENNIT_LOG_INFO), SENNIT_OK);
    const auto early = [] {
        EXPECT_EQ(sennit_error_report(SENNIT_ERR_SIGNAL_EARLY, "a_call", "too early", 0),
                  SENNIT_ERR_SIGNAL_EARLY);
    };
    const double start = sennit_wtime();
    int calls = 0;
    for (; calls < 1000 || sennit_wtime() - start < 1.1; ++calls)
        early();
    EXPECT_GE(lines.count("a_call: SENNIT_ERR_SIGNAL_EARLY: too early"), 2);
    EXPECT_LE(lines.count("a_call"), 2 + static_cast<int>(sennit_wtime() - start));
    EXPECT_EQ(lines.count(" since the last such line)"), lines.count("a_call") - 1);
    EXPECT_EQ(sennit_error_report(SENNIT_ERR_ARG, "another", "wrong", 0), SENNIT_ERR_ARG);
    EXPECT_EQ(lines.count("another"), 1);
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
}

// Broken by treating an empty value as wrong or as set.
TEST(knobs, an_empty_value_counts_as_unset) {
    int index = 0;
    sennit_knob knob;
    for (; sennit_knob_get(index, &knob) == SENNIT_OK; ++index) {
        SCOPED_TRACE(knob.name);
        (void)setenv(knob.name, "", 1);
        EXPECT_EQ(start_and_stop(), SENNIT_OK) << sennit_last_error()->text;
        sennit_knob now;
        ASSERT_EQ(sennit_knob_get(index, &now), SENNIT_OK);
        EXPECT_EQ(now.is_set, 0);
        EXPECT_STREQ(now.value, now.default_value);
        (void)unsetenv(knob.name);
    }
    EXPECT_GT(index, 3);
}

// Broken by a message that uses the type names of the source code.
TEST(knobs, the_error_for_a_wrong_value_describes_a_right_one) {
    (void)setenv("SENNIT_INIT_TIMEOUT", "abc", 1);
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text,
                 "SENNIT_INIT_TIMEOUT=abc is not a number of seconds, such as 60 or 0.5");
    (void)unsetenv("SENNIT_INIT_TIMEOUT");
}

// Broken by a level or switch that has only one valid spelling.
TEST(knobs, usual_spellings_of_levels_and_switches_are_taken) {
    for (const char *level :
         {"warn", "Warning", "err", "verbose", "off", "DEBUG", "on", "True", "no", "0"}) {
        (void)setenv("SENNIT_LOG", level, 1);
        EXPECT_EQ(start_and_stop(), SENNIT_OK) << level;
    }
    (void)unsetenv("SENNIT_LOG");
    for (const char *word : {"on", "off", "true", "False", "yes", "no", "1", "0"}) {
        (void)setenv("SENNIT_SHMEM_CHECKS", word, 1);
        EXPECT_EQ(start_and_stop(), SENNIT_OK) << word;
    }
    (void)setenv("SENNIT_SHMEM_CHECKS", "perhaps", 1);
    EXPECT_EQ(sennit_init(nullptr), SENNIT_ERR_ARG);
    EXPECT_STREQ(sennit_last_error()->text,
                 "SENNIT_SHMEM_CHECKS=perhaps is not one of 1, 0, on, off, yes, no, true, false");
    (void)unsetenv("SENNIT_SHMEM_CHECKS");
}

// Broken by a report that is not one line, or that comes unasked.
TEST(knobs, the_report_is_one_line_when_asked_for) {
    Lines lines;
    ASSERT_EQ(sennit_log_set(keep, &lines, SENNIT_LOG_INFO), SENNIT_OK);
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    EXPECT_EQ(lines.count("1 rank"), 0);
    (void)setenv("SENNIT_REPORT", "1", 1);
    EXPECT_EQ(start_and_stop(), SENNIT_OK);
    (void)unsetenv("SENNIT_REPORT");
    EXPECT_EQ(lines.count("1 rank"), 1);
    EXPECT_EQ(lines.count("from rank 0: 0 inproc, 0 mapped, 0 cma, 0 "), 1);
    EXPECT_EQ(lines.count(" 0 sim, "), 1);
    EXPECT_EQ(lines.count(", 0 without a path"), 1);
    for (const std::string &text : lines.texts)
        EXPECT_EQ(text.find('\n'), std::string::npos);
    ASSERT_EQ(sennit_log_set(nullptr, nullptr, SENNIT_LOG_WARNING), SENNIT_OK);
}
