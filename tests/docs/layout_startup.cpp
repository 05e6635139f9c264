// A rank's part of the exchanges at start.
#include "layout.hpp"

#include "rank/life/startup.cpp"

void print_startup_layouts() {
    using sennit::life::Introduction;
    using sennit::life::Readiness;
    STRUCT(Introduction);
    FIELD(Introduction, card);
    FIELD(Introduction, addresses);
    FIELD(Introduction, rail_share);
    STRUCT(Readiness);
    FIELD(Readiness, status);
    FIELD(Readiness, reach);
    FIELD(Readiness, unused);
    FIELD(Readiness, node_buffer);
    using sennit::life::Failure;
    STRUCT(Failure);
    FIELD(Failure, status);
    FIELD(Failure, blames);
    FIELD(Failure, os_errno);
    FIELD(Failure, text);
}
