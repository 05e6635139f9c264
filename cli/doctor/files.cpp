// Reading the files of the kernel, and writing quantities.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "finding.hpp"

namespace sennit::cli {
namespace {

std::string trimmed(const std::string &text) {
    const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
    const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
    const auto last = std::find_if_not(text.rbegin(), text.rend(), is_blank).base();
    return first < last ? std::string(first, last) : "";
}

}  // namespace

std::optional<std::string> read_text(const System &system, const std::string &name) {
    std::ifstream file(system.root + name, std::ios::binary);
    if (!file) return std::nullopt;
    // Many files in /proc, /sys and /dev can be opened but not read. read() then sets bad(), while
    // an iterator over the buffer throws.
    std::string text;
    std::array<char, 4096> piece;
    do {
        (void)file.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    } while (file);
    if (file.bad()) return std::nullopt;
    return text;
}

std::string read_line(const System &system, const std::string &name) {
    const std::string text = read_text(system, name).value_or("");
    return trimmed(text.substr(0, text.find_first_of(std::string("\n\0", 2))));
}

bool is_there(const System &system, const std::string &name) {
    std::error_code error;
    return std::filesystem::exists(system.root + name, error);
}

std::optional<std::uint64_t> read_number(const System &system, const std::string &name) {
    const std::optional<std::string> text = read_text(system, name);
    if (!text) return std::nullopt;
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || rest == text->data()) return std::nullopt;
    return number;
}

std::string value_of(const std::string &text, const std::string &key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, key.size() + 1, key + ":") != 0) continue;
        return trimmed(line.substr(key.size() + 1));
    }
    return "";
}

std::string chosen_word(const std::string &text) {
    const std::size_t begin = text.find('[');
    const std::size_t end = text.find(']');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
    return text.substr(begin + 1, end - begin - 1);
}

std::vector<std::string> names_in(const System &system, const std::string &folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(system.root + folder, error), end;
         !error && it != end; it.increment(error))
        names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> numbered(const System &system, const std::string &folder,
                                  const std::string &prefix) {
    std::vector<std::string> names;
    for (const std::string &name : names_in(system, folder)) {
        if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0) continue;
        if (std::isdigit(static_cast<unsigned char>(name[prefix.size()])) == 0) continue;
        names.push_back(name);
    }
    return names;
}

std::size_t allowed_processors(const System &system) {
    return count_of_list(
        value_of(read_text(system, "/proc/self/status").value_or(""), "Cpus_allowed_list"));
}

std::size_t count_of_list(const std::string &list) {
    std::size_t count = 0;
    std::istringstream parts(trimmed(list));
    for (std::string part; std::getline(parts, part, ',');) {
        unsigned long first = 0;
        unsigned long last = 0;
        const char *end = part.data() + part.size();
        const auto begin = std::from_chars(part.data(), end, first);
        if (begin.ec != std::errc()) continue;
        last = first;
        if (begin.ptr != end && *begin.ptr == '-') (void)std::from_chars(begin.ptr + 1, end, last);
        if (last >= first) count += last - first + 1;
    }
    return count;
}

std::vector<ControlGroup> control_groups(const System &system, const std::string &controller) {
    std::vector<ControlGroup> groups;
    std::istringstream lines(read_text(system, "/proc/self/cgroup").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        // number:controllers:path. Version 2 has no controllers.
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers =
            fmt::format(",{},", line.substr(first + 1, second - first - 1));
        const bool is_second = controllers == ",,";
        if (!is_second && controllers.find(fmt::format(",{},", controller)) == std::string::npos)
            continue;
        const std::string top = is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
        std::string path = line.substr(second + 1);
        for (;;) {
            if (!path.empty() && path.back() == '/') path.pop_back();
            std::error_code error;
            if (std::filesystem::is_directory(system.root + top + path, error))
                groups.push_back({top + path, is_second});
            if (path.empty()) break;
            path.erase(path.rfind('/'));
        }
    }
    return groups;
}

std::string time_text(double ns) {
    constexpr std::array kUnits = {"ns", "µs", "ms", "s"};
    std::size_t unit = 0;
    for (; ns >= 1000 && unit + 1 < kUnits.size(); ++unit)
        ns /= 1000;
    return fmt::format("{:.3g} {}", ns, kUnits[unit]);
}

}  // namespace sennit::cli
