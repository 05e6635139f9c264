// A libxpmem.so.0 for tests: the seven functions that Sennit calls, with the names and arguments of
// the real library. It uses files in place of the kernel module: xpmem_make() moves the pages into
// a file that other processes of the user open through /proc, so a peer's attachment is the owner's
// memory.
//
// XPMEM_STUB in the environment sets the behaviour: "no_device" as if the module is not loaded;
// "refused" refuses every attachment by the process of rank 1; any other word works.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr std::int64_t kFiles = 1 << 20;  // more than the descriptors of a process

bool behaves(const char *word) {
    const char *const how = std::getenv("XPMEM_STUB");
    return how != nullptr && std::strcmp(how, word) == 0;
}

// The path by which a process of another rank opens the file behind a segment.
std::string path_of(std::int64_t segment) {
    return "/proc/" + std::to_string(segment / kFiles) + "/fd/" + std::to_string(segment % kFiles);
}

// Not locked: each rank of the tests has one thread.
std::map<void *, std::size_t> attachments;

}  // namespace

extern "C" {

struct xpmem_addr {
    std::int64_t apid;
    std::int64_t offset;
};

[[gnu::visibility("default")]] int xpmem_version() {
    if (!behaves("no_device")) return 0x26001;
    errno = ENOENT;
    return -1;
}

[[gnu::visibility("default")]] std::int64_t xpmem_make(void *address, std::size_t bytes, int,
                                                       void *) {
    const int file = memfd_create("xpmem-stub", MFD_CLOEXEC);
    if (file < 0 || write(file, address, bytes) != static_cast<ssize_t>(bytes)) return -1;
    if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        return -1;
    return std::int64_t{getpid()} * kFiles + file;
}

[[gnu::visibility("default")]] int xpmem_remove(std::int64_t segment) {
    return close(static_cast<int>(segment % kFiles));
}

[[gnu::visibility("default")]] std::int64_t xpmem_get(std::int64_t segment, int, int, void *) {
    const char *const rank = std::getenv("SENNIT_RANK");
    if (behaves("refused") && rank != nullptr && std::strcmp(rank, "1") == 0) {
        errno = EACCES;
        return -1;
    }
    return open(path_of(segment).c_str(), O_RDWR | O_CLOEXEC);
}

[[gnu::visibility("default")]] int xpmem_release(std::int64_t permit) {
    return close(static_cast<int>(permit));
}

[[gnu::visibility("default")]] void *xpmem_attach(xpmem_addr from, std::size_t bytes, void *) {
    void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                          static_cast<int>(from.apid), from.offset);
    if (at != MAP_FAILED) attachments[at] = bytes;
    return at;
}

[[gnu::visibility("default")]] int xpmem_detach(void *at) {
    const auto found = attachments.find(at);
    if (found == attachments.end()) std::abort();  // xpmem_attach() did not return it
    const std::size_t bytes = found->second;
    attachments.erase(found);
    return munmap(at, bytes);
}
}
