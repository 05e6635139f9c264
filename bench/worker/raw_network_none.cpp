// See raw_network.hpp. A build without libfabric's headers.
#include <stdexcept>

#include "worker/raw_network.hpp"

namespace sennit::bench {

struct RawNetwork::Objects {
    std::string provider;
};

RawNetwork::RawNetwork(const Job &, std::size_t) {
    throw std::runtime_error("built without libfabric, so there is no raw limit between nodes");
}
RawNetwork::~RawNetwork() = default;
const std::string &RawNetwork::provider() const {
    return m_objects->provider;
}
void RawNetwork::put(const void *, std::size_t) const {}
void RawNetwork::get(void *, std::size_t) const {}
void RawNetwork::look() const {}

}  // namespace sennit::bench
