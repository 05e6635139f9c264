// The message in a mailbox.
#include "layout.hpp"

#include "team/barrier.cpp"

void print_exchange_layouts() {
    using sennit::team::ExchangeMessage;
    STRUCT(ExchangeMessage);
    FIELD(ExchangeMessage, purpose);
    FIELD(ExchangeMessage, bytes);
    FIELD(ExchangeMessage, number);
    FIELD(ExchangeMessage, payload);
}
