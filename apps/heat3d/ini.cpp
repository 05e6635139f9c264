#include "ini.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace heat3d {
namespace {

constexpr std::string_view kSection = "[heat3d]";
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view without_comment(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool begins_word = i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos;
        if ((line[i] == '#' || line[i] == ';') && begins_word) return line.substr(0, i);
    }
    return line;
}

}  // namespace

std::vector<IniEntry> parse_ini(std::string_view text, const std::string &name) {
    std::vector<IniEntry> entries;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(without_comment(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.empty()) continue;
        const auto fail = [&](std::string_view why) {
            throw Failure(fmt::format("{}:{}: {}", name, number, why));
        };
        if (line.front() == '[') {
            if (line != kSection) {
                fail(fmt::format("section {} is unknown, only {} is read", line, kSection));
            }
            continue;
        }
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) fail(fmt::format("'{}' is not key = value", line));
        const std::string key(trimmed(line.substr(0, equals)));
        if (key.empty()) fail("the key before '=' is missing");
        const auto same = [&key](const IniEntry &entry) { return entry.key == key; };
        const auto earlier = std::find_if(entries.begin(), entries.end(), same);
        if (earlier != entries.end()) {
            fail(fmt::format("'{}' was given before, in line {}", key, earlier->line));
        }
        entries.push_back({key, std::string(trimmed(line.substr(equals + 1))), number});
    }
    return entries;
}

std::vector<IniEntry> read_ini(const std::string &path) {
    const auto fail = [&path] {
        throw Failure(fmt::format("the configuration file {} cannot be read: {}", path,
                                  std::strerror(errno)));
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"),
                                                                std::fclose);
    if (!file) fail();
    std::string text;
    char piece[4096];
    while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get())) {
        text.append(piece, got);
    }
    if (std::ferror(file.get())) fail();
    return parse_ini(text, path);
}

}  // namespace heat3d
