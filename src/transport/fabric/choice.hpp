// Which of its interfaces each rank uses as its rails. Every rank computes it from the cards of
// all, so all come to the same answer without a further exchange. Whether a rail leads to a peer is
// tried afterwards, by Network::reach().
#pragma once

#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

class InterfaceChoice {
  public:
    void make(const Address *addresses, std::size_t size);
    unsigned rails() const { return rails_; }
    // The interface of a rail: an index into the card's, of which there is one at least.
    unsigned of(const RailCard &card, unsigned rail) const;
    // Does it lead nowhere, since another machine has the same address?
    bool is_trap(const RailCard &card, unsigned interface) const;

  private:
    struct Subnet {
        std::uint32_t address;
        std::uint32_t mask;
        std::uint8_t speed;  // of the slowest
    };

    static Subnet subnet_of(const RailCard &card, unsigned interface);
    static int interface_in(const RailCard &card, const Subnet &subnet);
    void leave_out_slow();
    void limit(const Address *addresses, std::size_t size);

    Subnet common_[kInterfaces] = {};
    unsigned common_count_ = 0;
    unsigned rails_ = 1;
    Subnet traps_[kInterfaces] = {};
    unsigned trap_count_ = 0;
};

}  // namespace sennit::transport::fabric
