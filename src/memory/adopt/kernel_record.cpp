// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc by system calls into buffers on the stack.
#include "memory/adopt/kernel_record.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/file.hpp"

namespace sennit::memory::adopt {
namespace {

// The argument of the ioctl PROCMAP_QUERY (Linux 6.11), which older headers lack.
struct ProcmapQuery {
    std::uint64_t size;
    std::uint64_t query_flags;
    std::uint64_t query_addr;
    std::uint64_t vma_start;
    std::uint64_t vma_end;
    std::uint64_t vma_flags;
    std::uint64_t vma_page_size;
    std::uint64_t vma_offset;
    std::uint64_t inode;
    std::uint32_t dev_major;
    std::uint32_t dev_minor;
    std::uint32_t vma_name_size;
    std::uint32_t build_id_size;
    std::uint64_t vma_name_addr;
    std::uint64_t build_id_addr;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);
constexpr std::uint64_t kReadable = 0x01;
constexpr std::uint64_t kWritable = 0x02;
constexpr std::uint64_t kExecutable = 0x04;
constexpr std::uint64_t kShared = 0x08;
constexpr std::uint64_t kCoveringOrNext = 0x10;

std::atomic<bool> only_text{false};

constexpr char kMemoryFileName[] = "/memfd:sennit (deleted)";

Mapping::Name name_of(const char *text) {
    if (text[0] == '\0') return Mapping::Name::none;
    if (std::strcmp(text, kMemoryFileName) == 0) return Mapping::Name::memory_file;
    if (std::strcmp(text, "[heap]") == 0) return Mapping::Name::heap;
    if (std::strncmp(text, "[stack", 6) == 0) return Mapping::Name::stack;
    // Memory that the program has named ([anon:...]) is anonymous like any other.
    if (std::strncmp(text, "[anon:", 6) == 0) return Mapping::Name::none;
    return text[0] == '[' ? Mapping::Name::special : Mapping::Name::other;
}

// Returns the lines of a file one by one, without line ends. Leaves out lines that are longer than
// the buffer.
class Lines {
  public:
    explicit Lines(int file) : file_(file) {}

    // Null at the end.
    const char *next() {
        for (;;) {
            char *const end =
                static_cast<char *>(std::memchr(buffer_ + begin_, '\n', end_ - begin_));
            if (end != nullptr) {
                const char *const line = buffer_ + begin_;
                *end = '\0';
                begin_ = static_cast<std::size_t>(end + 1 - buffer_);
                if (!skipping_) return line;
                skipping_ = false;
                continue;
            }
            if (!refill()) return nullptr;
        }
    }

  private:
    bool refill() {
        std::memmove(buffer_, buffer_ + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        if (end_ == sizeof buffer_ - 1) {
            // Drops the start of a line that does not fit; next() drops its rest.
            end_ = 0;
            skipping_ = true;
        }
        ssize_t got;
        do {
            got = read(file_, buffer_ + end_, sizeof buffer_ - 1 - end_);
        } while (got < 0 && errno == EINTR);
        if (got <= 0) return false;
        end_ += static_cast<std::size_t>(got);
        return true;
    }

    int file_;
    bool skipping_ = false;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    char buffer_[8192];
};

struct KernelDirent {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
};

}  // namespace

void KernelRecord::set_text_only(bool text_only) {
    // relaxed: set only while nobody registers.
    only_text.store(text_only, std::memory_order_relaxed);
}

KernelRecord::KernelRecord()
    : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)),
      // relaxed: set only while nobody registers.
      text_only_(only_text.load(std::memory_order_relaxed)) {}

KernelRecord::~KernelRecord() {
    if (file_ >= 0) (void)close(file_);
}

bool KernelRecord::find(std::uint64_t address, Mapping *mapping) {
    if (file_ < 0) return false;
    bool answered = false;
    if (!text_only_) {
        const bool found = query(address, mapping, &answered);
        if (answered) return found;
        text_only_ = true;
    }
    return search_text(address, mapping);
}

bool KernelRecord::query(std::uint64_t address, Mapping *mapping, bool *answered) {
    char name[128] = "";
    ProcmapQuery query{};
    query.size = sizeof query;
    query.query_flags = kCoveringOrNext;
    query.query_addr = address;
    query.vma_name_size = sizeof name;
    query.vma_name_addr = reinterpret_cast<std::uintptr_t>(name);
    int result = ioctl(file_, kProcmapQuery, &query);
    if (result != 0 && errno == ENAMETOOLONG) {
        // No name that name_of() distinguishes is that long.
        std::memcpy(name, "/", 2);
        query.vma_name_size = 0;
        query.vma_name_addr = 0;
        result = ioctl(file_, kProcmapQuery, &query);
    }
    *answered = result == 0 || errno == ENOENT;
    if (result != 0) return false;
    mapping->begin = query.vma_start;
    mapping->end = query.vma_end;
    mapping->file_offset = query.vma_offset;
    mapping->device = makedev(query.dev_major, query.dev_minor);
    mapping->inode = query.inode;
    mapping->page_bytes = query.vma_page_size;
    mapping->readable = (query.vma_flags & kReadable) != 0;
    mapping->writable = (query.vma_flags & kWritable) != 0;
    mapping->executable = (query.vma_flags & kExecutable) != 0;
    mapping->shared = (query.vma_flags & kShared) != 0;
    mapping->name = name_of(name);
    return true;
}

bool KernelRecord::search_text(std::uint64_t address, Mapping *mapping) {
    if (lseek(file_, 0, SEEK_SET) != 0) return false;
    Lines lines(file_);
    while (const char *line = lines.next())
        if (parse_mapping(line, mapping) && mapping->end > address) return true;
    return false;
}

bool parse_mapping(const char *line, Mapping *mapping) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    unsigned long long offset = 0;
    unsigned long long inode = 0;
    unsigned major_number = 0;
    unsigned minor_number = 0;
    char permissions[5] = "";
    int name_at = 0;
    if (std::sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &begin, &end, permissions, &offset,
                    &major_number, &minor_number, &inode, &name_at) != 7 ||
        name_at == 0)
        return false;
    mapping->begin = begin;
    mapping->end = end;
    mapping->file_offset = offset;
    mapping->device = makedev(major_number, minor_number);
    mapping->inode = inode;
    // The text has no page size. Memory of hugetlbfs has an inode, so it counts as a file.
    mapping->page_bytes = memory::page_bytes();
    mapping->readable = permissions[0] == 'r';
    mapping->writable = permissions[1] == 'w';
    mapping->executable = permissions[2] == 'x';
    mapping->shared = permissions[3] == 's';
    mapping->name = name_of(line + name_at);
    return true;
}

bool has_fixed_memory() {
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    Lines lines(file);
    bool some = false;
    while (const char *line = lines.next())
        if (std::strncmp(line, "VmLck:", 6) == 0 || std::strncmp(line, "VmPin:", 6) == 0)
            some |= std::strtoull(line + 6, nullptr, 10) != 0;
    (void)close(file);
    return some;
}

FixedFlags fixed_flags(std::uint64_t begin, std::uint64_t end) {
    FixedFlags found;
    const int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {.locked = true, .not_copied_by_fork = true};
    Lines lines(file);
    Mapping mapping;
    while (const char *line = lines.next()) {
        Mapping next;
        if (parse_mapping(line, &next)) {
            if (next.begin >= end) break;
            mapping = next;
        } else if (mapping.end > begin && std::strncmp(line, "VmFlags:", 8) == 0) {
            found.locked |= std::strstr(line, " lo") != nullptr;
            found.not_copied_by_fork |= std::strstr(line, " dc") != nullptr;
        }
    }
    (void)close(file);
    return found;
}

unsigned thread_count() {
    struct stat folder {};
    if (stat("/proc/self/task", &folder) != 0 || folder.st_nlink < 3) return 0;
    return static_cast<unsigned>(folder.st_nlink - 2);
}

std::uint64_t own_control_block() {
    void *head = nullptr;
    std::size_t bytes = 0;
    const bool known = syscall(SYS_get_robust_list, 0, &head, &bytes) == 0;
    return known ? reinterpret_cast<std::uintptr_t>(head) : 0;
}

bool any_control_block(bool (*seen)(void *context, std::uint64_t address, bool is_first),
                       void *context) {
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return false;
    alignas(8) char entries[4096];
    bool is_seen = false;
    for (;;) {
        const long got = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (got <= 0) break;
        for (long at = 0; at < got && !is_seen;) {
            const auto *entry = reinterpret_cast<const KernelDirent *>(entries + at);
            at += entry->length;
            const long thread = std::atol(entry->name);
            void *head = nullptr;
            std::size_t bytes = 0;
            // The head of a thread's robust-mutex list is a field of its control block.
            if (thread > 0 && syscall(SYS_get_robust_list, thread, &head, &bytes) == 0 &&
                head != nullptr)
                is_seen = seen(context, reinterpret_cast<std::uintptr_t>(head), thread == getpid());
        }
    }
    (void)close(folder);
    return is_seen;
}

}  // namespace sennit::memory::adopt
