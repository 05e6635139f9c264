// SPDX-License-Identifier: BSD-3-Clause
// Chooses the launcher of this process and detects a wrong choice: N copies of a program that do
// not find each other must not all run as rank 0.
#include "bootstrap/bootstrap.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "bootstrap/mpi_presence.hpp"
#include "bootstrap/number.hpp"

namespace sennit::runtime {
namespace {

// A variable with the number of ranks that a launcher started. Some launchers also set it in
// processes that are not ranks, such as a batch script. For these launchers the variable counts
// only if the variable `within` is set too.
struct SizeVariable {
    const char *name;
    const char *within;
};

// The first variable that is set counts. If one launcher runs inside a job of another, the inner
// launcher's variable must count. `sennit run` removes the variables above its own for its ranks.
// Other launchers run inside a job of Slurm, so Slurm's variable is last.
constexpr SizeVariable kSizeVariables[] = {
    {"OMPI_COMM_WORLD_SIZE", nullptr},  // Open MPI
    {"PMI_SIZE", nullptr},              // MPICH, Intel MPI, PALS
    {"MV2_COMM_WORLD_SIZE", nullptr},   // MVAPICH2
    {"JSM_NAMESPACE_SIZE", nullptr},    // jsrun
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"SENNIT_SIZE", nullptr},
    {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},  // srun; a batch script alone has no step
};

// 0 if the variable is not set or is not a positive number.
int positive_number(const char *variable) {
    int number = 0;
    (void)number_of(std::getenv(variable), 1, INT32_MAX, &number);
    return number;
}

const Launcher *find_by_name(const char *name) {
    for (const Launcher *launcher : kLaunchers)
        if (std::strcmp(launcher->name, name) == 0) return launcher;
    return nullptr;
}

const Launcher *find_present() {
    char reason[kReasonBytes];
    for (const Launcher *launcher : kLaunchers) {
        const bool is_present = launcher->present(reason, sizeof reason);
        log(SENNIT_LOG_DEBUG, "launcher %s: %s: %s", launcher->name, is_present ? "yes" : "no",
            reason);
        if (is_present) return launcher;
    }
    return &kAloneLauncher;
}

// Writes why the launchers other than `used` and kAloneLauncher were not taken, as many reasons as
// fit.
void collect_reasons(const Launcher *used, char *text, std::size_t bytes) {
    text[0] = '\0';
    char reason[kReasonBytes];
    for (const Launcher *launcher : kLaunchers) {
        const std::size_t length = std::strlen(text);
        if (launcher == used || launcher == &kAloneLauncher) continue;
        (void)launcher->present(reason, sizeof reason);
        char sentence[kReasonBytes + 32];
        (void)std::snprintf(sentence, sizeof sentence, "%s%s: %s", length > 0 ? "; " : "",
                            launcher->name, reason);
        if (length + std::strlen(sentence) < bytes) std::strcpy(text + length, sentence);
    }
}

// Calls a function of the bootstrap and makes a status of the code that it returns. The code is a
// status if the function has set the thread's error with the same value, as Sennit's launchers and
// sennit_error_report() do. Any other code is the launcher's own and becomes BOOTSTRAP.
template <typename Call>
sennit_status call_bootstrap(const sennit_bootstrap &bootstrap, const char *what, Call call) {
    const sennit_error before = *thread_error();
    thread_error()->status = SENNIT_OK;
    const int code = call();
    if (code == 0) {
        *thread_error() = before;
        return SENNIT_OK;
    }
    if (thread_error()->status == code) return static_cast<sennit_status>(code);
    (void)fail(SENNIT_ERR_BOOTSTRAP, "the %s of the bootstrap %s failed with code %d", what,
               bootstrap.name, code);
    fail_provider_code(code);
    return SENNIT_ERR_BOOTSTRAP;
}

sennit_status check_size(const Launcher *launcher, const sennit_bootstrap &opened) {
    const char *variable = nullptr;
    const int started = bootstrap_environment_size(&variable);
    if (opened.size > 1 || started <= 1) return SENNIT_OK;
    char reasons[144];  // the rest of a sennit_error's text
    collect_reasons(launcher, reasons, sizeof reasons);
    if (mpi_presence().state == MpiState::kRunning)
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "%s says %d ranks, but launcher \"%s\" knows one: was this MPI program started "
                    "by the launcher of another MPI? %s",
                    variable, started, launcher->name, reasons);
    return fail(SENNIT_ERR_BOOTSTRAP,
                "%s says %d ranks, but launcher \"%s\" knows one; if that is meant, set "
                "SENNIT_BOOTSTRAP=%s. %s",
                variable, started, launcher->name, launcher->name, reasons);
}

}  // namespace

int bootstrap_environment_size(const char **variable) {
    for (const SizeVariable &candidate : kSizeVariables) {
        if (candidate.within != nullptr && std::getenv(candidate.within) == nullptr) continue;
        const int size = positive_number(candidate.name);
        if (size == 0) continue;
        if (variable != nullptr) *variable = candidate.name;
        return size;
    }
    // A PMIx server may set no variable with the number of ranks. A rank n shows that there are at
    // least n + 1 ranks.
    const int rank = positive_number("PMIX_RANK");
    if (variable != nullptr) *variable = rank > 0 ? "PMIX_RANK" : nullptr;
    return rank > 0 ? rank + 1 : 0;
}

sennit_status bootstrap_find(std::int64_t timeout_ns, sennit_bootstrap *out) {
    const char *forced = knobs().bootstrap.text;
    const bool is_forced = forced[0] != '\0';
    const Launcher *launcher = is_forced ? find_by_name(forced) : find_present();
    if (launcher == nullptr)
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "SENNIT_BOOTSTRAP=%s is no launcher; there are pmix, pmi1, launcher and alone",
                    forced);
    sennit_bootstrap opened{};
    sennit_status status = launcher->open(timeout_ns, &opened);
    if (status == SENNIT_OK && !is_forced) {
        status = check_size(launcher, opened);
        if (status != SENNIT_OK && opened.release != nullptr) opened.release(opened.context);
    }
    if (status == SENNIT_OK) *out = opened;
    return status;
}

sennit_status bootstrap_allgather(const sennit_bootstrap &bootstrap, const void *mine, void *all,
                                  std::size_t bytes, const Deadline &deadline) {
    return call_bootstrap(bootstrap, "allgather", [&] {
        return bootstrap.allgather(bootstrap.context, mine, all, bytes, deadline.left_ns());
    });
}

sennit_status bootstrap_barrier(const sennit_bootstrap &bootstrap, const Deadline &deadline) {
    return call_bootstrap(bootstrap, "barrier",
                          [&] { return bootstrap.barrier(bootstrap.context, deadline.left_ns()); });
}

const char *bootstrap_describe(int index, char *text, std::size_t bytes) {
    if (index < 0 || static_cast<std::size_t>(index) >= std::size(kLaunchers)) return nullptr;
    const Launcher *launcher = kLaunchers[index];
    char reason[kReasonBytes];
    const bool is_present = launcher->present(reason, sizeof reason);
    if (text != nullptr && bytes > 0)
        (void)std::snprintf(text, bytes, "%s: %s", is_present ? "yes" : "no", reason);
    return launcher->name;
}

}  // namespace sennit::runtime
