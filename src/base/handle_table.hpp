// SPDX-License-Identifier: BSD-3-Clause
// A table of objects that are found by handle, such as channels, signals and requests. It owns the
// memory of the objects and chooses their places and handles. The owner of the table fills the
// objects and has a lock. All calls need the lock, except look-ups: find(), at(), hot_find() and
// operator[] of a found object.
//
// A handle has, from its highest bit: generation (upper part) | place | generation (lower part,
// kShift bits). Each use of a place has the next generation, which is never 0. So the handle of a
// destroyed object finds nothing until the generations of the place wrap around.
//
// Objects never move. They are in chunks of zeroed memory that stay until close(). Each chunk is as
// long as all earlier chunks together.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

namespace sennit {

template <class Integer, unsigned kPlaces, unsigned kGenerations, unsigned kShift = 0>
struct HandleLayout {
    using Word = Integer;
    static constexpr unsigned kPlaceBits = kPlaces;
    static constexpr unsigned kPlaceShift = kShift;
    static constexpr Word kPlaceMask = ((Word{1} << kPlaces) - 1) << kShift;
    static constexpr std::uint32_t kGenerationMost = UINT32_MAX >> (32 - kGenerations);
    static_assert(kPlaces < 32 && kGenerations <= 32 && kShift <= kGenerations);
    static_assert(kPlaces + kGenerations <= 8 * sizeof(Word));

    static constexpr std::uint32_t place_of(Word handle) {
        return static_cast<std::uint32_t>((handle & kPlaceMask) >> kShift);
    }
    // Like place_of() for handles with a place in the first chunk. For other handles a layout may
    // return any place outside of that chunk.
    static constexpr std::uint32_t hot_place_of(Word handle) { return place_of(handle); }
    static constexpr Word make(std::uint32_t place, std::uint32_t generation) {
        constexpr Word kLow = (Word{1} << kShift) - 1;
        return (generation & ~kLow) << kPlaces | Word{place} << kShift | (generation & kLow);
    }
};

// How a table grows. `places` and `first_chunk` are powers of two. Place 0 is used only if
// first_place is 0. The memory of place 0 starts with all bits 1 in any case.
struct TableShape {
    std::uint32_t places;       // number of all places
    std::uint32_t first_chunk;  // number of places in the first chunk
    std::uint32_t fewest = 1;   // places that are used before the first one is reused
    std::uint32_t first_place = 1;

    constexpr bool is_one_array() const { return places == first_chunk; }
    constexpr std::uint32_t first_bits() const {
        return static_cast<std::uint32_t>(std::bit_width(first_chunk)) - 1;
    }
    constexpr std::uint32_t chunks() const {
        return static_cast<std::uint32_t>(std::bit_width(places)) - first_bits();
    }
    constexpr std::uint32_t chunk_of(std::uint32_t place) const {
        if (is_one_array()) return 0;
        const auto bits = static_cast<std::uint32_t>(std::bit_width(place));
        return bits <= first_bits() ? 0 : bits - first_bits();
    }
    constexpr std::uint32_t first_of(std::uint32_t chunk) const {
        return chunk == 0 ? 0 : 1u << (first_bits() + chunk - 1);
    }
    constexpr std::uint32_t places_in(std::uint32_t chunk) const {
        return chunk == 0 ? first_chunk : first_of(chunk);
    }
};

// The first chunk of a table, for the first look-up of calls on a hot path. Null: there is no
// chunk, or these calls must not find it.
struct HotTable {
    std::atomic<void *> chunk{nullptr};  // SYNC hot-table

    void show(void *first_chunk) {
        // SYNC hot-table: pairs with the acquire in first(); the empty places come before.
        chunk.store(first_chunk, std::memory_order_release);
    }
    void *first() const {
        // SYNC hot-table: pairs with the release in show(); the empty places come before.
        return chunk.load(std::memory_order_acquire);
    }
    // Called before the chunk is freed. A later look-up finds nothing. A look-up at the same time
    // is an error of the program.
    void hide() {
        // relaxed: the caller has ordered all earlier calls before this.
        chunk.store(nullptr, std::memory_order_relaxed);
    }
};

// An Object has an atomic `handle`: a Word, or something wider that contains it.
template <class Object, class Layout, TableShape kShape>
class HandleTable {
  public:
    using Word = typename Layout::Word;
    using Key = typename decltype(Object::handle)::value_type;
    static constexpr std::uint32_t kMost = kShape.places - kShape.first_place;
    static constexpr bool kIsOneArray = kShape.is_one_array();
    static_assert(std::has_single_bit(kShape.places) && std::has_single_bit(kShape.first_chunk));
    static_assert(kShape.places <= std::uint64_t{1} << Layout::kPlaceBits);
    static_assert(Layout::make(kShape.places - 1, Layout::kGenerationMost) != static_cast<Word>(-1),
                  "a handle of ones means none");

    // The object of a handle, or null. `key`: the value of its field `handle`.
    Object *find(Word handle, Key key) const {
        Object *object = at(Layout::place_of(handle));
        if (object == nullptr) [[unlikely]]
            return nullptr;
        // SYNC handle: pairs with the release in publish(); the object comes before.
        return object->handle.load(std::memory_order_acquire) == key ? object : nullptr;
    }
    Object *find(Word handle) const { return find(handle, handle); }

    // The object at the place, in use or not. Null: the table has no memory for this place.
    Object *at(std::uint32_t place) const {
        const std::uint32_t number = kShape.chunk_of(place);
        if constexpr (kShape.places < std::uint64_t{1} << Layout::kPlaceBits)
            if (number >= kChunks) [[unlikely]]
                return nullptr;
        // SYNC handle-table: pairs with the release in grow(); the empty places come before.
        Object *chunk = chunks_[number].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + (place - kShape.first_of(number));
    }

    // Like at(), for a place that has memory.
    Object &operator[](std::uint32_t place) const {
        const std::uint32_t number = kShape.chunk_of(place);
        // relaxed: the caller has found the object of the place before, or holds the lock.
        Object *chunk = chunks_[number].load(std::memory_order_relaxed);
        return chunk[place - kShape.first_of(number)];
    }

    // The object at the place of a handle in the first chunk. Null: there is no chunk, or the place
    // is in a later chunk.
    static Object *hot_place(void *first_chunk, Word handle) {
        if (first_chunk == nullptr) [[unlikely]]
            return nullptr;
        if constexpr (kIsOneArray) {
            // Saves a shift: the masked handle is place << kPlaceShift, and its product with
            // kStride is the place's offset in bytes.
            static_assert(sizeof(Object) % (std::size_t{1} << Layout::kPlaceShift) == 0);
            constexpr std::size_t kStride = sizeof(Object) >> Layout::kPlaceShift;
            auto *begin = static_cast<std::byte *>(first_chunk);
            return reinterpret_cast<Object *>(begin + (handle & Layout::kPlaceMask) * kStride);
        } else {
            const std::uint32_t place = Layout::hot_place_of(handle);
            if (place >= kShape.first_chunk) return nullptr;
            return static_cast<Object *>(first_chunk) + place;
        }
    }
    // The object of a handle in the first chunk, or null.
    static Object *hot_find(void *first_chunk, Word handle, Key key) {
        Object *object = hot_place(first_chunk, handle);
        if (object == nullptr) [[unlikely]]
            return nullptr;
        // SYNC handle: pairs with the release in publish(); the object comes before.
        return object->handle.load(std::memory_order_acquire) == key ? object : nullptr;
    }
    void show(HotTable &hot) const { hot.show(at(0)); }

    // Takes a place for an object, which find() does not return yet. The object still has the
    // contents of the last object at this place, if any. Null: the table is full, or there is no
    // memory (errno).
    Object *take() {
        const bool may_grow = end_ < kShape.places;
        if (may_grow && (first_free_ == 0 || end_ < kShape.first_place + kShape.fewest)) {
            if (at(end_) == nullptr && !grow()) return nullptr;
            ++in_use_;
            return at(end_++);
        }
        if (first_free_ == 0) return nullptr;
        const std::uint32_t place = first_free_ - 1;
        first_free_ = use_at(place).next_free;
        if (first_free_ == 0) last_free_ = 0;
        ++in_use_;
        return at(place);
    }
    bool is_full() const { return end_ == kShape.places && first_free_ == 0; }

    // Makes the next handle of the object's place. Each call returns another handle.
    Word next_handle(const Object &object) {
        const std::uint32_t place = place_of(object);
        std::uint32_t &generation = use_at(place).generation;
        generation = generation % Layout::kGenerationMost + 1;
        return Layout::make(place, generation);
    }
    // From here on find() returns the object.
    void publish(Object &object, Key key) {
        // SYNC handle: pairs with the acquire in find(); the object comes before.
        object.handle.store(key, std::memory_order_release);
    }
    Word publish(Object &object) {
        const Word handle = next_handle(object);
        publish(object, handle);
        return handle;
    }

    // find() no longer returns the object, and its place is free.
    void give_back(Object &object) {
        const std::uint32_t place = place_of(object);
        // relaxed: a call that still finds the object runs at the same time, which is the program's
        // error.
        object.handle.store(place == 0 ? kNoKey : 0, std::memory_order_relaxed);
        use_at(place).next_free = 0;
        (last_free_ != 0 ? use_at(last_free_ - 1).next_free : first_free_) = place + 1;
        last_free_ = place + 1;
        --in_use_;
    }

    std::uint32_t place_of(const Object &object) const {
        std::uint32_t number = chunk_count_;
        std::uintptr_t bytes = 0;
        do {
            // relaxed: under the owner's lock.
            const Object *chunk = chunks_[--number].load(std::memory_order_relaxed);
            bytes =
                reinterpret_cast<std::uintptr_t>(&object) - reinterpret_cast<std::uintptr_t>(chunk);
        } while (bytes >= sizeof(Object) * kShape.places_in(number) && number != 0);
        return kShape.first_of(number) + static_cast<std::uint32_t>(bytes / sizeof(Object));
    }

    std::uint32_t in_use() const { return in_use_; }
    std::uint32_t chunk_count() const { return chunk_count_; }
    // All places that were ever used are below this one.
    std::uint32_t end() const { return end_; }

    // Visits every object that was ever taken. Nobody else may use the table.
    template <class Call>
    void each(Call call) const {
        for (std::uint32_t place = kShape.first_place; place < end_; ++place)
            call((*this)[place]);
    }

    // Resets the table to its first state. Nobody may search it any more.
    void close() {
        for (std::uint32_t number = 0; number < chunk_count_; ++number) {
            // relaxed twice: nobody else uses the table.
            (void)munmap(chunks_[number].load(std::memory_order_relaxed), bytes_of(number));
            chunks_[number].store(nullptr, std::memory_order_relaxed);
        }
        end_ = kShape.first_place;
        chunk_count_ = first_free_ = last_free_ = in_use_ = 0;
    }

  private:
    static constexpr std::uint32_t kChunks = kShape.chunks();
    static constexpr Key kNoKey = static_cast<Key>(-1);

    // The table's own data of a place. Stored after the objects of its chunk.
    struct Use {
        std::uint32_t generation;  // of the last handle
        std::uint32_t next_free;   // place + 1; 0: none
    };

    static constexpr std::size_t bytes_of(std::uint32_t chunk) {
        return (sizeof(Object) + sizeof(Use)) * kShape.places_in(chunk);
    }

    Use &use_at(std::uint32_t place) const {
        const std::uint32_t number = kShape.chunk_of(place);
        // relaxed: under the owner's lock.
        Object *chunk = chunks_[number].load(std::memory_order_relaxed);
        auto *uses = reinterpret_cast<Use *>(chunk + kShape.places_in(number));
        return uses[place - kShape.first_of(number)];
    }

    bool grow() {
        // Untouched pages take only address space.
        void *memory = mmap(nullptr, bytes_of(chunk_count_), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        // The handle 0 has place 0, and free places have the handle 0. So place 0 has another
        // handle while it is free: otherwise find(0) would return it.
        if (chunk_count_ == 0) std::memset(memory, 0xFF, sizeof(Object));
        // SYNC handle-table: pairs with the acquire in at(); the empty places come before.
        chunks_[chunk_count_++].store(static_cast<Object *>(memory), std::memory_order_release);
        return true;
    }

    std::atomic<Object *> chunks_[kChunks] = {};  // SYNC handle-table
    std::uint32_t chunk_count_ = 0;
    std::uint32_t end_ = kShape.first_place;
    // The first and the last free place, plus 1; 0: none. Use::next_free links the free places. The
    // place that has been free for longest is reused first.
    std::uint32_t first_free_ = 0;
    std::uint32_t last_free_ = 0;
    std::uint32_t in_use_ = 0;
};

// A table of pointers to objects in the owner's memory. An Object has a `handle` that is not
// atomic.
template <class Object, class Layout, TableShape kShape>
class PointerTable {
  public:
    static constexpr std::uint32_t kMost = kShape.places - 1;

    PointerTable() = default;
    ~PointerTable() { table_.close(); }
    PointerTable(const PointerTable &) = delete;
    PointerTable &operator=(const PointerTable &) = delete;

    Object *find(typename Layout::Word handle) const {
        // SYNC handle: pairs with the release in put(); the object comes before.
        Object *object = objects_[Layout::place_of(handle)].load(std::memory_order_acquire);
        return object != nullptr && object->handle == handle ? object : nullptr;
    }
    // Gives the object its handle. False: the table is full, or there is no memory.
    bool put(Object *object) {
        Place *place = table_.take();
        if (place == nullptr) return false;
        object->handle = table_.next_handle(*place);
        // SYNC handle: pairs with the acquire in find(); the object comes before.
        objects_[table_.place_of(*place)].store(object, std::memory_order_release);
        return true;
    }
    bool is_full() const { return table_.is_full(); }
    void remove(const Object &object) {
        const std::uint32_t place = Layout::place_of(object.handle);
        // relaxed: a call that still finds the object runs at the same time, which is the program's
        // error.
        objects_[place].store(nullptr, std::memory_order_relaxed);
        table_.give_back(table_[place]);
    }
    // Visits the objects in the table. Nobody else may use it.
    template <class Call>
    void each(Call call) const {
        for (std::uint32_t place = kShape.first_place; place < table_.end(); ++place) {
            // relaxed: there is one thread.
            Object *object = objects_[place].load(std::memory_order_relaxed);
            if (object != nullptr) call(object);
        }
    }

  private:
    struct Place {
        std::atomic<typename Layout::Word> handle;  // HandleTable needs it; not used
    };
    static_assert(kShape.places == std::uint32_t{1} << Layout::kPlaceBits);

    HandleTable<Place, Layout, kShape> table_;  // chooses places and generations
    // An array of its own instead of a field of Place: find() follows one pointer less.
    std::atomic<Object *> objects_[kShape.places] = {};
};

// Returns the object that `made` points to; the first call makes it. Null: no memory. One call at a
// time. `made` is a std::atomic of a pointer, or similar.
template <class AtomicPointer>
auto *make_once(AtomicPointer &made) {
    // relaxed: only these calls change it.
    auto *tables = made.load(std::memory_order_relaxed);
    if (tables != nullptr) return tables;
    tables = new (std::nothrow) std::remove_pointer_t<decltype(tables)>;
    // SYNC handle-table: pairs with the acquire in made_once(); the empty tables come before.
    if (tables != nullptr) made.store(tables, std::memory_order_release);
    return tables;
}

// The object that make_once() has made, or null.
template <class AtomicPointer>
auto *made_once(const AtomicPointer &made) {
    // SYNC handle-table: pairs with the release in make_once(); the empty tables come before.
    return made.load(std::memory_order_acquire);
}

}  // namespace sennit
