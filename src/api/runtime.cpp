// SPDX-License-Identifier: BSD-3-Clause
// The calls of sennit/runtime.h, except sennit_locality* (locality.cpp), and the error functions of
// api/call.hpp.
#include <sennit/runtime.h>

#include <cstdio>
#include <cstring>

#include "api/call.hpp"
#include "base/clock.hpp"
#include "base/fail_rank.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/inproc.hpp"
#include "rank/life/startup.hpp"
#include "runtime/wait.hpp"

namespace sennit::api {

sennit_status no_rank(const char *operation) {
    const char *text =
        process_is_forked_child() ? "this process was forked from a rank; a child cannot use Sennit"
        : process_rank_count() > 1
            ? "the process has several ranks and this thread belongs to none: call "
              "sennit_thread_attach"
            : "this thread is no rank: sennit_init was not called, or sennit_finalize was called "
              "already";
    return fail_in(fail(SENNIT_ERR_STATE, "%s", text), operation);
}

sennit_status no_team(std::uint32_t handle) {
    return fail(SENNIT_ERR_ARG, "team %u does not exist, or this rank is no member", handle);
}

sennit_status null_argument(const char *what) {
    return fail(SENNIT_ERR_ARG, "%s is null", what);
}

sennit_status check_text(const char *text, std::size_t bytes) {
    if (text == nullptr) return null_argument("text");
    if (bytes == 0) return fail(SENNIT_ERR_ARG, "the text has no room: its size is 0 bytes");
    return SENNIT_OK;
}

sennit_status null_argument(const char *what, const char *operation) {
    return fail_in(null_argument(what), operation);
}

sennit_status end_failed(sennit_status status, const char *operation) {
    Rank *const rank = caller();
    if (status == SENNIT_ERR_SIGNAL_EARLY && rank != nullptr) note_fruitless_poll(*rank);
    return fail_in(status, operation);
}

sennit_status check_world_rank(const Rank &rank, int other) {
    if (other >= 0 && other < world_size(rank)) return SENNIT_OK;
    return fail_no_rank(other, static_cast<std::uint32_t>(world_size(rank)));
}

namespace {

// Serializes inits that search for a launcher: a process has one launcher.
pthread_mutex_t launcher_turn = PTHREAD_MUTEX_INITIALIZER;

sennit_status check_bootstrap(const sennit_bootstrap *bootstrap) {
    if (bootstrap == nullptr) return SENNIT_OK;
    if (bootstrap->struct_bytes != sizeof(sennit_bootstrap))
        return fail(SENNIT_ERR_ARG, "bootstrap.struct_bytes is %zu, not %zu",
                    bootstrap->struct_bytes, sizeof(sennit_bootstrap));
    if (bootstrap->allgather == nullptr || bootstrap->barrier == nullptr)
        return fail(SENNIT_ERR_ARG, "the bootstrap has no allgather or no barrier");
    if (bootstrap->size < 1 || bootstrap->rank < 0 || bootstrap->rank >= bootstrap->size)
        return fail(SENNIT_ERR_ARG, "the bootstrap gives rank %d of %d", bootstrap->rank,
                    bootstrap->size);
    return SENNIT_OK;
}

sennit_status check_options(const sennit_options &options) {
    if (options.struct_bytes != sizeof(sennit_options))
        return fail(SENNIT_ERR_ARG, "options.struct_bytes is %zu, not %zu: use SENNIT_OPTIONS_INIT",
                    options.struct_bytes, sizeof(sennit_options));
    if (options.thread_level < SENNIT_THREAD_SINGLE ||
        options.thread_level > SENNIT_THREAD_MULTIPLE)
        return fail(SENNIT_ERR_ARG, "there is no thread level %d",
                    static_cast<int>(options.thread_level));
    if (options.timeout_ns < 0) return fail(SENNIT_ERR_ARG, "the timeout is negative");
    return check_bootstrap(options.bootstrap);
}

// If N ranks were started and each sees only itself, that is almost always a mistake.
sennit_status check_environment(const sennit_bootstrap &bootstrap) {
    const char *variable = "";
    const int started = runtime::bootstrap_environment_size(&variable);
    if (bootstrap.size != 1 || started <= 1) return SENNIT_OK;
    if (std::strcmp(bootstrap.name, "inproc") == 0) return SENNIT_OK;
    // `sennit run` starts no MPI, so MPI's world has one rank, whatever the program intended.
    if (std::strcmp(variable, "SENNIT_SIZE") == 0 && std::strcmp(bootstrap.name, "mpi") == 0)
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "MPI has one rank, but `sennit run` started %d: start the program with the "
                    "launcher of its MPI, or call sennit_init",
                    started);
    log(SENNIT_LOG_WARNING,
        "the bootstrap %s has one rank, but %s says that %d were started: start the program "
        "with the launcher of the MPI that it was built with",
        bootstrap.name, variable, started);
    return SENNIT_OK;
}

sennit_status open_bootstrap(const sennit_options &options, std::int64_t timeout_ns,
                             sennit_bootstrap *bootstrap) {
    if (options.bootstrap == nullptr) return runtime::bootstrap_find(timeout_ns, bootstrap);
    if (!runtime::inproc_bootstrap_take(*options.bootstrap))
        return fail(SENNIT_ERR_STATE, "a rank uses this bootstrap already");
    *bootstrap = *options.bootstrap;
    if (bootstrap->name == nullptr) bootstrap->name = "given";
    return check_environment(*bootstrap);
}

// The time limit of a knob, for which 0 means no limit.
std::int64_t limit_of(std::int64_t knob_ns) {
    return knob_ns == 0 ? SENNIT_FOREVER : knob_ns;
}

// Adds the source of the limit to the error of a start-up that timed out. The text already names
// the late rank.
void name_the_limit(const sennit_options &options) {
    char *text = thread_error()->text;
    const std::size_t length = std::strlen(text);
    (void)std::snprintf(text + length, sizeof thread_error()->text - length, "; the limit is %s",
                        options.timeout_ns == 0 ? "SENNIT_INIT_TIMEOUT" : "options.timeout_ns");
}

sennit_status start_rank(const sennit_options &options) {
    Rank *rank = nullptr;
    sennit_status status = process_claim_rank(&rank);
    if (status != SENNIT_OK) return status;
    life::StartupArgs args;
    args.thread_level = options.thread_level;
    args.timeout_ns =
        options.timeout_ns == 0 ? limit_of(runtime::knobs().init_timeout) : options.timeout_ns;
    args.paths = options.paths != nullptr ? options.paths : runtime::knobs().paths.text;
    status = open_bootstrap(options, args.timeout_ns, &args.bootstrap);
    if (status == SENNIT_OK) {
        process_number_rank(args.bootstrap.rank);
        status = life::startup(*rank, args);
    }
    if (status == SENNIT_ERR_TIMEOUT) name_the_limit(options);
    if (status != SENNIT_OK) {
        process_release_rank(rank);
        return status;
    }
    rank->init_count = 1;
    process_publish_rank(rank);
    return SENNIT_OK;
}

sennit_status count_or_start(const sennit_options &options) {
    // With a bootstrap this thread becomes a further rank of the process, unless it already belongs
    // to a rank.
    Rank *rank = options.bootstrap == nullptr ? caller() : thread_rank;
    if (rank != nullptr && world_size(*rank) != 0) {
        const ColdLock lock(*rank);
        if (rank->init_count <= 0) return fail(SENNIT_ERR_STATE, "the rank is being finalized");
        ++rank->init_count;
        return SENNIT_OK;
    }
    return start_rank(options);
}

sennit_status init(const sennit_options *given) {
    if (process_is_forked_child())
        return fail(SENNIT_ERR_STATE, "this process was forked from a rank");
    const sennit_options defaults = SENNIT_OPTIONS_INIT;
    const sennit_options &options = given != nullptr ? *given : defaults;
    const sennit_status status = check_options(options);
    if (status != SENNIT_OK) return status;
    if (options.bootstrap != nullptr) return count_or_start(options);
    const MutexLock turn(launcher_turn);
    return count_or_start(options);
}

sennit_status finalize(Rank &rank) {
    {
        const ColdLock lock(rank);
        if (rank.init_count <= 0) return fail(SENNIT_ERR_STATE, "the rank is being finalized");
        if (--rank.init_count > 0) return SENNIT_OK;
    }
    const sennit_status status = life::shutdown(rank, limit_of(runtime::knobs().finalize_timeout));
    process_release_rank(&rank);
    return status;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_init(const sennit_options *options) {
    return done(init(options), __func__);
}

sennit_status sennit_finalize(void) {
    return call(__func__, finalize);
}

int sennit_initialized(void) {
    return caller() != nullptr ? 1 : 0;
}

int sennit_rank(void) {
    const Rank *rank = caller();
    return rank == nullptr ? -1 : rank->world_rank;
}

int sennit_size(void) {
    const Rank *rank = caller();
    return rank == nullptr ? -1 : world_size(*rank);
}

int sennit_thread_level_granted(void) {
    const Rank *rank = caller();
    return rank == nullptr ? -1 : static_cast<int>(rank->thread_level);
}

sennit_status sennit_thread_attach(int rank) {
    if (process_is_forked_child()) return no_rank(__func__);
    if (rank == -1) {
        thread_rank = &nobody;
        return SENNIT_OK;
    }
    Rank *found = process_find_rank(rank);
    if (found == nullptr)
        return fail_in(fail(SENNIT_ERR_RANGE, "rank %d is not in this process", rank), __func__);
    thread_rank = found;
    return SENNIT_OK;
}

double sennit_wtime(void) {
    return static_cast<double>(now_ns()) * 1e-9;
}

sennit_status sennit_bootstrap_inproc_create(int size, sennit_bootstrap bootstraps[]) {
    return done(runtime::inproc_bootstrap_create(size, bootstraps), __func__);
}

sennit_status sennit_bootstrap_inproc_destroy(int size, sennit_bootstrap bootstraps[]) {
    return done(runtime::inproc_bootstrap_destroy(size, bootstraps), __func__);
}

}  // extern "C"
