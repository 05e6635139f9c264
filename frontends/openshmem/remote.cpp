// Transfers and atomic operations without a pointer to the PE's memory, and their errors.
//
// Atomic operations. If some PE is reached by messages, Sennit executes all atomic operations on
// the owner's node. If some PE is reached by kernel copies, nothing can execute at the other end.
// Every PE, the owner included, then takes a lock of the target first. The words of the lock are
// after the target's heap and are accessed only by put and get. So the lock is Lamport's bakery
// (1974): each word has one writer, and a read during a write may return any value.
#include <dlfcn.h>
#include <sys/auxv.h>

#include <atomic>
#include <mutex>
#include <string>

#include "state.hpp"
#include "words.hpp"

namespace shmem {
namespace {

// Returns the area that contains the bytes, and sets the offset in it; null if there is none.
const Area *area_of(const void *address, std::size_t bytes, std::size_t *offset) {
    for (const Area &area : state.areas) {
        *offset = reinterpret_cast<std::uintptr_t>(address) - area.base;
        if (*offset < area.bytes && bytes <= area.bytes - *offset) return &area;
    }
    return nullptr;
}

// The PE's number in the world. Reports an invalid PE; returns -1 if checks are off.
int find_pe(const char *call, shmem_ctx_t ctx, int pe) {
    if (state.pes == 0) fail(call, "the library is not initialised");
    const int number = world_pe(ctx, pe);
    if (static_cast<unsigned>(number) < static_cast<unsigned>(state.pes)) return number;
    if (ctx == SHMEM_CTX_INVALID)
        wrong(call, "argument ctx: it is SHMEM_CTX_INVALID");
    else if (ctx != SHMEM_CTX_DEFAULT && context_of(ctx)->team->pes == 0)
        wrong(call, "argument ctx: it was destroyed, or its team was");
    else
        wrong(call, "argument pe: there is no PE %d", pe);
    return -1;
}

// An argument of a call that must be symmetric memory.
struct SymmetricArgument {
    const char *call;
    const char *name;
    const void *address;
    std::size_t bytes;
};
// The corresponding memory of a PE. `area` is null if the arguments are wrong and checks are off.
struct Place {
    const Area *area = nullptr;
    sennit_gptr gptr{};
    int pe = -1;  // of the world
};

// Whether the object is the program itself, whose headers the kernel gives to the process.
bool is_program(const Dl_info &object) {
    Dl_info program{};
    const auto *const headers = reinterpret_cast<const void *>(getauxval(AT_PHDR));
    return dladdr(headers, &program) != 0 && program.dli_fbase == object.dli_fbase;
}

// A hint for the error about memory that is not symmetric: a cause that the address does not show.
std::string location_hint(const SymmetricArgument &argument) {
    std::size_t offset = 0;
    if (area_of(argument.address, 1, &offset) != nullptr)
        return ": they begin in symmetric memory and end outside";
    Dl_info object{};
    if (dladdr(argument.address, &object) == 0 || object.dli_fname == nullptr) return "";
    const bool is_switched_off = !state.has_statics && is_program(object);
    return std::string(": they are in ") + object.dli_fname +
           (is_switched_off ? ", and with SENNIT_SHMEM_STATICS=off variables are not symmetric"
                            : "");
}

Place find_place(const SymmetricArgument &argument, shmem_ctx_t ctx, int pe) {
    const int number = find_pe(argument.call, ctx, pe);
    if (number < 0) return {};
    std::size_t offset = 0;
    const Area *const area = area_of(argument.address, argument.bytes, &offset);
    if (area == nullptr) {
        wrong(argument.call, "argument %s: %zu byte%s at %p %s not symmetric memory (for PE %d)%s",
              argument.name, argument.bytes, argument.bytes == 1 ? "" : "s", argument.address,
              argument.bytes == 1 ? "is" : "are", pe, location_hint(argument).c_str());
        return {};
    }
    return {area, sennit_gptr_add(area->places[number], static_cast<std::int64_t>(offset)), number};
}

// The number of bytes from the first to the last one accessed.
std::size_t span_of(const Transfer &transfer) {
    return (transfer.count - 1) * static_cast<std::size_t>(transfer.remote_stride) + transfer.bytes;
}

sennit_box box_of(const Transfer &transfer) {
    return sennit_box_line(transfer.bytes, transfer.count, transfer.remote_stride,
                           transfer.local_stride);
}

// The words of one PE for the lock in the target's memory, with the names of Lamport's paper.
struct Stall {
    std::uint64_t choosing;
    std::uint64_t number;
};

class Bakery {
  public:
    Bakery(const char *call, int pe)
        : call_(call),
          pe_(pe),
          stalls_(sennit_gptr_add(state.areas[kHeap].places[pe],
                                  static_cast<std::int64_t>(state.areas[kHeap].bytes))),
          turn_(mutex_) {
        write(offsetof(Stall, choosing), 1);
        std::uint64_t highest = 0;
        for (int other = 0; other < state.pes; ++other) {
            const std::uint64_t number = read(other).number;
            if (number > highest) highest = number;
        }
        const std::uint64_t mine = highest + 1;
        write(offsetof(Stall, number), mine);
        write(offsetof(Stall, choosing), 0);
        for (int other = 0; other < state.pes; ++other) {
            if (other != state.me) wait_for(other, mine);
        }
    }
    Bakery(const Bakery &) = delete;
    Bakery &operator=(const Bakery &) = delete;
    ~Bakery() { write(offsetof(Stall, number), 0); }

  private:
    static inline std::mutex mutex_;  // threads of this PE share its stalls

    sennit_gptr at(int pe, std::size_t offset) const {
        return sennit_gptr_add(stalls_, static_cast<std::int64_t>(
                                            static_cast<std::size_t>(pe) * sizeof(Stall) + offset));
    }
    // Earlier operations complete before the write, and the write completes before later ones.
    // SYNC shmem-stall: a release fence by the flush; pairs with the acquire in read().
    void write(std::size_t offset, std::uint64_t value) const {
        must(call_, sennit_flush(pe_, state.limit_ns));
        must(call_, sennit_put(at(state.me, offset), &value, sizeof value));
        must(call_, sennit_flush(pe_, state.limit_ns));
    }
    Stall read(int pe) const {
        Stall stall;
        must(call_, sennit_get(&stall, at(pe, 0), sizeof stall));
        // SYNC shmem-stall: an acquire fence; pairs with the flush in write(), a fence. If the
        // stalls are mapped, the fence orders these loads before the locked operation.
        std::atomic_thread_fence(std::memory_order_acquire);
        return stall;
    }
    // Waits until the other PE is not before this one. Patience ends the job if the other PE has
    // died, since its words then never change.
    void wait_for(int other, std::uint64_t mine) const {
        Patience patience(call_);
        while (read(other).choosing != 0)
            patience.wait();
        for (;;) {
            const std::uint64_t number = read(other).number;
            if (number == 0 || number > mine || (number == mine && other > state.me)) return;
            patience.wait();
        }
    }

    const char *call_;
    int pe_;
    sennit_gptr stalls_;
    std::lock_guard<std::mutex> turn_;
};

std::uint64_t changed(const WordValues &values, std::uint64_t old) {
    switch (values.change) {
        case Change::fetch:
            return old;
        case Change::set:
            return values.value;
        case Change::add:
            return old + values.value;
        case Change::bit_and:
            return old & values.value;
        case Change::bit_or:
            return old | values.value;
        case Change::bit_xor:
            return old ^ values.value;
        case Change::compare_swap:
            return old == values.expected ? values.value : old;
    }
    return old;
}

template <class Word>
std::uint64_t change_locked(const WordCall &word, const WordValues &values, const Place &place) {
    const Bakery lock(word.call, place.pe);
    Word old = 0;
    must(word.call, sennit_get(&old, place.gptr, sizeof old));
    const auto now = static_cast<Word>(changed(values, old));
    if (now != old) must(word.call, sennit_put(place.gptr, &now, sizeof now));
    return old;
}

// Defines the change of a word of one width by Sennit's calls.
#define SHMEM_CHANGE_BY_SENNIT(T, S)                                                          \
    sennit_status change_by_sennit(const WordValues &values, sennit_gptr place, T *old) {     \
        const auto value = static_cast<T>(values.value);                                      \
        switch (values.change) {                                                              \
            case Change::fetch:                                                               \
                return sennit_atomic_fetch_##S(place, old);                                   \
            case Change::set:                                                                 \
                return sennit_atomic_swap_##S(place, value, old);                             \
            case Change::add:                                                                 \
                return sennit_atomic_fetch_add_##S(place, value, old);                        \
            case Change::bit_and:                                                             \
                return sennit_atomic_fetch_and_##S(place, value, old);                        \
            case Change::bit_or:                                                              \
                return sennit_atomic_fetch_or_##S(place, value, old);                         \
            case Change::bit_xor:                                                             \
                return sennit_atomic_fetch_xor_##S(place, value, old);                        \
            case Change::compare_swap:                                                        \
                return sennit_atomic_compare_swap_##S(place, static_cast<T>(values.expected), \
                                                      value, old);                            \
        }                                                                                     \
        return SENNIT_ERR_INTERNAL;                                                           \
    }
SHMEM_CHANGE_BY_SENNIT(std::uint32_t, u32)
SHMEM_CHANGE_BY_SENNIT(std::uint64_t, u64)
#undef SHMEM_CHANGE_BY_SENNIT

template <class Word>
std::uint64_t change_word(const WordCall &word, const WordValues &values, const Place &place) {
    if (place.area->is_locked) return change_locked<Word>(word, values, place);
    Word old = 0;
    must(word.call, change_by_sennit(values, place.gptr, &old));
    return old;
}

}  // namespace

bool put_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    if (transfer.bytes == 0 || transfer.count == 0) return true;
    const Place place = find_place({transfer.call, "dest", dest, span_of(transfer)}, ctx, pe);
    if (place.area == nullptr) return false;
    const sennit_box box = box_of(transfer);
    if (transfer.count == 1)
        must(transfer.call, transfer.waits ? sennit_put_local(place.gptr, source, transfer.bytes)
                                           : sennit_put_nbi(place.gptr, source, transfer.bytes));
    else
        must(transfer.call, transfer.waits ? sennit_put_strided_local(place.gptr, source, &box)
                                           : sennit_put_strided_nbi(place.gptr, source, &box));
    return true;
}

bool put_signal_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest, const void *source,
                     const Signal &signal, int pe) {
    const Place place = find_place({transfer.call, "dest", dest, transfer.bytes}, ctx, pe);
    if (place.area == nullptr || !is_signal_operator(transfer.call, signal.op)) return true;
    const Place word =
        find_place({transfer.call, "sig_addr", signal.word, sizeof *signal.word}, ctx, pe);
    if (word.area == nullptr) return true;
    // In this area atomic operations use the Bakery lock, and Sennit's call does not.
    if (word.area->is_locked) return false;
    const sennit_operator operation = signal.op == SHMEM_SIGNAL_SET ? SENNIT_REPLACE : SENNIT_SUM;
    const auto call = transfer.waits ? sennit_put_word : sennit_put_word_nbi;
    must(transfer.call,
         call(place.gptr, source, transfer.bytes, word.gptr, operation, signal.value));
    return true;
}

bool get_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest, const void *source, int pe) {
    if (transfer.bytes == 0 || transfer.count == 0) return true;
    const Place place = find_place({transfer.call, "source", source, span_of(transfer)}, ctx, pe);
    if (place.area == nullptr) return false;
    const sennit_box box = box_of(transfer);
    if (transfer.count == 1)
        must(transfer.call, transfer.waits ? sennit_get(dest, place.gptr, transfer.bytes)
                                           : sennit_get_nbi(dest, place.gptr, transfer.bytes));
    else
        must(transfer.call, transfer.waits ? sennit_get_strided(dest, place.gptr, &box)
                                           : sennit_get_strided_nbi(dest, place.gptr, &box));
    return true;
}

std::uint64_t change_cold(const WordCall &word, const WordValues &values, shmem_ctx_t ctx,
                          void *dest, int pe) {
    const Place place = find_place({word.call, word.argument, dest, values.bytes}, ctx, pe);
    if (place.area == nullptr) return 0;
    return values.bytes == 4 ? change_word<std::uint32_t>(word, values, place)
                             : change_word<std::uint64_t>(word, values, place);
}

}  // namespace shmem
