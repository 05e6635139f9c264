// The cards of all ranks, as they came in start-up: what the ranks of a node have in common once,
// and of each rank its ports.
#pragma once

#include "base/array.hpp"
#include "base/distinct.hpp"
#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

class Cards {
  public:
    // False: no memory.
    bool take(const Address *addresses, std::size_t size);
    RailCard of(int rank) const {
        const Place &place = places_[rank];
        RailCard card = cards_.at(place.card);
        card.port = place.port;
        card.watch_port = place.watch_port;
        return card;
    }

  private:
    struct Place {
        std::uint32_t card;
        std::uint16_t port;
        std::uint16_t watch_port;
    };

    Distinct<RailCard> cards_;  // without ports
    Array<Place> places_;       // [size]
};

inline bool Cards::take(const Address *addresses, std::size_t size) {
    places_ = Array<Place>(size);
    for (std::size_t rank = 0; rank < size && places_ != nullptr; ++rank) {
        RailCard card = card_of(addresses[rank]);
        Place &place = places_[rank];
        place.port = card.port;
        place.watch_port = card.watch_port;
        card.port = card.watch_port = 0;
        if (!cards_.add(card, &place.card)) return false;
    }
    return places_ != nullptr;
}

}  // namespace sennit::transport::fabric
