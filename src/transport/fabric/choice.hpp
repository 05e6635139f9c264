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
    // The index of the rail's interface in the card, which has at least one.
    unsigned of(const RailCard &card, unsigned rail) const;
    // Whether the interface reaches no other machine, since another machine has the same address on
    // it.
    bool is_local_only(const RailCard &card, unsigned interface) const;

  private:
    // A subnet; or the hash of a network's name, and the number of an interface in that network.
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
    unsigned in_order_ = 1;  // rails without a common subnet
    unsigned rails_ = 1;
    std::uint8_t provider_ = 0;
    std::uint8_t more_ = 0;
    Subnet local_only_[kInterfaces] = {};
    unsigned local_only_count_ = 0;
};

}  // namespace sennit::transport::fabric
