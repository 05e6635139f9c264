// One rank of a job in which the kernel refuses to copy to or from rank 1. The argument names the
// cause:
//     seccomp         a filter on rank 1 makes the system calls fail with EPERM
//     missing         the same with ENOSYS
//     untraceable     no rank may trace others, and rank 1 may not be traced (PR_SET_DUMPABLE 0)
//     user_namespace  rank 1 is in its own user namespace and has no rights outside it
//     later           the filter comes after the start
//     forced          as seccomp, and SENNIT_PATHS allows only cma
//     run WORD...     executes that program, with the filter on rank 1
// The refusal must end no rank; its reason can be read, and mapped memory works.
// Broken by an abort, a lost reason, a path that one side uses and the other does not.
#include <linux/capability.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"
#include "../support/system_calls.hpp"

namespace {

using sennit::test::expect;
using sennit::test::fail;

constexpr int kVictim = 1;
constexpr int kSkipped = 77;

void require(bool is_true, const std::string &text) {
    if (!is_true) fail("this should be true: " + text);
}

void barrier() {
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

bool has(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

std::string cma_reason(int peer) {
    char text[256] = "";
    expect(sennit_peer_path_reason(peer, SENNIT_PATH_CMA, text, sizeof text), SENNIT_OK, "reason");
    return text;
}

void forbid_copies(unsigned error) {
    sennit::test::refuse_system_calls({__NR_process_vm_readv, __NR_process_vm_writev}, error);
}

void give_up_tracing() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) != 0) std::exit(kSkipped);
    constexpr unsigned kBit = 1u << CAP_SYS_PTRACE;
    data[0].effective &= ~kBit;
    data[0].permitted &= ~kBit;
    data[0].inheritable &= ~kBit;
    if (syscall(SYS_capset, &header, data) != 0) std::exit(kSkipped);
}

// A filter from outside this test, or Yama, forbids the copies.
bool forbidden_anyway() {
    std::ifstream scope("/proc/sys/kernel/yama/ptrace_scope");
    int number = 0;
    if (scope >> number && number != 0) return true;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "Seccomp:" && status >> number) return number != 0;
    return false;
}

// Memory that all ranks map works as usual.
void use_mapped_memory(sennit_gptr segment) {
    const int rank = sennit_rank();
    const int size = sennit_size();
    std::vector<double> row(64, rank + 0.5);
    const int next = (rank + 1) % size;
    const sennit_gptr there = sennit_gptr_at(segment, next);
    require(sennit_ptr(there) != nullptr, "there is a pointer to mapped memory");
    const sennit_box box{8, {32, 2, 1}, {16, 512, 0}, {8, 256, 0}};
    expect(sennit_put_strided(there, row.data(), &box), SENNIT_OK, "put_strided");
    barrier();
    double got = 0;
    const sennit_gptr own = sennit_gptr_add(segment, 512 + 16 * 31);
    expect(sennit_get(&got, own, sizeof got), SENNIT_OK, "get");
    require(got == (rank + size - 1) % size + 0.5, "mapped memory was written");
    barrier();
}

struct Private {
    double words[4] = {};
    sennit_region mine = SENNIT_REGION_NULL;
    std::vector<sennit_region> all;
};

// Exchanges the regions through mapped memory, like a program that avoids the collective call.
void show_private(Private &own, sennit_gptr segment) {
    own.words[0] = sennit_rank() + 10;
    expect(sennit_register(own.words, sizeof own.words, 0, &own.mine), SENNIT_OK, "register");
    expect(sennit_put(segment, &own.mine, sizeof own.mine), SENNIT_OK, "put");
    barrier();
    own.all.resize(static_cast<std::size_t>(sennit_size()));
    for (int peer = 0; peer < sennit_size(); ++peer)
        expect(sennit_get(&own.all[static_cast<std::size_t>(peer)], sennit_gptr_at(segment, peer),
                          sizeof own.mine),
               SENNIT_OK, "get");
    barrier();
}

void check_reasons(const char *cause) {
    const int rank = sennit_rank();
    for (int peer = 0; peer < sennit_size(); ++peer) {
        if (peer == rank) continue;
        sennit_path path = SENNIT_PATH_NONE;
        expect(sennit_peer_path(peer, &path), SENNIT_OK, "path");
        require(path == SENNIT_PATH_MAPPED, "the pair maps its memory");
        const std::string reason = cma_reason(peer);
        if (rank != kVictim && peer != kVictim) {
            require(has(reason, "works"), "others still copy: " + reason);
        } else if (has(reason, "kernel refused")) {
            require(has(reason, cause), "the reason says why: " + reason);
        } else {
            require(has(reason, "peer could not reach"), "the other side says why: " + reason);
        }
    }
}

void check_private(const Private &own) {
    const int rank = sennit_rank();
    for (int peer = 0; peer < sennit_size(); ++peer) {
        const sennit_gptr there = own.all[static_cast<std::size_t>(peer)].gptr;
        double got = 0;
        const bool forbidden = peer != rank && (peer == kVictim || rank == kVictim);
        expect(sennit_get(&got, there, sizeof got), forbidden ? SENNIT_ERR_UNSUPPORTED : SENNIT_OK,
               "get of private memory");
        if (!forbidden) {
            require(got == peer + 10, "it holds what was stored");
            continue;
        }
        const std::string text = sennit_last_error()->text;
        require(has(text, "cma: the"), "the error has the reason: " + text);
        require(sennit_ptr(there) == nullptr, "there is no pointer");
    }
    std::vector<sennit_region> regions(static_cast<std::size_t>(sennit_size()));
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, own.mine, regions.data()),
           SENNIT_ERR_UNSUPPORTED, "region_attach");
}

int run_refused(const char *cause) {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    sennit_gptr segment = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &segment), SENNIT_OK, "alloc");
    const bool refused = !has(cma_reason(sennit_rank() == kVictim ? 0 : kVictim), "works");
    if (!refused) {
        std::fprintf(stderr, "left out: this kernel does not refuse\n");
        expect(sennit_finalize(), SENNIT_OK, "finalize");
        return kSkipped;
    }
    check_reasons(cause);
    use_mapped_memory(segment);
    Private memory;
    show_private(memory, segment);
    check_private(memory);
    expect(sennit_deregister(memory.mine), SENNIT_OK, "deregister");
    use_mapped_memory(segment);
    expect(sennit_free(segment), SENNIT_OK, "free");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}

int run_later() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    sennit_gptr segment = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &segment), SENNIT_OK, "alloc");
    Private memory;
    show_private(memory, segment);
    const sennit_gptr there = memory.all[static_cast<std::size_t>(1 - sennit_rank())].gptr;
    double got = 0;
    const sennit_status before = sennit_get(&got, there, sizeof got);
    if (before != SENNIT_OK) {
        std::fprintf(stderr, "left out: this kernel refuses from the start\n");
        return kSkipped;
    }
    barrier();
    if (sennit_rank() == kVictim) {
        forbid_copies(EPERM);
        expect(sennit_get(&got, there, sizeof got), SENNIT_ERR_OS, "get");
        require(sennit_last_error()->os_errno == EPERM, "the error has the number");
        require(sennit_last_error()->peer == 0, "and the peer");
        expect(sennit_put_nbi(there, &got, sizeof got), SENNIT_ERR_OS, "put_nbi");
    }
    use_mapped_memory(segment);
    expect(sennit_deregister(memory.mine), SENNIT_OK, "deregister");
    expect(sennit_free(segment), SENNIT_OK, "free");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}

int run_forced() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const int other = 1 - sennit_rank();
    sennit_path path = SENNIT_PATH_SELF;
    expect(sennit_peer_path(other, &path), SENNIT_OK, "path");
    require(path == SENNIT_PATH_NONE, "no path is left");
    sennit_gptr segment = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &segment), SENNIT_OK, "alloc");
    int word = 1;
    expect(sennit_put(sennit_gptr_at(segment, other), &word, sizeof word), SENNIT_ERR_OTHER_NODE,
           "put");
    expect(sennit_put(segment, &word, sizeof word), SENNIT_OK, "put to oneself");
    barrier();
    expect(sennit_free(segment), SENNIT_OK, "free");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}

}  // namespace

int main(int count, char **words) {
    const std::string scene = count > 1 ? words[1] : "";
    const char *rank = std::getenv("SENNIT_RANK");
    const bool is_victim = rank != nullptr && std::atoi(rank) == kVictim;
    if (scene == "seccomp" || scene == "missing" || scene == "forced" || scene == "run") {
        if (is_victim) forbid_copies(scene == "missing" ? ENOSYS : EPERM);
    }
    if (scene == "run" && count > 2) {
        execv(words[2], words + 2);
        return kSkipped;
    }
    if (scene == "untraceable") {
        give_up_tracing();
        if (is_victim && prctl(PR_SET_DUMPABLE, 0) != 0) return kSkipped;
        return run_refused("may not be traced");
    }
    if (scene == "user_namespace") {
        // If the machine itself forbids the copies, the reason names that cause.
        if (forbidden_anyway() || (is_victim && unshare(CLONE_NEWUSER) != 0)) return kSkipped;
        return run_refused("user namespace");
    }
    if (scene == "seccomp") return run_refused("seccomp");
    if (scene == "missing") return run_refused(std::strerror(ENOSYS));
    if (scene == "later") return run_later();
    if (scene == "forced") return run_forced();
    std::fprintf(stderr, "unknown scene\n");
    return 2;
}
