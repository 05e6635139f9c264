// The allocator of the symmetric heap.
#include "heap.hpp"

namespace shmem {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Heap::Heap(std::size_t bytes) {
    if (bytes >= kAlignment) add_free(0, bytes / kAlignment * kAlignment);
}

void Heap::add_free(std::size_t offset, std::size_t bytes) {
    free_.emplace(offset, bytes);
    by_bytes_.emplace(bytes, offset);
}

void Heap::take_free(Parts::iterator part) {
    by_bytes_.erase({part->second, part->first});
    free_.erase(part);
}

std::size_t Heap::allocate(std::size_t bytes, std::size_t alignment) {
    if (alignment < kAlignment) alignment = kAlignment;
    if (bytes > kNone - kAlignment) return kNone;
    const std::size_t wanted = round_up(bytes, kAlignment);
    for (auto it = by_bytes_.lower_bound({wanted, 0}); it != by_bytes_.end(); ++it) {
        const auto [free, begin] = *it;
        const std::size_t offset = round_up(begin, alignment);
        if (offset < begin || offset - begin > free - wanted) continue;
        take_free(free_.find(begin));
        if (offset != begin) add_free(begin, offset - begin);
        const std::size_t rest = begin + free - (offset + wanted);
        if (rest != 0) add_free(offset + wanted, rest);
        used_.emplace(offset, wanted);
        return offset;
    }
    return kNone;
}

bool Heap::release(std::size_t offset) {
    const auto used = used_.find(offset);
    if (used == used_.end()) return false;
    std::size_t begin = offset;
    std::size_t bytes = used->second;
    used_.erase(used);
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == begin + bytes) {
        bytes += next->second;
        take_free(next);
    }
    next = free_.lower_bound(begin);
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == begin) {
            begin = before->first;
            bytes += before->second;
            take_free(before);
        }
    }
    add_free(begin, bytes);
    return true;
}

bool Heap::resize(std::size_t offset, std::size_t bytes) {
    const auto used = used_.find(offset);
    if (used == used_.end() || bytes > kNone - kAlignment) return false;
    const std::size_t wanted = round_up(bytes, kAlignment);
    const auto next = free_.find(offset + used->second);
    const std::size_t behind = next != free_.end() ? next->second : 0;
    if (wanted > used->second + behind) return false;
    const std::size_t rest = used->second + behind - wanted;
    if (behind != 0) take_free(next);
    if (rest != 0) add_free(offset + wanted, rest);
    used->second = wanted;
    return true;
}

std::size_t Heap::bytes_at(std::size_t offset) const {
    const auto used = used_.find(offset);
    return used != used_.end() ? used->second : kNone;
}

std::size_t Heap::free_bytes() const {
    std::size_t sum = 0;
    for (const auto &[offset, bytes] : free_)
        sum += bytes;
    return sum;
}

}  // namespace shmem
