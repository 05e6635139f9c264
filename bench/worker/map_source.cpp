#include "worker/map_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "worker/check.hpp"

namespace sennit::bench {

namespace {

constexpr std::uint64_t kPage =
    4096;  // the smallest page size, so that each page is touched at least once

[[noreturn]] void fail_os(const std::string &what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

// The first word of the memory of `owner` for `way`; each next word is one more.
std::uint64_t first_word(const std::string &way, int owner) {
    return std::hash<std::string>()(way) ^ (static_cast<std::uint64_t>(owner + 1) << 40);
}

void fill(std::byte *memory, std::uint64_t bytes, std::uint64_t first) {
    auto *const words = reinterpret_cast<std::uint64_t *>(memory);
    for (std::uint64_t i = 0; i < bytes / sizeof *words; ++i)
        words[i] = first + i;
}

// Both sides of one way. The rank that is read calls offer(), the reader calls reach().
class Kind : public MapSource {
  public:
    virtual void offer(std::uint64_t bytes, std::uint64_t first, MapOffer *offer) = 0;
    virtual void reach(const MapOffer &offer, std::uint64_t bytes) = 0;
};

// Ways with a pointer to the memory.
class ByPointer : public Kind {
  public:
    void copy(std::byte *to, std::uint64_t offset, std::uint64_t bytes) const override {
        std::memcpy(to, m_theirs + offset, bytes);
    }

  protected:
    const std::byte *m_theirs = nullptr;
};

class Mapped final : public ByPointer {
  public:
    void offer(std::uint64_t bytes, std::uint64_t first, MapOffer *offer) override {
        m_file = std::make_unique<MemoryFile>(bytes);
        m_own = std::make_unique<Pages>(bytes, m_file->descriptor(), false);
        fill(m_own->data(), bytes, first);
        offer->descriptor = m_file->descriptor();
    }
    void reach(const MapOffer &offer, std::uint64_t bytes) override {
        m_mapping = map_file_of(offer, bytes, true);
        m_theirs = m_mapping->data();
    }

  private:
    std::unique_ptr<MemoryFile> m_file;
    std::unique_ptr<Pages> m_own;
    std::unique_ptr<Pages> m_mapping;
};

class Cma final : public Kind {
  public:
    void offer(std::uint64_t bytes, std::uint64_t first, MapOffer *offer) override {
        m_own = std::make_unique<Pages>(bytes);
        fill(m_own->data(), bytes, first);
        offer->address = reinterpret_cast<std::uintptr_t>(m_own->data());
    }
    void reach(const MapOffer &offer, std::uint64_t) override {
        m_process = static_cast<pid_t>(offer.process);
        m_address = offer.address;
        std::uint64_t word = 0;
        copy(reinterpret_cast<std::byte *>(&word), 0, sizeof word);
    }
    // The kernel copies at most 2 GiB in one call.
    void copy(std::byte *to, std::uint64_t offset, std::uint64_t bytes) const override {
        for (std::uint64_t done = 0; done < bytes;) {
            const iovec local{to + done, bytes - done};
            const iovec remote{reinterpret_cast<void *>(m_address + offset + done), bytes - done};
            const ssize_t moved = process_vm_readv(m_process, &local, 1, &remote, 1, 0);
            if (moved <= 0) fail_os("process_vm_readv");
            done += static_cast<std::uint64_t>(moved);
        }
    }

  private:
    std::unique_ptr<Pages> m_own;
    pid_t m_process = 0;
    std::uint64_t m_address = 0;
};

// Registered memory. SENNIT_REGISTER names one mechanism: adopt or xpmem.
class Registered final : public ByPointer {
  public:
    ~Registered() override {
        if (m_own != nullptr && m_region.bytes > 0) (void)sennit_deregister(m_region);
    }
    void offer(std::uint64_t bytes, std::uint64_t first, MapOffer *offer) override {
        m_own = std::make_unique<Pages>(bytes);
        fill(m_own->data(), bytes, first);
        check(sennit_register(m_own->data(), bytes, 0, &m_region), "sennit_register");
        offer->region = m_region;
    }
    void reach(const MapOffer &offer, std::uint64_t) override {
        m_theirs = static_cast<const std::byte *>(sennit_ptr(offer.region.gptr));
        if (m_theirs == nullptr) check(sennit_last_error()->status, "sennit_ptr");
        m_attached = offer.region;
    }
    // A rank that copies from itself has no region to detach.
    void leave() override {
        const bool is_own = m_attached.gptr.rank == sennit_rank();
        if (m_theirs != nullptr && !is_own)
            check(sennit_region_detach(m_attached), "sennit_region_detach");
    }

  private:
    std::unique_ptr<Pages> m_own;
    sennit_region m_region = SENNIT_REGION_NULL;
    sennit_region m_attached = SENNIT_REGION_NULL;
};

// Memory of another thread of the process: a rank, or a thread that only touches the memory.
class Threads final : public ByPointer {
  public:
    Threads(const MapRole &role, std::uint64_t first_of_owner)
        : m_role(role), m_first_of_owner(first_of_owner) {}
    void offer(std::uint64_t bytes, std::uint64_t first, MapOffer *offer) override {
        if (!m_role.are_threads) return;
        m_own = std::make_unique<Pages>(bytes);
        fill(m_own->data(), bytes, first);
        offer->address = reinterpret_cast<std::uintptr_t>(m_own->data());
    }
    void reach(const MapOffer &offer, std::uint64_t bytes) override {
        m_theirs = reinterpret_cast<const std::byte *>(offer.address);
        if (m_role.are_threads) return;
        m_own = std::make_unique<Pages>(bytes);
        std::string failure;
        std::thread toucher([&] {
            try {
                bind_to(m_role.owner_processor);
                fill(m_own->data(), bytes, m_first_of_owner);
            } catch (const std::exception &error) {
                failure = error.what();
            }
        });
        toucher.join();
        if (!failure.empty()) throw std::runtime_error(failure);
        m_theirs = m_own->data();
    }

  private:
    MapRole m_role;
    std::uint64_t m_first_of_owner;
    std::unique_ptr<Pages> m_own;
};

std::unique_ptr<Kind> make_kind(const std::string &way, const MapRole &role) {
    if (way == "mapped") return std::make_unique<Mapped>();
    if (way == "cma") return std::make_unique<Cma>();
    if (way == "threads") return std::make_unique<Threads>(role, first_word(way, role.owner));
    return std::make_unique<Registered>();
}

template <class Step>
void try_to(MapOffer *offer, Step step) {
    try {
        step();
    } catch (const std::exception &error) {
        (void)std::snprintf(offer->failure, sizeof offer->failure, "%s", error.what());
    }
}

std::string first_failure(const std::vector<MapOffer> &offers) {
    for (const MapOffer &offer : offers)
        if (offer.failure[0] != '\0') return offer.failure;
    return "";
}

}  // namespace

void bind_to(int processor) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0)
        fail_os(fmt::format("binding to processor {}", processor));
}

Pages::Pages(std::uint64_t bytes) : m_bytes(bytes) {
    void *const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) fail_os("mmap");
    m_data = static_cast<std::byte *>(at);
}

Pages::Pages(std::uint64_t bytes, int file, bool is_read_only) : m_bytes(bytes) {
    void *const at = mmap(nullptr, bytes, is_read_only ? PROT_READ : PROT_READ | PROT_WRITE,
                          is_read_only ? MAP_SHARED | MAP_POPULATE : MAP_SHARED, file, 0);
    if (at == MAP_FAILED) fail_os("mmap of a memory file");
    m_data = static_cast<std::byte *>(at);
}

Pages::~Pages() {
    (void)munmap(m_data, m_bytes);
}

void Pages::touch() const {
    for (std::uint64_t at = 0; at < m_bytes; at += kPage)
        m_data[at] = std::byte{1};
}

MemoryFile::MemoryFile(std::uint64_t bytes)
    : m_descriptor(memfd_create("sennit-map", MFD_CLOEXEC)) {
    if (m_descriptor < 0) fail_os("memfd_create");
    if (ftruncate(m_descriptor, static_cast<off_t>(bytes)) == 0) return;
    const int reason = errno;
    (void)close(m_descriptor);
    errno = reason;
    fail_os("ftruncate of a memory file");
}

MemoryFile::~MemoryFile() {
    (void)close(m_descriptor);
}

std::unique_ptr<Pages> map_file_of(const MapOffer &offer, std::uint64_t bytes, bool is_read_only) {
    const std::string name = fmt::format("/proc/{}/fd/{}", offer.process, offer.descriptor);
    const int file = open(name.c_str(), (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (file < 0) fail_os(name);
    const struct Closer {
        int descriptor;
        ~Closer() { (void)close(descriptor); }
    } closer{file};
    return std::make_unique<Pages>(bytes, file, is_read_only);
}

std::vector<MapOffer> exchange(const Job &job, const MapOffer &mine) {
    std::memcpy(job.raw_payload(job.rank()), &mine, sizeof mine);
    job.barrier();
    std::vector<MapOffer> all(static_cast<std::size_t>(job.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        std::memcpy(&all[rank], job.raw_payload(static_cast<int>(rank)), sizeof mine);
    job.barrier();
    return all;
}

MadeSource make_source(const Job &job, const std::string &way, const MapRole &role,
                       std::uint64_t bytes) {
    std::unique_ptr<Kind> kind = make_kind(way, role);
    MapOffer mine;
    mine.process = getpid();
    if (role.is_read)
        try_to(&mine, [&] { kind->offer(bytes, first_word(way, job.rank()), &mine); });
    const std::vector<MapOffer> offers = exchange(job, mine);
    std::string reason = first_failure(offers);
    if (reason.empty()) {
        if (role.owner >= 0)
            try_to(&mine,
                   [&] { kind->reach(offers[static_cast<std::size_t>(role.owner)], bytes); });
        reason = first_failure(exchange(job, mine));
    }
    if (reason.empty()) return {std::move(kind), ""};
    kind->leave();
    job.barrier();
    return {nullptr, reason};
}

void check_copy(const MapSource &source, const std::string &way, const MapRole &role, std::byte *to,
                std::uint64_t offset, std::uint64_t bytes) {
    std::memset(to, 0, bytes);
    source.copy(to, offset, bytes);
    const std::uint64_t first = first_word(way, role.owner) + offset / sizeof(std::uint64_t);
    const auto *const words = reinterpret_cast<const std::uint64_t *>(to);
    std::uint64_t differing = 0;
    for (std::uint64_t i = 0; i < bytes / sizeof first; ++i)
        differing += words[i] != first + i ? 1 : 0;
    if (differing > 0)
        throw std::runtime_error(fmt::format(
            "{}: {} words of a copy of {} bytes differ from the source", way, differing, bytes));
}

}  // namespace sennit::bench
