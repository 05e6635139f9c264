// Which interfaces ranks use, from their cards alone.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "transport/fabric/choice.hpp"

namespace sennit::transport::fabric {
namespace {

struct Interface {
    const char *address;
    std::uint8_t prefix;
};

RailCard card(std::uint64_t machine, std::initializer_list<Interface> interfaces) {
    RailCard made{};
    made.machine = machine;
    for (const Interface &interface : interfaces) {
        made.addresses[made.interfaces] = inet_addr(interface.address);
        made.prefixes[made.interfaces++] = interface.prefix;
    }
    return made;
}

// The address that each rank uses, or "" without any.
std::vector<std::string> choose(const std::vector<RailCard> &cards) {
    std::vector<Address> addresses(cards.size());
    for (std::size_t i = 0; i < cards.size(); ++i)
        std::memcpy(addresses[i].bytes, &cards[i], sizeof cards[i]);
    InterfaceChoice choice;
    choice.make(addresses.data(), addresses.size());
    std::vector<std::string> chosen;
    for (const RailCard &own : cards) {
        if (own.interfaces == 0) {
            chosen.emplace_back();
            continue;
        }
        in_addr address{own.addresses[choice.of(own)]};
        chosen.emplace_back(inet_ntoa(address));
    }
    return chosen;
}

using Addresses = std::vector<std::string>;

TEST(InterfaceChoice, an_address_that_other_machines_have_too_is_not_taken) {
    EXPECT_EQ(choose({card(1, {{"172.17.0.1", 16}, {"10.0.0.1", 24}, {"127.0.0.1", 8}}),
                      card(2, {{"172.17.0.1", 16}, {"10.0.0.2", 24}, {"127.0.0.1", 8}})}),
              (Addresses{"10.0.0.1", "10.0.0.2"}));
}

TEST(InterfaceChoice, made_up_nodes_of_one_machine_share_an_address) {
    EXPECT_EQ(choose({card(1, {{"127.0.0.1", 8}}), card(1, {{"127.0.0.1", 8}})}),
              (Addresses{"127.0.0.1", "127.0.0.1"}));
    EXPECT_EQ(choose({card(1, {{"10.0.0.1", 24}, {"127.0.0.1", 8}}),
                      card(1, {{"10.0.0.1", 24}, {"127.0.0.1", 8}})}),
              (Addresses{"10.0.0.1", "10.0.0.1"}));
}

TEST(InterfaceChoice, the_best_subnet_that_all_machines_have_is_taken_in_whatever_order) {
    EXPECT_EQ(choose({card(1, {{"10.1.0.1", 24}, {"10.2.0.1", 24}, {"10.3.0.1", 24}}),
                      card(1, {{"10.1.0.1", 24}, {"10.2.0.1", 24}, {"10.3.0.1", 24}}),
                      card(2, {{"10.3.0.2", 24}, {"10.2.0.2", 24}}),
                      card(3, {{"10.9.0.3", 24}, {"10.2.0.3", 24}, {"10.3.0.3", 24}})}),
              (Addresses{"10.2.0.1", "10.2.0.1", "10.2.0.2", "10.2.0.3"}));
}

TEST(InterfaceChoice, a_subnet_is_its_address_and_its_length) {
    EXPECT_EQ(choose({card(1, {{"10.0.0.1", 24}, {"10.8.0.1", 16}}),
                      card(2, {{"10.0.0.2", 16}, {"10.8.9.2", 16}})}),
              (Addresses{"10.8.0.1", "10.8.9.2"}));
}

TEST(InterfaceChoice, without_a_common_subnet_each_takes_its_best_one_that_is_no_trap) {
    EXPECT_EQ(choose({card(1, {{"172.17.0.1", 16}, {"10.1.0.1", 24}}),
                      card(2, {{"172.17.0.1", 16}, {"10.2.0.2", 24}, {"10.4.0.2", 24}})}),
              (Addresses{"10.1.0.1", "10.2.0.2"}));
}

TEST(InterfaceChoice, ranks_without_a_rail_do_not_count) {
    EXPECT_EQ(choose({card(1, {}), card(2, {{"10.0.0.2", 24}}), card(3, {{"10.0.0.3", 24}})}),
              (Addresses{"", "10.0.0.2", "10.0.0.3"}));
    EXPECT_EQ(choose({card(1, {}), card(2, {})}), (Addresses{"", ""}));
}

}  // namespace
}  // namespace sennit::transport::fabric
