// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the addresses of endpoints and of watches, the detectors of dead hosts. Each rank's
// card has these addresses. If the provider chooses names, ranks exchange more data when the rails
// are open.
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

// Writes a card with IPv4 addresses for the watch, and the names of the message endpoints.
void Network::write_more(std::byte *out) {
    const std::size_t name_bytes = interfaces_.name_bytes();
    if (rail_count_ == 0 || name_bytes == 0) return;
    RailCard card;
    watched_.describe(&card);
    card.provider = 0;  // any TCP provider
    card.watch_port = watch_port_;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        std::uint8_t name[kNameBytes];
        if (rails_[rail].rail.message_name(name) != SENNIT_OK) return;
        std::memcpy(out + sizeof card + rail * name_bytes, name, name_bytes);
    }
    std::memcpy(out, &card, sizeof card);
}

sennit_status Network::read_more(const std::byte *all, std::size_t bytes) {
    if (rail_count_ == 0 || interfaces_.name_bytes() == 0) return SENNIT_OK;
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const CardList cards{all, bytes, size};
    if (!names_.make(size * names_bytes()) || !named_cards_.fill(cards))
        return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t rank = 0; rank < size; ++rank)
        std::memcpy(names_.to_fill() + rank * names_bytes(), all + rank * bytes + sizeof(RailCard),
                    names_bytes());
    named_choice_.make(cards);
    return start();
}

// The name of the peer's message endpoint on the rail.
const std::byte *Network::name_of(int peer, unsigned rail) const {
    return names_.begin() + static_cast<std::size_t>(peer) * names_bytes() +
           rail * interfaces_.name_bytes();
}

// Whether only the descriptors reserved for the program, the watch and connections from peers are
// left.
bool Network::lacks_descriptors(std::uint64_t *limit) const {
    return rails_[0].rail.takes_descriptors() && runtime::lacks_descriptors(limit);
}

// Inserts the peer's address into the address table at the first use. With the lock held.
sennit_status Network::link(int peer, unsigned rail) {
    RailLink &link = link_of(peer, rail);
    if (link.messages != FI_ADDR_UNSPEC) return SENNIT_OK;
    Rail &own = rails_[rail].rail;
    std::uint64_t limit = 0;
    if (lacks_descriptors(&limit)) {
        if (!std::exchange(logged_full_, true))
            log(SENNIT_LOG_WARNING,
                "no room for connections to more ranks: near the limit of %llu open files "
                "(RLIMIT_NOFILE, ulimit -n)",
                static_cast<unsigned long long>(limit));
        return fail(SENNIT_ERR_FABRIC,
                    "no room for a connection");  // describe_trouble() reports it
    }
    if (names_.exists()) return own.insert(name_of(peer, rail), &link.messages);
    const sockaddr_in name = messages_name(peer, rail);
    return own.insert(&name, &link.messages);
}

// The address of the peer's message endpoint on the rail, if endpoints have ports.
sockaddr_in Network::messages_name(int peer, unsigned rail) const {
    const RailCard card = cards_.of(peer);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = card.port;
    name.sin_addr.s_addr = card.addresses[choice_.of(card, rail)];
    return name;
}

// Why `peer`, which may be this rank, cannot use the job's rails; `taken`: it can.
Reason Network::why_unusable(int peer) const {
    const RailCard card = cards_.of(peer);
    if (card.interfaces == 0) return Reason{Reason::Code::peer_refused};
    if (!choice_.takes_part(card)) return Reason{Reason::Code::other_provider};
    // A rank without a rail has sent no names.
    if (names_.exists() && named_cards_.of(peer).machine == 0)
        return Reason{Reason::Code::peer_refused};
    return Reason{Reason::Code::taken};
}

// Watches use TCP, whatever the provider is. A rank without a rail has no watch; ranks of its node
// that have rails detect its death. Any thread may call this, because the data is constant after
// the start.
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
