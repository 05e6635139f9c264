// SPDX-License-Identifier: BSD-3-Clause
#include "base/knob_file.hpp"

#include <sys/types.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit::runtime {
namespace {

constexpr const char *kBlanks = " \t\r\n\v\f";
constexpr const char *kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

}  // namespace

KnobFile::~KnobFile() {
    if (file_ != nullptr) (void)std::fclose(file_);
    std::free(text_);
}

int KnobFile::open(const char *path) {
    file_ = std::fopen(path, "re");
    return file_ == nullptr ? errno : 0;
}

KnobFile::Next KnobFile::next(KnobLine *line) {
    for (;;) {
        errno = 0;
        const ssize_t length = getline(&text_, &bytes_, file_);
        if (length < 0) return errno == 0 ? Next::end : Next::failed;
        *line = KnobLine{++number_, nullptr, nullptr};
        if (std::strlen(text_) != static_cast<std::size_t>(length)) return Next::malformed;
        char *name = text_ + std::strspn(text_, kBlanks);
        if (*name == '\0' || *name == '#') continue;
        char *end = text_ + length;
        while (std::strchr(kBlanks, end[-1]) != nullptr)
            --end;
        *end = '\0';
        const std::size_t letters = std::strspn(name, kLetters);
        char *value = name + letters;
        value += std::strspn(value, kBlanks);
        if (*value == '=') {
            ++value;
            value += std::strspn(value, kBlanks);
        } else if (value == name + letters) {
            return Next::malformed;  // the name has another character, or no value
        }
        if (letters == 0 || *value == '\0') return Next::malformed;
        name[letters] = '\0';
        line->name = name;
        line->value = value;
        return Next::line;
    }
}

}  // namespace sennit::runtime
