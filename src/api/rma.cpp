// SPDX-License-Identifier: BSD-3-Clause
// Put, get and fence. The first lines of sennit_put and sennit_get are the hot path; other cases go
// to op::transfer. Each step is one template for both directions.
#include <sennit/rma.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "base/copy_vectors.hpp"
#include "op/at_once.hpp"
#include "op/direct.hpp"
#include "op/rma.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using Mode = op::Completion::Mode;
using op::Look;

// A direction. `To` and `From` are the first two parameters of the public call: every step has the
// same order of parameters, so that one step calls the next by a jump.
struct Put {
    using To = sennit_gptr;
    using From = const void *;
    static constexpr auto kDirection = op::Direction::put;
    static constexpr auto kKind = transport::Operation::Kind::put;
    static constexpr const char *kName = "sennit_put";
    static const sennit_gptr &remote(const To &to, const From & /*from*/) { return to; }
    // The engine only reads the buffer of a put.
    static void *local(To /*to*/, From from) { return const_cast<void *>(from); }
    static std::byte *target(To to, From /*from*/, std::byte *base) { return base + to.offset; }
    static const void *source(To /*to*/, From from, std::byte * /*base*/) { return from; }
};
struct Get {
    using To = void *;
    using From = sennit_gptr;
    static constexpr auto kDirection = op::Direction::get;
    static constexpr auto kKind = transport::Operation::Kind::get;
    static constexpr const char *kName = "sennit_get";
    static const sennit_gptr &remote(const To & /*to*/, const From &from) { return from; }
    static void *local(To to, From /*from*/) { return to; }
    static void *target(To to, From /*from*/, std::byte * /*base*/) { return to; }
    static const std::byte *source(To /*to*/, From from, std::byte *base) {
        return base + from.offset;
    }
};

template <class Call>
[[gnu::cold, gnu::noinline]] sennit_status cold(typename Call::To to, typename Call::From from,
                                                std::size_t bytes, const op::Completion &completion,
                                                const char *name) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    const sennit_gptr &remote = Call::remote(to, from);
    const ObservedAccess observed(*rank, name, remote, bytes);
    return done(
        op::transfer(*rank, Call::kDirection, remote, Call::local(to, from), bytes, completion),
        name);
}

// The cold path of a blocking call. `entry`: the entry that was found, or null.
template <class Call>
[[gnu::noinline]] sennit_status blocking_cold(typename Call::To to, typename Call::From from,
                                              std::size_t bytes,
                                              const memory::SegmentEntry *entry) {
    const sennit_gptr &remote = Call::remote(to, from);
    const transport::CopyRun run{remote.offset, Call::local(to, from), bytes};
    if (op::copied_at_once(*current_rank(), entry, Call::kKind, run, remote.rank)) [[likely]]
        return SENNIT_OK;
    return cold<Call>(to, from, bytes, {Mode::blocking, nullptr}, Call::kName);
}

// The entry of memory that may be copied at once, or null.
template <class Call, Look kLook>
inline const memory::SegmentEntry *entry_for(typename Call::To to, typename Call::From from,
                                             std::size_t bytes) {
    Rank *rank = current_rank();
    if (Call::local(to, from) == nullptr) [[unlikely]]
        return nullptr;
    return op::direct_entry<kLook>(*rank, Call::remote(to, from), bytes);
}

// Copies by a near entry. Returns whether the copy is done.
template <class Call, auto kCopy>
inline bool copied_near(typename Call::To to, typename Call::From from, std::size_t bytes) {
    const memory::SegmentEntry *entry = entry_for<Call, Look::near>(to, from, bytes);
    if (entry == nullptr) [[unlikely]]
        return false;
    kCopy(Call::target(to, from, entry->base), Call::source(to, from, entry->base), bytes);
    return true;
}

// Copies any size by the entry. Returns false if a rail may carry a part; transfer() decides that.
template <class Call>
inline bool copy_by(typename Call::To to, typename Call::From from, std::size_t bytes,
                    const memory::SegmentEntry &entry) {
    return copy_any_if(Call::target(to, from, entry.base), Call::source(to, from, entry.base),
                       bytes, [=] { return bytes < current_rank()->split_from_bytes; });
}

template <class Call>
inline bool copied_direct(typename Call::To to, typename Call::From from, std::size_t bytes) {
    const memory::SegmentEntry *entry = entry_for<Call, Look::both>(to, from, bytes);
    if (entry == nullptr) [[unlikely]]
        return false;
    return copy_by<Call>(to, from, bytes, *entry);
}

// The blocking calls have a function for each range of sizes: words of 8 bytes (in the public
// function itself, without a stack frame), other short sizes, sizes to 128 bytes, sizes that an
// inlined vector loop copies, long sizes. Each jumps to far() if the entry is not near. Where the
// least size is known, the compiler omits a test for 0.
template <class Call>
[[gnu::noinline]] sennit_status far(typename Call::To to, typename Call::From from,
                                    std::size_t bytes) {
    Rank &rank = *current_rank();
    const sennit_gptr &remote = Call::remote(to, from);
    memory::SegmentEntry *entry = op::named_entry(rank, remote);
    if (Call::local(to, from) != nullptr && op::reaches_by(rank, entry, remote, bytes) &&
        copy_by<Call>(to, from, bytes, *entry)) [[likely]]
        return SENNIT_OK;
    return blocking_cold<Call>(to, from, bytes, entry);
}

template <class Call, auto kCopy, std::size_t kLeast = 0>
[[gnu::noinline]] sennit_status near(typename Call::To to, typename Call::From from,
                                     std::size_t bytes) {
    if (bytes < kLeast) __builtin_unreachable();
    if (copied_near<Call, kCopy>(to, from, bytes)) [[likely]]
        return SENNIT_OK;
    return far<Call>(to, from, bytes);
}

// The largest size that an inlined vector loop copies, if vectors are used at all.
constexpr std::size_t kInPlaceBytes = kCopyAheadFrom;

template <class Call>
[[SENNIT_COPY_TARGET, gnu::noinline]] sennit_status by_vectors(typename Call::To to,
                                                               typename Call::From from,
                                                               std::size_t bytes) {
    if (bytes <= kMiddleBytes || bytes > kInPlaceBytes) __builtin_unreachable();
    const memory::SegmentEntry *entry = entry_for<Call, Look::near>(to, from, bytes);
    if (entry == nullptr) [[unlikely]]
        return far<Call>(to, from, bytes);
    const auto target = Call::target(to, from, entry->base);
    const auto source = Call::source(to, from, entry->base);
    if (!are_apart(target, source, bytes)) [[unlikely]]
        return near<Call, copy_bytes>(to, from, bytes);
    copy_by_vectors_in_place(target, source, bytes);
    return SENNIT_OK;
}

// A long copy evicts the level-1 cache. So the words that the next call reads are prefetched before
// the copy ends. The processor still executes the copy when copy_by_vectors() returns. A copy of
// the C library is complete when it returns, so from kCopyWholeFrom bytes on, the last kEnd bytes
// are copied after the prefetch.
inline void copy_long(void *to, const void *from, std::size_t bytes, sennit_gptr gptr,
                      const memory::SegmentEntry &entry) {
    constexpr std::size_t kEnd = 4096;
    const bool is_cut = bytes >= kCopyWholeFrom && are_apart(to, from, bytes);
    const std::size_t front = is_cut ? bytes - kEnd : bytes;
    copy_bytes(to, from, front);
    __builtin_prefetch(&memory::near_place(*current_rank(), gptr));
    __builtin_prefetch(&entry);
    __builtin_prefetch(entry.live);
    if (is_cut)
        copy_bytes(static_cast<std::byte *>(to) + front,
                   static_cast<const std::byte *>(from) + front, kEnd);
}

template <class Call>
[[gnu::noinline]] sennit_status by_long_copy(typename Call::To to, typename Call::From from,
                                             std::size_t bytes) {
    const memory::SegmentEntry *entry = entry_for<Call, Look::near>(to, from, bytes);
    if (entry == nullptr) [[unlikely]]
        return far<Call>(to, from, bytes);
    if (bytes >= current_rank()->split_from_bytes) [[unlikely]]
        return blocking_cold<Call>(to, from, bytes, entry);
    copy_long(Call::target(to, from, entry->base), Call::source(to, from, entry->base), bytes,
              Call::remote(to, from), *entry);
    return SENNIT_OK;
}

template <class Call>
[[gnu::always_inline]] inline sennit_status blocking(typename Call::To to, typename Call::From from,
                                                     std::size_t bytes) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (bytes != kWord) [[unlikely]] {
        if (bytes <= kShortBytes) return near<Call, copy_short>(to, from, bytes);
        if (bytes <= kMiddleBytes) return near<Call, copy_middle, kShortBytes + 1>(to, from, bytes);
        if (bytes > kInPlaceBytes) return by_long_copy<Call>(to, from, bytes);
        if (has_copy_by_vectors) return by_vectors<Call>(to, from, bytes);
        return near<Call, copy_bytes>(to, from, bytes);
    }
    if (copied_near<Call, copy_any>(to, from, kWord)) [[likely]]
        return SENNIT_OK;
    return far<Call>(to, from, kWord);
}

template <class Call>
[[gnu::always_inline]] inline sennit_status requested(typename Call::To to,
                                                      typename Call::From from, std::size_t bytes,
                                                      sennit_request *request, const char *name) {
    if (request == nullptr) return null_argument("request", name);
    if (copied_direct<Call>(to, from, bytes)) {
        *request = SENNIT_REQUEST_NULL;
        return SENNIT_OK;
    }
    return cold<Call>(to, from, bytes, {Mode::request, request}, name);
}

template <class Call>
[[gnu::always_inline]] inline sennit_status implicit(typename Call::To to, typename Call::From from,
                                                     std::size_t bytes, const char *name) {
    if (copied_direct<Call>(to, from, bytes)) return SENNIT_OK;
    return cold<Call>(to, from, bytes, {Mode::implicit, nullptr}, name);
}

}  // namespace

extern "C" {

sennit_status sennit_put(sennit_gptr destination, const void *source, size_t bytes) {
    return blocking<Put>(destination, source, bytes);
}

sennit_status sennit_get(void *destination, sennit_gptr source, size_t bytes) {
    return blocking<Get>(destination, source, bytes);
}

sennit_status sennit_put_nb(sennit_gptr destination, const void *source, size_t bytes,
                            sennit_request *request) {
    return requested<Put>(destination, source, bytes, request, "sennit_put_nb");
}

sennit_status sennit_get_nb(void *destination, sennit_gptr source, size_t bytes,
                            sennit_request *request) {
    return requested<Get>(destination, source, bytes, request, "sennit_get_nb");
}

sennit_status sennit_put_nbi(sennit_gptr destination, const void *source, size_t bytes) {
    return implicit<Put>(destination, source, bytes, "sennit_put_nbi");
}

sennit_status sennit_put_local(sennit_gptr destination, const void *source, size_t bytes) {
    if (copied_direct<Put>(destination, source, bytes)) return SENNIT_OK;
    return cold<Put>(destination, source, bytes, {Mode::local, nullptr}, "sennit_put_local");
}

sennit_status sennit_get_nbi(void *destination, sennit_gptr source, size_t bytes) {
    return implicit<Get>(destination, source, bytes, "sennit_get_nbi");
}

sennit_status sennit_fence(void) {
    return noted_call(__func__, op::fence);
}

}  // extern "C"
