// The interfaces of this machine with an IPv4 address, which may serve as rails: for `sennit info`
// and `sennit doctor`.
#pragma once

#include <string>
#include <vector>

namespace sennit::cli {

struct Interface {
    std::string name;     // "eth0"
    std::string address;  // "10.0.0.1"
    int prefix = 32;      // bits of the address that name its subnet
    bool is_up = false;
    bool is_loopback = false;
    int mtu = 0;         // bytes of a frame; 0: not known
    int speed_mbit = 0;  // per second; 0: not known
};

std::vector<Interface> interfaces();

// "eth0 10.0.0.1/24, 1000 Mbit/s, MTU 1500".
std::string interface_text(const Interface &interface);

}  // namespace sennit::cli
