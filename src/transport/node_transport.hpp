// SPDX-License-Identifier: BSD-3-Clause
// The common part of the load/store and immediate paths within a node, to which no operation is
// submitted.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

class NodeTransport : public Transport {
  public:
    sennit_status open(Rank &rank, const char *settings, const EventSink &) override {
        rank_ = &rank;
        if (settings[0] == '\0') return SENNIT_OK;
        return fail(SENNIT_ERR_ARG, "the path %s takes no settings", traits().name);
    }
    sennit_status connect(const Address *addresses, const Deadline &) override {
        addresses_ = addresses;
        return SENNIT_OK;
    }
    void detach(int, const RemoteMemory &) override {}
    Submit submit(Operation *) override {
        (void)fail(SENNIT_ERR_INTERNAL, "an operation was submitted to the path %s", traits().name);
        return Submit::failed;
    }
    int progress() override { return 0; }
    void close(const Deadline &) override {}

  protected:
    Rank *rank_ = nullptr;
    const Address *addresses_ = nullptr;
};

}  // namespace sennit::transport
