// Stands for pmix.cpp where pmix.h was missing when Sennit was built: it says so, and
// recognises the launcher nevertheless, so that nobody wonders why the ranks are alone.
#include <cstdio>
#include <cstdlib>

#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"

namespace sennit::runtime {
namespace {

bool pmix_present(char *reason, std::size_t bytes) {
    const bool is_offered = getenv("PMIX_NAMESPACE") != nullptr;
    (void)std::snprintf(reason, bytes, "%sthis build of Sennit has no PMIx (pmix.h was missing)",
                        is_offered ? "the launcher offers PMIx, but " : "");
    return false;
}

sennit_status pmix_open(std::int64_t, sennit_bootstrap *) {
    return fail(SENNIT_ERR_UNSUPPORTED,
                "this build of Sennit has no PMIx (pmix.h was missing when it was built)");
}

}  // namespace

const Launcher kPmixLauncher{"pmix", pmix_present, pmix_open};

}  // namespace sennit::runtime
