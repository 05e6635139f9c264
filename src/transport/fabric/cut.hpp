// SPDX-License-Identifier: BSD-3-Clause
// Operations on single TCP connections of a provider, for which libfabric has no call.
#pragma once

#include <netinet/in.h>

#include <cstdint>

namespace sennit::transport::fabric {

// Shuts down every TCP connection of this process to `peer`. The provider still owns the sockets
// and finds them broken when it polls.
void cut_connections(const sockaddr_in &peer);
// Shuts down every connection to `own`, a local address, from which the process has read nothing.
// Returns false if there is none.
bool cut_unread(const sockaddr_in &own);
// The number of bytes that `peer` has acknowledged or sent, on all connections to it.
std::uint64_t bytes_of_connections(const sockaddr_in &peer);
// Limits the window of connections to `own` and to `peer` to a quarter of the receive buffer
// (docs/design/fabric-providers.md, "Acknowledgements").
void limit_windows(const sockaddr_in &own, const sockaddr_in &peer);

}  // namespace sennit::transport::fabric
