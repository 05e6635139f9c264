// A rank's part of the first and of the last exchange.
#include "layout.hpp"

#include "rank/life/startup.cpp"

void print_startup_layouts() {
    using sennit::life::Introduction;
    using sennit::life::Readiness;
    STRUCT(Introduction);
    FIELD(Introduction, card);
    FIELD(Introduction, addresses);
    STRUCT(Readiness);
    FIELD(Readiness, status);
    FIELD(Readiness, reach);
}
