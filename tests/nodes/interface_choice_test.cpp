// The choice of interfaces, made from the ranks' cards alone.
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
    std::uint8_t speed = 0;
};

RailCard card(std::uint64_t machine, std::initializer_list<Interface> interfaces) {
    RailCard made{};
    made.machine = machine;
    for (const Interface &interface : interfaces) {
        made.addresses[made.interfaces] = inet_addr(interface.address);
        made.speeds[made.interfaces] = interface.speed;
        made.prefixes[made.interfaces++] = interface.prefix;
    }
    return made;
}

// The addresses that each rank uses, separated by spaces; "" if none.
std::vector<std::string> choose(const std::vector<RailCard> &cards) {
    std::vector<Address> addresses(cards.size());
    for (std::size_t i = 0; i < cards.size(); ++i)
        std::memcpy(addresses[i].bytes, &cards[i], sizeof cards[i]);
    InterfaceChoice choice;
    choice.make({addresses.data(), sizeof(Address), addresses.size()});
    std::vector<std::string> chosen;
    for (const RailCard &own : cards) {
        if (own.interfaces == 0) {
            chosen.emplace_back();
            continue;
        }
        std::string rails;
        for (unsigned rail = 0; rail < choice.rails(); ++rail) {
            in_addr address{own.addresses[choice.of(own, rail)]};
            rails += std::string(inet_ntoa(address)) + (rail + 1 < choice.rails() ? " " : "");
        }
        chosen.push_back(rails);
    }
    return chosen;
}

using Addresses = std::vector<std::string>;

TEST(InterfaceChoice, an_address_of_several_machines_is_not_taken) {
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

TEST(InterfaceChoice, subnets_of_all_machines_are_taken_in_any_order) {
    EXPECT_EQ(choose({card(1, {{"10.1.0.1", 24}, {"10.2.0.1", 24}, {"10.3.0.1", 24}}),
                      card(1, {{"10.1.0.1", 24}, {"10.2.0.1", 24}, {"10.3.0.1", 24}}),
                      card(2, {{"10.3.0.2", 24}, {"10.2.0.2", 24}}),
                      card(3, {{"10.9.0.3", 24}, {"10.2.0.3", 24}, {"10.3.0.3", 24}})}),
              (Addresses{"10.2.0.1 10.3.0.1", "10.2.0.1 10.3.0.1", "10.2.0.2 10.3.0.2",
                         "10.2.0.3 10.3.0.3"}));
}

RailCard wanting(unsigned rails, RailCard card) {
    card.most_rails = static_cast<std::uint8_t>(rails);
    return card;
}

TEST(InterfaceChoice, the_smallest_wanted_number_of_rails_counts) {
    const RailCard one = card(1, {{"10.1.0.1", 24}, {"10.2.0.1", 24}, {"10.3.0.1", 24}});
    const RailCard two = card(2, {{"10.1.0.2", 24}, {"10.2.0.2", 24}, {"10.3.0.2", 24}});
    EXPECT_EQ(choose({wanting(2, one), two}),
              (Addresses{"10.1.0.1 10.2.0.1", "10.1.0.2 10.2.0.2"}));
    EXPECT_EQ(choose({wanting(2, one), wanting(1, two)}), (Addresses{"10.1.0.1", "10.1.0.2"}));
    EXPECT_EQ(choose({one, two}),
              (Addresses{"10.1.0.1 10.2.0.1 10.3.0.1", "10.1.0.2 10.2.0.2 10.3.0.2"}));
    EXPECT_EQ(choose({one, one}), (Addresses{"10.1.0.1", "10.1.0.1"}));
    EXPECT_EQ(choose({wanting(2, one), one}),
              (Addresses{"10.1.0.1 10.2.0.1", "10.1.0.1 10.2.0.1"}));
}

// Broken by splitting a large put equally between a card and the slow network for managing hosts.
TEST(InterfaceChoice, a_much_slower_subnet_is_left_out) {
    EXPECT_EQ(choose({card(1, {{"10.1.0.1", 24, 10}, {"10.2.0.1", 24, 14}, {"10.3.0.1", 24, 14}}),
                      card(2, {{"10.1.0.2", 24, 14}, {"10.2.0.2", 24, 13}, {"10.3.0.2", 24, 14}})}),
              (Addresses{"10.2.0.1 10.3.0.1", "10.2.0.2 10.3.0.2"}));
}

TEST(InterfaceChoice, a_subnet_is_its_address_and_its_length) {
    EXPECT_EQ(choose({card(1, {{"10.0.0.1", 24}, {"10.8.0.1", 16}}),
                      card(2, {{"10.0.0.2", 16}, {"10.8.9.2", 16}})}),
              (Addresses{"10.8.0.1", "10.8.9.2"}));
}

TEST(InterfaceChoice, without_a_common_subnet_each_takes_its_best_own_one) {
    EXPECT_EQ(choose({card(1, {{"172.17.0.1", 16}, {"10.1.0.1", 24}}),
                      card(2, {{"172.17.0.1", 16}, {"10.2.0.2", 24}, {"10.4.0.2", 24}})}),
              (Addresses{"10.1.0.1", "10.2.0.2"}));
}

// Cards without IP addresses. The text stands for a network's name; cards on it are numbered.
RailCard named(std::initializer_list<Interface> cards) {
    RailCard made = card(1, cards);
    made.more = more_words(24);
    for (unsigned i = 0; i < made.interfaces; ++i)
        for (unsigned before = made.prefixes[i] = 0; before < i; ++before)
            if (made.addresses[before] == made.addresses[i]) ++made.prefixes[i];
    made.most_rails = kMostRails;
    return made;
}

// The numbers of the cards that each rank uses.
std::vector<std::vector<unsigned>> choose_cards(const std::vector<RailCard> &cards) {
    InterfaceChoice choice;
    choice.make({cards.data(), sizeof(RailCard), cards.size()});
    std::vector<std::vector<unsigned>> chosen;
    for (const RailCard &own : cards) {
        chosen.emplace_back();
        for (unsigned rail = 0; rail < choice.rails() && choice.takes_part(own); ++rail)
            chosen.back().push_back(choice.of(own, rail));
    }
    return chosen;
}

using Numbers = std::vector<std::vector<unsigned>>;

// Broken by treating cards of two networks as one rail.
TEST(InterfaceChoice, cards_of_one_network_belong_together_in_their_order) {
    const RailCard two = named({{"1.0.0.0", 0}, {"1.0.0.0", 0}});
    const RailCard other = named({{"2.0.0.0", 0}, {"1.0.0.0", 0}, {"1.0.0.0", 0}});
    EXPECT_EQ(choose_cards({two, two}), (Numbers{{0, 1}, {0, 1}}));
    EXPECT_EQ(choose_cards({two, other}), (Numbers{{0, 1}, {1, 2}}));
    EXPECT_EQ(choose_cards({two, named({{"1.0.0.0", 0}})}), (Numbers{{0}, {0}}));
}

TEST(InterfaceChoice, cards_on_no_common_network_belong_together_by_their_order) {
    const RailCard one = named({{"1.0.0.0", 0}, {"2.0.0.0", 0}, {"3.0.0.0", 0}});
    EXPECT_EQ(choose_cards({one, named({{"4.0.0.0", 0}, {"5.0.0.0", 0}})}),
              (Numbers{{0, 1}, {0, 1}}));
}

TEST(InterfaceChoice, ranks_with_another_provider_have_no_rail) {
    const RailCard one = named({{"1.0.0.0", 0}});
    RailCard other = one;
    other.provider = 7;
    RailCard longer = one;
    longer.more = more_words(32);
    EXPECT_EQ(choose_cards({one, other, longer, one}), (Numbers{{0}, {}, {}, {0}}));
}

TEST(InterfaceChoice, ranks_without_a_rail_do_not_count) {
    EXPECT_EQ(choose({card(1, {}), card(2, {{"10.0.0.2", 24}}), card(3, {{"10.0.0.3", 24}})}),
              (Addresses{"", "10.0.0.2", "10.0.0.3"}));
    EXPECT_EQ(choose({card(1, {}), card(2, {})}), (Addresses{"", ""}));
}

}  // namespace
}  // namespace sennit::transport::fabric
