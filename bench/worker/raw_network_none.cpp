// In place of raw_network.cpp in a build without libfabric's headers.
#include <stdexcept>

#include "worker/raw_network.hpp"

namespace sennit::bench {

struct RawNetwork::Objects {
    std::string provider;
};

RawNetwork::RawNetwork(const Job &, std::size_t, Use) {
    throw std::runtime_error("built without libfabric, so there is no raw limit between nodes");
}
RawNetwork::RawNetwork(const Job &job, std::size_t bytes, int, const std::string &)
    : RawNetwork(job, bytes) {}
RawNetwork::~RawNetwork() = default;
const std::string &RawNetwork::provider() const {
    return m_objects->provider;
}
void RawNetwork::put(const void *, std::size_t) const {}
void RawNetwork::get(void *, std::size_t) const {}
std::uint64_t RawNetwork::add(std::uint64_t) const {
    return 0;
}
std::uint64_t RawNetwork::compare_swap(std::uint64_t, std::uint64_t) const {
    return 0;
}
void RawNetwork::put_window(const std::byte *, std::size_t, std::size_t) const {}
void RawNetwork::look() const {}
void RawNetwork::put_event(const void *, std::size_t, unsigned) const {}
void RawNetwork::await_event(unsigned) const {}
void RawNetwork::start_event(unsigned, const void *, std::size_t) const {}
void RawNetwork::finish_events(std::size_t) const {}
bool RawNetwork::take_event(unsigned) const {
    return false;
}
const std::byte *RawNetwork::memory() const {
    return nullptr;
}
void RawNetwork::sleep(int) const {}
void RawNetwork::barrier(std::uint64_t) const {}

}  // namespace sennit::bench
