#include "file.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace apps {

void File::fail(const char *what, int error) const {
    throw Failure(fmt::format("{}: {} cannot be {}: {}", use_, path_, what, std::strerror(error)));
}

File::File(const std::string &use, const std::string &path, int flags) : use_(use), path_(path) {
    descriptor_ = open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("opened", errno);
}

File::~File() {
    if (descriptor_ >= 0) close(descriptor_);
}

void File::resize(std::uint64_t bytes) {
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("sized", errno);
}

std::uint64_t File::size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail("read", errno);
    return static_cast<std::uint64_t>(status.st_size);
}

void File::write(const void *data, std::size_t bytes, std::uint64_t offset) {
    const char *at = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t done = pwrite(descriptor_, at, bytes, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail("written", done == 0 ? ENOSPC : errno);
        at += done;
        offset += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
}

void File::read(void *data, std::size_t bytes, std::uint64_t offset) const {
    char *at = static_cast<char *>(data);
    while (bytes > 0) {
        const ssize_t done = pread(descriptor_, at, bytes, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail("read", errno);
        if (done == 0) throw Failure(fmt::format("{}: {} ends too early", use_, path_));
        at += done;
        offset += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
}

void File::shut() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) fail("closed", errno);
}

}  // namespace apps
