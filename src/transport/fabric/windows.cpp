// SPDX-License-Identifier: BSD-3-Clause
// How far the windows of TCP may open by which messages come (docs/design/fabric.md, "Who
// acknowledges"). That is set from outside, when messages of a connection have become longer: the
// kernel opens a window anew when it finds out how long segments are, and when a connection is new.
#include <algorithm>
#include <utility>

#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// Who has many descriptors looks for long through them.
constexpr std::int64_t kPausePerLook = 50;
// Shorter ones are a segment of TCP over Ethernet at most, which is acknowledged later.
constexpr std::size_t kSegmentBytes = 1448;

}  // namespace

void Network::note_length(RailLink &link, const Message &message) {
    if (message.bytes <= std::max<std::size_t>(kSegmentBytes, 2 * link.longest)) return;
    link.longest = static_cast<std::uint32_t>(message.bytes);
    link.wants_windows = some_want_windows_ = true;
}

void Network::limit_windows(std::int64_t now) {
    for (const int peer : links_.used())
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            RailLink &link = link_of(peer, rail);
            if (!std::exchange(link.wants_windows, false)) continue;
            rails_[rail].rail.limit_windows(link.messages);
            windows_ns_ = now + kPausePerLook * (boot_ns() - now);
            return;
        }
    some_want_windows_ = false;
}

}  // namespace sennit::transport::fabric
