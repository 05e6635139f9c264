// Quantities as people read them. Used by `sennit info` and `sennit doctor`.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

namespace sennit::cli {

inline std::string bytes_text(double bytes) {
    constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit)
        bytes /= 1024;
    return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

}  // namespace sennit::cli
