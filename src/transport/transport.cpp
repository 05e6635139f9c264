// What a transport answers to calls of the kinds that it is not.
#include "transport/transport.hpp"

#include "base/fail.hpp"

namespace sennit::transport {

sennit_status Transport::copy(int peer, Operation::Kind, const Remote &, const Run *, std::size_t) {
    return fail_peer(SENNIT_ERR_INTERNAL, peer, traits().name,
                     "a copy was asked of the path %s, which is not immediate", traits().name);
}

}  // namespace sennit::transport
