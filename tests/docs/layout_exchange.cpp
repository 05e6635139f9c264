// The letter in a mailbox.
#include "layout.hpp"

#include "coll/barrier.cpp"

void print_exchange_layouts() {
    using sennit::coll::Letter;
    STRUCT(Letter);
    FIELD(Letter, purpose);
    FIELD(Letter, bytes);
    FIELD(Letter, number);
    FIELD(Letter, payload);
}
