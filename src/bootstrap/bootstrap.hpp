// SPDX-License-Identifier: BSD-3-Clause
// The table of launchers. A launcher gives a rank its number and lets it exchange data with the
// other ranks before any path exists. Each launcher is one file that fills one Launcher record.
// sennit_init takes the first launcher of the table that is present.
#pragma once

#include <sennit/runtime.h>

#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace sennit::runtime {

// Size of the sentence of present().
inline constexpr std::size_t kReasonBytes = 192;

struct Launcher {
    const char *name;
    // Whether this launcher started the process. Writes the reason as one sentence. Changes nothing
    // and never waits.
    bool (*present)(char *reason, std::size_t bytes);
    // Connects and fills `out`; out->release() ends the use, and then open() may be called again.
    // One rank of the process at a time may use a launcher. `timeout_ns` limits the wait and may be
    // SENNIT_FOREVER. Errors: BOOTSTRAP, NOMEM, OS, STATE (a rank of this process uses the launcher
    // already, or a forked child calls), TIMEOUT, UNSUPPORTED (not in this build).
    sennit_status (*open)(std::int64_t timeout_ns, sennit_bootstrap *out);
};

extern const Launcher kPmixLauncher;    // pmix.cpp, or pmix_absent.cpp
extern const Launcher kPmi1Launcher;    // pmi1.cpp
extern const Launcher kSennitLauncher;  // launcher.cpp: `sennit run`
extern const Launcher kAloneLauncher;   // alone.cpp: always present, size 1

inline constexpr const Launcher *kLaunchers[] = {&kPmixLauncher, &kPmi1Launcher, &kSennitLauncher,
                                                 &kAloneLauncher};

// Chooses and opens the launcher of this process (the knob SENNIT_BOOTSTRAP forces one). Errors: as
// open(); also BOOTSTRAP if the environment says that N > 1 ranks were started but the launcher
// knows only one.
sennit_status bootstrap_find(std::int64_t timeout_ns, sennit_bootstrap *out);

// The launcher at `index` in the order of the table; null after the last. `text` gets "yes: " or
// "no: " and one sentence. May be called at any time.
const char *bootstrap_describe(int index, char *text, std::size_t bytes);

// The number of ranks according to the environment variable of a launcher; 0 if no such variable is
// set. *variable: its name. Used to detect N copies of rank 0.
int bootstrap_environment_size(const char **variable);

// A descriptor that hangs up when `sennit run` ends; -1 for other bootstraps. The bootstrap owns
// it.
int launcher_connection(const sennit_bootstrap &bootstrap);

// Call the functions of a bootstrap. Errors of Sennit's own launchers: TIMEOUT, PEER_LOST,
// BOOTSTRAP, NOMEM, OS, UNSUPPORTED (too many bytes). Errors of a bootstrap of the program: the
// status that it has set by sennit_error_report; otherwise BOOTSTRAP, with the returned code as
// provider_code.
sennit_status bootstrap_allgather(const sennit_bootstrap &bootstrap, const void *mine, void *all,
                                  std::size_t bytes, const Deadline &deadline);
sennit_status bootstrap_barrier(const sennit_bootstrap &bootstrap, const Deadline &deadline);

}  // namespace sennit::runtime
