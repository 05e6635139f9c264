// The message that carries descriptors inside a node.
#include "layout.hpp"

#include "bootstrap/node_exchange.cpp"

void print_node_exchange_layouts() {
    using sennit::runtime::DescriptorMessage;
    STRUCT(DescriptorMessage);
    FIELD(DescriptorMessage, magic);
    FIELD(DescriptorMessage, count);
    FIELD(DescriptorMessage, job_cookie);
    FIELD(DescriptorMessage, has_pid_fd);
    FIELD(DescriptorMessage, ranks);
}
