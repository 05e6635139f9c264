// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sim/settings.hpp"

#include <initializer_list>
#include <string_view>

#include "base/fail.hpp"
#include "base/words.hpp"

namespace sennit::transport::sim {
namespace {

struct SettingRow {
    const char *name;
    std::uint64_t SimSettings::*field;
    std::uint64_t least;
    std::uint64_t most;
};

constexpr SettingRow kRows[] = {
    {"seed=", &SimSettings::seed, 0, UINT64_MAX},
    {"rails=", &SimSettings::rails, 1, kMostRails},
    {"order=", &SimSettings::order, 0, 1},
    {"depth=", &SimSettings::depth, 1, 65536},
    {"delay=", &SimSettings::delay, 1, 100000},
    {"events=", &SimSettings::events, 0, 128},
    {"eager=", &SimSettings::eager, 0, kMostEager},
    {"max_piece=", &SimSettings::max_piece, 8, std::uint64_t{1} << 30},
    {"lockstep=", &SimSettings::lockstep, 0, 1},
    {"shaky=", &SimSettings::shaky, 0, UINT64_MAX},
    {"patience=", &SimSettings::patience, 1, 3'600'000},
};

bool read_strike(std::string_view text, Strike (&strikes)[kMostStrikes]) {
    const std::size_t at = text.find('@');
    Strike read;
    if (at == text.npos || !read_number(text.substr(0, at), 65535, &read.victim) ||
        !read_number(text.substr(at + 1), UINT64_MAX, &read.step) || read.step == 0)
        return false;
    for (Strike &strike : strikes) {
        if (strike.victim >= 0) continue;
        strike = read;
        return true;
    }
    return false;
}

bool read_setting(std::string_view word, SimSettings *out) {
    std::string_view value;
    if (has_value(word, "fail_rail=", &value)) return read_strike(value, out->rail_failures);
    if (has_value(word, "kill=", &value)) return read_strike(value, out->kills);
    for (const SettingRow &row : kRows) {
        std::uint64_t &field = out->*row.field;
        if (has_value(word, row.name, &value))
            return read_number(value, row.most, &field) && field >= row.least;
    }
    return false;
}

}  // namespace

sennit_status settings_parse(const char *text, SimSettings *out) {
    SimSettings settings;
    const std::string_view refused = first_refused(
        text, '+', [&](std::string_view word) { return read_setting(word, &settings); });
    if (refused.data() != nullptr)
        return fail(SENNIT_ERR_ARG, "the path sim does not understand its setting \"%.*s\"",
                    static_cast<int>(refused.size()), refused.data());
    for (const Strike &failure : settings.rail_failures)
        if (failure.victim >= static_cast<int>(settings.rails))
            return fail(SENNIT_ERR_ARG, "path sim: fail_rail=%d, but there is no such rail",
                        failure.victim);
    *out = settings;
    return SENNIT_OK;
}

std::uint64_t settings_hash(const SimSettings &settings) {
    std::uint64_t hash = 0;
    for (const SettingRow &row : kRows)
        hash = mix(hash ^ (settings.*row.field));
    for (unsigned i = 0; i < kMostStrikes; ++i) {
        for (const Strike &strike : {settings.rail_failures[i], settings.kills[i]})
            hash = mix(mix(hash ^ static_cast<std::uint64_t>(strike.victim)) ^ strike.step);
    }
    return hash;
}

}  // namespace sennit::transport::sim
