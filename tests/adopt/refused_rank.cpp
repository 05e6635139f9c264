// One rank of a job whose ranks register memory that must not be moved. Memory of each kind stays
// in place, and the kernel copies to and from it; owner and peer name the reason; mapping and
// content are unchanged afterwards.
// Broken by a move (a private file mapping would lose its file, shared memory its sharers,
// executable memory its right, locked memory its lock), or a reason that only the owner knows.
#include <sennit/sennit.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

constexpr std::size_t kBytes = 16384;
constexpr int kBoth = PROT_READ | PROT_WRITE;

// The kernel's record of the mapping at the address: range, rights, file and flags.
std::string mapping_of(const void *memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    std::ifstream file("/proc/self/smaps");
    std::string found;
    bool is_it = false;
    for (std::string line; std::getline(file, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
            is_it = begin <= address && address < end;
            if (is_it) found = line;
        } else if (is_it && line.rfind("VmFlags:", 0) == 0) {
            found += line;
        }
    }
    return found;
}

struct Kind {
    const char *name;
    int protection;
    int flags;
    bool is_file;
    const char *reason;
};

constexpr Kind kKinds[] = {
    {"read-only", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, false, "may not be read and written"},
    {"private file", kBoth, MAP_PRIVATE, true, "mapped from a file"},
    {"shared file", kBoth, MAP_SHARED, true, "shared already"},
    {"shared", kBoth, MAP_SHARED | MAP_ANONYMOUS, false, "shared already"},
    {"executable", kBoth | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, false, "executable"},
    {"locked", kBoth, MAP_PRIVATE | MAP_ANONYMOUS, false, "locked"},
};

char byte_of(int rank, std::size_t i) {
    return static_cast<char>(static_cast<std::size_t>(rank) * 31 + i % 113 + 1);
}

// Makes memory of the kind, filled with the rank's bytes. Null: the machine does not allow it.
char *make(const Kind &kind) {
    int file = -1;
    if (kind.is_file) {
        std::FILE *const temporary = std::tmpfile();
        require(temporary != nullptr, "a temporary file");
        file = dup(fileno(temporary));
        require(ftruncate(file, kBytes) == 0, "the temporary file is extended");
        (void)std::fclose(temporary);
    }
    void *const memory = mmap(nullptr, kBytes, kind.protection | kBoth, kind.flags, file, 0);
    if (file >= 0) (void)close(file);
    if (memory == MAP_FAILED) return nullptr;
    auto *const bytes = static_cast<char *>(memory);
    for (std::size_t i = 0; i < kBytes; ++i)
        bytes[i] = byte_of(sennit_rank(), i);
    require(mprotect(bytes, kBytes, kind.protection) == 0, "mprotect");
    // Not mlock(): sanitizers do nothing for it.
    if (std::strcmp(kind.name, "locked") == 0 && syscall(SYS_mlock, bytes, kBytes) != 0)
        return nullptr;
    return bytes;
}

void check_reason(const Kind &kind, sennit_region region) {
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(region, &mechanism), SENNIT_OK, "mechanism");
    require(mechanism == SENNIT_MECHANISM_CMA,
            std::string(kind.name) + " goes by " + sennit_mechanism_name(mechanism));
    char text[300] = "";
    expect(sennit_region_reason(region, SENNIT_MECHANISM_ADOPT, text, sizeof text), SENNIT_OK,
           "reason");
    require(std::string(text).find(kind.reason) != std::string::npos,
            std::string(kind.name) + ": " + text);
}

void barrier() {
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

void read_from_next(const Kind &kind, sennit_region theirs, int next) {
    check_reason(kind, theirs);
    std::vector<char> got(kBytes);
    expect(sennit_get(got.data(), theirs.gptr, kBytes), SENNIT_OK, "get");
    for (std::size_t i = 0; i < kBytes; ++i)
        require(got[i] == byte_of(next, i), std::string(kind.name) + " is read as it is");
}

void use(const Kind &kind) {
    char *const memory = make(kind);
    const std::string before = memory != nullptr ? mapping_of(memory) : "";
    sennit_region mine = SENNIT_REGION_NULL;
    if (memory != nullptr) expect(sennit_register(memory, kBytes, 0, &mine), SENNIT_OK, kind.name);
    std::vector<sennit_region> all(static_cast<std::size_t>(sennit_size()));
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, mine, all.data()), SENNIT_OK, "attach");
    const int next = (sennit_rank() + 1) % sennit_size();
    const sennit_region theirs = all[static_cast<std::size_t>(next)];
    if (theirs.gptr.segment != 0) read_from_next(kind, theirs, next);
    barrier();
    if (memory == nullptr) {
        std::printf("left out: this process gets no memory that is %s\n", kind.name);
        return barrier();
    }
    check_reason(kind, mine);
    require(mapping_of(memory) == before, std::string(kind.name) + " was not mapped anew");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");
    require(mapping_of(memory) == before, std::string(kind.name) + " is mapped as before");
    for (std::size_t i = 0; i < kBytes; ++i)
        require(memory[i] == byte_of(sennit_rank(), i), "its content is the same");
    barrier();
    require(munmap(memory, kBytes) == 0, "munmap");
}

}  // namespace

int main() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    for (const Kind &kind : kKinds)
        use(kind);
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
