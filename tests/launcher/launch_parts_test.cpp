// Parts of the launcher that need no processes: splitting output into lines, the environment of a
// rank, and the distribution of CPUs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>

#include "launch/descendants.hpp"
#include "launch/job.hpp"
#include "launch/output.hpp"
#include "launch/spawn.hpp"

namespace sennit::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A pipe to write into, and the output that came out.
class Pipe {
  public:
    Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
    ~Pipe() {
        close(ends_[0]);
        if (ends_[1] >= 0) close(ends_[1]);
    }
    int writer() const { return ends_[1]; }
    std::string read_all() {
        close(ends_[1]);
        ends_[1] = -1;
        std::string text;
        char buffer[4096];
        for (ssize_t bytes = 0; (bytes = read(ends_[0], buffer, sizeof buffer)) > 0;) {
            text.append(buffer, static_cast<std::size_t>(bytes));
        }
        return text;
    }

  private:
    int ends_[2];
};

TEST(LineKeeper, nothing_passes_before_the_line_is_whole) {
    Pipe pipe;
    Sink sink(pipe.writer());
    LineKeeper lines(sink, "");
    lines.take("half a ");
    EXPECT_TRUE(sink.empty());
    EXPECT_TRUE(lines.has_partial());
    lines.take("line\nand ");
    EXPECT_FALSE(sink.empty());
    sink.flush();
    EXPECT_EQ(pipe.read_all(), "half a line\n");
}

TEST(LineKeeper, two_streams_do_not_mix_inside_a_line) {
    Pipe pipe;
    Sink sink(pipe.writer());
    LineKeeper one(sink, "[1] ");
    LineKeeper two(sink, "[2] ");
    one.take("on");
    two.take("two\ntw");
    one.take("e\n");
    two.take("o\n");
    sink.flush();
    EXPECT_EQ(pipe.read_all(), "[2] two\n[1] one\n[2] two\n");
}

TEST(LineKeeper, every_line_gets_one_tag_however_the_bytes_come) {
    const std::string text = "a\n\nbc\nd";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        Pipe pipe;
        Sink sink(pipe.writer());
        LineKeeper lines(sink, "[0] ");
        for (std::size_t i = 0; i < text.size(); i += piece)
            lines.take(text.substr(i, piece));
        lines.flush_partial();
        sink.flush();
        EXPECT_EQ(pipe.read_all(), "[0] a\n[0] \n[0] bc\n[0] d") << "pieces of " << piece;
    }
}

TEST(LineKeeper, a_line_shown_before_its_end_goes_on_without_a_second_tag) {
    Pipe pipe;
    Sink sink(pipe.writer());
    LineKeeper lines(sink, "[0] ");
    lines.take("name? ");
    lines.flush_partial();
    lines.take("sennit\nnext\n");
    sink.flush();
    EXPECT_EQ(pipe.read_all(), "[0] name? sennit\n[0] next\n");
}

TEST(LineKeeper, zero_bytes_pass_unchanged) {
    Pipe pipe;
    Sink sink(pipe.writer());
    LineKeeper lines(sink, "");
    const std::string text("\0\xff\n\0", 4);
    lines.take(text);
    lines.flush_partial();
    sink.flush();
    EXPECT_EQ(pipe.read_all(), text);
}

TEST(Sink, a_full_pipe_does_not_block_and_its_reader_is_left_alone) {
    Pipe pipe;
    Sink sink(pipe.writer());
    sink.append(std::string(std::size_t{1} << 20, 'x'));
    sink.flush();
    EXPECT_FALSE(sink.empty());
    EXPECT_FALSE(sink.broken());
    EXPECT_EQ(fcntl(pipe.writer(), F_GETFL) & O_NONBLOCK, 0);
}

// Sets variables for one test and restores them.
class Setting {
  public:
    Setting(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
    ~Setting() { unsetenv(name_); }

  private:
    const char *name_;
};

TEST(RankEnvironment, variables_of_other_launchers_are_removed) {
    const Setting pmi("PMI_RANK", "3");
    const Setting pmix("PMIX_RANK", "3");
    const Setting openmpi("OMPI_COMM_WORLD_RANK", "3");
    const Setting slurm("SLURM_PROCID", "3");
    const Setting own("SENNIT_RANK", "3");
    const auto environment = rank_environment({});
    for (const char *name : {"PMI_", "PMIX_", "OMPI_COMM_WORLD", "SLURM_PROCID", "SENNIT_RANK"}) {
        EXPECT_THAT(environment, Not(Contains(StartsWith(name))));
    }
}

TEST(RankEnvironment, settings_of_the_user_for_a_library_stay) {
    const Setting openmpi("OMPI_MCA_btl", "self");
    const Setting slurm("SLURM_JOB_ID", "12");
    const Setting knob("SENNIT_LOG", "info");
    const auto environment = rank_environment({});
    EXPECT_THAT(environment, Contains("OMPI_MCA_btl=self"));
    EXPECT_THAT(environment, Contains("SLURM_JOB_ID=12"));
    EXPECT_THAT(environment, Contains("SENNIT_LOG=info"));
}

TEST(RankEnvironment, a_setting_replaces_the_variable_of_exactly_that_name) {
    const Setting old("COLOUR", "green");
    const Setting longer("COLOURS", "many");
    const auto environment = rank_environment({"COLOUR=red", "COLOUR=blue"});
    EXPECT_THAT(environment, Contains("COLOUR=blue"));
    EXPECT_THAT(environment, Contains("COLOURS=many"));
    EXPECT_THAT(environment, Not(Contains("COLOUR=green")));
    EXPECT_THAT(environment, Not(Contains("COLOUR=red")));
}

std::set<int> allowed() {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::set<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
    }
    return cpus;
}

TEST(Binding, shares_are_disjoint_and_complete_and_differ_by_a_core_at_most) {
    const std::set<int> mine = allowed();
    for (int ranks = 2; ranks <= static_cast<int>(mine.size()); ++ranks) {
        const auto plan = plan_binding(Binding::kShare, ranks);
        ASSERT_EQ(plan.size(), static_cast<std::size_t>(ranks));
        std::set<int> together;
        std::size_t count = 0;
        for (const auto &cpus : plan) {
            EXPECT_FALSE(cpus.empty());
            together.insert(cpus.begin(), cpus.end());
            count += cpus.size();
        }
        EXPECT_EQ(together, mine);
        EXPECT_EQ(count, mine.size());
    }
}

TEST(Binding, one_rank_or_more_ranks_than_cpus_are_not_bound_by_default) {
    EXPECT_TRUE(plan_binding(Binding::kShare, 1).empty());
    EXPECT_TRUE(plan_binding(Binding::kShare, static_cast<int>(allowed().size()) + 1).empty());
    EXPECT_TRUE(plan_binding(Binding::kNone, 2).empty());
}

TEST(Binding, binding_by_core_wraps_around_with_more_ranks_than_cores) {
    const auto plan = plan_binding(Binding::kCore, 4 * static_cast<int>(allowed().size()));
    for (const auto &cpus : plan)
        EXPECT_FALSE(cpus.empty());
    EXPECT_EQ(plan.front(), plan[plan.size() / 2]);
}

TEST(FindProgram, programs_are_found_in_the_path_and_errors_have_exit_codes) {
    EXPECT_THAT(find_program("sh").path, HasSubstr("/sh"));
    EXPECT_EQ(find_program("").exit_code, kExitNotFound);
    EXPECT_EQ(find_program("no-such-program-here").exit_code, kExitNotFound);
    EXPECT_EQ(find_program("/etc/passwd").exit_code, kExitNotExecutable);
    EXPECT_EQ(find_program("/etc/passwd/sh").exit_code, kExitNotFound);
    EXPECT_EQ(find_program("/").exit_code, kExitNotExecutable);
}

TEST(Descendants, children_are_found_and_zombies_are_not) {
    EXPECT_TRUE(descendants().empty());
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    EXPECT_THAT(descendants(), testing::ElementsAre(child));
    EXPECT_TRUE(end_descendants(2'000'000'000));
    EXPECT_TRUE(descendants().empty());
}

// Broken by a reader of /proc/PID/stat that throws if the process ends after the file was opened;
// that would end the keeper of a job whose ranks start and end their own programs.
TEST(Descendants, a_process_that_ends_during_the_look_is_no_descendant) {
    const pid_t maker = fork();
    if (maker == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the test itself ends
        for (;;) {
            const pid_t child = fork();
            if (child == 0) _exit(0);
            if (child > 0) (void)waitpid(child, nullptr, 0);
        }
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
    EXPECT_NO_THROW({
        while (std::chrono::steady_clock::now() < end)
            (void)descendants();
    });
    (void)kill(maker, SIGKILL);
    (void)waitpid(maker, nullptr, 0);
    EXPECT_TRUE(end_descendants(2'000'000'000));
}

}  // namespace
}  // namespace sennit::cli
