// Which of its interfaces each rank uses. Every rank computes it from the cards of all, so all come
// to the same answer without a further exchange. Whether the choice leads to a peer is tried
// afterwards, by Network::reach().
#pragma once

#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

class InterfaceChoice {
  public:
    void make(const Address *addresses, std::size_t size);
    // An index into the card's interfaces, of which there is one at least.
    unsigned of(const RailCard &card) const;
    // Does it lead nowhere, since another machine has the same address?
    bool is_trap(const RailCard &card, unsigned interface) const;

  private:
    struct Subnet {
        std::uint32_t address;
        std::uint32_t mask;
    };

    static Subnet subnet_of(const RailCard &card, unsigned interface);
    static int interface_in(const RailCard &card, const Subnet &subnet);

    Subnet common_{};
    bool has_common_ = false;
    Subnet traps_[kInterfaces] = {};
    unsigned trap_count_ = 0;
};

}  // namespace sennit::transport::fabric
