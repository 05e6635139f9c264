// Events that ride in the completion data of puts: support levels 1 to 3. What is in the bits, and
// both ends: the sender's put and the owner's count. docs/design/signals.md has the widths and what
// is lost with each; op/event_ack.hpp sees to it that each event is counted once.
#pragma once

#include "signal/blocks.hpp"

namespace sennit::signal {

// From the lowest bit: the ticket, the part code, the tag of the epoch, the signal's incarnation,
// and its index. A tag of 64 bits is the epoch itself, in the high word.
struct CarriedLayout {
    unsigned bits;
    unsigned ticket_bits;
    unsigned code_bits;  // 0: a message is in one part
    unsigned tag_bits;
    unsigned incarnation_bits;  // 0: not carried
    unsigned index_bits;

    bool is_none() const { return bits == 0; }
};

inline constexpr CarriedLayout kCarriedLayouts[] = {
    {128, 6, 26, 64, 8, 24}, {64, 6, 10, 16, 8, 24}, {32, 6, 6, 6, 0, 14},
    {16, 6, 0, 2, 0, 8},     {8, 3, 0, 1, 0, 4},     {0, 0, 0, 0, 0, 0},
};

// The widest that fits into completion data of so many bits.
constexpr const CarriedLayout &layout_of(unsigned event_bits) {
    const CarriedLayout *layout = kCarriedLayouts;
    while (layout->bits > event_bits)
        ++layout;
    return *layout;
}

constexpr unsigned level_of(unsigned event_bits) {
    const unsigned bits = layout_of(event_bits).bits;
    if (bits >= 64) return 3;
    if (bits >= 32) return 2;
    return bits != 0 ? 1 : 0;
}

// What a message says, but for its ticket.
struct CarriedEvent {
    std::uint64_t code;
    std::uint64_t tag;  // the epoch, as many of its low bits as there are
    std::uint32_t incarnation;
    std::uint32_t index;
};

constexpr transport::EventData pack(const CarriedLayout &layout, const CarriedEvent &event) {
    transport::EventData data;
    unsigned at = layout.ticket_bits;
    data.low = (event.code & low_mask(layout.code_bits)) << at;
    at += layout.code_bits;
    if (layout.tag_bits == 64) {
        data.high = event.tag;
    } else {
        data.low |= (event.tag & low_mask(layout.tag_bits)) << at;
        at += layout.tag_bits;
    }
    data.low |= (event.incarnation & low_mask(layout.incarnation_bits)) << at;
    at += layout.incarnation_bits;
    data.low |= std::uint64_t{event.index} << at;
    return data;
}

constexpr CarriedEvent unpack(const CarriedLayout &layout, const transport::EventData &data) {
    CarriedEvent event{};
    std::uint64_t left = data.low >> layout.ticket_bits;
    const auto field = [&left](unsigned bits) {
        const std::uint64_t value = left & low_mask(bits);
        left >>= bits;
        return value;
    };
    event.code = field(layout.code_bits);
    event.tag = layout.tag_bits == 64 ? data.high : field(layout.tag_bits);
    event.incarnation = static_cast<std::uint32_t>(field(layout.incarnation_bits));
    event.index = static_cast<std::uint32_t>(field(layout.index_bits));
    return event;
}

// The largest number of parts of a message.
constexpr unsigned most_parts(const CarriedLayout &layout) {
    return layout.code_bits == 0 ? 1 : static_cast<unsigned>(further_code(layout.code_bits));
}

// What the event adds to a signal of N bits of events.
constexpr std::uint64_t addend_of(const CarriedLayout &layout, const CarriedEvent &event,
                                  unsigned event_bits) {
    return layout.code_bits == 0 ? kWholeMessage
                                 : addend_of(event.code, layout.code_bits, event_bits);
}

// A put and its event. Where it can not ride, *rides is false and nothing was done. After the same
// checks as notify() makes, but for the epoch. Errors: as sennit_put_notify().
struct CarriedPutArgs {
    const RemoteSignal *remote;
    std::uint64_t epoch;
    sennit_gptr place;
    void *local;
    std::size_t bytes;
};
bool may_ride(const Rank &rank, const RemoteSignal &remote);
sennit_status put_riding(Rank &rank, const CarriedPutArgs &args, bool *rides);

// Takes what comes for the rank's signals. Before the first of them is known to any peer.
void expect_events(Rank &rank);

// What came for a signal and was not counted, since it was of no epoch that the signal takes. Told
// once, by the next test, wait or reset. Errors: SIGNAL_EARLY, SIGNAL_OVERFLOW.
[[gnu::cold]] sennit_status fail_reported(Own &own);

}  // namespace sennit::signal
