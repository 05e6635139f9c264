// SPDX-License-Identifier: BSD-3-Clause
// Limits the TCP windows of connections for messages (docs/design/fabric-providers.md, "Who
// acknowledges"). The limit is set from outside when the messages of a connection have become
// longer: the kernel opens a window again when it learns the length of segments, and for a new
// connection.
#include <algorithm>
#include <utility>

#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// The pause after a search, as a multiple of its time: searching many descriptors takes long.
constexpr std::int64_t kPausePerLook = 50;
// Shorter messages are at most one TCP segment over Ethernet, which is acknowledged later.
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
