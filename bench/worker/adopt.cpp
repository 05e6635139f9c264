// Adoption of memory that rank 0 has used: moving it to where peers map it and back, against
// copying it; and what loads and stores cost afterwards, against private memory with pages of the
// same size.
#include <sennit/sennit.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOwner = 0;
constexpr std::uint64_t kHugePage = 2u << 20;
constexpr std::uint64_t kSmallPage = 4096;

// Private memory that was written, with huge pages or without. It begins as those of malloc do, a
// little behind the start of a page, if it has small pages.
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

// The sum of what `timed` took; what comes before and after it in an operation is not counted.
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

Subject copies(std::string name, const Job &job, std::uint64_t bytes, bool huge, bool is_fresh) {
    const auto from = std::make_shared<Memory>(bytes, huge);
    const auto used = std::make_shared<Memory>(bytes, huge);
    return by_parts(std::move(name), job, [=] {
        if (!is_fresh) {
            return timed([&] { std::memcpy(used->data(), from->data(), bytes); });
        }
        void *const fresh =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

Subject uses(std::string name, const Job &job, const std::shared_ptr<Memory> &memory,
             std::uint64_t bytes, Access kind) {
    const bool acts = job.rank() == kOwner;
    return {std::move(name), [=](std::size_t operations) {
                std::uint64_t salt = 1;
                std::uint64_t sum = 0;
                auto *const words = reinterpret_cast<std::uint64_t *>(memory->data());
                const Interval elapsed =
                    acts ? time_batch(operations,
                                      [&] { sum += access(kind, words, bytes / 8, ++salt); })
                         : kNotTimed;
                keep(sum);
                return elapsed;
            }};
}

// Huge where the adopted memory is.
bool has_huge_pages(std::uint64_t bytes) {
    return bytes >= kHugePage;
}

void run_moves(const Run &run, std::uint64_t bytes) {
    const bool huge = has_huge_pages(bytes);
    Case what{"adopt", bytes, 1.0, {}};
    what.subjects.push_back(copies("raw-memcpy", run.job, bytes, huge, false));
    what.subjects.push_back(copies("memcpy-to-new-memory", run.job, bytes, huge, true));
    what.subjects.push_back(moves("sennit-register", run.job, bytes, false, false));
    what.subjects.push_back(moves("sennit-deregister", run.job, bytes, false, true));
    if (huge) {
        what.subjects.push_back(moves("sennit-register-huge", run.job, bytes, true, false));
        what.subjects.push_back(moves("sennit-deregister-huge", run.job, bytes, true, true));
    }
    measure_in_turn(run.job, what, run.limits);
}

void run_uses(const Run &run, std::uint64_t bytes) {
    const bool huge = has_huge_pages(bytes);
    const auto own = std::make_shared<Memory>(bytes, huge);
    const auto adopted = std::make_shared<Memory>(bytes, huge);
    sennit_region region = SENNIT_REGION_NULL;
    if (run.job.rank() == kOwner) {
        check(sennit_register(adopted->data(), bytes, 0, &region), "sennit_register");
        check_adopted(region);
    }
    const std::pair<const char *, Access> kinds[] = {{"adopted-read", Access::read},
                                                     {"adopted-write", Access::write},
                                                     {"adopted-random", Access::random}};
    for (const auto &[name, kind] : kinds) {
        Case what{name, bytes, 1.0, {}};
        what.subjects.push_back(uses("raw-private", run.job, own, bytes, kind));
        what.subjects.push_back(uses("sennit-adopted", run.job, adopted, bytes, kind));
        measure_in_turn(run.job, what, run.limits);
    }
    if (run.job.rank() == kOwner) {
        check(sennit_deregister(region), "sennit_deregister");
    }
}

}  // namespace

void run_adopt(const Run &run) {
    if (run.job.size() < 2) {
        throw std::runtime_error("memory is adopted for other ranks: this needs two");
    }
    for (const std::uint64_t bytes : run.sizes) {
        run_moves(run, bytes);
        run_uses(run, bytes);
    }
}

}  // namespace sennit::bench
