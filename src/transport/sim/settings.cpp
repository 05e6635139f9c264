// Parsing of settings.hpp.
#include "transport/sim/settings.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/fail.hpp"

namespace sennit::transport::sim {
namespace {

struct SettingRow {
    const char *name;
    std::uint64_t Settings::*field;
    std::uint64_t least;
    std::uint64_t most;
};

constexpr SettingRow kRows[] = {
    {"seed", &Settings::seed, 0, UINT64_MAX},
    {"rails", &Settings::rails, 1, kMostRails},
    {"order", &Settings::order, 0, 1},
    {"depth", &Settings::depth, 1, 65536},
    {"delay", &Settings::delay, 1, 100000},
    {"events", &Settings::events, 0, 128},
    {"max_piece", &Settings::max_piece, 8, std::uint64_t{1} << 30},
    {"lockstep", &Settings::lockstep, 0, 1},
    {"shaky", &Settings::shaky, 0, UINT64_MAX},
    {"patience", &Settings::patience, 1, 3'600'000},
};

// A number from *text on, which then points behind it.
bool read_number(const char **text, std::uint64_t *out) {
    if (**text < '0' || **text > '9') return false;
    char *end = nullptr;
    *out = std::strtoull(*text, &end, 10);
    *text = end;
    return true;
}

bool read_strike(const char **text, Strike (&strikes)[kMostStrikes]) {
    std::uint64_t victim = 0;
    std::uint64_t step = 0;
    if (!read_number(text, &victim) || victim > 65535 || **text != '@') return false;
    ++*text;
    if (!read_number(text, &step) || step == 0) return false;
    for (Strike &strike : strikes) {
        if (strike.victim >= 0) continue;
        strike = Strike{static_cast<int>(victim), step};
        return true;
    }
    return false;
}

bool read_value(const char *name, std::size_t length, const char **text, Settings *out) {
    const auto is = [&](const char *known) {
        return std::strlen(known) == length && std::memcmp(known, name, length) == 0;
    };
    if (is("fail_rail")) return read_strike(text, out->rail_failures);
    if (is("kill")) return read_strike(text, out->kills);
    for (const SettingRow &row : kRows) {
        if (!is(row.name)) continue;
        std::uint64_t value = 0;
        if (!read_number(text, &value) || value < row.least || value > row.most) return false;
        out->*row.field = value;
        return true;
    }
    return false;
}

}  // namespace

sennit_status settings_parse(const char *text, Settings *out) {
    Settings settings;
    const char *at = text;
    while (*at != '\0') {
        const char *name = at;
        const char *equals = std::strchr(at, '=');
        bool good = equals != nullptr;
        if (good) {
            at = equals + 1;
            good = read_value(name, static_cast<std::size_t>(equals - name), &at, &settings) &&
                   (*at == '\0' || *at == '+');
        }
        if (!good)
            return fail(SENNIT_ERR_ARG, "the path sim does not understand its setting \"%.*s\"",
                        static_cast<int>(std::strcspn(name, "+")), name);
        if (*at == '+') ++at;
    }
    for (const Strike &failure : settings.rail_failures)
        if (failure.victim >= static_cast<int>(settings.rails))
            return fail(SENNIT_ERR_ARG, "path sim: fail_rail=%d names no rail", failure.victim);
    *out = settings;
    return SENNIT_OK;
}

std::uint64_t settings_hash(const Settings &settings) {
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
