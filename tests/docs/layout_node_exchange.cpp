// The message that carries descriptors inside a node.
#include "layout.hpp"

#include "bootstrap/node_exchange.cpp"

void print_node_exchange_layouts() {
    using sennit::runtime::Message;
    STRUCT(Message);
    FIELD(Message, greeting);
    FIELD(Message, count);
    FIELD(Message, job_cookie);
    FIELD(Message, has_pid_fd);
    FIELD(Message, ranks);
}
