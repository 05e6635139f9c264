// The checks of `sennit doctor`, each on trees of files as the kernel would show them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "doctor/report.hpp"

namespace {

using namespace sennit::cli;
using testing::HasSubstr;

class Doctor : public testing::Test {
  protected:
    Doctor() {
        system_.root = testing::TempDir() + "sennit-doctor-XXXXXX";
        if (mkdtemp(system_.root.data()) == nullptr) std::abort();
    }
    ~Doctor() override { std::filesystem::remove_all(system_.root); }

    // Runs after every test, on its machine: a finding that is not good must have costs and a
    // remedy, a good one must have neither.
    void TearDown() override {
        for (const Check check : all_checks()) {
            const Finding finding = check(system_);
            const bool good = finding.verdict == Verdict::good;
            EXPECT_EQ(finding.costs.empty(), good) << finding.name << ": " << finding.is;
            EXPECT_EQ(finding.mend.empty(), good) << finding.name << ": " << finding.is;
        }
    }

    void has(const std::string &name, const std::string &text) {
        const std::filesystem::path path = system_.root + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    System system_;
};

TEST_F(Doctor, an_empty_tree_is_an_old_kernel_and_nothing_is_bad) {
    for (const Check check : all_checks()) {
        const Finding finding = check(system_);
        EXPECT_NE(finding.verdict, Verdict::bad) << finding.name;
        EXPECT_FALSE(finding.is.empty()) << finding.name;
    }
}

TEST_F(Doctor, every_scope_of_yama_but_0_keeps_ranks_from_copying) {
    has("/proc/sys/kernel/yama/ptrace_scope", "0\n");
    EXPECT_EQ(check_ptrace_scope(system_).verdict, Verdict::good);
    for (const char *scope : {"1\n", "2\n", "3\n"}) {
        has("/proc/sys/kernel/yama/ptrace_scope", scope);
        const Finding finding = check_ptrace_scope(system_);
        EXPECT_EQ(finding.verdict, Verdict::bad) << scope;
        EXPECT_THAT(finding.costs, HasSubstr("sennit_register"));
        EXPECT_THAT(finding.mend, HasSubstr("kernel.yama.ptrace_scope=0"));
    }
}

// Broken by one refusal counted by each check that it affects, and a bad verdict for Yama on a
// kernel without it.
TEST_F(Doctor, refused_copying_is_counted_once_for_its_cause) {
    const auto bad = [&] {
        std::string names;
        for (const Check check : all_checks())
            if (check(system_).verdict == Verdict::bad) names += check(system_).name + " ";
        return names;
    };
    const std::string scope = "/proc/sys/kernel/yama/ptrace_scope";
    system_.figures.copy_error = EPERM;
    system_.figures.guard_error = EPERM;
    EXPECT_EQ(bad(), "security_module ") << "no Yama, no filter";
    has(scope, "0\n");
    EXPECT_EQ(bad(), "security_module ");
    has("/sys/kernel/security/lsm", "capability,apparmor");
    has("/proc/self/attr/current", "docker-default (enforce)\n");
    EXPECT_THAT(check_security_module(system_).is,
                HasSubstr("apparmor; this process runs under docker-default (enforce)"));
    has("/proc/self/status", "Seccomp:\t2\n");
    EXPECT_EQ(bad(), "seccomp ");
    has(scope, "1\n");
    EXPECT_EQ(bad(), "ptrace_scope ");
    system_.figures.copy_error = 0;
    has(scope, "0\n");
    EXPECT_EQ(bad(), "");
}

TEST_F(Doctor, the_capability_to_trace_helps_unless_the_scope_is_3) {
    has("/proc/self/status", "Name:\tx\nCapEff:\t0000000000080000\n");
    has("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    EXPECT_EQ(check_ptrace_scope(system_).verdict, Verdict::note);
    has("/proc/sys/kernel/yama/ptrace_scope", "3\n");
    EXPECT_EQ(check_ptrace_scope(system_).verdict, Verdict::bad);
    has("/proc/self/status", "Name:\tx\nCapEff:\t0000000000040000\n");
    has("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    EXPECT_EQ(check_ptrace_scope(system_).verdict, Verdict::bad);
}

TEST_F(Doctor, a_filter_is_bad_only_if_it_refuses_copying) {
    has("/proc/self/status", "Seccomp:\t0\n");
    EXPECT_EQ(check_seccomp(system_).verdict, Verdict::good);
    has("/proc/self/status", "Seccomp:\t2\n");
    EXPECT_EQ(check_seccomp(system_).verdict, Verdict::note) << "not tried";
    system_.figures.copy_error = 0;
    EXPECT_EQ(check_seccomp(system_).verdict, Verdict::good);
    for (const int error : {EPERM, ENOSYS}) {
        system_.figures.copy_error = error;
        const Finding finding = check_seccomp(system_);
        EXPECT_EQ(finding.verdict, Verdict::bad);
        EXPECT_THAT(finding.mend, HasSubstr("--cap-add=SYS_PTRACE"));
        EXPECT_EQ(finding.figures["copy_errno"], error);
    }
}

// Broken by a doctor without a finding where a container's filter refuses userfaultfd.
TEST_F(Doctor, stores_that_cannot_be_held_are_reported_with_a_remedy) {
    const std::string switch_file = "/proc/sys/vm/unprivileged_userfaultfd";
    EXPECT_THAT(check_userfaultfd(system_).mend, HasSubstr("CONFIG_USERFAULTFD"));
    has(switch_file, "0\n");
    EXPECT_EQ(check_userfaultfd(system_).verdict, Verdict::good) << "not tried, no filter";
    has("/proc/self/status", "Seccomp:\t2\n");
    EXPECT_EQ(check_userfaultfd(system_).verdict, Verdict::note) << "not tried, a filter";
    for (const int error : {EPERM, ENOSYS}) {
        system_.figures.guard_error = error;
        const Finding finding = check_userfaultfd(system_);
        EXPECT_EQ(finding.verdict, Verdict::note);
        EXPECT_THAT(finding.costs, HasSubstr("SENNIT_REGISTER_SHARED_PAGES"));
        EXPECT_THAT(finding.costs, Not(HasSubstr("SENNIT_ERR_UNSUPPORTED")));
        EXPECT_THAT(finding.mend, HasSubstr("seccomp=unconfined"));
        EXPECT_EQ(finding.figures["guard_errno"], error);
    }
    system_.figures.copy_error = EPERM;
    EXPECT_EQ(check_userfaultfd(system_).verdict, Verdict::note) << "check_seccomp counts it";
    EXPECT_THAT(check_userfaultfd(system_).costs, HasSubstr("SENNIT_ERR_UNSUPPORTED"));
    has("/proc/self/status", "Seccomp:\t0\n");
    system_.figures.guard_error = EPERM;
    EXPECT_THAT(check_userfaultfd(system_).mend, HasSubstr("vm.unprivileged_userfaultfd=1"));
    system_.figures.guard_error = EINVAL;
    EXPECT_THAT(check_userfaultfd(system_).mend, HasSubstr("CONFIG_USERFAULTFD"));
}

TEST_F(Doctor, unheld_stores_of_system_calls_are_a_note) {
    system_.figures.guard_error = 0;
    const Finding finding = check_userfaultfd(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.costs, HasSubstr("EFAULT"));
    EXPECT_THAT(finding.mend, HasSubstr("vm.unprivileged_userfaultfd=1"));
    system_.figures.guard_holds_system_calls = true;
    EXPECT_EQ(check_userfaultfd(system_).verdict, Verdict::good);
}

TEST_F(Doctor, the_limit_of_locked_memory_is_the_soft_one) {
    const std::string head =
        "Limit                     Soft Limit           Hard Limit           Units\n";
    has("/proc/self/limits",
        head + "Max locked memory         65536                unlimited            bytes\n");
    const Finding finding = check_memlock(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.is, HasSubstr("64 KiB"));
    EXPECT_THAT(finding.mend, HasSubstr("ulimit -l"));
    has("/proc/self/limits",
        head + "Max locked memory         unlimited            unlimited            bytes\n");
    EXPECT_EQ(check_memlock(system_).verdict, Verdict::good);
}

TEST_F(Doctor, open_files_are_counted_against_four_connections_for_each_rank) {
    EXPECT_EQ(check_open_files(system_).verdict, Verdict::good) << "the kernel does not tell";
    const std::string head =
        "Limit                     Soft Limit           Hard Limit           Units\n";
    const auto may_have = [&](const std::string &hard) {
        has("/proc/self/limits", head + "Max open files            1024                 " + hard +
                                     "                 files\n");
        return check_open_files(system_);
    };
    EXPECT_EQ(may_have("524288").verdict, Verdict::good);
    EXPECT_EQ(may_have("unlimited").verdict, Verdict::good);
    const Finding few = may_have("4096");
    EXPECT_EQ(few.verdict, Verdict::note);
    EXPECT_THAT(few.is, HasSubstr("992"));
    EXPECT_THAT(few.mend, HasSubstr("ulimit -n 4128"));
    system_.ranks = 992;
    EXPECT_EQ(may_have("4096").verdict, Verdict::good);
    system_.ranks = 993;
    EXPECT_EQ(may_have("4096").verdict, Verdict::bad);
    EXPECT_THAT(may_have("4096").costs, HasSubstr("SENNIT_ERR_FABRIC"));
    system_.ranks = 200'000;
    EXPECT_THAT(may_have("524288").mend, HasSubstr("ulimit -n 800128"));
    EXPECT_EQ(may_have("100").verdict, Verdict::bad);
    system_.ranks = 0;
}

TEST_F(Doctor, xpmem_is_recognised_by_its_device_and_its_module) {
    EXPECT_THAT(check_xpmem(system_).is, HasSubstr("not there"));
    has("/proc/modules", "nfs 1 0\nxpmem 155648 0 - Live\n");
    EXPECT_THAT(check_xpmem(system_).is, HasSubstr("module is loaded"));
    // A folder can be opened but not read, like the device.
    std::filesystem::create_directories(system_.root + "/dev/xpmem");
    EXPECT_THAT(check_xpmem(system_).is, HasSubstr("/dev/xpmem is there"));
}

// Broken by a reader that throws when read() fails, which ends the program without a report.
TEST_F(Doctor, unreadable_files_count_as_unknown) {
    const char *const files[] = {"/dev/xpmem",
                                 "/proc/meminfo",
                                 "/proc/modules",
                                 "/proc/self/cgroup",
                                 "/proc/self/limits",
                                 "/proc/self/status",
                                 "/proc/sys/kernel/numa_balancing",
                                 "/proc/sys/kernel/yama/ptrace_scope",
                                 "/sys/devices/system/cpu/online",
                                 "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                 "/sys/kernel/mm/transparent_hugepage/enabled",
                                 "/sys/kernel/mm/transparent_hugepage/shmem_enabled"};
    std::vector<std::string> unread;
    for (const Check check : all_checks())
        unread.push_back(check(system_).is);
    for (const char *file : files) {
        std::filesystem::create_directories(system_.root + file);
        EXPECT_EQ(read_text(system_, file), std::nullopt) << file;
    }
    for (std::size_t i = 0; i < all_checks().size(); ++i) {
        const Finding finding = all_checks()[i](system_);
        if (finding.name == "xpmem") continue;  // the file exists
        EXPECT_EQ(finding.is, unread[i]) << finding.name;
    }
}

TEST_F(Doctor, huge_pages_are_the_word_in_brackets) {
    const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
    has("/proc/meminfo", "MemTotal: 8 kB\nHugePages_Total:      12\n");
    has(folder + "enabled", "always [madvise] never\n");
    EXPECT_EQ(check_huge_pages(system_).verdict, Verdict::good);
    EXPECT_THAT(check_huge_pages(system_).is, HasSubstr("madvise; in the pool: 12"));
    has(folder + "enabled", "always madvise [never]\n");
    EXPECT_EQ(check_huge_pages(system_).verdict, Verdict::note);
    EXPECT_THAT(check_shmem_enabled(system_).is, HasSubstr("or /sys is not mounted"));
    has(folder + "shmem_enabled", "always within_size [advise] never deny force\n");
    EXPECT_EQ(check_shmem_enabled(system_).verdict, Verdict::good);
    has(folder + "shmem_enabled", "always within_size advise [never] deny force\n");
    const Finding finding = check_shmem_enabled(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.costs, HasSubstr("SENNIT_ALLOC_HUGE"));
    EXPECT_THAT(finding.mend, HasSubstr(folder + "shmem_enabled"));
}

TEST_F(Doctor, the_tightest_limit_of_version_2_counts_also_in_a_container) {
    has("/proc/meminfo", "MemTotal:       16777216 kB\n");
    has("/proc/self/cgroup", "0::/user/job\n");
    has("/sys/fs/cgroup/user/memory.max", "1073741824\n");
    has("/sys/fs/cgroup/user/memory.current", "536870912\n");
    has("/sys/fs/cgroup/user/job/memory.max", "max\n");
    Finding finding = check_memory_limit(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_EQ(finding.figures["limit_bytes"], 1073741824u);
    EXPECT_THAT(finding.mend, HasSubstr("/sys/fs/cgroup/user/memory.max"));
    // Inside a container its control group is the mount point itself.
    std::filesystem::remove_all(system_.root + "/sys/fs/cgroup/user");
    has("/sys/fs/cgroup/memory.max", "268435456\n");
    finding = check_memory_limit(system_);
    EXPECT_EQ(finding.figures["limit_bytes"], 268435456u);
    system_.ranks = 8;  // 32 MiB each
    EXPECT_EQ(check_memory_limit(system_).verdict, Verdict::bad);
}

TEST_F(Doctor, limits_of_version_1_are_read_and_unlimited_is_not_shown) {
    has("/proc/meminfo", "MemTotal:       16777216 kB\n");
    has("/proc/self/cgroup", "9:cpu,cpuacct:/job\n4:memory:/job\n");
    has("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(check_memory_limit(system_).verdict, Verdict::good);
    has("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
    has("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1024\n");
    const Finding finding = check_memory_limit(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.mend, HasSubstr("memory.limit_in_bytes"));
}

TEST_F(Doctor, numa_balancing_matters_where_there_are_several_domains) {
    has("/proc/sys/kernel/numa_balancing", "1\n");
    has("/sys/devices/system/node/node0/cpulist", "0\n");
    has("/sys/devices/system/node/possible", "0\n");
    EXPECT_EQ(check_numa_balancing(system_).verdict, Verdict::good);
    has("/sys/devices/system/node/node1/cpulist", "1\n");
    const Finding finding = check_numa_balancing(system_);
    EXPECT_EQ(finding.verdict, Verdict::bad);
    EXPECT_THAT(finding.mend, HasSubstr("numa_balancing=0"));
    has("/proc/sys/kernel/numa_balancing", "0\n");
    EXPECT_EQ(check_numa_balancing(system_).verdict, Verdict::good);
}

TEST_F(Doctor, more_ranks_than_allowed_processors_are_bad) {
    has("/proc/self/status", "Cpus_allowed_list:\t0-3,8\n");
    has("/sys/devices/system/cpu/online", "0-15\n");
    EXPECT_EQ(check_cpuset(system_).verdict, Verdict::note) << "5 of 16";
    EXPECT_EQ(check_cpuset(system_).figures["allowed"], 5u);
    system_.ranks = 5;
    EXPECT_EQ(check_cpuset(system_).verdict, Verdict::note);
    system_.ranks = 6;
    EXPECT_EQ(check_cpuset(system_).verdict, Verdict::bad);
    EXPECT_THAT(check_cpuset(system_).mend, HasSubstr("taskset -c 0-15"));
    has("/proc/self/status", "Cpus_allowed_list:\t0-15\n");
    EXPECT_EQ(check_cpuset(system_).verdict, Verdict::good);
    system_.ranks = 17;
    EXPECT_THAT(check_cpuset(system_).mend, HasSubstr("sennit run -n 16"));
}

TEST_F(Doctor, the_quota_of_processor_time_is_compared_with_the_ranks) {
    has("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
    has("/proc/self/cgroup", "0::/job\n");
    has("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::good);
    has("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    has("/sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nnr_throttled 42\n");
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::note);
    EXPECT_EQ(check_cpu_quota(system_).figures["throttled"], 42u);
    system_.ranks = 2;
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::good);
    system_.ranks = 3;
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::bad);
    has("/proc/self/cgroup", "7:cpu,cpuacct:/job\n");
    has("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    has("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::good);
    has("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
    EXPECT_EQ(check_cpu_quota(system_).verdict, Verdict::bad);
}

TEST_F(Doctor, a_governor_other_than_performance_is_a_note) {
    EXPECT_EQ(check_governor(system_).verdict, Verdict::good) << "a virtual machine has none";
    has("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    has("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    EXPECT_EQ(check_governor(system_).verdict, Verdict::good);
    has("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    const Finding finding = check_governor(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.is, HasSubstr("powersave (1)"));
    EXPECT_THAT(finding.mend, HasSubstr("cpupower"));
}

TEST_F(Doctor, scheduling_groups_matter_where_ranks_outnumber_processors) {
    has("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
    system_.ranks = 4;
    EXPECT_EQ(check_autogroup(system_).verdict, Verdict::good) << "a kernel without them";
    has("/proc/self/autogroup", "/autogroup-1517 nice 0\n");
    has("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
    EXPECT_EQ(check_autogroup(system_).verdict, Verdict::good);
    has("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    const Finding finding = check_autogroup(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.is, HasSubstr("/autogroup-1517"));
    EXPECT_THAT(finding.mend, HasSubstr("sched_autogroup_enabled=0"));
    system_.ranks = 2;
    EXPECT_EQ(check_autogroup(system_).verdict, Verdict::good);
}

TEST_F(Doctor, locked_memory_matters_where_a_card_locks_it) {
    has("/proc/self/limits", "Max locked memory         65536                65536       bytes\n");
    EXPECT_EQ(check_memlock(system_).verdict, Verdict::note);
    has("/sys/class/infiniband/mlx5_0/node_guid", "0\n");
    EXPECT_EQ(check_memlock(system_).verdict, Verdict::bad);
    EXPECT_THAT(check_memlock(system_).costs, HasSubstr("registering"));
}

TEST_F(Doctor, an_old_or_missing_libfabric_is_a_note) {
    EXPECT_EQ(check_libfabric(system_).verdict, Verdict::good) << "not asked";
    for (const char *version : {"1.17.0", "1.20.1", "2.0.0", "2.6.0"}) {
        system_.network.libfabric = version;
        EXPECT_EQ(check_libfabric(system_).verdict, Verdict::note) << version;
        EXPECT_THAT(check_libfabric(system_).is, HasSubstr(version));
    }
    EXPECT_THAT(check_libfabric(system_).is, HasSubstr("none of its providers"));
    system_.network.provider = "cxi: the best one, by cxi0";
    EXPECT_THAT(check_libfabric(system_).is, HasSubstr("take the provider cxi: the best one"));
    for (const char *version : {"2.7.0", "2.10.0", "3.0.0"}) {
        system_.network.libfabric = version;
        EXPECT_EQ(check_libfabric(system_).verdict, Verdict::good) << version;
    }
    system_.network.libfabric = "";
    system_.network.libfabric_error = "libfabric.so.1: cannot open";
    const Finding finding = check_libfabric(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.is, HasSubstr("cannot open"));
    EXPECT_THAT(finding.mend, HasSubstr("libfabric1"));
    system_.network.is_built_with_libfabric = false;
    EXPECT_THAT(check_libfabric(system_).mend, HasSubstr("build Sennit again"));
}

Interface rail(const char *name, const char *address, int mtu) {
    return {name, address, 24, true, false, mtu, 1000};
}

TEST_F(Doctor, rails_with_frames_of_different_sizes_are_a_note) {
    system_.network.interfaces = {{"lo", "127.0.0.1", 8, true, true, 65536, 0}};
    EXPECT_THAT(check_interfaces(system_).is, HasSubstr("none"));
    system_.network.interfaces.push_back(rail("eth0", "10.0.0.1", 1500));
    system_.network.interfaces.push_back(rail("eth1", "10.1.0.1", 1500));
    EXPECT_EQ(check_interfaces(system_).verdict, Verdict::good) << "loopback does not count";
    EXPECT_THAT(check_interfaces(system_).is, HasSubstr("eth1 10.1.0.1/24, 1000 Mbit/s, MTU 1500"));
    system_.network.interfaces.push_back(rail("eth2", "10.2.0.1", 9000));
    const Finding finding = check_interfaces(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_THAT(finding.costs, HasSubstr("1500 to 9000"));
    system_.network.interfaces.back().is_up = false;
    EXPECT_EQ(check_interfaces(system_).verdict, Verdict::good) << "a card without a link";
}

TEST_F(Doctor, an_interface_that_takes_no_connection_is_bad) {
    EXPECT_EQ(check_ports(system_).verdict, Verdict::good) << "not tried";
    system_.network.interfaces = {rail("eth0", "10.0.0.1", 1500), rail("eth1", "10.1.0.1", 1500)};
    system_.network.connections = {{"10.0.0.1", 0}, {"10.1.0.1", 0}};
    EXPECT_EQ(check_ports(system_).verdict, Verdict::good);
    system_.network.connections["10.1.0.1"] = ETIMEDOUT;
    const Finding finding = check_ports(system_);
    EXPECT_EQ(finding.verdict, Verdict::bad);
    EXPECT_THAT(finding.is, testing::AllOf(HasSubstr("10.1.0.1 (eth1)"), HasSubstr("timed out"),
                                           testing::Not(HasSubstr("10.0.0.1"))));
}

TEST_F(Doctor, congestion_control_that_keeps_data_back_is_a_note) {
    EXPECT_EQ(check_congestion(system_).verdict, Verdict::good) << "not reported";
    for (const char *name : {"cubic\n", "reno\n", "dctcp\n"}) {
        has("/proc/sys/net/ipv4/tcp_congestion_control", name);
        EXPECT_EQ(check_congestion(system_).verdict, Verdict::good) << name;
    }
    for (const char *name : {"bbr\n", "bbr2\n"}) {
        has("/proc/sys/net/ipv4/tcp_congestion_control", name);
        EXPECT_EQ(check_congestion(system_).verdict, Verdict::note) << name;
        EXPECT_THAT(check_congestion(system_).mend, HasSubstr("congestion_control=cubic"));
    }
}

TEST_F(Doctor, disabled_progress_is_a_note_and_few_processors_count_once) {
    has("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    system_.ranks = 5;
    EXPECT_EQ(check_progress(system_).verdict, Verdict::good);
    EXPECT_THAT(check_cpuset(system_).costs, HasSubstr("between nodes"));
    system_.network.progress = "off";
    EXPECT_EQ(check_progress(system_).verdict, Verdict::note);
    EXPECT_THAT(check_progress(system_).mend, HasSubstr("SENNIT_PROGRESS"));
}

// Broken by a doctor that finds nothing bad where limits break every job.
TEST_F(Doctor, limits_that_keep_two_ranks_from_starting_are_bad) {
    const auto limit = [&](const std::string &what, const std::string &value) {
        has("/proc/self/limits", what + "   " + value + "   unlimited   units\n");
    };
    limit("Max file size", "unlimited");
    EXPECT_EQ(check_file_size(system_).verdict, Verdict::good);
    limit("Max file size", "1024000");
    EXPECT_EQ(check_file_size(system_).verdict, Verdict::bad);
    EXPECT_THAT(check_file_size(system_).mend, HasSubstr("ulimit -f"));
    limit("Max file size", "1073741824");
    EXPECT_EQ(check_file_size(system_).verdict, Verdict::note);
    limit("Max stack size", "65536");
    EXPECT_EQ(check_stack(system_).verdict, Verdict::good);
    limit("Max stack size", "65535");
    EXPECT_EQ(check_stack(system_).verdict, Verdict::bad);
    limit("Max address space", "200000000");
    EXPECT_EQ(check_address_space(system_).verdict, Verdict::bad);
    limit("Max address space", "400000000");
    EXPECT_EQ(check_address_space(system_).verdict, Verdict::note);
    system_.ranks = 4;
    EXPECT_EQ(check_address_space(system_).verdict, Verdict::bad);
    system_.ranks = 0;
    has("/proc/self/limits", "Max open files   16   20   files\n");
    EXPECT_EQ(check_open_files(system_).verdict, Verdict::bad);
    EXPECT_THAT(check_open_files(system_).costs, HasSubstr("40 for 2 ranks"));
}

TEST_F(Doctor, processes_are_limited_by_the_user_and_by_control_groups) {
    EXPECT_EQ(check_processes(system_).verdict, Verdict::good) << "the kernel does not tell";
    has("/proc/self/limits", "Max processes   20   unlimited   processes\n");
    has("/proc/self/status", "Uid:\t7\t7\t7\t7\nCapEff:\t0000000000000000\n");
    has("/proc/10/status", "Uid:\t7\t7\t7\t7\nThreads:\t9\n");
    has("/proc/11/status", "Uid:\t8\t8\t8\t8\nThreads:\t100\n");
    EXPECT_EQ(check_processes(system_).verdict, Verdict::good) << "11 are left";
    EXPECT_EQ(check_processes(system_).figures["left"], 11u);
    system_.ranks = 9;
    EXPECT_EQ(check_processes(system_).verdict, Verdict::note) << "no room for their threads";
    system_.ranks = 10;
    EXPECT_EQ(check_processes(system_).verdict, Verdict::bad);
    EXPECT_THAT(check_processes(system_).mend, HasSubstr("ulimit -u"));
    has("/proc/self/status", "Uid:\t7\t7\t7\t7\nCapEff:\t0000000001000000\n");
    EXPECT_EQ(check_processes(system_).verdict, Verdict::good) << "CAP_SYS_RESOURCE";
    system_.ranks = 0;
    has("/proc/self/cgroup", "0::/job\n");
    has("/sys/fs/cgroup/job/pids.max", "30\n");
    has("/sys/fs/cgroup/job/pids.current", "27\n");
    EXPECT_EQ(check_processes(system_).verdict, Verdict::bad) << "3 are left";
    EXPECT_THAT(check_processes(system_).mend, HasSubstr("/sys/fs/cgroup/job/pids.max"));
    system_.figures.thread_error = EAGAIN;
    EXPECT_EQ(check_threads(system_).verdict, Verdict::note) << "check_processes counts this limit";
    has("/sys/fs/cgroup/job/pids.max", "max\n");
    EXPECT_EQ(check_processes(system_).verdict, Verdict::good);
    EXPECT_EQ(check_threads(system_).verdict, Verdict::bad);
    system_.figures.thread_error = 0;
    EXPECT_EQ(check_threads(system_).verdict, Verdict::good);
}

TEST_F(Doctor, a_failed_start_is_explained_once_and_counted_for_its_cause) {
    EXPECT_EQ(check_start(system_).is, "not tried");
    system_.start = Start{0, "{}", 1e8};
    EXPECT_EQ(check_start(system_).verdict, Verdict::good);
    system_.start = Start{
        0, R"({"peers":{"pairs":[{"from":0,"to":1,"path":"none","reasons":{"mapped":"full"}}]}})",
        1e8};
    EXPECT_EQ(check_start(system_).verdict, Verdict::bad);
    EXPECT_EQ(check_start(system_).is, "two ranks start, but do not reach each other: full");
    system_.start = Start{1,
                          "sennit info: memfd_create: no\nsennit info: memfd_create: no\n"
                          "sennit run: rank 0 (process 7) exited with code 1\n",
                          1e8};
    Finding finding = check_start(system_);
    EXPECT_EQ(finding.verdict, Verdict::bad);
    EXPECT_EQ(finding.is, "two ranks do not start (exit code 1): sennit info: memfd_create: no");
    EXPECT_THAT(finding.mend, HasSubstr("sennit info --peers"));
    has("/proc/self/status", "Seccomp:\t2\n");
    EXPECT_THAT(check_start(system_).mend, HasSubstr("seccomp=unconfined"));
    has("/proc/self/limits", "Max file size   1000   1000   bytes\n");
    finding = check_start(system_);
    EXPECT_EQ(finding.verdict, Verdict::note);
    EXPECT_EQ(finding.mend, "see file_size");
}

// A machine with every problem: TearDown() checks cost and mend. Broken by a check whose verdict
// is always good.
TEST_F(Doctor, every_problem_has_its_cost_and_a_remedy) {
    has("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    has("/proc/self/status", "Seccomp:\t2\nCpus_allowed_list:\t0\n");
    has("/proc/self/limits",
        "Max open files            64        128       files\n"
        "Max file size             1000      1000      bytes\n"
        "Max address space         1000      1000      bytes\n"
        "Max stack size            1000      1000      bytes\n"
        "Max locked memory         65536     65536     bytes\n");
    has("/proc/self/cgroup", "0::/\n");
    has("/sys/fs/cgroup/memory.max", "268435456\n");
    has("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    has("/sys/fs/cgroup/pids.max", "3\n");
    has("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    has("/proc/sys/kernel/numa_balancing", "1\n");
    has("/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n");
    has("/sys/devices/system/node/node0/cpulist", "0\n");
    has("/sys/devices/system/node/node1/cpulist", "1\n");
    has("/sys/devices/system/cpu/online", "0-1\n");
    has("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    has("/proc/self/autogroup", "/autogroup-1 nice 0\n");
    has("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    system_.ranks = 2;
    system_.figures.thread_error = EAGAIN;
    system_.start = Start{1, "sennit run: fork: no\n", 1e8};
    system_.network = {"1.17.0",
                       "",
                       {rail("eth0", "10.0.0.1", 1500), rail("eth1", "10.1.0.1", 9000)},
                       {{"10.0.0.1", ECONNREFUSED}},
                       "off",
                       ""};
    std::vector<Finding> findings;
    for (const Check check : all_checks()) {
        findings.push_back(check(system_));
        // Sennit works without XPMEM, and Yama is the module that refuses.
        const bool good =
            findings.back().name == "xpmem" || findings.back().name == "security_module";
        EXPECT_EQ(findings.back().verdict == Verdict::good, good) << findings.back().name;
    }
    EXPECT_EQ(doctor_exit_code(findings), 1);
    EXPECT_EQ(findings_json(findings, 2)["findings"].size(), all_checks().size());
    EXPECT_THAT(findings_text(findings), HasSubstr("mend: "));
}

// A port with a listener is reached; an address of another host is not.
TEST(DoctorProbes, connections_are_really_tried) {
    const Interface here{"lo", "127.0.0.1", 8, true, true, 65536, 0};
    const Interface strange{"eth9", "192.0.2.1", 24, true, false, 1500, 0};
    const Interface down{"eth8", "127.0.0.2", 24, false, false, 1500, 0};
    const auto results = try_connections({here, strange, down});
    EXPECT_EQ(results.size(), 2U);
    EXPECT_EQ(results.at("127.0.0.1"), 0);
    EXPECT_NE(results.at("192.0.2.1"), 0);
}

TEST(DoctorProbes, measured_figures_are_positive) {
    const Figures figures = measure();
    ASSERT_TRUE(figures.copy_error.has_value());
    EXPECT_EQ(figures.copy_ns.has_value(), *figures.copy_error == 0);
    ASSERT_TRUE(figures.guard_error.has_value());
    for (const auto &figure :
         {figures.system_call_ns, figures.touch_ns_per_mib, figures.touch_huge_ns_per_mib,
          figures.first_work_ns, figures.later_work_ns}) {
        ASSERT_TRUE(figure.has_value());
        EXPECT_GT(*figure, 0);
    }
}

}  // namespace
