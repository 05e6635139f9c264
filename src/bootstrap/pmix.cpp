// SPDX-License-Identifier: BSD-3-Clause
// Launchers with PMIx (Open MPI's mpirun, prterun, srun --mpi=pmix). The library is opened at run
// time and only under such a launcher, so nothing depends on it.
//
// PMIx counts its initializations, and an MPI in the process usually uses the same copy of it. Only
// the last PMIx_Finalize leaves the launcher's job. A process that has left can join again only
// with restrictions (joined_again). So Sennit finalizes PMIx only when the process exits, and only
// after sennit_finalize. For the launcher, a rank that exits without PMIx_Finalize has died, as
// with MPI.
#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "base/array.hpp"
#include "base/condition.hpp"
#include "base/fail.hpp"
#include "base/linking.hpp"
#include "base/mutex.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/late_notice.hpp"
#include "bootstrap/mpi_presence.hpp"

extern char **environ;

namespace sennit::runtime {
namespace {

constexpr char kLibrary[] = "libpmix.so.2";
constexpr std::int64_t kFinalizeTimeout_ns = 5'000'000'000;

struct PmixFunctions {
    decltype(&PMIx_Init) init = nullptr;
    decltype(&PMIx_Finalize) finalize = nullptr;
    decltype(&PMIx_Put) put = nullptr;
    decltype(&PMIx_Commit) commit = nullptr;
    decltype(&PMIx_Fence_nb) fence_nb = nullptr;
    decltype(&PMIx_Get) get = nullptr;
    decltype(&PMIx_Error_string) error_string = nullptr;
};

// The process's membership in the launcher's job. One rank of the process at a time uses it.
struct Membership {
    PmixFunctions pmix;
    bool is_member = false;  // PMIx_Init has been called, PMIx_Finalize has not
    bool is_stuck = false;   // a call did not return in time; no further call is tried
    bool exit_handler_is_set = false;
    bool rank_is_open = false;
    // This process joined after MPI_Finalize had left PMIx. Other ranks may not have left yet, so
    // Sennit does without fences.
    bool joined_again = false;
    pid_t pid = 0;  // of this process: a forked child must not call PMIx
    pmix_proc_t self{};
    int size = 0;
    std::uint32_t generation = 0;  // of the exchanges; continues in a later sennit_init
    std::size_t last_bytes = 0;    // see value_bytes()
};

Membership membership;

// A call of PMIx that may not return in time, or that completes by a callback. It has two holders,
// the waiting and the completing thread, and the last one frees it. So it still exists when a late
// call completes.
class PendingCall {
  public:
    static PendingCall *make() { return new (std::nothrow) PendingCall(); }

    void complete(pmix_status_t result) {
        {
            const MutexLock lock(lock_);
            result_ = result;
            is_done_ = true;
            changed_.wake_one();
        }
        let_go();
    }

    // Waits, then releases its hold. False: timeout.
    bool wait(Deadline deadline, pmix_status_t *result) {
        LateNotice notice;
        bool done = false;
        {
            const MutexLock lock(lock_);
            while (!is_done_ && !deadline.over()) {
                (void)changed_.wait(lock_, notice.next(deadline));
                if (!is_done_) notice.warn_if_due("pmix");
            }
            done = is_done_;
            *result = result_;
        }
        let_go();
        return done;
    }

    void let_go() {
        // SYNC pmix-pending: pairs with the acquire of the last holder; the writes of each holder
        // come before the object is freed.
        if (holders_.fetch_sub(1, std::memory_order_release) > 1) return;
        // SYNC pmix-pending: pairs with the releases of the holders before.
        (void)holders_.load(std::memory_order_acquire);
        delete this;
    }

    pmix_proc_t proc{};   // argument of the call; must live as long as the call
    pmix_info_t info[2];  // also an argument
    pmix_status_t (*function)(PendingCall *) = nullptr;

  private:
    PendingCall() { std::memset(info, 0, sizeof info); }

    std::atomic<int> holders_{2};
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Condition changed_;
    bool is_done_ = false;
    pmix_status_t result_ = PMIX_SUCCESS;
};

// The launcher's PMIX_SERVER_URI or PMIX_SERVER_URI<number>; null: none is set.
const char *server_entry() {
    for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "PMIX_SERVER_URI", 15) == 0) return *entry;
    return nullptr;
}

// Writes why the launcher's server may be out of reach, since PMIx gives no reason.
void say_server(char *text, std::size_t bytes) {
    char folder[256] = "";
    if (const char *name = getenv("PMIX_SERVER_TMPDIR"); name != nullptr)
        (void)std::snprintf(folder, sizeof folder, "%s", name);
    struct stat found {};
    int error = stat(folder, &found) == 0 ? 0 : errno;
    // EACCES: perhaps only another user may search the folder above. Then that folder is checked.
    for (char *end; error == EACCES && (end = std::strrchr(folder, '/')) != nullptr;) {
        *end = '\0';
        error = stat(folder, &found) == 0 ? 0 : errno;
    }
    if (error == 0 && found.st_uid != geteuid())
        (void)std::snprintf(text, bytes,
                            "; the launcher's server is of uid %u (%.80s), this process of uid %u",
                            found.st_uid, folder, geteuid());
    else if (error == ENOENT && folder[0] != '\0')
        (void)std::snprintf(text, bytes,
                            "; the launcher has ended, or is on another host: there is no %.80s",
                            folder);
    else if (const char *server = server_entry(); server != nullptr)
        (void)std::snprintf(text, bytes, "; %.120s", server);
}

sennit_status fail_pmix(pmix_status_t result, const char *what) {
    char server[200] = "";
    if (!membership.is_member) say_server(server, sizeof server);
    const sennit_status status = fail(SENNIT_ERR_BOOTSTRAP, "%s failed: %s (%d)%s", what,
                                      membership.pmix.error_string(result), result, server);
    fail_provider_code(result);
    return status;
}

sennit_status fail_late(const char *what) {
    membership.is_stuck = true;
    return fail(SENNIT_ERR_TIMEOUT,
                "%s did not end in time; not all ranks have arrived, or the launcher hangs", what);
}

void set_info(pmix_info_t *info, const char *key) {
    std::memset(info, 0, sizeof *info);
    (void)std::snprintf(info->key, sizeof info->key, "%s", key);
}

// Runs a call of PMIx in its own thread, because PMIx has no time limit for the call.
sennit_status run_bounded(pmix_status_t (*function)(PendingCall *), const char *what,
                          Deadline deadline) {
    PendingCall *call = PendingCall::make();
    if (call == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory to call %s", what);
    call->function = function;
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const int error = pthread_create(
        &thread, &attributes,
        [](void *argument) -> void * {
            auto *mine = static_cast<PendingCall *>(argument);
            mine->complete(mine->function(mine));
            return nullptr;
        },
        call);
    (void)pthread_attr_destroy(&attributes);
    if (error != 0) {
        call->let_go();
        call->let_go();
        return fail_os(SENNIT_ERR_OS, error, "starting the thread that calls %s", what);
    }
    pmix_status_t result = PMIX_SUCCESS;
    if (!call->wait(deadline, &result)) return fail_late(what);
    return result == PMIX_SUCCESS ? SENNIT_OK : fail_pmix(result, what);
}

// Whether an Open MPI with its own copy of PMIx has joined the job. The launcher accepts a process
// only once: after a second attempt it reports the process as dead when it exits, so Sennit must
// not try.
bool mpi_joined_with_another_copy() {
    const MpiPresence mpi = mpi_presence();
    // After MPI_Finalize Open MPI has unloaded its copy of PMIx.
    if (!mpi.is_open_mpi || mpi.state != MpiState::kRunning) return false;
    void *library = dlopen(kLibrary, RTLD_NOLOAD | RTLD_LAZY);
    if (library != nullptr) (void)dlclose(library);
    return library == nullptr;
}

sennit_status load_library() {
    PmixFunctions &pmix = membership.pmix;
    if (pmix.init != nullptr) return SENNIT_OK;
    if (linked_statically())
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "this launcher speaks PMIx, whose library a program that is linked without "
                    "shared libraries cannot open; link libsennit.a and the rest shared");
    if (mpi_joined_with_another_copy())
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "MPI has joined the launcher's job with a PMIx of its own; use "
                    "sennit_init_mpi, or call sennit_init before MPI_Init");
    // RTLD_LOCAL: the program must not see the library's symbols. RTLD_NODELETE: the library has a
    // thread. If MPI has loaded the library, dlopen() returns the same copy.
    void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return fail(SENNIT_ERR_BOOTSTRAP, "loading PMIx: %s", dlerror());
    PmixFunctions found;
    if (!look_up(library, "PMIx_Init", &found.init) ||
        !look_up(library, "PMIx_Finalize", &found.finalize) ||
        !look_up(library, "PMIx_Put", &found.put) ||
        !look_up(library, "PMIx_Commit", &found.commit) ||
        !look_up(library, "PMIx_Fence_nb", &found.fence_nb) ||
        !look_up(library, "PMIx_Get", &found.get) ||
        !look_up(library, "PMIx_Error_string", &found.error_string)) {
        (void)dlclose(library);
        return fail(SENNIT_ERR_BOOTSTRAP, "%s lacks a function: %s", kLibrary, dlerror());
    }
    pmix = found;
    return SENNIT_OK;
}

void finalize_at_exit() {
    if (!membership.is_member || membership.rank_is_open || membership.is_stuck) return;
    if (membership.pid != getpid()) return;
    membership.is_member = false;
    (void)run_bounded([](PendingCall *) { return membership.pmix.finalize(nullptr, 0); },
                      "PMIx_Finalize", Deadline::after(kFinalizeTimeout_ns));
}

// Values of PMIx_Get are plain memory of malloc().
void free_value(pmix_value_t *value) {
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
}

sennit_status get_value(const pmix_proc_t &from, const char *key, Deadline deadline,
                        pmix_value_t **value) {
    pmix_info_t info;
    set_info(&info, PMIX_TIMEOUT);
    info.value.type = PMIX_INT;
    // In seconds; 0 means forever.
    if (!deadline.forever())
        info.value.data.integer = static_cast<int>(
            1 + std::min<std::int64_t>(deadline.left_ns() / 1'000'000'000, 1'000'000));
    pmix_status_t result = membership.pmix.get(&from, key, &info, 1, value);
    // Without a fence the value may not exist yet, and the launcher drops a request for a missing
    // value after its own time limit (2 s with Open MPI 4.1). So the request is repeated.
    timespec pause{0, 200'000};
    LateNotice notice;
    while (membership.joined_again && !deadline.over() &&
           (result == PMIX_ERR_NOT_FOUND || result == PMIX_ERR_TIMEOUT)) {
        notice.warn_if_due("pmix");
        (void)nanosleep(&pause, nullptr);
        pause.tv_nsec = std::min(pause.tv_nsec * 2, 20'000'000L);
        result = membership.pmix.get(&from, key, &info, 1, value);
    }
    if (result == PMIX_ERR_TIMEOUT || (membership.joined_again && result == PMIX_ERR_NOT_FOUND))
        return fail_late("PMIx_Get");
    return result == PMIX_SUCCESS ? SENNIT_OK : fail_pmix(result, "PMIx_Get");
}

sennit_status fence(bool collect, Deadline deadline) {
    PendingCall *call = PendingCall::make();
    if (call == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory to call PMIx_Fence_nb");
    call->proc = membership.self;
    call->proc.rank = PMIX_RANK_WILDCARD;
    set_info(&call->info[0], PMIX_COLLECT_DATA);
    call->info[0].value.type = PMIX_BOOL;
    call->info[0].value.data.flag = collect;
    const pmix_status_t started = membership.pmix.fence_nb(
        &call->proc, 1, call->info, 1,
        [](pmix_status_t result, void *argument) {
            static_cast<PendingCall *>(argument)->complete(result);
        },
        call);
    if (started != PMIX_SUCCESS) {
        call->let_go();  // for the callback, which PMIx does not call
        call->let_go();
        return started == PMIX_OPERATION_SUCCEEDED ? SENNIT_OK
                                                   : fail_pmix(started, "PMIx_Fence_nb");
    }
    pmix_status_t result = PMIX_SUCCESS;
    if (!call->wait(deadline, &result)) return fail_late("PMIx_Fence_nb");
    return result == PMIX_SUCCESS ? SENNIT_OK : fail_pmix(result, "PMIx_Fence_nb");
}

// The length of this exchange's value. Without a fence it must be longer than the last one: PMIx
// 4.2 sometimes loses a commit if the value before was as long.
std::size_t value_bytes(std::size_t bytes) {
    if (membership.joined_again) bytes = std::max(bytes, membership.last_bytes + 1);
    return membership.last_bytes = bytes;
}

// `whole`: the length of the value; its first `bytes` bytes are `mine`.
sennit_status publish(const char *key, const void *mine, std::size_t bytes, std::size_t whole) {
    const Array<char> copy(whole);
    if (copy == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for an exchange");
    std::memcpy(copy, mine, bytes);
    pmix_value_t value;
    std::memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = copy;  // PMIx copies it
    value.data.bo.size = whole;
    pmix_status_t result = membership.pmix.put(PMIX_GLOBAL, key, &value);
    if (result != PMIX_SUCCESS) return fail_pmix(result, "PMIx_Put");
    result = membership.pmix.commit();
    return result == PMIX_SUCCESS ? SENNIT_OK : fail_pmix(result, "PMIx_Commit");
}

sennit_status fetch(int rank, const char *key, unsigned char *theirs, std::size_t bytes,
                    std::size_t whole, Deadline deadline) {
    pmix_proc_t from = membership.self;
    from.rank = static_cast<pmix_rank_t>(rank);
    pmix_value_t *value = nullptr;
    sennit_status status = get_value(from, key, deadline, &value);
    if (status != SENNIT_OK) return status;
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == whole)
        std::memcpy(theirs, value->data.bo.bytes, bytes);
    else
        status = fail(SENNIT_ERR_BOOTSTRAP,
                      "rank %d did not give %zu bytes in this exchange: the ranks run different "
                      "versions of Sennit, or make calls in a different order",
                      rank, bytes);
    free_value(value);
    return status;
}

int check_membership() {
    if (membership.is_stuck)
        return fail(SENNIT_ERR_BOOTSTRAP, "an earlier call of PMIx has not returned");
    return SENNIT_OK;
}

int pmix_allgather(void *, const void *mine, void *all, std::size_t bytes,
                   std::int64_t timeout_ns) {
    int status = check_membership();
    const Deadline deadline = Deadline::after(timeout_ns);
    char key[48];
    (void)std::snprintf(key, sizeof key, "sennit.%u", ++membership.generation);
    const std::size_t whole = value_bytes(bytes);
    if (status == SENNIT_OK && bytes != 0) status = publish(key, mine, bytes, whole);
    if (status == SENNIT_OK && !membership.joined_again) status = fence(bytes != 0, deadline);
    auto *to = static_cast<unsigned char *>(all);
    const int self = static_cast<int>(membership.self.rank);
    for (int rank = 0; rank < membership.size && status == SENNIT_OK && bytes != 0; ++rank) {
        unsigned char *place = to + static_cast<std::size_t>(rank) * bytes;
        if (rank == self)
            std::memmove(place, mine, bytes);
        else
            status = fetch(rank, key, place, bytes, whole, deadline);
    }
    return status;
}

int pmix_barrier(void *context, std::int64_t timeout_ns) {
    const int status = check_membership();
    if (status == SENNIT_OK && membership.joined_again) {
        // When a rank has the bytes of all ranks, all have arrived.
        unsigned char mine = 1;
        const Array<unsigned char> all(static_cast<std::size_t>(membership.size));
        if (all == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for a barrier");
        return pmix_allgather(context, &mine, all, sizeof mine, timeout_ns);
    }
    return status != SENNIT_OK ? status : fence(false, Deadline::after(timeout_ns));
}

void pmix_release(void *) {
    membership.rank_is_open = false;
}

// Whether the process itself has set the variable. MPI_Init of Open MPI sets the variables of PMIx
// if there is no launcher; then PMIx knows only one rank, and another launcher may know more.
// /proc/self/environ has the environment with which the process started.
bool set_by_this_process(const char *name) {
    std::FILE *file = std::fopen("/proc/self/environ", "re");
    if (file == nullptr) return false;
    char *entry = nullptr;
    std::size_t room = 0;
    const std::size_t length = std::strlen(name);
    bool inherited = false;
    while (!inherited && getdelim(&entry, &room, '\0', file) > 0)
        inherited = std::strncmp(entry, name, length) == 0 && entry[length] == '=';
    std::free(entry);
    (void)std::fclose(file);
    return !inherited;
}

bool pmix_present(char *reason, std::size_t bytes) {
    const char *space = getenv("PMIX_NAMESPACE");
    const char *rank = getenv("PMIX_RANK");
    const bool complete = space != nullptr && rank != nullptr && server_entry() != nullptr;
    const bool is_there = complete && !set_by_this_process("PMIX_NAMESPACE");
    if (complete && !is_there)
        (void)std::snprintf(reason, bytes,
                            "MPI_Init, started without a launcher, has set PMIX_NAMESPACE itself");
    else if (is_there)
        (void)std::snprintf(reason, bytes, "rank %s of the PMIx namespace %s", rank, space);
    else
        (void)std::snprintf(reason, bytes, "%s is not set",
                            space == nullptr  ? "PMIX_NAMESPACE"
                            : rank == nullptr ? "PMIX_RANK"
                                              : "PMIX_SERVER_URI*");
    return is_there;
}

sennit_status join(Deadline deadline) {
    sennit_status status = load_library();
    if (status != SENNIT_OK) return status;
    if (!membership.exit_handler_is_set && std::atexit(finalize_at_exit) != 0)
        return fail(SENNIT_ERR_NOMEM, "no memory for the handler that leaves the launcher");
    membership.exit_handler_is_set = true;
    if (!membership.is_member) {
        status = run_bounded(
            [](PendingCall *) { return membership.pmix.init(&membership.self, nullptr, 0); },
            "PMIx_Init", deadline);
        if (status != SENNIT_OK) return status;
        membership.is_member = true;
        membership.joined_again = mpi_presence().state == MpiState::kOver;
        membership.pid = getpid();
    }
    pmix_proc_t everyone = membership.self;
    everyone.rank = PMIX_RANK_WILDCARD;
    pmix_value_t *value = nullptr;
    status = get_value(everyone, PMIX_JOB_SIZE, deadline, &value);
    if (status != SENNIT_OK) return status;
    if (value->type == PMIX_UINT32 && value->data.uint32 <= INT32_MAX)
        membership.size = static_cast<int>(value->data.uint32);
    free_value(value);
    if (membership.self.rank >= static_cast<pmix_rank_t>(membership.size))
        return fail(SENNIT_ERR_BOOTSTRAP, "PMIx says that this is rank %u of %d",
                    membership.self.rank, membership.size);
    return SENNIT_OK;
}

sennit_status pmix_open(std::int64_t timeout_ns, sennit_bootstrap *out) {
    if (membership.rank_is_open)
        return fail(SENNIT_ERR_STATE, "a rank of this process uses PMIx already");
    if (membership.is_member && membership.pid != getpid())
        return fail(SENNIT_ERR_STATE, "a forked child cannot use PMIx");
    const int usable = check_membership();
    if (usable != SENNIT_OK) return static_cast<sennit_status>(usable);
    char reason[kReasonBytes];
    if (!membership.is_member && !pmix_present(reason, sizeof reason))
        return fail(SENNIT_ERR_BOOTSTRAP, "not started by a PMIx launcher: %s", reason);
    if (!membership.is_member || membership.size == 0) {
        const sennit_status status = join(Deadline::after(timeout_ns));
        if (status != SENNIT_OK) return status;
    }
    membership.rank_is_open = true;
    *out = sennit_bootstrap{
        sizeof *out,     "pmix",         &membership,  static_cast<int>(membership.self.rank),
        membership.size, pmix_allgather, pmix_barrier, pmix_release};
    return SENNIT_OK;
}

}  // namespace

const Launcher kPmixLauncher{"pmix", pmix_present, pmix_open};

}  // namespace sennit::runtime
