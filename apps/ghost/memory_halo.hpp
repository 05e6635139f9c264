// The exchange between ranks that reach each other's memory by any means: Sennit's channels, its
// notified puts and MPI's shared window derive from this and define how cells are passed on.
#pragma once

#include "ways.hpp"

namespace ghost {

// This rank's end of a link.
struct MemoryEnd {
    Link link;
    Way way;
    double *buffer = nullptr;        // read by the peer, if packed
    const double *theirs = nullptr;  // the peer's cells, its buffer, or the received data;
                                     // null if this rank's ghost cells have them anyway
};

// `End` derives from MemoryEnd.
template <class End>
class MemoryHalo : public Halo {
  public:
    std::array<std::string, 3> ways() const override {
        std::array<std::string, 3> found;
        for (const std::vector<End> &ends : phases_) {
            for (const End &end : ends)
                found[static_cast<std::size_t>(apps::axis_of(end.link.side))] = name_of(end.way);
        }
        return found;
    }

    Ends ends(int field, std::size_t variable) override {
        Ends found;
        for (const End &end : phases_.front()) {
            if (!is_packed_by_step(end.way, end.link)) continue;
            double *place = end.buffer + message_at(end.way, end.link, *domain_, field, variable);
            (end.link.side == apps::west ? found.west : found.east) = place;
        }
        return found;
    }

    Outer outer(int field, std::size_t variable) override {
        Outer found;
        for (const End &end : phases_.front()) {
            if (end.theirs == nullptr || !is_read_by_step(end.way, end.link, *domain_)) continue;
            const Source source{end.theirs, field, variable};
            set_outer(found, end.link.side, rows_of(end.way, end.link, *domain_, source));
        }
        return found;
    }

  protected:
    // Packs the slabs that are packed in the exchange.
    void fill_buffer(const End &end, int field, std::size_t first, Laps &laps) const {
        if (end.way != Way::packed || is_packed_by_step(end.way, end.link)) return;
        for (std::size_t i = 0; i < domain_->together; ++i) {
            pack(end.link.inner, domain_->variable(field, first + i),
                 end.buffer + i * end.link.inner.cells());
        }
        laps.end(packing);
    }

    // Copies from the peer's cells or its buffer into the ghost cells.
    void fill_ghosts(const End &end, int field, std::size_t first, Laps &laps) const {
        const Link &link = end.link;
        const std::size_t at = message_at(end.way, link, *domain_, field, first);
        for (std::size_t i = 0; i < domain_->together; ++i) {
            double *mine = domain_->variable(field, first + i);
            if (end.way == Way::packed) {
                unpack(link.outer, end.theirs + at + i * link.outer.cells(), mine);
            } else {
                copy(link.their_inner, end.theirs + link.theirs.at(field, first + i), link.outer,
                     mine);
            }
        }
        laps.end(unpacking);
    }

    const Domain *domain_ = nullptr;
    std::vector<std::vector<End>> phases_;
};

}  // namespace ghost
