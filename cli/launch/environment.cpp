// The environment that ranks inherit. Variables that identify a rank of an outer launcher (mpirun,
// srun, another `sennit run`) are removed, since a rank would otherwise join that job. Variables
// that describe the allocation or tune a library stay.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "launch/job.hpp"

namespace sennit::cli {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kRemovedPrefixes = {
    // PMI, PMI-2, PMIx and their servers
    "PMI_"sv, "PMI2_"sv, "PMIX_"sv, "PRTE_"sv, "PRRTE_"sv, "HYDI_"sv, "HYDRA_PROXY"sv,
    // Open MPI's ranks, and the parameters that its launcher passes to them
    "OMPI_COMM_WORLD_"sv, "OMPI_MCA_orte_"sv, "OMPI_MCA_ess"sv, "OMPI_MCA_pmix"sv,
    "OMPI_MCA_prte"sv, "OMPI_MCA_initial_wdir"sv, "OMPI_MCA_shmem_RUNTIME"sv, "ORTE_"sv,
    // MPICH, Intel MPI, MVAPICH
    "MPI_LOCALNRANKS"sv, "MPI_LOCALRANKID"sv, "MV2_COMM_WORLD_"sv, "I_MPI_PMI"sv,
    // Slurm: the step and the task, not the allocation
    "SLURM_STEP"sv, "SLURM_PROCID"sv, "SLURM_LOCALID"sv, "SLURM_NODEID"sv, "SLURM_GTIDS"sv,
    "SLURM_TASK_PID"sv, "SLURM_NTASKS"sv, "SLURM_NPROCS"sv, "SLURM_SRUN_"sv, "SLURM_PMI"sv,
    "SLURM_MPI_TYPE"sv, "SLURM_LAUNCH_NODE_IPADDR"sv,
    // Cray PALS and ALPS, jsrun, Flux
    "PALS_"sv, "ALPS_APP_"sv, "JSM_NAMESPACE_"sv, "FLUX_TASK_"sv, "FLUX_JOB_SIZE"sv};

// Variables of Open MPI that users set themselves. They stay unless a prefix above removes them.
constexpr std::array kKeptPrefixes = {"OMPI_MCA_"sv, "OMPI_ALLOW_RUN_AS_ROOT"sv};

bool starts_with_any(std::string_view variable, auto const &prefixes) {
    return std::ranges::any_of(
        prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

bool is_removed(std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('='));
    if (starts_with_any(name, kRemovedPrefixes)) return true;
    if (name.starts_with("OMPI_")) return !starts_with_any(name, kKeptPrefixes);
    return std::ranges::any_of(runtime::kLaunchVariables,
                               [&](const char *own) { return name == own; });
}

}  // namespace

std::vector<std::string> rank_environment(const std::vector<std::string> &set_variables) {
    std::vector<std::string> kept;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        if (!is_removed(*variable)) kept.emplace_back(*variable);
    }
    for (const std::string &setting : set_variables) {
        const std::string name = setting.substr(0, setting.find('=') + 1);
        std::erase_if(kept, [&](const std::string &old) { return old.starts_with(name); });
        kept.push_back(setting);
    }
    return kept;
}

}  // namespace sennit::cli
