// The library's rules for counting signals, and rules with one mistake each, for the searches in
// this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "signal/carried.hpp"
#include "signal/counters.hpp"

namespace sennit::signal::searched {

// The correct rules; the types below have one mistake each.
struct Rules {
    static unsigned slot(std::uint64_t epoch) { return slot_of(epoch); }
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return is_counted(epoch, receivers);
    }
    static std::uint64_t first(std::uint64_t parts, unsigned bits) {
        return first_part(parts, bits);
    }
    static std::uint64_t further(unsigned bits) { return further_part(bits); }
    static std::uint64_t start(std::uint32_t events, std::uint64_t epoch) {
        return armed(events, epoch);
    }
    // The action of a reset on the slot of the epoch that begins.
    static void reset(std::uint64_t *, unsigned) {}
};
struct OneSlot : Rules {
    static unsigned slot(std::uint64_t) { return 0; }
    static std::uint64_t start(std::uint32_t events, std::uint64_t epoch) {
        return events * (epoch + 1);
    }
};
struct TagOfOneBit : Rules {
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return is_counted(epoch_of_tag(epoch, receivers, 1), receivers);
    }
};
struct TakesTwoAhead : Rules {
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return epoch - receivers <= 2;
    }
};
struct AnnouncesNothing : Rules {
    static std::uint64_t first(std::uint64_t, unsigned) { return kWholeMessage; }
};
struct PartsBesideTheOverflow : Rules {
    static std::uint64_t first(std::uint64_t parts, unsigned bits) {
        return first_part(parts, bits - 1);
    }
    static std::uint64_t further(unsigned bits) { return further_part(bits - 1); }
};
struct ResetByStore : Rules {
    static std::uint64_t start(std::uint32_t events, std::uint64_t) { return events; }
    static void reset(std::uint64_t *slots, unsigned slot) { slots[slot] = 0; }
};

// The result of a search over many configurations.
struct Result {
    std::uint64_t runs = 0;
    std::uint64_t wrong = 0;
    std::uint64_t states = 0;
    std::string first;
};

// The widths of the tags in the layouts of completion data.
inline std::vector<unsigned> tag_widths() {
    std::vector<unsigned> widths;
    for (const CarriedLayout &layout : kCarriedLayouts)
        if (!layout.is_none()) widths.push_back(layout.tag_bits);
    return widths;
}

}  // namespace sennit::signal::searched
