// SPDX-License-Identifier: BSD-3-Clause
// Limits the TCP windows of message connections (docs/design/fabric-providers.md,
// "Acknowledgements"). A new connection has no limit, and the kernel raises the window again when
// it measures a new segment length. So the limit is set again when messages of a connection become
// longer.
#include <algorithm>
#include <utility>

#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// The pause after setting a limit, as a multiple of the time that this took. Setting it takes long,
// since it searches all descriptors.
constexpr std::int64_t kPausePerSearch = 50;
// Shorter messages fit into one TCP segment over Ethernet, whose acknowledgement is delayed anyway.
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
            windows_ns_ = now + kPausePerSearch * (boot_ns() - now);
            return;
        }
    some_want_windows_ = false;
}

}  // namespace sennit::transport::fabric
