// Helpers for the tests of queues: creating one, attaching, and the reach of queues.
#pragma once

#include "harness.hpp"

namespace conformance {

struct Made {
    sennit_queue queue = SENNIT_QUEUE_NULL;
    sennit_queue_address address{};
};

inline Made make_queue(Ranks &test, std::size_t bytes, std::size_t capacity, unsigned producers) {
    Made made;
    test.ok(sennit_queue_create(bytes, capacity, producers, &made.queue, &made.address));
    test.require(made.queue.handle != 0, "there is a handle");
    return made;
}

inline sennit_producer attach(Ranks &test, sennit_queue_address address) {
    sennit_producer producer = SENNIT_PRODUCER_NULL;
    test.ok(sennit_queue_attach(address, &producer));
    return producer;
}

// True if load and store reach the queues of all ranks; otherwise checks that attaching is refused,
// and that a rank on another node is named as such. The same answer on all ranks. Collective.
inline bool queues_lead_everywhere(Ranks &test) {
    const Made mine = make_queue(test, 8, 1, static_cast<unsigned>(test.size));
    bool leads = true;
    for (const sennit_queue_address &address : test.tell_all(mine.address)) {
        sennit_producer producer = SENNIT_PRODUCER_NULL;
        const sennit_status status = sennit_queue_attach(address, &producer);
        leads &= status == SENNIT_OK;
        if (status == SENNIT_OK) {
            test.ok(sennit_queue_detach(producer));
            continue;
        }
        sennit_path path = SENNIT_PATH_NONE;
        test.ok(sennit_peer_path(address.gptr.rank, &path));
        test.is(status,
                path == SENNIT_PATH_FABRIC ? SENNIT_ERR_OTHER_NODE : SENNIT_ERR_UNSUPPORTED);
    }
    bool all_lead = true;
    for (const int one : test.tell_all(leads ? 1 : 0))
        all_lead &= one != 0;
    test.barrier();
    test.ok(sennit_queue_destroy(mine.queue));
    return all_lead;
}

}  // namespace conformance
