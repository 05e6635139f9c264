// The arguments of a collective call of a benchmark, the same for all subjects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "worker/spin.hpp"

namespace sennit::bench {

enum class CollectiveKind { broadcast, allreduce, alltoall };

struct Collective {
    CollectiveKind kind;
    std::size_t bytes;  // of a block
    std::size_t total;  // of source and destination
    int rank;
    int size;
    std::size_t stride;      // between the words that are written and read
    std::byte *source;       // a broadcast has none
    std::byte *destination;  // of a broadcast's root: the source

    // Writes `number` into one double of every `stride` bytes of this rank's source.
    void produce(double number) const {
        std::byte *const place = kind == CollectiveKind::broadcast ? destination : source;
        if (kind == CollectiveKind::broadcast && rank != 0) {
            return;
        }
        // The first word of each block, whatever its size.
        const std::size_t step = bytes < stride ? bytes : stride;
        for (std::size_t offset = 0; offset < total; offset += step) {
            std::memcpy(place + offset, &number, sizeof number);
        }
    }

    // Reads the received data. Returns whether its first element is right.
    bool consume(double number) const {
        double sum = 0.0;
        double word = 0.0;
        for (std::size_t offset = 0; offset < total; offset += stride) {
            std::memcpy(&word, destination + offset, sizeof word);
            sum += word;
        }
        keep_in_memory(sum);
        std::memcpy(&word, destination, sizeof word);
        return word == (kind == CollectiveKind::allreduce ? number * size : number);
    }
};

}  // namespace sennit::bench
