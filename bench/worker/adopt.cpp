// Adoption of memory that rank 0 has used. Measures the move to shared memory and back, compared
// with a copy; and then loads and stores, compared with private memory with pages of the same size.
#include <sennit/sennit.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOwner = 0;
constexpr int kPeer = 1;
constexpr std::uint64_t kHugePage = 2u << 20;

// Private memory that was written, with huge or small pages. With small pages it begins a little
// behind the start of a page, like memory of malloc.
class Memory {
  public:
    Memory(std::uint64_t bytes, bool huge) : m_bytes(bytes + 2 * kHugePage) {
        m_space = static_cast<std::byte *>(
            mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (m_space == MAP_FAILED) {
            throw std::bad_alloc();
        }
        const auto begin = reinterpret_cast<std::uintptr_t>(m_space);
        const std::uint64_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
        m_data = m_space + (aligned - begin) + (huge ? 0 : 16);
        (void)madvise(m_space, m_bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        std::memset(m_data, 1, bytes);
    }
    ~Memory() { (void)munmap(m_space, m_bytes); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    std::byte *data() const { return m_data; }

  private:
    std::uint64_t m_bytes;
    std::byte *m_space;
    std::byte *m_data;
};

bool may_have_huge_pages(std::uint64_t bytes) {
    return bytes >= kHugePage;
}

void check_adopted(sennit_region region) {
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    check(sennit_region_mechanism(region, &mechanism), "sennit_region_mechanism");
    if (mechanism != SENNIT_MECHANISM_ADOPT) {
        char text[200];
        check(sennit_region_reason(region, SENNIT_MECHANISM_ADOPT, text, sizeof text),
              "sennit_region_reason");
        throw std::runtime_error(std::string("the memory is not adopted: ") + text);
    }
}

// The sum of the times of `timed`; the rest of an operation is not counted.
template <class Operation>
Subject by_parts(std::string name, const Job &job, Operation operation) {
    const bool acts = job.rank() == kOwner;
    return {std::move(name), [=](std::size_t operations) {
                double sum = 0.0;
                for (std::size_t i = 0; acts && i < operations; ++i) {
                    const Interval one = operation();
                    sum += one.end_ns - one.start_ns;
                }
                return acts ? Interval{0.0, sum} : kNotTimed;
            }};
}

template <class Call>
Interval timed(Call call) {
    const double start = now_ns();
    call();
    return {start, now_ns()};
}

Subject copies(std::string name, const Job &job, std::uint64_t bytes, bool huge) {
    const auto from = std::make_shared<Memory>(bytes, huge);
    const auto used = std::make_shared<Memory>(bytes, huge);
    return by_parts(std::move(name), job,
                    [=] { return timed([&] { std::memcpy(used->data(), from->data(), bytes); }); });
}

// Copies to unused memory: private, or memory that other processes can map.
Subject copies_to_new(std::string name, const Job &job, std::uint64_t bytes, int sharing) {
    const auto from = std::make_shared<Memory>(bytes, may_have_huge_pages(bytes));
    return by_parts(std::move(name), job, [=] {
        void *const fresh =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) {
            throw std::bad_alloc();
        }
        const Interval elapsed = timed([&] { std::memcpy(fresh, from->data(), bytes); });
        (void)munmap(fresh, bytes);
        return elapsed;
    });
}

Subject moves(std::string name, const Job &job, std::uint64_t bytes, bool huge, bool back) {
    return by_parts(std::move(name), job, [=] {
        const Memory memory(bytes, huge);
        sennit_region region = SENNIT_REGION_NULL;
        const Interval there = timed(
            [&] { check(sennit_register(memory.data(), bytes, 0, &region), "sennit_register"); });
        check_adopted(region);
        const Interval home = timed([&] { check(sennit_deregister(region), "sennit_deregister"); });
        return back ? home : there;
    });
}

enum class Access { read, write, random };

std::uint64_t access(Access kind, std::uint64_t *words, std::uint64_t count, std::uint64_t salt) {
    std::uint64_t sum = 0;
    switch (kind) {
        case Access::read:
            for (std::uint64_t i = 0; i < count; ++i) {
                sum += words[i];
            }
            break;
        case Access::write:
            for (std::uint64_t i = 0; i < count; ++i) {
                words[i] = i + salt;
            }
            break;
        case Access::random: {
            std::uint64_t at = salt;
            for (std::uint64_t i = 0; i < count / 8; ++i) {
                at = at * 6364136223846793005u + 1442695040888963407u;
                words[(at >> 20) % count] += i;
            }
            break;
        }
    }
    return sum;
}

Subject uses(std::string name, bool acts, std::byte *memory, std::uint64_t bytes, Access kind) {
    return {std::move(name), [=](std::size_t operations) {
                std::uint64_t salt = 1;
                std::uint64_t sum = 0;
                auto *const words = reinterpret_cast<std::uint64_t *>(memory);
                const Interval elapsed =
                    acts ? time_batch(operations,
                                      [&] { sum += access(kind, words, bytes / 8, ++salt); })
                         : kNotTimed;
                keep(sum);
                return elapsed;
            }};
}

void run_moves(const Run &run, std::uint64_t bytes) {
    const bool huge = may_have_huge_pages(bytes);
    Case what{"adopt", bytes, 1.0, {}};
    what.subjects.push_back(copies("raw-memcpy", run.job, bytes, huge));
    what.subjects.push_back(copies_to_new("memcpy-to-new-memory", run.job, bytes, MAP_PRIVATE));
    what.subjects.push_back(copies_to_new("memcpy-to-new-shared", run.job, bytes, MAP_SHARED));
    what.subjects.push_back(moves("sennit-register", run.job, bytes, false, false));
    what.subjects.push_back(moves("sennit-deregister", run.job, bytes, false, true));
    if (huge) {
        what.subjects.push_back(copies("memcpy-small-pages", run.job, bytes, false));
        what.subjects.push_back(moves("sennit-register-huge", run.job, bytes, true, false));
        what.subjects.push_back(moves("sennit-deregister-huge", run.job, bytes, true, true));
    }
    measure_in_turn(run.job, what, run.limits);
}

// The region of the owner, on every rank.
sennit_region exchange(sennit_region mine, int size) {
    std::vector<sennit_region> all(static_cast<std::size_t>(size));
    check(sennit_region_attach(SENNIT_TEAM_WORLD, mine, all.data()), "sennit_region_attach");
    return all[kOwner];
}

// Measures accesses of the owner, then of a peer, each compared with the rank's own private memory.
// Both have pages of the same size before adoption. If adoption makes small pages huge, they are
// still compared with small private pages.
void run_uses(const Run &run, std::uint64_t bytes, bool huge) {
    const Job &job = run.job;
    const Memory own(bytes, huge);
    const Memory adopted(bytes, huge);
    sennit_region mine = SENNIT_REGION_NULL;
    if (job.rank() == kOwner) {
        check(sennit_register(adopted.data(), bytes, 0, &mine), "sennit_register");
        check_adopted(mine);
    }
    const sennit_region region = exchange(mine, job.size());
    auto *const here = static_cast<std::byte *>(sennit_ptr(region.gptr));
    if (here == nullptr) {
        throw std::runtime_error(std::string("no pointer: ") + sennit_last_error()->text);
    }
    const std::pair<const char *, Access> kinds[] = {
        {"read", Access::read}, {"write", Access::write}, {"random", Access::random}};
    const std::string pages = may_have_huge_pages(bytes) && !huge ? "-small" : "";
    for (const int user : {kOwner, kPeer}) {
        const bool acts = job.rank() == user;
        for (const auto &[name, kind] : kinds) {
            Case what{(user == kOwner ? "adopted-" : "peer-") + (name + pages), bytes, 1.0, {}};
            what.subjects.push_back(uses("raw-private", acts, own.data(), bytes, kind));
            what.subjects.push_back(uses("sennit-adopted", acts, here, bytes, kind));
            measure_in_turn(job, what, run.limits);
        }
    }
    if (job.rank() == kOwner) {
        check(sennit_deregister(mine), "sennit_deregister");
    } else {
        check(sennit_region_detach(region), "sennit_region_detach");
    }
}

}  // namespace

void run_adopt(const Run &run) {
    if (run.job.size() < 2) {
        throw std::runtime_error("memory is adopted for other ranks: this needs two");
    }
    for (const std::uint64_t bytes : run.sizes) {
        run_moves(run, bytes);
        run_uses(run, bytes, false);
        if (may_have_huge_pages(bytes)) {
            run_uses(run, bytes, true);
        }
    }
}

}  // namespace sennit::bench
