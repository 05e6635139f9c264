// A rank's part of the first exchange.
#include "layout.hpp"

#include "api/startup.cpp"

void print_startup_layouts() {
    using sennit::api::Introduction;
    STRUCT(Introduction);
    FIELD(Introduction, card);
    FIELD(Introduction, addresses);
}
