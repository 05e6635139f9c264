// The raw limit between nodes: the calls of libfabric that a put and a get need, by the provider
// that Sennit takes too, and nothing else. Built without libfabric it says so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "worker/job.hpp"

namespace sennit::bench {

class RawNetwork {
  public:
    // Collective, of two ranks: rank 0 moves `bytes` to and from memory of rank 1. Throws where
    // libfabric or a provider is missing.
    RawNetwork(const Job &job, std::size_t bytes);
    ~RawNetwork();
    RawNetwork(const RawNetwork &) = delete;
    RawNetwork &operator=(const RawNetwork &) = delete;

    const std::string &provider() const;

    // By rank 0, which waits until the data is delivered, or is here.
    void put(const void *from, std::size_t bytes) const;
    void get(void *to, std::size_t bytes) const;

    // By rank 1 while rank 0 does one of these: providers in software want the target to look.
    void look() const;

  private:
    struct Objects;
    std::unique_ptr<Objects> m_objects;
};

}  // namespace sennit::bench
