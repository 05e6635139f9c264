// Addresses come from getifaddrs(), the rest from /sys.
#include "interfaces.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <bitset>
#include <cstring>
#include <fstream>
#include <memory>

namespace sennit::cli {
namespace {

// 0 if the file cannot be read or its number is negative: a card without a link has the speed -1,
// or none. A further address of an interface may have a name with a label, such as "eth0:1".
int number_in(const std::string &name, const char *file) {
    int number = 0;
    const std::string interface = name.substr(0, name.find(':'));
    std::ifstream(fmt::format("/sys/class/net/{}/{}", interface, file)) >> number;
    return number > 0 ? number : 0;
}

sockaddr_in ipv4(const sockaddr *address) {
    sockaddr_in copy{};
    if (address != nullptr) std::memcpy(&copy, address, sizeof copy);
    return copy;
}

}  // namespace

std::vector<Interface> interfaces() {
    ifaddrs *first = nullptr;
    if (getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
    std::vector<Interface> list;
    for (const ifaddrs *one = first; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
        const sockaddr_in address = ipv4(one->ifa_addr);
        const sockaddr_in mask = ipv4(one->ifa_netmask);
        char text[INET_ADDRSTRLEN] = "";
        (void)inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
        Interface interface { one->ifa_name, text };
        interface.prefix = static_cast<int>(std::bitset<32>(mask.sin_addr.s_addr).count());
        interface.is_up = (one->ifa_flags & IFF_RUNNING) != 0;
        interface.is_loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
        interface.mtu = number_in(interface.name, "mtu");
        interface.speed_mbit = number_in(interface.name, "speed");
        list.push_back(interface);
    }
    return list;
}

std::string interface_text(const Interface &interface) {
    return fmt::format("{} {}/{}{}, {}, {}", interface.name, interface.address, interface.prefix,
                       interface.is_up ? "" : ", down",
                       interface.speed_mbit > 0 ? fmt::format("{} Mbit/s", interface.speed_mbit)
                                                : "speed not known",
                       interface.mtu > 0 ? fmt::format("MTU {}", interface.mtu) : "MTU not known");
}

}  // namespace sennit::cli
