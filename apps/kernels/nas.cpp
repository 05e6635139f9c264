#include "nas.hpp"

namespace kernels {
namespace {

// The published ranks are those before the first iteration, which adds or subtracts 1, or changes
// nothing.
constexpr Nas kClasses[] = {
    {"S",
     std::size_t{1} << 16,
     std::uint64_t{1} << 11,
     {48427, 17148, 23627, 62548, 4431},
     {0 + 1, 18 + 1, 346 + 1, 64917 - 1, 65463 - 1}},
    {"W",
     std::size_t{1} << 20,
     std::uint64_t{1} << 16,
     {357773, 934767, 875723, 898999, 404505},
     {1249 - 1, 11698 - 1, 1039987 - 1, 1043896 - 1, 1048018 - 1}},
    {"A",
     std::size_t{1} << 23,
     std::uint64_t{1} << 19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264}},
    {"B",
     std::size_t{1} << 25,
     std::uint64_t{1} << 21,
     {41869, 812306, 5102857, 18232239, 26860214},
     {33422937 - 1, 10244 + 1, 59149 + 1, 33135281 - 1, 99 + 1}},
    {"C",
     std::size_t{1} << 27,
     std::uint64_t{1} << 23,
     {44172927, 72999161, 74326391, 129606274, 21736814},
     {61147 + 1, 882988 + 1, 266290 + 1, 133997595 - 1, 133525895 - 1}},
};

// x := a x mod 2^46; the number in [0, 1) is x / 2^46.
constexpr std::uint64_t kSeed = 314159265, kFactor = 1220703125;
constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;

std::uint64_t state_after(std::uint64_t steps) {
    std::uint64_t state = kSeed;
    for (std::uint64_t factor = kFactor; steps > 0; steps /= 2, factor = factor * factor & kMask)
        if (steps % 2 == 1) state = state * factor & kMask;
    return state;
}

}  // namespace

const Nas *nas_class(const std::string &name) {
    for (const Nas &nas : kClasses)
        if (name == nas.name) return &nas;
    return nullptr;
}

void fill_nas_keys(const Nas &nas, std::size_t first, std::size_t count, std::uint32_t *keys) {
    constexpr std::size_t kLow = 1, kHigh = 11;  // places that the first iteration changes
    std::uint64_t state = state_after(4 * first);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t sum = 0;
        for (int part = 0; part < 4; ++part) {
            state = state * kFactor & kMask;
            sum += state;
        }
        // Exact: the sum has 48 bits, and a quarter of the values is a power of two.
        keys[i] = static_cast<std::uint32_t>(static_cast<double>(nas.values / 4) * 0x1p-46 *
                                             static_cast<double>(sum));
        if (first + i == kLow) keys[i] = 1;
        if (first + i == kHigh) keys[i] = static_cast<std::uint32_t>(nas.values - 1);
    }
}

}  // namespace kernels
