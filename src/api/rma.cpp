// Put, get and fence. The first lines of sennit_put and sennit_get are the hot path; what
// they can not do goes to op::transfer.
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
using OperationKind = transport::Operation::Kind;

[[gnu::cold, gnu::noinline]] sennit_status put_cold(sennit_gptr destination, const void *source,
                                                    std::size_t bytes,
                                                    const op::Completion &completion,
                                                    const char *name) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    const ObservedAccess observed(*rank, name, destination, bytes);
    // The engine only reads the buffer of a put.
    void *local = const_cast<void *>(source);
    return done(op::transfer(*rank, op::Direction::put, destination, local, bytes, completion),
                name);
}

[[gnu::cold, gnu::noinline]] sennit_status get_cold(void *destination, sennit_gptr source,
                                                    std::size_t bytes,
                                                    const op::Completion &completion,
                                                    const char *name) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    const ObservedAccess observed(*rank, name, source, bytes);
    return done(op::transfer(*rank, op::Direction::get, source, destination, bytes, completion),
                name);
}

// What load and store could not do, with the entry that was found, or null. The parameters stand as
// in the public call, so the way here is a jump.
[[gnu::noinline]] sennit_status put_blocking_cold(sennit_gptr destination, const void *source,
                                                  std::size_t bytes, const memory::Entry *entry) {
    const transport::Run run{destination.offset, const_cast<void *>(source), bytes};
    if (op::copied_at_once(*current_rank(), entry, OperationKind::put, run, destination.rank))
        [[likely]]
        return SENNIT_OK;
    return put_cold(destination, source, bytes, {Mode::blocking, nullptr}, "sennit_put");
}

[[gnu::noinline]] sennit_status get_blocking_cold(void *destination, sennit_gptr source,
                                                  std::size_t bytes, const memory::Entry *entry) {
    const transport::Run run{source.offset, destination, bytes};
    if (op::copied_at_once(*current_rank(), entry, OperationKind::get, run, source.rank)) [[likely]]
        return SENNIT_OK;
    return get_cold(destination, source, bytes, {Mode::blocking, nullptr}, "sennit_get");
}

// The entry of what may be copied at once between `gptr` and private memory, or null.
template <Look kLook>
inline const memory::Entry *copy_entry(sennit_gptr gptr, const void *local, std::size_t bytes) {
    Rank *rank = current_rank();
    if (local == nullptr) [[unlikely]]
        return nullptr;
    return op::direct_entry<kLook>(*rank, gptr, bytes);
}

// True if it is done.
template <Look kLook = Look::both, auto kCopy = op::copy>
inline bool put_direct(sennit_gptr destination, const void *source, std::size_t bytes) {
    const memory::Entry *entry = copy_entry<kLook>(destination, source, bytes);
    if (entry == nullptr) [[unlikely]]
        return false;
    kCopy(entry->base + destination.offset, source, bytes);
    return true;
}

template <Look kLook = Look::both, auto kCopy = op::copy>
inline bool get_direct(void *destination, sennit_gptr source, std::size_t bytes) {
    const memory::Entry *entry = copy_entry<kLook>(source, destination, bytes);
    if (entry == nullptr) [[unlikely]]
        return false;
    kCopy(destination, entry->base + source.offset, bytes);
    return true;
}

// The blocking calls have a way of their own for words of 8 bytes, in the public function, which
// needs neither a stack nor the size; one for other short ones; one for those to 128 bytes; one for
// those that vectors copy in place; one for long ones; and one for entries that are not near. Each
// ends in a jump to the next. That a size is at least so much spares the look whether it is 0.
[[gnu::noinline]] sennit_status put_far(sennit_gptr destination, const void *source,
                                        std::size_t bytes) {
    Rank &rank = *current_rank();
    memory::Entry *entry = op::named_entry(rank, destination);
    if (source != nullptr && op::reaches_by(rank, entry, destination, bytes)) [[likely]] {
        op::copy(entry->base + destination.offset, source, bytes);
        return SENNIT_OK;
    }
    return put_blocking_cold(destination, source, bytes, entry);
}

[[gnu::noinline]] sennit_status get_far(void *destination, sennit_gptr source, std::size_t bytes) {
    Rank &rank = *current_rank();
    memory::Entry *entry = op::named_entry(rank, source);
    if (destination != nullptr && op::reaches_by(rank, entry, source, bytes)) [[likely]] {
        op::copy(destination, entry->base + source.offset, bytes);
        return SENNIT_OK;
    }
    return get_blocking_cold(destination, source, bytes, entry);
}

template <auto kCopy, std::size_t kLeast = 0>
[[gnu::noinline]] sennit_status put_near(sennit_gptr destination, const void *source,
                                         std::size_t bytes) {
    if (bytes < kLeast) __builtin_unreachable();
    if (put_direct<Look::near, kCopy>(destination, source, bytes)) [[likely]]
        return SENNIT_OK;
    return put_far(destination, source, bytes);
}

template <auto kCopy, std::size_t kLeast = 0>
[[gnu::noinline]] sennit_status get_near(void *destination, sennit_gptr source, std::size_t bytes) {
    if (bytes < kLeast) __builtin_unreachable();
    if (get_direct<Look::near, kCopy>(destination, source, bytes)) [[likely]]
        return SENNIT_OK;
    return get_far(destination, source, bytes);
}

// Up to here by vectors in place, where they are used at all.
constexpr std::size_t kInPlaceBytes = kCopyAheadFrom;

[[SENNIT_COPY_TARGET, gnu::noinline]] sennit_status put_by_vectors(sennit_gptr destination,
                                                                   const void *source,
                                                                   std::size_t bytes) {
    if (bytes <= op::kMiddleBytes || bytes > kInPlaceBytes) __builtin_unreachable();
    const memory::Entry *entry = copy_entry<Look::near>(destination, source, bytes);
    if (entry == nullptr) [[unlikely]]
        return put_far(destination, source, bytes);
    std::byte *const to = entry->base + destination.offset;
    if (!are_apart(to, source, bytes)) [[unlikely]]
        return put_near<copy_bytes>(destination, source, bytes);
    copy_by_vectors_in_place(to, source, bytes);
    return SENNIT_OK;
}

[[SENNIT_COPY_TARGET, gnu::noinline]] sennit_status get_by_vectors(void *destination,
                                                                   sennit_gptr source,
                                                                   std::size_t bytes) {
    if (bytes <= op::kMiddleBytes || bytes > kInPlaceBytes) __builtin_unreachable();
    const memory::Entry *entry = copy_entry<Look::near>(source, destination, bytes);
    if (entry == nullptr) [[unlikely]]
        return get_far(destination, source, bytes);
    const std::byte *const from = entry->base + source.offset;
    if (!are_apart(destination, from, bytes)) [[unlikely]]
        return get_near<copy_bytes>(destination, source, bytes);
    copy_by_vectors_in_place(destination, from, bytes);
    return SENNIT_OK;
}

// A long copy leaves nothing else in the level-1 cache. What the next call will look at is asked
// for while the copy ends: vectors are still on their way then, but the C library is done, and gets
// the end of what it copies as a copy of its own.
inline void copy_long(void *to, const void *from, std::size_t bytes, sennit_gptr gptr,
                      const memory::Entry &entry) {
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

[[gnu::noinline]] sennit_status put_long(sennit_gptr destination, const void *source,
                                         std::size_t bytes) {
    const memory::Entry *entry = copy_entry<Look::near>(destination, source, bytes);
    if (entry == nullptr) [[unlikely]]
        return put_far(destination, source, bytes);
    copy_long(entry->base + destination.offset, source, bytes, destination, *entry);
    return SENNIT_OK;
}

[[gnu::noinline]] sennit_status get_long(void *destination, sennit_gptr source, std::size_t bytes) {
    const memory::Entry *entry = copy_entry<Look::near>(source, destination, bytes);
    if (entry == nullptr) [[unlikely]]
        return get_far(destination, source, bytes);
    copy_long(destination, entry->base + source.offset, bytes, source, *entry);
    return SENNIT_OK;
}

}  // namespace

extern "C" {

sennit_status sennit_put(sennit_gptr destination, const void *source, size_t bytes) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (bytes != kWord) [[unlikely]] {
        if (bytes <= op::kShortBytes) return put_near<op::copy_short>(destination, source, bytes);
        if (bytes <= op::kMiddleBytes)
            return put_near<op::copy_middle, op::kShortBytes + 1>(destination, source, bytes);
        if (bytes > kInPlaceBytes) return put_long(destination, source, bytes);
        if (has_copy_by_vectors) return put_by_vectors(destination, source, bytes);
        return put_near<copy_bytes>(destination, source, bytes);
    }
    if (put_direct<Look::near>(destination, source, kWord)) [[likely]]
        return SENNIT_OK;
    return put_far(destination, source, kWord);
}

sennit_status sennit_get(void *destination, sennit_gptr source, size_t bytes) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (bytes != kWord) [[unlikely]] {
        if (bytes <= op::kShortBytes) return get_near<op::copy_short>(destination, source, bytes);
        if (bytes <= op::kMiddleBytes)
            return get_near<op::copy_middle, op::kShortBytes + 1>(destination, source, bytes);
        if (bytes > kInPlaceBytes) return get_long(destination, source, bytes);
        if (has_copy_by_vectors) return get_by_vectors(destination, source, bytes);
        return get_near<copy_bytes>(destination, source, bytes);
    }
    if (get_direct<Look::near>(destination, source, kWord)) [[likely]]
        return SENNIT_OK;
    return get_far(destination, source, kWord);
}

sennit_status sennit_put_nb(sennit_gptr destination, const void *source, size_t bytes,
                            sennit_request *request) {
    if (request == nullptr) return null_argument("request", "sennit_put_nb");
    if (put_direct(destination, source, bytes)) {
        *request = SENNIT_REQUEST_NULL;
        return SENNIT_OK;
    }
    return put_cold(destination, source, bytes, {Mode::request, request}, "sennit_put_nb");
}

sennit_status sennit_get_nb(void *destination, sennit_gptr source, size_t bytes,
                            sennit_request *request) {
    if (request == nullptr) return null_argument("request", "sennit_get_nb");
    if (get_direct(destination, source, bytes)) {
        *request = SENNIT_REQUEST_NULL;
        return SENNIT_OK;
    }
    return get_cold(destination, source, bytes, {Mode::request, request}, "sennit_get_nb");
}

sennit_status sennit_put_nbi(sennit_gptr destination, const void *source, size_t bytes) {
    if (put_direct(destination, source, bytes)) return SENNIT_OK;
    return put_cold(destination, source, bytes, {Mode::implicit, nullptr}, "sennit_put_nbi");
}

sennit_status sennit_get_nbi(void *destination, sennit_gptr source, size_t bytes) {
    if (get_direct(destination, source, bytes)) return SENNIT_OK;
    return get_cold(destination, source, bytes, {Mode::implicit, nullptr}, "sennit_get_nbi");
}

sennit_status sennit_fence(void) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_fence");
    const Observed observed(*rank, "sennit_fence");
    return done(op::fence(*rank), "sennit_fence");
}

}  // extern "C"
