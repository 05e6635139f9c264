// The letter in a mailbox.
#include "layout.hpp"

#include "team/barrier.cpp"

void print_exchange_layouts() {
    using sennit::team::Letter;
    STRUCT(Letter);
    FIELD(Letter, purpose);
    FIELD(Letter, bytes);
    FIELD(Letter, number);
    FIELD(Letter, payload);
}
