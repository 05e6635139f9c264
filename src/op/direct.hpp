// The shortest way: finding the plain pointer behind a global one, and copying. Everything a put or
// get of load/store memory costs stands in this file.
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "base/copy.hpp"
#include "memory/entry.hpp"

namespace sennit::op {

// Whether load and store reach `bytes` bytes at `gptr` by its entry, and nothing at all is out of
// the ordinary (a size of 0 is). A size that is known where this is inlined takes a test less.
inline bool reaches(const memory::Entry &entry, const sennit_gptr &gptr, std::size_t bytes) {
    if (!memory::is_live(entry)) [[unlikely]]
        return false;
    const std::uint64_t reach = entry.direct_bytes;
    return bytes != 0 && gptr.offset <= reach && bytes <= reach - gptr.offset;
}

// The entry by which `bytes` bytes at `gptr` are reached, if it was found lately, or null, which
// says nothing.
inline const memory::Entry *near_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const memory::Entry *entry = memory::find_near(rank, gptr);
    return entry != nullptr && reaches(*entry, gptr, bytes) ? entry : nullptr;
}

// The entry of `gptr` by way of the tables, whatever leads there and whether it lives or not, or
// null.
inline memory::Entry *named_entry(Rank &rank, sennit_gptr gptr) {
    // relaxed: 0 unless the rank is in use, and then constant; the rank was found through only-rank
    // or by its own thread.
    const std::uint32_t size = rank.size.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(gptr.rank) >= size || gptr.segment == 0) [[unlikely]]
        return nullptr;
    return memory::find_named(rank, size, gptr);
}

// True if `bytes` bytes at `gptr` are reached by what named_entry() found, which is remembered
// then. False when anything at all is out of the ordinary: the caller takes the cold way, which
// finds out what.
inline bool reaches_by(Rank &rank, memory::Entry *entry, sennit_gptr gptr, std::size_t bytes) {
    if (entry == nullptr || !reaches(*entry, gptr, bytes)) [[unlikely]]
        return false;
    memory::remember(rank, gptr, entry);
    return true;
}

// As near_entry(), by way of the tables, or null as reaches_by() is false.
inline const memory::Entry *far_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    memory::Entry *entry = named_entry(rank, gptr);
    return reaches_by(rank, entry, gptr, bytes) ? entry : nullptr;
}

// Where a call looks for the entry.
enum class Look : std::uint8_t { near, far, both };

template <Look kLook = Look::both>
inline const memory::Entry *direct_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const memory::Entry *entry = nullptr;
    if constexpr (kLook != Look::far) entry = near_entry(rank, gptr, bytes);
    if constexpr (kLook != Look::near)
        if (entry == nullptr) entry = far_entry(rank, gptr, bytes);
    return entry;
}

// The same for the library itself, also while its rank is observed.
inline std::byte *reached(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    // relaxed: as above.
    const std::uint32_t size = rank.size.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(gptr.rank) >= size) return nullptr;
    const memory::Entry *entry = memory::find(rank, size, gptr);
    if (entry == nullptr || entry->base == nullptr) return nullptr;
    const std::uint64_t reach = entry->bytes;
    if (bytes - 1 >= reach || gptr.offset > reach - bytes) return nullptr;
    return entry->base + gptr.offset;
}

// The first and the last bytes, which may overlap; all is loaded before anything is stored.
template <class Part>
inline void copy_ends(void *destination, const void *source, std::size_t bytes) {
    Part first;
    Part last;
    std::memcpy(&first, source, sizeof first);
    std::memcpy(&last, static_cast<const std::byte *>(source) + bytes - sizeof last, sizeof last);
    std::memcpy(destination, &first, sizeof first);
    std::memcpy(static_cast<std::byte *>(destination) + bytes - sizeof last, &last, sizeof last);
}

// A call of memmove() for so few bytes takes longer than copying them.
inline constexpr std::size_t kShortBytes = 32;

// 1 to kShortBytes. A word is stored once, since whoever polls for it may change it at once.
inline void copy_short(void *destination, const void *source, std::size_t bytes) {
    using Two = std::array<std::uint64_t, 2>;
    if (bytes >= sizeof(std::uint64_t)) {
        if (bytes >= sizeof(Two)) {
            copy_ends<Two>(destination, source, bytes);
        } else if (bytes != sizeof(std::uint64_t) ||
                   !copy_word<std::uint64_t>(destination, source)) {
            copy_ends<std::uint64_t>(destination, source, bytes);
        }
    } else if (bytes >= sizeof(std::uint32_t)) {
        if (bytes != sizeof(std::uint32_t) || !copy_word<std::uint32_t>(destination, source))
            copy_ends<std::uint32_t>(destination, source, bytes);
    } else if (bytes >= sizeof(std::uint16_t)) {
        copy_ends<std::uint16_t>(destination, source, bytes);
    } else {
        copy_ends<std::uint8_t>(destination, source, bytes);
    }
}

// One vector register. The compiler's own type, since an array of words would be copied by way of
// the stack.
using Sixteen = std::uint64_t __attribute__((vector_size(16)));

inline Sixteen load_sixteen(const std::byte *from) {
    Sixteen value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// As copy_ends(), of so many sixteens at each end.
template <std::size_t... kIndex>
inline void copy_sixteens(std::byte *to, const std::byte *from, std::size_t bytes,
                          std::index_sequence<kIndex...> /*each*/) {
    const std::size_t behind = bytes - sizeof...(kIndex) * sizeof(Sixteen);
    const std::array first{load_sixteen(from + kIndex * sizeof(Sixteen))...};
    const std::array last{load_sixteen(from + behind + kIndex * sizeof(Sixteen))...};
    (std::memcpy(to + kIndex * sizeof(Sixteen), &first[kIndex], sizeof(Sixteen)), ...);
    (std::memcpy(to + behind + kIndex * sizeof(Sixteen), &last[kIndex], sizeof(Sixteen)), ...);
}

// Nor is a call worth while for these.
inline constexpr std::size_t kMiddleBytes = 128;

// kShortBytes to kMiddleBytes. They may overlap.
inline void copy_middle(void *destination, const void *source, std::size_t bytes) {
    auto *to = static_cast<std::byte *>(destination);
    const auto *from = static_cast<const std::byte *>(source);
    constexpr std::size_t kHalf = kMiddleBytes / 2;
    if (bytes <= kHalf) {
        copy_sixteens(to, from, bytes, std::make_index_sequence<kHalf / sizeof(Sixteen) / 2>());
    } else {
        copy_sixteens(to, from, bytes, std::make_index_sequence<kHalf / sizeof(Sixteen)>());
    }
}

inline void copy(void *destination, const void *source, std::size_t bytes) {
    if (bytes == sizeof(std::uint64_t) && copy_word<std::uint64_t>(destination, source)) return;
    // 0 comes out as the largest number.
    if (bytes - 1 < kShortBytes) {
        copy_short(destination, source, bytes);
    } else if (bytes - 1 < kMiddleBytes) {
        copy_middle(destination, source, bytes);
    } else {
        copy_bytes(destination, source, bytes);
    }
}

}  // namespace sennit::op
