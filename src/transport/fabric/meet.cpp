// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other so that their endpoints and watches meet: a card, and where a provider
// names its endpoints itself, those names, once the rails are open.
#include <netinet/in.h>

#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "bootstrap/descriptor_limit.hpp"
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
void Network::write_more(std::byte *out) {
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

sennit_status Network::read_more(const std::byte *all, std::size_t bytes) {
    if (rail_count_ == 0 || interfaces_.name_bytes() == 0) return SENNIT_OK;
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const CardList cards{all, bytes, size};
    if (!names_.make(size * names_bytes()) || !named_cards_.take(cards))
        return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t rank = 0; rank < size; ++rank)
        std::memcpy(names_.to_fill() + rank * names_bytes(), all + rank * bytes + sizeof(RailCard),
                    names_bytes());
    named_choice_.make(cards);
    return start();
}

// Where messages to the peer go on that rail.
const std::byte *Network::name_of(int peer, unsigned rail) const {
    return names_.begin() + static_cast<std::size_t>(peer) * names_bytes() +
           rail * interfaces_.name_bytes();
}

// What is left is for peers that connect to this rank, which nobody here can refuse, for the watch,
// and for the program.
bool Network::lacks_descriptors(std::uint64_t *limit) const {
    return rails_[0].rail.takes_descriptors() && runtime::lacks_descriptors(limit);
}

// The peer's address enters the table with the first use. With the lock held.
sennit_status Network::link(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (link.messages != FI_ADDR_UNSPEC) return SENNIT_OK;
    Rail &own = rails_[rail].rail;
    std::uint64_t limit = 0;
    if (lacks_descriptors(&limit)) {
        if (!std::exchange(said_full_, true))
            log(SENNIT_LOG_WARNING,
                "no room for connections to more ranks: %llu open files are the most "
                "(RLIMIT_NOFILE, ulimit -n)",
                static_cast<unsigned long long>(limit));
        return fail(SENNIT_ERR_FABRIC, "no room for a connection");  // see describe_trouble()
    }
    if (names_.exists()) return own.insert(name_of(peer, rail), &link.messages);
    const sockaddr_in name = messages_name(peer, rail);
    return own.insert(&name, &link.messages);
}

// Where messages to the peer go on that rail, where endpoints have ports.
sockaddr_in Network::messages_name(int peer, unsigned rail) const {
    const RailCard card = cards_.of(peer);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = card.port;
    name.sin_addr.s_addr = card.addresses[choice_.of(card, rail)];
    return name;
}

// What the peer lacks to be reached by rails like this rank's; `taken`: nothing.
Reason Network::lack_of(int peer) const {
    const RailCard card = cards_.of(peer);
    if (card.interfaces == 0) return Reason{Reason::Code::peer_refused};
    if (!choice_.takes_part(card)) return Reason{Reason::Code::other_provider};
    // One that has failed has told nothing.
    if (names_.exists() && named_cards_.of(peer).machine == 0)
        return Reason{Reason::Code::peer_refused};
    return Reason{Reason::Code::taken};
}

// Whatever the rails are, watches talk by TCP. A rank that has no rail has no watch either, and is
// watched by those that have one. By any thread: what it reads stays as it is from the start on.
watch::Host Network::watch_host_of(const void *network, int peer) {
    const auto &self = *static_cast<const Network *>(network);
    const bool by_names = self.names_.exists();
    const InterfaceChoice &choice = by_names ? self.named_choice_ : self.choice_;
    const RailCard card = (by_names ? self.named_cards_ : self.cards_).of(peer);
    watch::Host host{};
    if (!choice.takes_part(card)) return host;
    host.port = card.watch_port;
    host.count = choice.rails();
    for (unsigned rail = 0; rail < choice.rails(); ++rail)
        host.addresses[rail] = card.addresses[choice.of(card, rail)];
    return host;
}

}  // namespace sennit::transport::fabric
