// The choice of a launcher from the environment, and the error for a wrong choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "bootstrap/bootstrap.hpp"

extern char **environ;

namespace {

using namespace sennit::runtime;
using sennit::thread_error;
using ::testing::HasSubstr;

constexpr std::int64_t kTimeout_ns = 5'000'000'000;

// No launcher's variable is set before or after a test.
class Choice : public ::testing::Test {
  protected:
    void SetUp() override { clear(); }
    void TearDown() override {
        clear();
        (void)knobs_read();
    }

    static void set(const std::map<std::string, std::string> &variables) {
        for (const auto &[name, value] : variables)
            (void)setenv(name.c_str(), value.c_str(), 1);
        ASSERT_EQ(knobs_read(), SENNIT_OK);
    }

    static sennit_status find() { return bootstrap_find(kTimeout_ns, &found_); }
    static std::string error() { return thread_error()->text; }

    static inline sennit_bootstrap found_{};

  private:
    static void clear() {
        std::vector<std::string> names;
        for (char **entry = environ; *entry != nullptr; ++entry) {
            const std::string text(*entry);
            for (const char *prefix :
                 {"OMPI_", "PMI_", "PMIX_", "MV2_", "SLURM_", "SENNIT_", "FLUX_", "JSM_", "MPI_"})
                if (text.rfind(prefix, 0) == 0) names.push_back(text.substr(0, text.find('=')));
        }
        for (const auto &name : names)
            (void)unsetenv(name.c_str());
    }
};

TEST_F(Choice, a_program_without_a_launcher_is_alone) {
    ASSERT_EQ(find(), SENNIT_OK) << error();
    EXPECT_STREQ(found_.name, "alone");
    EXPECT_EQ(found_.rank, 0);
    EXPECT_EQ(found_.size, 1);
}

TEST_F(Choice, the_variable_of_each_launcher_gives_the_number_of_ranks) {
    const char *variable = "";
    EXPECT_EQ(bootstrap_environment_size(&variable), 0);
    EXPECT_EQ(variable, nullptr);
    for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                             "JSM_NAMESPACE_SIZE", "SENNIT_SIZE"}) {
        ASSERT_EQ(setenv(name, "12", 1), 0);
        EXPECT_EQ(bootstrap_environment_size(&variable), 12) << name;
        EXPECT_STREQ(variable, name);
        for (const char *nonsense : {"", "x", "3x", "-2", "0", "99999999999999999999"}) {
            ASSERT_EQ(setenv(name, nonsense, 1), 0);
            EXPECT_EQ(bootstrap_environment_size(nullptr), 0) << name << "=" << nonsense;
        }
        ASSERT_EQ(unsetenv(name), 0);
    }
}

// A batch script has Slurm's variables for the whole job, but runs as a single process.
TEST_F(Choice, slurm_counts_only_inside_a_step) {
    set({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "8"}});
    EXPECT_EQ(bootstrap_environment_size(nullptr), 0);
    set({{"SLURM_STEP_ID", "0"}});
    EXPECT_EQ(bootstrap_environment_size(nullptr), 8);
}

TEST_F(Choice, a_pmix_rank_above_0_is_not_alone) {
    set({{"PMIX_RANK", "0"}});
    EXPECT_EQ(bootstrap_environment_size(nullptr), 0);
    set({{"PMIX_RANK", "3"}});
    EXPECT_EQ(bootstrap_environment_size(nullptr), 4);
}

TEST_F(Choice, copies_of_rank_zero_are_refused_and_the_variable_is_named) {
    for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SENNIT_SIZE"}) {
        set({{name, "4"}});
        EXPECT_EQ(find(), SENNIT_ERR_BOOTSTRAP);
        EXPECT_THAT(error(), HasSubstr(name));
        EXPECT_THAT(error(), HasSubstr("4 ranks"));
        EXPECT_THAT(error(), HasSubstr("SENNIT_BOOTSTRAP=alone"));
        ASSERT_EQ(unsetenv(name), 0);
    }
}

TEST_F(Choice, one_copy_alone_is_no_mismatch) {
    set({{"PMI_SIZE", "1"}});
    EXPECT_EQ(find(), SENNIT_OK) << error();
}

TEST_F(Choice, alone_can_be_requested) {
    set({{"PMI_SIZE", "4"}, {"SENNIT_BOOTSTRAP", "alone"}});
    ASSERT_EQ(find(), SENNIT_OK) << error();
    EXPECT_STREQ(found_.name, "alone");
}

TEST_F(Choice, a_requested_launcher_that_is_absent_is_an_error) {
    for (const char *name : {"pmi1", "launcher", "pmix"}) {
        set({{"SENNIT_BOOTSTRAP", name}});
        EXPECT_NE(find(), SENNIT_OK) << name;
    }
}

TEST_F(Choice, the_error_for_an_unknown_launcher_lists_the_known_ones) {
    set({{"SENNIT_BOOTSTRAP", "mpirun"}});
    EXPECT_EQ(find(), SENNIT_ERR_BOOTSTRAP);
    for (int i = 0; bootstrap_describe(i, nullptr, 0) != nullptr; ++i)
        EXPECT_THAT(error(), HasSubstr(bootstrap_describe(i, nullptr, 0)));
}

// Programs that a rank starts inherit a launcher's variables, but not always its socket.
TEST_F(Choice, a_stale_pmi_socket_is_recognised) {
    char reason[kReasonBytes];
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    for (const std::string &fd :
         {std::string("901"), std::to_string(pipe_fds[0]), std::string("x"), std::string("")}) {
        set({{"PMI_FD", fd}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
        EXPECT_FALSE(kPmi1Launcher.present(reason, sizeof reason)) << "PMI_FD=" << fd;
        EXPECT_EQ(find(), SENNIT_ERR_BOOTSTRAP) << "two ranks were started";
        EXPECT_THAT(error(), HasSubstr("no open socket"));
    }
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
}

TEST_F(Choice, every_launcher_describes_itself_in_one_line) {
    int count = 0;
    char text[256];
    for (const char *name = nullptr; (name = bootstrap_describe(count, text, sizeof text));
         ++count) {
        const std::string line(text);
        EXPECT_TRUE(line.rfind("yes: ", 0) == 0 || line.rfind("no: ", 0) == 0) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        EXPECT_GT(line.size(), 8u) << name;
    }
    EXPECT_EQ(count, 4);
    EXPECT_EQ(bootstrap_describe(-1, text, sizeof text), nullptr);
}

// The last error of a thread belongs to its last failed call: a successful call keeps it.
TEST(BootstrapCall, success_keeps_the_last_error_and_failure_has_the_code) {
    sennit_bootstrap given{};
    given.name = "mine";
    given.barrier = [](void *, std::int64_t) { return 0; };
    (void)sennit::fail(SENNIT_ERR_RANGE, "earlier");
    EXPECT_EQ(bootstrap_barrier(given, sennit::Deadline::never()), SENNIT_OK);
    EXPECT_EQ(thread_error()->status, SENNIT_ERR_RANGE);
    EXPECT_STREQ(thread_error()->text, "earlier");

    given.barrier = [](void *, std::int64_t) { return static_cast<int>(SENNIT_ERR_RANGE); };
    EXPECT_EQ(bootstrap_barrier(given, sennit::Deadline::never()), SENNIT_ERR_BOOTSTRAP)
        << "the codes of a given bootstrap are not Sennit's";
    EXPECT_EQ(thread_error()->provider_code, SENNIT_ERR_RANGE);
    EXPECT_THAT(std::string(thread_error()->text), HasSubstr("mine"));

    given.barrier = [](void *, std::int64_t) {
        return static_cast<int>(sennit::fail(SENNIT_ERR_TIMEOUT, "said by a launcher of Sennit"));
    };
    EXPECT_EQ(bootstrap_barrier(given, sennit::Deadline::never()), SENNIT_ERR_TIMEOUT);
    EXPECT_STREQ(thread_error()->text, "said by a launcher of Sennit");
}

}  // namespace
