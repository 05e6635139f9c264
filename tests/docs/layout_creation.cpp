// The payloads of the messages that create a team.
#include "layout.hpp"

#include "team/create.cpp"

void print_creation_layouts() {
    using sennit::team::Conclusion;
    using sennit::team::Proposal;
    STRUCT(Proposal);
    FIELD(Proposal, status);
    FIELD(Proposal, color);
    FIELD(Proposal, key);
    FIELD(Proposal, gives_way);
    FIELD(Proposal, chunks);
    FIELD(Proposal, unused);
    FIELD(Proposal, digest);
    FIELD(Proposal, free);
    STRUCT(Conclusion);
    FIELD(Conclusion, status);
    FIELD(Conclusion, again);
    FIELD(Conclusion, load_store);
    FIELD(Conclusion, node_load_store);
    FIELD(Conclusion, unused);
    FIELD(Conclusion, node_buffer);
    FIELD(Conclusion, number);
    FIELD(Conclusion, generation);
}
