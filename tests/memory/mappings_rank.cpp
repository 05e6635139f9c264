// One rank of a job with many segments. Prints nothing if they need few mappings. Broken by a
// mapping for each segment of each peer, since the kernel allows 65530; by addresses of segments
// that overlap or that stay mapped after their segment; by address space that is lost with each
// segment.
#include <sennit/sennit.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

constexpr int kSegments = 200;

long count_mappings() {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
}

long address_space_pages() {
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    file >> pages;
    return pages;
}

sennit_gptr allocate(std::size_t bytes, std::size_t alignment) {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, bytes, alignment, 0, &gptr), SENNIT_OK, "alloc");
    const auto address = reinterpret_cast<std::uintptr_t>(sennit_ptr(gptr));
    require(address != 0 && (alignment == 0 || address % alignment == 0), "it is misaligned");
    return gptr;
}

// Every rank writes its part of each segment at all ranks, and checks the others' parts.
void use(const std::vector<sennit_gptr> &segments) {
    const int size = sennit_size();
    for (std::size_t i = 0; i < segments.size(); ++i)
        for (int peer = 0; peer < size; ++peer) {
            const auto value = static_cast<int>(i) * 100 + peer * 10 + sennit_rank();
            const sennit_gptr at = sennit_gptr_add(sennit_gptr_at(segments[i], peer),
                                                   static_cast<int>(sizeof value) * sennit_rank());
            expect(sennit_put(at, &value, sizeof value), SENNIT_OK, "put");
        }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto *words = static_cast<const int *>(sennit_ptr(segments[i]));
        for (int from = 0; from < size; ++from)
            require(words[from] == static_cast<int>(i) * 100 + sennit_rank() * 10 + from,
                    "a segment does not hold what was put there");
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

}  // namespace

int main() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    expect(sennit_free(allocate(64, 0)), SENNIT_OK, "free");
    const long before = count_mappings();
    std::vector<sennit_gptr> segments;
    for (int i = 0; i < kSegments; ++i)
        segments.push_back(allocate(64 + static_cast<std::size_t>(i % 3) * 5000, 0));
    use(segments);
    const long with_all = count_mappings() - before;
    require(with_all <= 4 * sennit_size() + 20, std::to_string(kSegments) + " segments need " +
                                                    std::to_string(with_all) + " mappings more");
    // With holes, an alignment above a page, an alignment above a huge page, and a large segment.
    for (int i = 0; i < kSegments; i += 2)
        expect(sennit_free(segments[static_cast<std::size_t>(i)]), SENNIT_OK, "free");
    for (int i = 0; i < kSegments; i += 2)
        segments[static_cast<std::size_t>(i)] = SENNIT_GPTR_NULL;
    std::erase_if(segments, [](const sennit_gptr &gptr) { return gptr.segment == 0; });
    segments.push_back(allocate(64, 65536));
    segments.push_back(allocate(64, std::size_t{8} << 20));
    segments.push_back(allocate(std::size_t{24} << 20, 0));
    use(segments);
    for (const sennit_gptr &gptr : segments)
        expect(sennit_free(gptr), SENNIT_OK, "free");
    const long at_end = count_mappings() - before;
    require(at_end <= 4 * sennit_size() + 20, "freed segments leave mappings");
    const long pages_before = address_space_pages();
    for (int i = 0; i < 250; ++i)
        expect(sennit_free(allocate(std::size_t{16} << 20, 0)), SENNIT_OK, "free");
    require(address_space_pages() - pages_before < (1 << 18),
            "freed segments still take address space");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
