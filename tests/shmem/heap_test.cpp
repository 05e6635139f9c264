// The allocator of the heap compared with a plain map of bytes, with random calls.
#include "heap.hpp"

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kUnit = shmem::Heap::kAlignment;
constexpr std::size_t kUnits = 512;

struct Part {
    std::size_t offset, bytes;
};

// The units in use, according to the calls' results alone.
struct Model {
    std::vector<bool> used = std::vector<bool>(kUnits);
    bool take(std::size_t offset, std::size_t bytes) {
        const std::size_t end = (offset + bytes + kUnit - 1) / kUnit;
        if (offset % kUnit != 0 || end > kUnits) return false;
        for (std::size_t i = offset / kUnit; i < end; ++i) {
            if (used[i]) return false;
            used[i] = true;
        }
        return true;
    }
    void give(const Part &part) {
        for (std::size_t i = part.offset / kUnit;
             i < (part.offset + part.bytes + kUnit - 1) / kUnit; ++i)
            used[i] = false;
    }
    std::size_t free_bytes() const {
        std::size_t count = 0;
        for (const bool it : used)
            count += it ? 0 : 1;
        return count * kUnit;
    }
    // True if some aligned free run is long enough.
    bool has_room(std::size_t bytes, std::size_t alignment) const {
        const std::size_t wanted = (bytes + kUnit - 1) / kUnit;
        for (std::size_t first = 0; first + wanted <= kUnits; ++first) {
            if (first * kUnit % alignment != 0) continue;
            std::size_t i = first;
            while (i < first + wanted && !used[i])
                ++i;
            if (i == first + wanted) return true;
        }
        return false;
    }
};

int failures = 0;
void check(bool condition, const char *what, unsigned seed) {
    if (!condition && ++failures < 10) std::fprintf(stderr, "seed %u: %s\n", seed, what);
}

void run(unsigned seed) {
    std::mt19937 random(seed);
    shmem::Heap heap(kUnits * kUnit + 7);
    Model model;
    std::vector<Part> parts;
    for (int step = 0; step < 400; ++step) {
        const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 8000 : 300);
        const std::size_t alignment = std::size_t{1} << random() % 12;
        const unsigned what = random() % 4;
        if (what < 2) {
            const bool room = model.has_room(bytes, alignment);
            const std::size_t offset = heap.allocate(bytes, alignment);
            check((offset != shmem::Heap::kNone) == room, "room is found where there is some",
                  seed);
            if (offset == shmem::Heap::kNone) continue;
            check(offset % alignment == 0, "aligned", seed);
            check(model.take(offset, bytes), "no part lies in another", seed);
            parts.push_back({offset, bytes});
        } else if (!parts.empty()) {
            Part &part = parts[random() % parts.size()];
            model.give(part);
            if (what == 2) {
                if (heap.resize(part.offset, bytes)) part.bytes = bytes;
                check(model.take(part.offset, part.bytes), "a part grows into free room alone",
                      seed);
                check(heap.bytes_at(part.offset) >= part.bytes, "its bytes", seed);
            } else {
                check(heap.release(part.offset), "what was allocated is freed", seed);
                check(!heap.release(part.offset), "once", seed);
                part = parts.back();
                parts.pop_back();
            }
        }
        check(heap.free_bytes() == model.free_bytes(), "nothing is lost", seed);
    }
    for (const Part &part : parts)
        heap.release(part.offset);
    check(heap.allocate(kUnits * kUnit, 0) == 0, "free parts are joined", seed);
}

}  // namespace

int main() {
    for (unsigned seed = 1; seed <= 200; ++seed)
        run(seed);
    return failures == 0 ? 0 : 1;
}
