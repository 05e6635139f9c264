// A block of each rank for tests of messages with many pieces: the previous rank writes to it,
// reads from it and has a model of its contents.
#pragma once

#include <vector>

#include "next_block.hpp"
#include "strided_program.hpp"

namespace conformance {

struct ShapeBlocks : NextBlock {
    std::size_t bytes;
    std::vector<std::uint8_t> model;  // of the next rank's block

    ShapeBlocks(Ranks &ranks, std::size_t of_block, std::uint32_t puts = 1, std::uint32_t gets = 1)
        : NextBlock(ranks, of_block, make_signal(ranks, puts), make_signal(ranks, gets)),
          bytes(of_block),
          model(bytes) {
        fill(model.data(), bytes, salt(test.next()));
        fill(static_cast<std::uint8_t *>(sennit_ptr(memory)), bytes, salt(test.rank));
        test.barrier();
    }
    void end() const {
        test.ok(sennit_flush_all(SENNIT_FOREVER));
        NextBlock::end();
    }
    static std::uint64_t salt(int rank) { return static_cast<std::uint64_t>(rank) * 7777 + 1; }

    // Checks that the block has the contents of the model.
    void check_model() {
        std::vector<std::uint8_t> found(bytes);
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        test.ok(sennit_get(found.data(), sennit_gptr_at(memory, test.next()), bytes));
        for (std::size_t i = 0; i < bytes; ++i)
            if (found[i] != model[i]) test.equal(i, bytes);  // fails with the offset
    }
    void wait_and_reset(sennit_signal signal) const {
        test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(signal));
    }
};

// A shape with its own private buffer; its lowest byte is at `place` of the block.
struct PlacedShape {
    Shape shape;
    bool is_put;
    std::size_t place;
    std::vector<std::uint8_t> buffer;

    PlacedShape(Random &draw, bool puts, std::size_t block_bytes)
        : shape(draw_shape(draw, puts, block_bytes)),
          is_put(puts),
          place(draw.below(block_bytes - shape.remote_span + 1)),
          buffer(shape.local_span + 1) {
        renew(draw.next());
    }
    void renew(std::uint64_t with) { fill(buffer.data(), buffer.size(), with); }
    std::size_t offset() const { return place + shape.remote_origin; }
    std::uint8_t *local() { return buffer.data() + shape.local_origin; }
    // Applies the shape byte by byte: a put to the model, a get from the model to `to`, for
    // comparison.
    void apply(std::vector<std::uint8_t> &model, std::vector<std::uint8_t> &to) const {
        for (const auto &[remote, here] : shape.bytes) {
            if (is_put)
                model[place + remote] = buffer[here];
            else
                to[here] = model[place + remote];
        }
    }
};

}  // namespace conformance
