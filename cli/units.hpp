// Formats quantities for output.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace sennit::cli {

inline std::string bytes_text(double bytes) {
    constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit)
        bytes /= 1024;
    return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

// "1 rank", "2 ranks".
template <class Count>
std::string counted(Count count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace sennit::cli
