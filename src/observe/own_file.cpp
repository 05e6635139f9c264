// SPDX-License-Identifier: BSD-3-Clause
#include "observe/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sennit::runtime {
namespace {

bool is_own(const struct stat &found) {
    return S_ISREG(found.st_mode) && found.st_uid == geteuid() && found.st_nlink == 1;
}

}  // namespace

int open_own_file(const char *name, int flags) {
    // O_NONBLOCK: otherwise open() of a named pipe would wait for a reader.
    const int file = open(name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (file < 0) return -1;
    struct stat found {};
    if (fstat(file, &found) == 0 && is_own(found)) return file;
    (void)close(file);
    errno = EPERM;
    return -1;
}

void remove_own_file(const char *name) {
    struct stat found {};
    if (lstat(name, &found) == 0 && is_own(found)) (void)unlink(name);
}

const char *file_error(int error) {
    if (error == ELOOP) return "it is a symbolic link";
    if (error == EPERM) return "it is not a plain file of this user with a single link";
    return std::strerror(error);
}

}  // namespace sennit::runtime
