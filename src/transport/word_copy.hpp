// SPDX-License-Identifier: BSD-3-Clause
// Copies between private memory and memory that other threads poll, for message transports that
// copy by the processor (sim, template) and for accumulates. Moves every aligned word of up to 8
// bytes whole, like a network card, so that a rank never reads a torn word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sennit::transport {

template <class Word>
void store_word(std::byte *shared, const std::byte *from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    // SYNC word-delivery: pairs with the acquire load in load_word(), and with that of a program
    // that waits for the word; all data stored earlier comes before.
    std::atomic_ref<Word>(*reinterpret_cast<Word *>(shared)).store(word, std::memory_order_release);
}

template <class Word>
void load_word(std::byte *to, std::byte *shared) {
    // SYNC word-delivery: pairs with the release in store_word(), and with the release store of a
    // program that sets the word itself; later loads see all stores before that release.
    const Word word =
        std::atomic_ref<Word>(*reinterpret_cast<Word *>(shared)).load(std::memory_order_acquire);
    std::memcpy(to, &word, sizeof word);
}

// The size of the longest aligned word at `address` within `left` bytes.
inline std::size_t word_bytes(const std::byte *address, std::uint64_t left) {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    std::size_t bytes = 8;
    while (bytes > 1 && (place % bytes != 0 || bytes > left))
        bytes /= 2;
    return bytes;
}

// Calls move(offset, Word{}) for each word of the range. Always inlined: otherwise tools/abi would
// report the instances of the template as foreign symbols.
template <class Move>
[[gnu::always_inline]] inline void each_word(const std::byte *shared, std::uint64_t bytes,
                                             Move move) {
    for (std::uint64_t at = 0; at < bytes;) {
        const std::size_t word = word_bytes(shared + at, bytes - at);
        if (word == 8) {
            move(at, std::uint64_t{});
        } else if (word == 4) {
            move(at, std::uint32_t{});
        } else if (word == 2) {
            move(at, std::uint16_t{});
        } else {
            move(at, std::uint8_t{});
        }
        at += word;
    }
}

inline void copy_to_shared(std::byte *shared, const std::byte *from, std::uint64_t bytes) {
    each_word(shared, bytes, [=]<class Word>(std::uint64_t at, Word) {
        store_word<Word>(shared + at, from + at);
    });
}

inline void copy_from_shared(std::byte *to, std::byte *shared, std::uint64_t bytes) {
    each_word(shared, bytes,
              [=]<class Word>(std::uint64_t at, Word) { load_word<Word>(to + at, shared + at); });
}

}  // namespace sennit::transport
