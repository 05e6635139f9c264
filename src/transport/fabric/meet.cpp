// What ranks tell each other so that their endpoints and watches meet: a card, and where a provider
// names its endpoints itself, those names, once the rails are open.
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {

void Network::address(Address *out) {
    RailCard card{};
    if (missing_.code == Reason{}.code) interfaces_.describe(&card);
    card.watch_port = watch_port_;
    std::memcpy(out->bytes, &card, sizeof card);
}

// The card with IPv4 addresses, and the names of where messages go to.
void Network::tell(std::byte *out) {
    const std::size_t name_bytes = interfaces_.name_bytes();
    if (rail_count_ == 0 || name_bytes == 0) return;
    RailCard card;
    watched_.describe(&card);
    card.provider = 0;  // whichever of TCP's
    card.watch_port = watch_port_;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        std::uint8_t name[kNameBytes];
        if (rails_[rail].rail.message_name(name) != SENNIT_OK) return;  // nothing is told
        std::memcpy(out + sizeof card + rail * name_bytes, name, name_bytes);
    }
    std::memcpy(out, &card, sizeof card);
}

sennit_status Network::hear(const std::byte *all, std::size_t bytes) {
    if (rail_count_ == 0 || interfaces_.name_bytes() == 0) return SENNIT_OK;
    const std::size_t total = bytes * static_cast<std::size_t>(world_size(*rank_));
    told_ = static_cast<std::byte *>(std::malloc(total));
    if (told_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    std::memcpy(told_, all, total);
    told_bytes_ = bytes;
    return start();
}

CardList Network::cards_of_all() const {
    return {addresses_, sizeof(Address), static_cast<std::size_t>(world_size(*rank_))};
}

// Where messages to the peer go on that rail.
const void *Network::told_name(int peer, unsigned rail) const {
    return told_ + static_cast<std::size_t>(peer) * told_bytes_ + sizeof(RailCard) +
           rail * interfaces_.name_bytes();
}

// The peer's address enters the table with the first use. With the lock held.
sennit_status Network::link(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (link.messages != FI_ADDR_UNSPEC) return SENNIT_OK;
    Rail &own = rails_[rail].rail;
    if (told_ != nullptr) return own.insert(told_name(peer, rail), &link.messages);
    const RailCard card = card_of(addresses_[peer]);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = card.port;
    name.sin_addr.s_addr = card.addresses[choice_.of(card, rail)];
    return own.insert(&name, &link.messages);
}

// What the peer lacks to be reached by rails like this rank's; `taken`: nothing.
Reason Network::lack_of(int peer) const {
    const RailCard card = card_of(addresses_[peer]);
    if (card.interfaces == 0) return Reason{Reason::Code::peer_refused};
    if (!choice_.takes_part(card)) return Reason{Reason::Code::other_provider};
    // One that has failed has told nothing.
    if (told_ != nullptr &&
        CardList{told_, told_bytes_, 0}.at(static_cast<std::size_t>(peer)).machine == 0)
        return Reason{Reason::Code::peer_refused};
    return Reason{Reason::Code::taken};
}

// Whatever the rails are, watches talk by TCP. A rank that has no rail has no watch either, and is
// watched by those that have one.
sennit_status Network::meet_watches() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const bool by_names = told_ != nullptr;
    const CardList cards = by_names ? CardList{told_, told_bytes_, size} : cards_of_all();
    InterfaceChoice by_ipv4;
    if (by_names) by_ipv4.make(cards);
    const InterfaceChoice &choice = by_names ? by_ipv4 : choice_;
    auto *hosts = static_cast<watch::Host *>(std::calloc(size, sizeof(watch::Host)));
    if (hosts == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t peer = 0; peer < size; ++peer) {
        const RailCard card = cards.at(peer);
        if (!choice.takes_part(card)) continue;
        hosts[peer].port = card.watch_port;
        hosts[peer].count = static_cast<std::uint8_t>(choice.rails());
        for (unsigned rail = 0; rail < choice.rails(); ++rail)
            hosts[peer].addresses[rail] = card.addresses[choice.of(card, rail)];
    }
    const sennit_status status = watch::watch_meet(*rank_, hosts);
    std::free(hosts);
    return status;
}

}  // namespace sennit::transport::fabric
