// See choice.hpp. The first subnet that all ranks have an interface in is taken, in libfabric's
// order of the first rank's interfaces. A subnet in which other machines have the same address as
// the first rank's is a trap: bridges of containers and of virtual machines have the same address
// everywhere, and lead nowhere else.
#include "transport/fabric/choice.hpp"

#include <arpa/inet.h>

namespace sennit::transport::fabric {

InterfaceChoice::Subnet InterfaceChoice::subnet_of(const RailCard &card, unsigned interface) {
    const unsigned bits = card.prefixes[interface] < 32 ? card.prefixes[interface] : 32;
    const auto mask = static_cast<std::uint32_t>(~std::uint64_t{0} << (32 - bits));
    return Subnet{card.addresses[interface] & htonl(mask), htonl(mask)};
}

int InterfaceChoice::interface_in(const RailCard &card, const Subnet &subnet) {
    for (unsigned i = 0; i < card.interfaces; ++i) {
        const Subnet here = subnet_of(card, i);
        if (here.address == subnet.address && here.mask == subnet.mask) return static_cast<int>(i);
    }
    return -1;
}

void InterfaceChoice::make(const Address *addresses, std::size_t size) {
    RailCard first{};
    for (std::size_t rank = 0; rank < size && first.interfaces == 0; ++rank)
        first = card_of(addresses[rank]);
    for (unsigned i = 0; i < first.interfaces; ++i) {
        const Subnet subnet = subnet_of(first, i);
        bool is_common = true;
        bool is_trap = false;
        for (std::size_t rank = 0; rank < size; ++rank) {
            const RailCard card = card_of(addresses[rank]);
            if (card.interfaces == 0) continue;
            const int there = interface_in(card, subnet);
            is_common = is_common && there >= 0;
            is_trap = is_trap || (there >= 0 && card.machine != first.machine &&
                                  card.addresses[there] == first.addresses[i]);
        }
        if (is_trap) {
            traps_[trap_count_++] = subnet;
        } else if (is_common && !has_common_) {
            common_ = subnet;
            has_common_ = true;
        }
    }
}

// Without a common subnet there may still be routes: each rank's best interface that is no trap.
unsigned InterfaceChoice::of(const RailCard &card) const {
    const int common = has_common_ ? interface_in(card, common_) : -1;
    if (common >= 0) return static_cast<unsigned>(common);
    for (unsigned i = 0; i < card.interfaces; ++i)
        if (!is_trap(card, i)) return i;
    return 0;
}

bool InterfaceChoice::is_trap(const RailCard &card, unsigned interface) const {
    for (unsigned t = 0; t < trap_count_; ++t)
        if (interface_in(card, traps_[t]) == static_cast<int>(interface)) return true;
    return false;
}

}  // namespace sennit::transport::fabric
