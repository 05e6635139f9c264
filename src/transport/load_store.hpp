// What the load/store transports share: they take no operations, because attach() gives a pointer.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

class LoadStoreTransport : public Transport {
  public:
    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override;
    sennit_status connect(const Address *addresses, const Deadline &deadline) override;
    Submit submit(Operation *operation) override;
    int progress() override { return 0; }

  protected:
    Rank *rank_ = nullptr;
    const Address *addresses_ = nullptr;
};

}  // namespace sennit::transport
