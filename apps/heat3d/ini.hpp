// Reading a small INI file: lines `key = value`, comments from `#` or `;` at the start of a line or
// after a blank, and an optional section line `[heat3d]`. Called by options.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heat3d {

struct IniEntry {
    std::string key;
    std::string value;
    int line = 0;
};

// The entries in order. `name` is the file's name, for messages. Throws Failure, with name and
// line, for any other line, an empty key, a repeated key, or another section.
std::vector<IniEntry> parse_ini(std::string_view text, const std::string &name);

// The same for a file. Also throws Failure if it cannot be read.
std::vector<IniEntry> read_ini(const std::string &path);

}  // namespace heat3d
