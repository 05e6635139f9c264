// Ends single connections of a provider that has sockets, which libfabric has no call for.
#pragma once

#include <netinet/in.h>

namespace sennit::transport::fabric {

// Shuts down every TCP connection of this process to `peer`. The sockets stay with their owner,
// which finds them broken when it looks next.
void cut_connections(const sockaddr_in &peer);

}  // namespace sennit::transport::fabric
