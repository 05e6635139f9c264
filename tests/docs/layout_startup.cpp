// A rank's part of the first and of the last exchange.
#include "layout.hpp"

#include "api/startup.cpp"

void print_startup_layouts() {
    using sennit::api::Introduction;
    using sennit::api::Readiness;
    STRUCT(Introduction);
    FIELD(Introduction, card);
    FIELD(Introduction, addresses);
    STRUCT(Readiness);
    FIELD(Readiness, status);
    FIELD(Readiness, reach);
}
