// SPDX-License-Identifier: BSD-3-Clause
// Single connections of a provider that has sockets, which libfabric has no call for.
#pragma once

#include <netinet/in.h>

#include <cstdint>

namespace sennit::transport::fabric {

// Shuts down every TCP connection of this process to `peer`. The sockets stay with their owner,
// which finds them broken when it looks next.
void cut_connections(const sockaddr_in &peer);
// The same for those that were made to `own`, a name of this process, and of which it has read
// nothing. False: there was none.
bool cut_unread(const sockaddr_in &own);
// What `peer` has acknowledged and what has come from it, by all of them together.
std::uint64_t bytes_of_connections(const sockaddr_in &peer);
// The window of those that were made to `own`, and of those to `peer`, ends at half of the room
// that the kernel has for what comes, or before (docs/design/fabric.md, "Who acknowledges").
void limit_windows(const sockaddr_in &own, const sockaddr_in &peer);

}  // namespace sennit::transport::fabric
