// SPDX-License-Identifier: BSD-3-Clause
// Operations on single connections of a provider with sockets, for which libfabric has no call.
#pragma once

#include <netinet/in.h>

#include <cstdint>

namespace sennit::transport::fabric {

// Shuts down every TCP connection of this process to `peer`. The sockets stay with their owner,
// which finds them broken at its next look.
void cut_connections(const sockaddr_in &peer);
// The same for connections to `own`, a name of this process, from which it has read nothing. False:
// none.
bool cut_unread(const sockaddr_in &own);
// The bytes that `peer` has acknowledged plus those received from it, over all connections.
std::uint64_t bytes_of_connections(const sockaddr_in &peer);
// Limits the window of connections to `own` and to `peer` to at most half of the kernel's receive
// buffer (docs/design/fabric-providers.md, "Who acknowledges").
void limit_windows(const sockaddr_in &own, const sockaddr_in &peer);

}  // namespace sennit::transport::fabric
