// Puts and gets: contiguous, strided, in blocks, of one element, and with a signal. Each function
// of the standard's table is one line here, which calls a template or a function on bytes.
#include "state.hpp"
#include "words.hpp"

namespace shmem {
namespace {

// A contiguous transfer.
struct Block {
    const char *call;
    std::size_t bytes;
    bool waits;
};

// One load and one store: another PE may poll the element, and must not see a part of it. memcpy()
// with a size that is known only at run time may store a word twice.
template <std::size_t kBytes>
inline void copy_element(void *to, const void *from) {
    if constexpr (kBytes == 2 || kBytes == 4 || kBytes == 8) {
        using Word = std::conditional_t<kBytes == 2, std::uint16_t, Bits<kBytes>>;
        struct [[gnu::packed, gnu::may_alias]] Unaligned {
            Word value;
        };
        static_cast<Unaligned *>(to)->value = static_cast<const Unaligned *>(from)->value;
    } else {
        std::memcpy(to, from, kBytes);
    }
}

inline void copy(void *to, const void *from, std::size_t bytes) {
    if (bytes == 8) return copy_element<8>(to, from);
    if (bytes == 4) return copy_element<4>(to, from);
    if (bytes == 2) return copy_element<2>(to, from);
    std::memmove(to, from, bytes);
}

// The C library may take twenty times as long if the destination begins a few bytes further into
// its page than the source. The core avoids that (docs/design/copies.md). This function is true for
// all copies that is_copied_slowly() in src/base/copy.hpp finds; frontends may not include that.
inline bool is_for_the_core(const void *to, const void *from, std::size_t bytes) {
    const std::uintptr_t behind =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    return bytes > 2048 && behind % 4096 - 1 < 63;
}

// Returns false if nothing was copied; see put_cold().
inline bool put(const Block &block, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    char *const to = reach(dest, block.bytes, world_pe(ctx, pe));
    if (to != nullptr && !is_for_the_core(to, source, block.bytes)) [[likely]]
        copy(to, source, block.bytes);
    else
        return put_cold({block.call, block.bytes, 1, 0, 0, block.waits}, ctx, dest, source, pe);
    return true;
}

inline void get(const Block &block, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    const char *const from = reach(source, block.bytes, world_pe(ctx, pe));
    if (from != nullptr && !is_for_the_core(dest, from, block.bytes)) [[likely]]
        copy(dest, from, block.bytes);
    else
        get_cold({block.call, block.bytes, 1, 0, 0, block.waits}, ctx, dest, source, pe);
}

// Strides count elements of `element` bytes.
struct Strided {
    const char *call;
    std::size_t element;
    std::ptrdiff_t dst, sst;
    std::size_t block_elements;
    std::size_t count;  // of blocks
};

bool has_strides(const Strided &strided) {
    const auto block_elements = static_cast<std::ptrdiff_t>(strided.block_elements);
    if (strided.dst >= block_elements && strided.sst >= block_elements) return true;
    wrong(strided.call,
          "arguments dst and sst: %td and %td are less than the length of a block, %zu",
          strided.dst, strided.sst, strided.block_elements);
    return false;
}

// Copies one element after the other; an element of 2, 4 or 8 bytes by one load and one store.
template <std::size_t kBytes>
void copy_elements(char *to, const char *from, const Strided &strided) {
    for (std::size_t i = 0; i < strided.count; ++i) {
        const auto index = static_cast<std::ptrdiff_t>(i * kBytes);
        copy_element<kBytes>(to + index * strided.dst, from + index * strided.sst);
    }
}

void copy_strided(char *to, const char *from, const Strided &strided) {
    if (strided.block_elements == 1) {
        switch (strided.element) {
            case 1:
                return copy_elements<1>(to, from, strided);
            case 2:
                return copy_elements<2>(to, from, strided);
            case 4:
                return copy_elements<4>(to, from, strided);
            case 8:
                return copy_elements<8>(to, from, strided);
            default:
                return copy_elements<16>(to, from, strided);
        }
    }
    for (std::size_t i = 0; i < strided.count; ++i) {
        const auto index = static_cast<std::ptrdiff_t>(i * strided.element);
        std::memcpy(to + index * strided.dst, from + index * strided.sst,
                    strided.block_elements * strided.element);
    }
}

// The number of bytes from the first block to the end of the last.
std::size_t span(const Strided &strided, std::ptrdiff_t stride) {
    return ((strided.count - 1) * static_cast<std::size_t>(stride) + strided.block_elements) *
           strided.element;
}

Transfer transfer_of(const Strided &strided, std::ptrdiff_t remote, std::ptrdiff_t local) {
    const auto element = static_cast<std::ptrdiff_t>(strided.element);
    return {strided.call,    strided.block_elements * strided.element,
            strided.count,   remote * element,
            local * element, true};
}

void put_strided(const Strided &strided, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    if (strided.count == 0 || strided.block_elements == 0 || !has_strides(strided)) return;
    char *const to = reach(dest, span(strided, strided.dst), world_pe(ctx, pe));
    if (to != nullptr)
        copy_strided(to, static_cast<const char *>(source), strided);
    else
        put_cold(transfer_of(strided, strided.dst, strided.sst), ctx, dest, source, pe);
}

void get_strided(const Strided &strided, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    if (strided.count == 0 || strided.block_elements == 0 || !has_strides(strided)) return;
    const char *const from = reach(source, span(strided, strided.sst), world_pe(ctx, pe));
    if (from != nullptr)
        copy_strided(static_cast<char *>(dest), from, strided);
    else
        get_cold(transfer_of(strided, strided.sst, strided.dst), ctx, dest, source, pe);
}

// Out of line, so that the hot path keeps the value in a register.
template <class T>
[[gnu::cold, gnu::noinline]] void put_element_cold(const char *call, shmem_ctx_t ctx, T *dest,
                                                   T value, int pe) {
    put_cold({call, sizeof value}, ctx, dest, &value, pe);
}

template <class T>
[[gnu::cold, gnu::noinline]] T get_element_cold(const char *call, shmem_ctx_t ctx, const T *source,
                                                int pe) {
    T value{};
    get_cold({call, sizeof value}, ctx, &value, source, pe);
    return value;
}

template <class T>
inline void put_element(const char *call, shmem_ctx_t ctx, T *dest, T value, int pe) {
    char *const to = reach(dest, sizeof value, world_pe(ctx, pe));
    if (to != nullptr) [[likely]]
        copy_element<sizeof value>(to, &value);
    else
        put_element_cold(call, ctx, dest, value, pe);
}

template <class T>
inline T get_element(const char *call, shmem_ctx_t ctx, const T *source, int pe) {
    const char *const from = reach(source, sizeof(T), world_pe(ctx, pe));
    if (from == nullptr) [[unlikely]]
        return get_element_cold(call, ctx, source, pe);
    T value{};
    copy_element<sizeof value>(&value, from);
    return value;
}

void put_signal(const Block &block, shmem_ctx_t ctx, void *dest, const void *source,
                const Signal &signal, int pe) {
    const bool is_far = block.bytes != 0 && reach(dest, block.bytes, world_pe(ctx, pe)) == nullptr;
    if (is_far && put_signal_cold({block.call, block.bytes, 1, 0, 0, block.waits}, ctx, dest,
                                  source, signal, pe))
        return;
    // No signal without the data.
    if (!put(block, ctx, dest, source, pe)) return;
    if (!state.all_direct) must(block.call, sennit_fence());
    give_signal(block.call, ctx, signal, pe);
}

}  // namespace

void put_bytes(const char *call, void *dest, const void *source, std::size_t bytes, int pe) {
    put({call, bytes, true}, SHMEM_CTX_DEFAULT, dest, source, pe);
}
void get_bytes(const char *call, void *dest, const void *source, std::size_t bytes, int pe) {
    get({call, bytes, true}, SHMEM_CTX_DEFAULT, dest, source, pe);
}
void put_elements(const char *call, void *dest, const void *source, const Elements &elements,
                  int pe) {
    put_strided({call, elements.element, elements.dst, elements.sst, 1, elements.count},
                SHMEM_CTX_DEFAULT, dest, source, pe);
}

// SIZE is the size of an element in bytes.
#define SHMEM_MOVE(PUT, NAME, ARGUMENTS, CTX, SIZE, WAITS)           \
    SHMEM_DEFINE(void, NAME, ARGUMENTS) {                            \
        PUT({#NAME, nelems * (SIZE), WAITS}, CTX, dest, source, pe); \
    }
#define SHMEM_MOVE_PAIR(PUT, T, BEFORE, VERB, SIZE, WAITS)                                     \
    SHMEM_MOVE(PUT, shmem_##BEFORE##VERB, (T * dest, const T *source, size_t nelems, int pe),  \
               SHMEM_CTX_DEFAULT, SIZE, WAITS)                                                 \
    SHMEM_MOVE(PUT, shmem_ctx_##BEFORE##VERB,                                                  \
               (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, int pe), ctx, SIZE, \
               WAITS)
#define SHMEM_SIGNAL(NAME, ARGUMENTS, CTX, SIZE, WAITS)                                            \
    SHMEM_DEFINE(void, NAME, ARGUMENTS) {                                                          \
        put_signal({#NAME, nelems * (SIZE), WAITS}, CTX, dest, source, {sig_addr, signal, sig_op}, \
                   pe);                                                                            \
    }
#define SHMEM_SIGNAL_PAIR(T, BEFORE, VERB, SIZE, WAITS)                                          \
    SHMEM_SIGNAL(shmem_##BEFORE##VERB,                                                           \
                 (T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, \
                  int sig_op, int pe),                                                           \
                 SHMEM_CTX_DEFAULT, SIZE, WAITS)                                                 \
    SHMEM_SIGNAL(shmem_ctx_##BEFORE##VERB,                                                       \
                 (shmem_ctx_t ctx, T * dest, const T *source, size_t nelems, uint64_t *sig_addr, \
                  uint64_t signal, int sig_op, int pe),                                          \
                 ctx, SIZE, WAITS)
#define SHMEM_MOVES(T, N, Z, SIZE)                        \
    SHMEM_MOVE_PAIR(put, T, N, put##Z, SIZE, true)        \
    SHMEM_MOVE_PAIR(get, T, N, get##Z, SIZE, true)        \
    SHMEM_MOVE_PAIR(put, T, N, put##Z##_nbi, SIZE, false) \
    SHMEM_MOVE_PAIR(get, T, N, get##Z##_nbi, SIZE, false) \
    SHMEM_SIGNAL_PAIR(T, N, put##Z##_signal, SIZE, true)  \
    SHMEM_SIGNAL_PAIR(T, N, put##Z##_signal_nbi, SIZE, false)

#define SHMEM_STRIDE(PUT, NAME, ARGUMENTS, CTX, ...)      \
    SHMEM_DEFINE(void, NAME, ARGUMENTS) {                 \
        PUT({#NAME, __VA_ARGS__}, CTX, dest, source, pe); \
    }
#define SHMEM_STRIDE_PAIR(PUT, T, BEFORE, VERB, SIZE)                                              \
    SHMEM_STRIDE(PUT, shmem_##BEFORE##i##VERB,                                                     \
                 (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
                 SHMEM_CTX_DEFAULT, SIZE, dst, sst, 1, nelems)                                     \
    SHMEM_STRIDE(PUT, shmem_ctx_##BEFORE##i##VERB,                                                 \
                 (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
                  size_t nelems, int pe),                                                          \
                 ctx, SIZE, dst, sst, 1, nelems)                                                   \
    SHMEM_STRIDE(PUT, shmem_##BEFORE##ib##VERB,                                                    \
                 (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,           \
                  size_t nblocks, int pe),                                                         \
                 SHMEM_CTX_DEFAULT, SIZE, dst, sst, bsize, nblocks)                                \
    SHMEM_STRIDE(PUT, shmem_ctx_##BEFORE##ib##VERB,                                                \
                 (shmem_ctx_t ctx, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,        \
                  size_t bsize, size_t nblocks, int pe),                                           \
                 ctx, SIZE, dst, sst, bsize, nblocks)
#define SHMEM_STRIDES(T, N, Z, SIZE)                   \
    SHMEM_STRIDE_PAIR(put_strided, T, N, put##Z, SIZE) \
    SHMEM_STRIDE_PAIR(get_strided, T, N, get##Z, SIZE)

#define SHMEM_TYPED(T, N, ...)                                                            \
    SHMEM_MOVES(T, N##_, , sizeof(T))                                                     \
    SHMEM_STRIDES(T, N##_, , sizeof(T))                                                   \
    SHMEM_DEFINE(void, shmem_##N##_p, (T * dest, T value, int pe)) {                      \
        put_element("shmem_" #N "_p", SHMEM_CTX_DEFAULT, dest, value, pe);                \
    }                                                                                     \
    SHMEM_DEFINE(void, shmem_ctx_##N##_p, (shmem_ctx_t ctx, T * dest, T value, int pe)) { \
        put_element("shmem_ctx_" #N "_p", ctx, dest, value, pe);                          \
    }                                                                                     \
    SHMEM_DEFINE(T, shmem_##N##_g, (const T *source, int pe)) {                           \
        return get_element("shmem_" #N "_g", SHMEM_CTX_DEFAULT, source, pe);              \
    }                                                                                     \
    SHMEM_DEFINE(T, shmem_ctx_##N##_g, (shmem_ctx_t ctx, const T *source, int pe)) {      \
        return get_element("shmem_ctx_" #N "_g", ctx, source, pe);                        \
    }
#define SHMEM_SIZED(BITS)               \
    SHMEM_MOVES(void, , BITS, BITS / 8) \
    SHMEM_STRIDES(void, , BITS, BITS / 8)

SENNIT_SHMEM_RMA(SHMEM_TYPED, )
SENNIT_SHMEM_SIZES(SHMEM_SIZED)
SHMEM_MOVES(void, , mem, 1)

}  // namespace shmem
