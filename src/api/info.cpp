// SPDX-License-Identifier: BSD-3-Clause
// The calls that describe the library: the last error, names of statuses, paths and rails to peers,
// network providers, launchers, knobs, version. Also sets the log.
#include <sennit/error.h>
#include <sennit/info.h>

#include "api/call.hpp"
#include "base/build_info.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "path/router.hpp"
#include "rank/process.hpp"
#include "transport/transport.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

const char *const kStatusNames[] = {
    "SENNIT_OK",
    "SENNIT_ERR_ARG",
    "SENNIT_ERR_STATE",
    "SENNIT_ERR_NOMEM",
    "SENNIT_ERR_RANGE",
    "SENNIT_ERR_NOT_REGISTERED",
    "SENNIT_ERR_OTHER_NODE",
    "SENNIT_ERR_UNSUPPORTED",
    "SENNIT_ERR_TIMEOUT",
    "SENNIT_ERR_PEER_LOST",
    "SENNIT_ERR_SIGNAL_EARLY",
    "SENNIT_ERR_SIGNAL_OVERFLOW",
    "SENNIT_ERR_OS",
    "SENNIT_ERR_FABRIC",
    "SENNIT_ERR_BOOTSTRAP",
    "SENNIT_ERR_INTERNAL",
    "SENNIT_ERR_OWNER_DIED",
};
static_assert(sizeof kStatusNames / sizeof kStatusNames[0] == SENNIT_STATUS_END);

}  // namespace

extern "C" {

const sennit_error *sennit_last_error(void) {
    return thread_error();
}

const char *sennit_status_string(sennit_status status) {
    const auto index = static_cast<unsigned>(status);
    return index < SENNIT_STATUS_END ? kStatusNames[index] : "unknown status";
}

sennit_status sennit_log_set(sennit_log_function function, void *context, sennit_log_level level) {
    if (level < SENNIT_LOG_NONE || level > SENNIT_LOG_DEBUG)
        return fail_in(fail(SENNIT_ERR_ARG, "there is no log level %d", static_cast<int>(level)),
                       __func__);
    log_set(function, context, level);
    return SENNIT_OK;
}

int sennit_path_built(sennit_path path) {
    if (path == SENNIT_PATH_SELF) return 1;
    for (const transport::Maker *maker = transport::kMakers; maker->make != nullptr; ++maker)
        if (maker->path == path) return 1;
    return 0;
}

sennit_status sennit_peer_path(int rank, sennit_path *path) {
    return call(__func__, [=](const Rank &self) {
        if (check_world_rank(self, rank) != SENNIT_OK) return SENNIT_ERR_RANGE;
        if (path == nullptr) return null_argument("path");
        *path = self.peers[rank].path;
        return SENNIT_OK;
    });
}

sennit_status sennit_peer_path_reason(int rank, sennit_path candidate, char *text, size_t bytes) {
    return call(__func__, [=](const Rank &self) {
        if (check_world_rank(self, rank) != SENNIT_OK) return SENNIT_ERR_RANGE;
        if (check_text(text, bytes) != SENNIT_OK) return SENNIT_ERR_ARG;
        if (candidate <= SENNIT_PATH_NONE || candidate >= SENNIT_PATH_END)
            return fail(SENNIT_ERR_ARG, "there is no path %d", static_cast<int>(candidate));
        reason_text(self.peers[rank].reasons[candidate], candidate, text, bytes);
        return SENNIT_OK;
    });
}

sennit_status sennit_peer_rail(int rank, int index, sennit_rail *rail) {
    return call(__func__, [=](Rank &self) {
        if (check_world_rank(self, rank) != SENNIT_OK) return SENNIT_ERR_RANGE;
        if (rail == nullptr) return null_argument("rail");
        sennit_rail found{};
        if (index < 0 ||
            !path::router_describe_rail(self, rank, static_cast<unsigned>(index), &found))
            return fail(SENNIT_ERR_RANGE, "there is no rail %d to rank %d", index, rank);
        *rail = found;
        return SENNIT_OK;
    });
}

sennit_status sennit_provider_get(int index, sennit_provider *provider) {
    if (provider == nullptr) return null_argument("provider", __func__);
    sennit_provider found{};
    const sennit_status status = transport::describe_provider(index, &found);
    if (status != SENNIT_OK) return fail_in(status, __func__);
    *provider = found;
    return SENNIT_OK;
}

const char *sennit_bootstrap_used(void) {
    const Rank *rank = caller();
    return rank == nullptr ? nullptr : rank->bootstrap.name;
}

const char *sennit_bootstrap_describe(int index, char *text, size_t bytes) {
    return runtime::bootstrap_describe(index, text, bytes);
}

sennit_status sennit_knob_get(int index, sennit_knob *knob) {
    if (knob == nullptr) return null_argument("knob", __func__);
    if (index < 0 || static_cast<std::size_t>(index) >= runtime::knob_count())
        return fail_in(
            fail(SENNIT_ERR_RANGE, "knob %d is outside 0 to %zu", index, runtime::knob_count() - 1),
            __func__);
    runtime::knob_describe(static_cast<std::size_t>(index), process_rank_count() == 0, knob);
    return SENNIT_OK;
}

const char *sennit_version(void) {
    return build_info().version;
}

const char *sennit_build_description(void) {
    return build_info().description;
}

}  // extern "C"
