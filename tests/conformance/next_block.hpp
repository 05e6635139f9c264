// A block of each rank, with a signal for puts and one for gets, attached by the previous rank.
#pragma once

#include "signals.hpp"

namespace conformance {

struct NextBlock {
    Ranks &test;
    sennit_gptr memory;
    sennit_signal arrived;
    sennit_signal read;
    sennit_peer_block next = SENNIT_PEER_BLOCK_NULL;

    // NextBlock owns the two signals.
    NextBlock(Ranks &ranks, std::size_t bytes, sennit_signal on_put, sennit_signal on_get)
        : test(ranks), memory(test.allocate(bytes)), arrived(on_put), read(on_get) {
        sennit_block mine;
        test.ok(sennit_block_init({sennit_gptr_at(memory, test.rank), bytes}, 0, bytes, read,
                                  arrived, &mine));
        const auto blocks = test.tell_all(mine);
        test.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &next));
    }
    void end() const {
        test.barrier();
        test.ok(sennit_block_detach(next));
        test.ok(sennit_signal_destroy(arrived));
        test.ok(sennit_signal_destroy(read));
        test.barrier();
        test.free(memory);
    }
};

}  // namespace conformance
