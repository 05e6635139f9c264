// The parts of inproc and mapped that are the same.
#include "transport/load_store.hpp"

#include "base/fail.hpp"

namespace sennit::transport {

sennit_status LoadStoreTransport::open(Rank &rank, const char *settings, const EventSink &) {
    if (settings[0] != '\0')
        return fail(SENNIT_ERR_ARG, "the path %s takes no settings", traits().name);
    rank_ = &rank;
    return SENNIT_OK;
}

sennit_status LoadStoreTransport::connect(const Address *addresses, const Deadline &) {
    addresses_ = addresses;
    return SENNIT_OK;
}

Submit LoadStoreTransport::submit(Operation *) {
    (void)fail(SENNIT_ERR_INTERNAL, "an operation was submitted to the load/store path %s",
               traits().name);
    return Submit::failed;
}

}  // namespace sennit::transport
