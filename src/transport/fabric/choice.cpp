// SPDX-License-Identifier: BSD-3-Clause
// A subnet becomes a rail if all ranks have an interface in it. Rails have the order in which
// libfabric lists the first rank's interfaces. Two kinds of subnets are left out:
//   - Another machine has the first rank's address in this subnet. Bridges of containers and of
//     virtual machines have the same address on every machine, and reach no other machine.
//   - The subnet is much slower than the fastest one. An unknown speed counts as 0. Operations of
//     medium length use all rails in turn, so a slow rail would delay them.
//
// Interfaces whose endpoints have no IP address are matched by the name that libfabric gives their
// network: the first interface of each rank in a network is one rail, the second interface is the
// next rail, and so on. Some providers put the card's own address into this name. So if no network
// is common to all ranks, interfaces are matched by their order alone.
#include "transport/fabric/choice.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace sennit::transport::fabric {

InterfaceChoice::Subnet InterfaceChoice::subnet_of(const RailCard &card, unsigned interface) {
    if (card.more != 0)
        return Subnet{card.addresses[interface], card.prefixes[interface], card.speeds[interface]};
    const unsigned bits = card.prefixes[interface] < 32 ? card.prefixes[interface] : 32;
    const auto mask = static_cast<std::uint32_t>(~std::uint64_t{0} << (32 - bits));
    return Subnet{card.addresses[interface] & htonl(mask), htonl(mask), card.speeds[interface]};
}

int InterfaceChoice::interface_in(const RailCard &card, const Subnet &subnet) {
    for (unsigned i = 0; i < card.interfaces; ++i) {
        const Subnet here = subnet_of(card, i);
        if (here.address == subnet.address && here.mask == subnet.mask) return static_cast<int>(i);
    }
    return -1;
}

bool InterfaceChoice::takes_part(const RailCard &card) const {
    return card.interfaces != 0 && card.provider == provider_ && card.more == more_;
}

void InterfaceChoice::make(const CardList &cards) {
    RailCard first{};
    for (std::size_t rank = 0; rank < cards.size && first.interfaces == 0; ++rank)
        first = cards.at(rank);
    provider_ = first.provider;
    more_ = first.more;
    if (first.more != 0) in_order_ = first.interfaces;
    for (unsigned i = 0; i < first.interfaces; ++i) {
        Subnet subnet = subnet_of(first, i);
        bool is_common = true;
        bool is_local_only = false;
        for (std::size_t rank = 0; rank < cards.size; ++rank) {
            const RailCard card = cards.at(rank);
            if (!takes_part(card)) continue;
            in_order_ = std::min<unsigned>(in_order_, card.interfaces);
            const int there = interface_in(card, subnet);
            is_common = is_common && there >= 0;
            if (there >= 0) subnet.speed = std::min(subnet.speed, card.speeds[there]);
            is_local_only =
                is_local_only || (there >= 0 && first.more == 0 && card.machine != first.machine &&
                                  card.addresses[there] == first.addresses[i]);
        }
        if (is_local_only)
            local_only_[local_only_count_++] = subnet;
        else if (is_common)
            common_[common_count_++] = subnet;
    }
    leave_out_slow();
    limit(cards);
}

// Leaves out rails that have less than about half of the best speed. Speeds are logarithms.
void InterfaceChoice::leave_out_slow() {
    std::uint8_t best = 0;
    for (unsigned i = 0; i < common_count_; ++i)
        best = std::max(best, common_[i].speed);
    unsigned left = 0;
    for (unsigned i = 0; i < common_count_; ++i)
        if (common_[i].speed + 1 >= best) common_[left++] = common_[i];
    common_count_ = left;
}

// Limits the rails to the smallest number that a user has set on a rank. By default the limit is
// one if all ranks are on one machine, since rails of one machine share its processors.
void InterfaceChoice::limit(const CardList &cards) {
    unsigned wanted = 0;
    std::uint64_t machine = 0;
    bool is_one_machine = true;
    for (std::size_t rank = 0; rank < cards.size; ++rank) {
        const RailCard card = cards.at(rank);
        if (!takes_part(card)) continue;
        is_one_machine = is_one_machine && (machine == 0 || machine == card.machine);
        machine = card.machine;
        if (card.most_rails == 0) continue;
        wanted = wanted == 0 ? card.most_rails : std::min<unsigned>(wanted, card.most_rails);
    }
    if (wanted == 0) wanted = is_one_machine ? 1 : kMostRails;
    rails_ = std::min(common_count_ != 0 ? common_count_ : in_order_, wanted);
}

// If no subnet is common, ranks may still reach each other by routes: each rank uses its first
// interface that is not local only. Interfaces without addresses are used in their order.
unsigned InterfaceChoice::of(const RailCard &card, unsigned rail) const {
    const int common = common_count_ != 0 ? interface_in(card, common_[rail]) : -1;
    if (common >= 0) return static_cast<unsigned>(common);
    if (card.more != 0) return rail;
    for (unsigned i = 0; i < card.interfaces; ++i)
        if (!is_local_only(card, i)) return i;
    return 0;
}

bool InterfaceChoice::is_local_only(const RailCard &card, unsigned interface) const {
    for (unsigned t = 0; t < local_only_count_; ++t)
        if (interface_in(card, local_only_[t]) == static_cast<int>(interface)) return true;
    return false;
}

}  // namespace sennit::transport::fabric
