// SPDX-License-Identifier: BSD-3-Clause
// The table of launchers: how a rank learns its number and meets the others before any path exists.
// Owned by runtime/; each launcher is one file bootstrap_<name>.cpp that fills one Launcher record.
// sennit_init asks them in the order of the table and takes the first that is present.
#pragma once

#include <sennit/runtime.h>

#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace sennit::runtime {

// Room for the sentence of present().
inline constexpr std::size_t kReasonBytes = 192;

struct Launcher {
    const char *name;
    // Was this process started by it? Looks at the environment only, changes nothing, never waits.
    // Writes one sentence why, or why not.
    bool (*present)(char *reason, std::size_t bytes);
    // Connects and fills `out` (its release() undoes it). May be called again after release(), and
    // by at most one rank object of the process at a time. Waits at most timeout_ns, which may be
    // SENNIT_FOREVER.
    // Errors: BOOTSTRAP, NOMEM, OS, TIMEOUT, UNSUPPORTED (not in this build).
    sennit_status (*open)(std::int64_t timeout_ns, sennit_bootstrap *out);
};

extern const Launcher kPmixLauncher;    // pmix.cpp, or pmix_absent.cpp
extern const Launcher kPmi1Launcher;    // pmi1.cpp
extern const Launcher kSennitLauncher;  // launcher.cpp: `sennit run`
extern const Launcher kAloneLauncher;   // alone.cpp: always present, size 1

inline constexpr const Launcher *kLaunchers[] = {&kPmixLauncher, &kPmi1Launcher, &kSennitLauncher,
                                                 &kAloneLauncher};

// Picks and opens the launcher of this process (forced by the knob SENNIT_BOOTSTRAP). Errors as
// open; BOOTSTRAP also when the environment says that N > 1 ranks were started but the launcher
// found knows of one only.
sennit_status bootstrap_find(std::int64_t timeout_ns, sennit_bootstrap *out);

// The launcher at `index` in the order they are asked, null past the last. `text` gets "yes: " or
// "no: " and one sentence. Any time.
const char *bootstrap_describe(int index, char *text, std::size_t bytes);

// How many ranks the environment says were started (by any launcher known), and by whom; 0 if it
// says nothing. Used to find N copies of rank 0.
int bootstrap_environment_size(const char **variable);

// A descriptor that hangs up when the launcher ends, for bootstraps of `sennit run`; else -1.
// Belongs to the bootstrap.
int launcher_connection(const sennit_bootstrap &bootstrap);

// The calls of a bootstrap, whoever gave it. Errors: what Sennit's own launcher found (TIMEOUT,
// BOOTSTRAP, OS); for one that the program gave, BOOTSTRAP with its code as provider_code.
sennit_status bootstrap_allgather(const sennit_bootstrap &bootstrap, const void *mine, void *all,
                                  std::size_t bytes, const Deadline &deadline);
sennit_status bootstrap_barrier(const sennit_bootstrap &bootstrap, const Deadline &deadline);

}  // namespace sennit::runtime
