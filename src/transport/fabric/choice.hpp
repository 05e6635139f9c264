// SPDX-License-Identifier: BSD-3-Clause
// The choice of the interfaces that each rank uses as rails. Every rank computes it from the cards
// of all ranks, so all ranks get the same result. Network::reach() checks later whether a rail
// reaches a peer.
#pragma once

#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

class InterfaceChoice {
  public:
    void make(const CardList &cards);
    unsigned rails() const { return rails_; }
    // Whether the rank has interfaces of the job's provider. That is the provider of the first rank
    // that has interfaces.
    bool takes_part(const RailCard &card) const;
    // The index in the card of the interface that is this rail. The card has an interface.
    unsigned of(const RailCard &card, unsigned rail) const;
    // Whether the interface reaches no other machine. That is assumed if another machine has the
    // same address in the same subnet.
    bool is_local_only(const RailCard &card, unsigned interface) const;

  private:
    // A subnet. If endpoints have no IPv4 addresses: the hash of a network's name (`address`), and
    // the number of an interface in that network (`mask`).
    struct Subnet {
        std::uint32_t address;
        std::uint32_t mask;
        std::uint8_t speed;  // of the slowest interface
    };

    static Subnet subnet_of(const RailCard &card, unsigned interface);
    static int interface_in(const RailCard &card, const Subnet &subnet);
    void leave_out_slow();
    void limit(const CardList &cards);

    Subnet common_[kInterfaces] = {};
    unsigned common_count_ = 0;
    unsigned in_order_ = 1;  // number of rails if no subnet is common
    unsigned rails_ = 1;
    std::uint8_t provider_ = 0;
    std::uint8_t more_ = 0;
    Subnet local_only_[kInterfaces] = {};
    unsigned local_only_count_ = 0;
};

}  // namespace sennit::transport::fabric
