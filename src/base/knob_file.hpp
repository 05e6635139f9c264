// SPDX-License-Identifier: BSD-3-Clause
// Reads a file of knobs. A line is `NAME value`, `NAME=value`, or a comment that begins with `#`.
#pragma once

#include <cstddef>
#include <cstdio>

namespace sennit::runtime {

struct KnobLine {
    int number;         // from 1
    const char *name;   // valid until the next call of next()
    const char *value;  // the same; without blanks at either end
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
    // Reads the next line that is neither empty nor a comment. malformed: the line has another
    // form, and only `line->number` is set. failed: a read error, in errno.
    Next next(KnobLine *line);

  private:
    std::FILE *file_ = nullptr;
    char *text_ = nullptr;
    std::size_t bytes_ = 0;
    int number_ = 0;
};

}  // namespace sennit::runtime
