#include "worker/raw_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "worker/check.hpp"

namespace sennit::bench {

namespace {

struct Place {
    std::int64_t pid;
    std::int64_t descriptor;
};

[[noreturn]] void fail_os(const std::string &what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::byte *map(int descriptor, std::size_t bytes) {
    void *address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (address == MAP_FAILED) {
        fail_os("mmap of raw memory");
    }
    return static_cast<std::byte *>(address);
}

// Exchanges the places of all ranks through a segment of Sennit on rank 0.
std::vector<Place> exchange(const Place &mine, int rank, int size) {
    const std::size_t count = static_cast<std::size_t>(size);
    sennit_gptr table = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, count * sizeof(Place), 0, 0, &table), "sennit_alloc");
    const sennit_gptr at_zero = sennit_gptr_at(table, 0);
    const auto offset = static_cast<std::int64_t>(static_cast<std::size_t>(rank) * sizeof(Place));
    check(sennit_put(sennit_gptr_add(at_zero, offset), &mine, sizeof mine), "sennit_put");
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    std::vector<Place> all(count);
    check(sennit_get(all.data(), at_zero, count * sizeof(Place)), "sennit_get");
    check(sennit_free(table), "sennit_free");
    return all;
}

}  // namespace

RawMemory::RawMemory(int rank, int size, std::size_t bytes) : m_bytes(bytes) {
    const int descriptor = memfd_create("sennit-bench", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
        fail_os("memfd of raw memory");
    }
    std::byte *mine = map(descriptor, bytes);
    const std::vector<Place> places = exchange({getpid(), descriptor}, rank, size);
    for (int owner = 0; owner < size; ++owner) {
        if (owner == rank) {
            m_pieces.push_back(mine);
            continue;
        }
        const Place &place = places[static_cast<std::size_t>(owner)];
        const std::string name = fmt::format("/proc/{}/fd/{}", place.pid, place.descriptor);
        const int opened = open(name.c_str(), O_RDWR | O_CLOEXEC);
        if (opened < 0) {
            fail_os("raw memory of rank " + std::to_string(owner) + ", " + name);
        }
        m_pieces.push_back(map(opened, bytes));
        close(opened);
    }
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    close(descriptor);
}

RawMemory::~RawMemory() {
    for (std::byte *piece : m_pieces) {
        munmap(piece, m_bytes);
    }
}

}  // namespace sennit::bench
