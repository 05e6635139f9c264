// A file that several ranks write, each at its own places. It keeps its name for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace apps {

// Every call throws Failure, with the file's name and the system's reason.
class File {
  public:
    // `flags` as in open(2). `use` is the setting that the file belongs to, for messages.
    File(const std::string &use, const std::string &path, int flags);
    ~File();
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    void resize(std::uint64_t bytes);
    std::uint64_t size() const;
    void write(const void *data, std::size_t bytes, std::uint64_t offset);
    // Reads all of `bytes`; an earlier end of the file is an error.
    void read(void *data, std::size_t bytes, std::uint64_t offset) const;
    // Some file systems report a failed write only here.
    void shut();

  private:
    [[noreturn]] void fail(const char *what, int error) const;

    std::string use_, path_;
    int descriptor_ = -1;
};

}  // namespace apps
