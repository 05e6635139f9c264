// SPDX-License-Identifier: BSD-3-Clause
// Replaces pmix.cpp in a build without PMIx. Recognises a PMIx launcher only to say why it is not
// used.
#include <cstdio>
#include <cstdlib>

#include "base/build_info.hpp"
#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"

namespace sennit::runtime {
namespace {

bool pmix_present(char *reason, std::size_t bytes) {
    const bool is_offered = getenv("PMIX_NAMESPACE") != nullptr;
    (void)std::snprintf(reason, bytes, "%sthis build of Sennit has no PMIx: %s",
                        is_offered ? "the launcher offers PMIx, but " : "",
                        build_info().without_pmix);
    return false;
}

sennit_status pmix_open(std::int64_t, sennit_bootstrap *) {
    return fail(SENNIT_ERR_UNSUPPORTED, "this build of Sennit has no PMIx: %s",
                build_info().without_pmix);
}

}  // namespace

const Launcher kPmixLauncher{"pmix", pmix_present, pmix_open};

}  // namespace sennit::runtime
