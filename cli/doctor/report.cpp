// Also has the list of the checks.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sennit::cli {
namespace {

const char *word_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::good:
            return "good";
        case Verdict::note:
            return "note";
        case Verdict::bad:
            return "bad";
    }
    return "";
}

std::ptrdiff_t count(const std::vector<Finding> &findings, Verdict verdict) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding &one) { return one.verdict == verdict; });
}

}  // namespace

const std::vector<Check> &all_checks() {
    static const std::vector<Check> checks = {
        check_start,          check_ptrace_scope,  check_seccomp,       check_security_module,
        check_userfaultfd,    check_xpmem,         check_memlock,       check_open_files,
        check_file_size,      check_address_space, check_stack,         check_processes,
        check_threads,        check_huge_pages,    check_shmem_enabled, check_memory_limit,
        check_numa_balancing, check_cpuset,        check_cpu_quota,     check_governor,
        check_autogroup,      check_libfabric,     check_interfaces,    check_ports,
        check_congestion,     check_progress};
    return checks;
}

std::string findings_text(const std::vector<Finding> &findings) {
    std::string text;
    for (const Finding &one : findings) {
        text += fmt::format("{:<4}  {:<15} {}\n", word_of(one.verdict), one.name, one.is);
        const auto line = [&](const char *label, const std::string &what) {
            if (!what.empty()) text += fmt::format("      {:<15} {}{}\n", "", label, what);
        };
        line("measured: ", one.measured);
        line("costs: ", one.costs);
        line("mend: ", one.mend);
    }
    text += fmt::format("{} good, {} to note, {} bad\n", count(findings, Verdict::good),
                        count(findings, Verdict::note), count(findings, Verdict::bad));
    return text;
}

Json findings_json(const std::vector<Finding> &findings, int ranks) {
    Json report = {{"ranks", ranks > 0 ? Json(ranks) : Json(nullptr)}, {"findings", Json::array()}};
    for (const Finding &one : findings) {
        report["findings"].push_back({{"name", one.name},
                                      {"verdict", word_of(one.verdict)},
                                      {"is", one.is},
                                      {"costs", one.costs},
                                      {"measured", one.measured},
                                      {"mend", one.mend},
                                      {"figures", one.figures}});
    }
    report["bad"] = count(findings, Verdict::bad);
    report["note"] = count(findings, Verdict::note);
    return report;
}

int doctor_exit_code(const std::vector<Finding> &findings) {
    return count(findings, Verdict::bad) > 0 ? 1 : 0;
}

}  // namespace sennit::cli
