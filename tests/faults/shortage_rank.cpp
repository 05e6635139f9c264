// One rank of a job in which a resource runs out: address space, room in files, descriptors,
// places in a table. Started by faults_test.py under `sennit run`; the argument names the
// resource. A rank prints "as promised" if its part went as promised.
#include <sennit/sennit.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "scenes.hpp"

namespace {

using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;

constexpr std::size_t kMebi = std::size_t{1} << 20;

rlim_t soft_limit(int resource, rlim_t wanted) {
    rlimit limit{};
    require(getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0, "getrlimit");
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    require(setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0, "setrlimit");
    return before;
}

std::size_t address_space_in_use() {
    std::size_t pages = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    require(file != nullptr && std::fscanf(file, "%zu", &pages) == 1, "/proc/self/statm");
    (void)std::fclose(file);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int descriptors_in_use() {
    int most = 0;
    DIR *folder = opendir("/proc/self/fd");
    require(folder != nullptr, "/proc/self/fd");
    while (const dirent *entry = readdir(folder))
        if (const int fd = std::atoi(entry->d_name); fd > most && fd != dirfd(folder)) most = fd;
    (void)closedir(folder);
    return most + 1;
}

// The job continues after an allocation that failed on one rank.
void expect_healthy() {
    sennit_gptr segment;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 1000, 0, 0, &segment), SENNIT_OK, "a small allocation");
    const int next = (sennit_rank() + 1) % sennit_size();
    const std::uint64_t word = static_cast<std::uint64_t>(sennit_rank());
    expect(sennit_put(sennit_gptr_at(segment, next), &word, 8), SENNIT_OK, "a put");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "a barrier");
    std::uint64_t found = 99;
    expect(sennit_get(&found, segment, 8), SENNIT_OK, "a get");
    require((found + 1) % static_cast<std::uint64_t>(sennit_size()) ==
                static_cast<std::uint64_t>(sennit_rank()),
            "the put arrived");
    expect(sennit_free(segment), SENNIT_OK, "a free");
}

void one_rank_has_a_limit(int resource, rlim_t limit, std::size_t bytes) {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    for (int culprit = 0; culprit < sennit_size(); ++culprit) {
        const bool mine = culprit == sennit_rank();
        rlim_t before = 0;
        if (mine)
            before = soft_limit(resource,
                                resource == RLIMIT_AS ? address_space_in_use() + limit : limit);
        sennit_gptr made{3, 3, 3};
        expect(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &made), SENNIT_ERR_NOMEM,
               "an allocation over the limit");
        if (mine) {
            expect(sennit_alloc_local(bytes, 0, 0, &made), SENNIT_ERR_NOMEM, "a local one");
            (void)soft_limit(resource, before);
        }
        require(made.segment == 3, "an allocation that failed gives nothing");
        expect_healthy();
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// One rank cannot attach its peers' buffers: a call that divides its work fails on all ranks,
// since the others lack its part. The team's next calls are correct.
void one_rank_can_not_attach() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    // Too large for the address space that the first segment reserves (memory/windows.hpp).
    const std::size_t bytes = 24 * kMebi;
    const auto size = static_cast<std::size_t>(sennit_size());
    sennit_gptr whole{};
    sennit_gptr part{};
    expect(sennit_alloc_local(bytes * size, 0, 0, &whole), SENNIT_OK, "alloc_local");
    expect(sennit_alloc_local(bytes, 0, 0, &part), SENNIT_OK, "alloc_local");
    void *all = sennit_ptr(whole);
    void *one = sennit_ptr(part);
    expect_healthy();
    const bool mine = sennit_rank() == sennit_size() - 1;
    const rlim_t before =
        mine ? soft_limit(RLIMIT_AS, address_space_in_use() + 4 * kMebi) : rlim_t{0};
    const sennit_team world = SENNIT_TEAM_WORLD;
    const auto sum = sennit_reduction_of(bytes / 8, SENNIT_DOUBLE, SENNIT_SUM);
    expect(sennit_broadcast(world, 0, one, bytes, SENNIT_FOREVER), SENNIT_ERR_NOMEM, "broadcast");
    expect(sennit_scatter(world, 0, all, one, bytes, SENNIT_FOREVER), SENNIT_ERR_NOMEM, "scatter");
    expect(sennit_gather(world, 0, one, all, bytes, SENNIT_FOREVER), SENNIT_ERR_NOMEM, "gather");
    expect(sennit_reduce(world, 0, one, all, sum, SENNIT_FOREVER), SENNIT_ERR_NOMEM, "reduce");
    expect(sennit_allreduce(world, one, all, sum, SENNIT_FOREVER), SENNIT_ERR_NOMEM, "allreduce");
    if (mine) (void)soft_limit(RLIMIT_AS, before);
    expect(sennit_allreduce(world, one, all, sum, SENNIT_FOREVER), SENNIT_OK,
           "allreduce without the limit");
    expect(sennit_free(whole), SENNIT_OK, "free");
    expect(sennit_free(part), SENNIT_OK, "free");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

bool is_victim() {
    return std::atoi(std::getenv("SENNIT_RANK")) == 1;
}

// The victim's soft limit does not allow as many files as there are ranks, but it may raise the
// limit.
void one_rank_has_a_low_soft_limit() {
    if (is_victim()) (void)soft_limit(RLIMIT_NOFILE, static_cast<rlim_t>(descriptors_in_use() + 5));
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    expect_healthy();
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// Init fails on all ranks, at once, with the victim's reason.
void expect_the_victims_reason(const char *reason) {
    const double start = sennit_wtime();
    const sennit_status status = sennit_init(nullptr);
    require(sennit_wtime() - start < 2, "init does not wait for a rank that cannot start");
    const sennit_error &error = *sennit_last_error();
    require(status != SENNIT_OK && std::strstr(error.text, reason) != nullptr, error.text);
    if (is_victim()) return;
    expect(status, SENNIT_ERR_BOOTSTRAP, "init beside a rank that cannot start");
    require(error.peer == 1, "the error names the rank that cannot start");
    require(std::strncmp(error.text, "rank 1 failed during start-up: ", 31) == 0, error.text);
}

void one_rank_has_few_descriptors(int spare, const char *reason) {
    // Afterwards all lower numbers are in use; the control socket has a large number.
    int last = -1;
    while (last + 1 < descriptors_in_use())
        last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto limit = static_cast<rlim_t>(last + 1 + spare);
    const rlimit both{limit, limit};
    if (is_victim()) require(setrlimit(RLIMIT_NOFILE, &both) == 0, "setrlimit");
    expect_the_victims_reason(reason);
}

void one_rank_is_another_user() {
    if (geteuid() != 0) std::exit(77);
    // A process that changes its user is not dumpable unless it says so; sanitizers need it to be.
    if (is_victim()) require(setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0, "another user");
    expect_the_victims_reason("rank 1 runs as user 65534, and rank 0 of its node as user 0");
}

void the_table_of_segments_is_full() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    std::vector<sennit_gptr> segments;
    sennit_gptr made{3, 3, 3};
    for (;;) {
        const sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &made);
        if (status != SENNIT_OK) {
            expect(status, SENNIT_ERR_NOMEM, "one allocation too many");
            break;
        }
        segments.push_back(made);
        require(segments.size() <= 16384, "the limit is kept");
    }
    require(segments.size() > 10000, "there is room for many segments");
    sennit_gptr local;
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "a barrier");
    const std::uint64_t word = 4;
    expect(sennit_put(segments.back(), &word, 8), SENNIT_OK, "a put");
    expect(sennit_free(segments.back()), SENNIT_OK, "a free");
    segments.pop_back();
    expect(sennit_alloc_local(8, 0, 0, &local), SENNIT_OK, "the place that became free");
    expect(sennit_free(local), SENNIT_OK, "its free");
    for (const sennit_gptr segment : segments)
        expect(sennit_free(segment), SENNIT_OK, "a free");
    expect_healthy();
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

void run(const std::string &what) {
    if (what == "address_space") return one_rank_has_a_limit(RLIMIT_AS, 64 * kMebi, 512 * kMebi);
    if (what == "address_space_in_collective") return one_rank_can_not_attach();
    if (what == "file_size") return one_rank_has_a_limit(RLIMIT_FSIZE, 16 * kMebi, 64 * kMebi);
    if (what == "soft_descriptors") return one_rank_has_a_low_soft_limit();
    if (what == "no_descriptors") return one_rank_has_few_descriptors(2, "Too many open files");
    if (what == "descriptors") return one_rank_has_few_descriptors(4, "(ulimit -n) is");
    if (what == "user") return one_rank_is_another_user();
    if (what == "segments") return the_table_of_segments_is_full();
    fail("there is no scene " + what);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
