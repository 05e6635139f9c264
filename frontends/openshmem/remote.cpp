// Transfers and atomic operations where no pointer leads to the PE's memory, and what is wrong with
// those that have no way at all.
//
// Atomic operations. Where messages lead to some PE, Sennit has the owner's node operate for all.
// Where the kernel copies, nothing operates at the other end: then every PE, the owner too, takes a
// lock of the target first. Its words lie behind the target's heap and are reached by put and get
// alone, so it is Lamport's bakery (1974): each word has one writer, and a word that is read while
// it changes may read as anything.
#include <atomic>
#include <mutex>

#include "state.hpp"

namespace shmem {
namespace {

// The area that the address lies in, and where there; null: none.
const Area *area_of(const void *address, std::size_t bytes, std::size_t *offset) {
    for (const Area &area : state.areas) {
        *offset = reinterpret_cast<std::uintptr_t>(address) - area.base;
        if (*offset < area.bytes && bytes <= area.bytes - *offset) return &area;
    }
    return nullptr;
}

// Finds the place, or says what is wrong; a null area if that is not to be said.
const Area *find_place(const char *call, const void *address, std::size_t bytes, int pe,
                       sennit_gptr *place) {
    std::size_t offset = 0;
    if (state.pes == 0) fail(call, "the library is not initialised");
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.pes)) {
        if (state.checks) fail(call, "argument pe: there is no such PE as %d", pe);
        return nullptr;
    }
    const Area *area = area_of(address, bytes, &offset);
    if (area == nullptr) {
        if (state.checks)
            fail(call, "%zu bytes at %p are not symmetric memory (for PE %d)", bytes, address, pe);
        return nullptr;
    }
    *place = sennit_gptr_add(area->places[pe], static_cast<std::int64_t>(offset));
    return area;
}

// From the first byte touched to the last; where elements go backwards the first is the lowest.
std::size_t span_of(const Transfer &it) {
    return (it.count - 1) * static_cast<std::size_t>(it.remote_stride) + it.bytes;
}

sennit_box box_of(const Transfer &it) {
    return sennit_box_line(it.bytes, it.count, it.remote_stride, it.local_stride);
}

// The bakery: two words for each PE in the target's memory.
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
    // All that went before is complete, and this before all that follows. SYNC shmem-stall: a
    // release fence by the flush; pairs with the acquire in read().
    void write(std::size_t offset, std::uint64_t value) const {
        must(call_, sennit_flush(pe_, SENNIT_FOREVER));
        must(call_, sennit_put(at(state.me, offset), &value, sizeof value));
        must(call_, sennit_flush(pe_, SENNIT_FOREVER));
    }
    Stall read(int pe) const {
        Stall stall;
        must(call_, sennit_get(&stall, at(pe, 0), sizeof stall));
        // SYNC shmem-stall: an acquire fence; pairs with the flush in write(), a fence. Where the
        // stalls are mapped, looks come in the program's order, and before what the lock is for.
        std::atomic_thread_fence(std::memory_order_acquire);
        return stall;
    }
    // A PE that has died leaves its words as they are.
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

std::uint64_t changed(const WordCall &it, std::uint64_t old) {
    switch (it.change) {
        case Change::fetch:
            return old;
        case Change::set:
            return it.value;
        case Change::add:
            return old + it.value;
        case Change::bit_and:
            return old & it.value;
        case Change::bit_or:
            return old | it.value;
        case Change::bit_xor:
            return old ^ it.value;
        case Change::compare_swap:
            return old == it.expected ? it.value : old;
    }
    return old;
}

template <class Word>
std::uint64_t change_locked(const WordCall &it, sennit_gptr place, int pe) {
    const Bakery lock(it.call, pe);
    Word old = 0;
    must(it.call, sennit_get(&old, place, sizeof old));
    const auto now = static_cast<Word>(changed(it, old));
    if (now != old) must(it.call, sennit_put(place, &now, sizeof now));
    return old;
}

// The calls of Sennit for a width.
#define SHMEM_CHANGE_BY_SENNIT(T, S)                                                             \
    sennit_status change_by_sennit(const WordCall &it, sennit_gptr place, T value, T *old) {     \
        switch (it.change) {                                                                     \
            case Change::fetch:                                                                  \
                return sennit_atomic_fetch_##S(place, old);                                      \
            case Change::set:                                                                    \
                return sennit_atomic_swap_##S(place, value, old);                                \
            case Change::add:                                                                    \
                return sennit_atomic_fetch_add_##S(place, value, old);                           \
            case Change::bit_and:                                                                \
                return sennit_atomic_fetch_and_##S(place, value, old);                           \
            case Change::bit_or:                                                                 \
                return sennit_atomic_fetch_or_##S(place, value, old);                            \
            case Change::bit_xor:                                                                \
                return sennit_atomic_fetch_xor_##S(place, value, old);                           \
            case Change::compare_swap:                                                           \
                return sennit_atomic_compare_swap_##S(place, static_cast<T>(it.expected), value, \
                                                      old);                                      \
        }                                                                                        \
        return SENNIT_ERR_INTERNAL;                                                              \
    }
SHMEM_CHANGE_BY_SENNIT(std::uint32_t, u32)
SHMEM_CHANGE_BY_SENNIT(std::uint64_t, u64)
#undef SHMEM_CHANGE_BY_SENNIT

template <class Word>
std::uint64_t change_word(const Area &area, const WordCall &it, sennit_gptr place, int pe) {
    if (area.is_locked) return change_locked<Word>(it, place, pe);
    Word old = 0;
    must(it.call, change_by_sennit(it, place, static_cast<Word>(it.value), &old));
    return old;
}

}  // namespace

void put_cold(const Transfer &it, void *dest, const void *source, int pe) {
    if (it.bytes == 0 || it.count == 0) return;
    sennit_gptr place;
    if (find_place(it.call, dest, span_of(it), pe, &place) == nullptr) return;
    const sennit_box box = box_of(it);
    if (it.count == 1)
        must(it.call, it.waits ? sennit_put(place, source, it.bytes)
                               : sennit_put_nbi(place, source, it.bytes));
    else
        must(it.call, it.waits ? sennit_put_strided(place, source, &box)
                               : sennit_put_strided_nbi(place, source, &box));
}

void get_cold(const Transfer &it, void *dest, const void *source, int pe) {
    if (it.bytes == 0 || it.count == 0) return;
    sennit_gptr place;
    if (find_place(it.call, source, span_of(it), pe, &place) == nullptr) return;
    const sennit_box box = box_of(it);
    if (it.count == 1)
        must(it.call,
             it.waits ? sennit_get(dest, place, it.bytes) : sennit_get_nbi(dest, place, it.bytes));
    else
        must(it.call, it.waits ? sennit_get_strided(dest, place, &box)
                               : sennit_get_strided_nbi(dest, place, &box));
}

std::uint64_t change_cold(const WordCall &it, void *dest, int pe) {
    sennit_gptr place;
    const Area *area = find_place(it.call, dest, it.bytes, pe, &place);
    if (area == nullptr) return 0;
    return it.bytes == 4 ? change_word<std::uint32_t>(*area, it, place, pe)
                         : change_word<std::uint64_t>(*area, it, place, pe);
}

}  // namespace shmem
