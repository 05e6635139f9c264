// SPDX-License-Identifier: BSD-3-Clause
// Reads a file of knobs, one `NAME value` or `NAME=value` a line; `#` begins a line of comment.
// Called by knobs.cpp alone.
#pragma once

#include <cstddef>
#include <cstdio>

namespace sennit::runtime {

struct KnobLine {
    int number;         // from 1
    const char *name;   // until the next call of next()
    const char *value;  // the same; without the blanks around it
};

class KnobFile {
  public:
    KnobFile() = default;
    KnobFile(const KnobFile &) = delete;
    KnobFile &operator=(const KnobFile &) = delete;
    ~KnobFile();

    // 0, or the errno that says why the file cannot be opened.
    int open(const char *path);

    enum class Next { line, malformed, end, failed };
    // The next line that is neither empty nor a comment. malformed: it is no name with a value;
    // `line` has its number alone. failed: the file cannot be read, as errno says.
    Next next(KnobLine *line);

  private:
    std::FILE *file_ = nullptr;
    char *text_ = nullptr;
    std::size_t bytes_ = 0;
    int number_ = 0;
};

}  // namespace sennit::runtime
