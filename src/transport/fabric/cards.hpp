// SPDX-License-Identifier: BSD-3-Clause
// The cards that all ranks exchanged at start. Equal cards are stored once, without their ports.
// The ports are stored for each rank.
#pragma once

#include "base/distinct.hpp"
#include "transport/fabric/node_tables.hpp"
#include "transport/fabric/wire.hpp"

namespace sennit::transport::fabric {

class Cards {
  public:
    // Returns false if there is no memory.
    bool fill(const CardList &list);
    RailCard of(int rank) const {
        const Place &place = reinterpret_cast<const Place *>(places_.begin())[rank];
        RailCard card = cards_.at(place.card);
        card.port = place.port;
        card.watch_port = place.watch_port;
        return card;
    }
    NodeTable &places() { return places_; }

  private:
    struct Place {
        std::uint32_t card;
        std::uint16_t port;
        std::uint16_t watch_port;
    };

    Distinct<RailCard> cards_;  // without ports
    NodeTable places_;          // Place[size]
};

inline bool Cards::fill(const CardList &list) {
    if (!places_.make(list.size * sizeof(Place))) return false;
    for (std::size_t rank = 0; rank < list.size; ++rank) {
        RailCard card = list.at(rank);
        Place &place = reinterpret_cast<Place *>(places_.to_fill())[rank];
        place.port = card.port;
        place.watch_port = card.watch_port;
        card.port = card.watch_port = 0;
        if (!cards_.add(card, &place.card)) return false;
    }
    return true;
}

}  // namespace sennit::transport::fabric
