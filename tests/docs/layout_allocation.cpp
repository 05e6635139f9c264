// The payloads of the messages of a collective allocation.
#include "layout.hpp"

#include "team/allocate.cpp"

void print_allocation_layouts() {
    using sennit::team::Offer;
    using sennit::team::Outcome;
    STRUCT(Offer);
    FIELD(Offer, status);
    FIELD(Offer, id);
    FIELD(Offer, bytes);
    FIELD(Offer, alignment);
    FIELD(Offer, flags);
    FIELD(Offer, unused);
    FIELD(Offer, record);
    STRUCT(Outcome);
    FIELD(Outcome, status);
    FIELD(Outcome, id);
}
