// A rank that has only a memory file, and helpers for tests of adoption.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "memory/adopt/adopt.hpp"
#include "memory/adopt/guard.hpp"
#include "memory/adopt/kernel_record.hpp"
#include "memory/file.hpp"
#include "memory/segments.hpp"

namespace adopt_test {

using namespace sennit::memory::adopt;
using sennit::memory::kHugePageBytes;
using sennit::memory::page_bytes;
using sennit::memory::Refusal;
using sennit::memory::refusal_text;
using sennit::memory::Refused;

inline std::uint64_t number(const void *place) {
    return reinterpret_cast<std::uintptr_t>(place);
}

inline std::uint8_t byte_of(std::uint64_t salt, std::uint64_t index) {
    const std::uint64_t value = (index + 1) * 0x9E3779B97F4A7C15u + salt * 0xD1B54A32D192ED03u;
    return static_cast<std::uint8_t>(value >> 56 ^ value >> 24);
}

inline void fill(void *memory, std::size_t bytes, std::uint64_t salt) {
    for (std::size_t i = 0; i < bytes; ++i)
        static_cast<std::uint8_t *>(memory)[i] = byte_of(salt, i);
}

inline bool holds(const void *memory, std::size_t bytes, std::uint64_t salt) {
    for (std::size_t i = 0; i < bytes; ++i)
        if (static_cast<const std::uint8_t *>(memory)[i] != byte_of(salt, i)) return false;
    return true;
}

// True if the kernel's record says that the page at this address is private to the process.
inline bool is_private(const void *place) {
    KernelRecord record;
    Mapping mapping;
    return record.find(number(place), &mapping) && mapping.begin <= number(place) &&
           !mapping.shared;
}

// Sum of one field of /proc/self/smaps, in kilobytes, over the mappings that overlap the range.
inline std::uint64_t smaps_kb(const void *begin, std::size_t bytes, const std::string &field) {
    std::ifstream file("/proc/self/smaps");
    std::uint64_t sum = 0;
    Mapping mapping;
    for (std::string line; std::getline(file, line);) {
        Mapping next;
        if (parse_mapping(line.c_str(), &next)) {
            mapping = next;
        } else if (line.rfind(field + ":", 0) == 0 && mapping.begin < number(begin) + bytes &&
                   mapping.end > number(begin)) {
            sum += std::stoull(line.substr(field.size() + 1));
        }
    }
    return sum;
}

// Exits with the code of a skipped test if the kernel refuses userfaultfd: without it adoption
// cannot hold writers off, and their stores may be lost.
inline void leave_out_without_guard() {
    constexpr int kSkipped = 77;
    WriteGuard guard;
    if (guard.open()) return;
    std::printf("left out: userfaultfd is refused here: %s\n", std::strerror(guard.error()));
    std::fflush(stdout);
    std::_Exit(kSkipped);
}

// The pages of an adopted region as a peer maps them.
class View {
  public:
    View(int file, const Extent &extent) : bytes_(extent.bytes) {
        pages_ =
            static_cast<std::uint8_t *>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                                             file, static_cast<off_t>(extent.file_offset)));
    }
    ~View() { (void)munmap(pages_, bytes_); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;
    std::uint8_t *pages() const { return pages_; }

  private:
    std::size_t bytes_;
    std::uint8_t *pages_;
};

class Adopt : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(sennit::memory::file_create(&rank.memory_file), SENNIT_OK);
        segments = std::make_unique<sennit::memory::LocalSegments>();
        rank.segments = segments.get();
    }
    void TearDown() override {
        detach(rank);
        (void)close(rank.memory_file);
    }

    // Adopts a buffer that must be adoptable.
    Adoption take(void *memory, std::size_t bytes, bool consents = false) {
        Adoption adoption;
        const Refused refused =
            adopt(rank, AdoptionArgs{number(memory), bytes, consents}, &adoption);
        char text[200] = "";
        refusal_text(refused, text, sizeof text);
        EXPECT_TRUE(refused.is_none()) << text;
        return adoption;
    }

    Refusal refusal(const void *memory, std::size_t bytes, bool consents = false) {
        Adoption adoption;
        const Refused refused =
            adopt(rank, AdoptionArgs{number(memory), bytes, consents}, &adoption);
        if (refused.is_none()) end(adoption);
        return refused.code;
    }

    static void end(const Adoption &adoption) {
        std::uint32_t runs[kMostExtents];
        for (std::uint32_t i = 0; i < adoption.count; ++i)
            runs[i] = adoption.extents[i].run;
        unregister(runs, adoption.count);
    }

    // Adopts the buffer, exchanges stores with a peer in both directions, and ends the adoption:
    // the buffer is private again, and its content is unchanged.
    void use(void *memory, std::size_t bytes) {
        auto *const data = static_cast<std::uint8_t *>(memory);
        fill(data, bytes, 1);
        const Adoption adoption = take(memory, bytes);
        ASSERT_GE(adoption.count, 1u);
        EXPECT_TRUE(holds(data, bytes, 1));
        EXPECT_FALSE(is_private(data));
        EXPECT_FALSE(is_private(data + bytes - 1));
        {
            const View first(rank.memory_file, adoption.extents[0]);
            const std::uint64_t head = number(data) - adoption.extents[0].address;
            EXPECT_EQ(first.pages()[head], byte_of(1, 0));
            first.pages()[head] = 77;
            EXPECT_EQ(data[0], 77);
            data[0] = 78;
            EXPECT_EQ(first.pages()[head], 78);
            data[0] = byte_of(1, 0);
            end(adoption);
            EXPECT_TRUE(holds(data, bytes, 1));
            first.pages()[head] = 79;
            EXPECT_TRUE(holds(data, bytes, 1)) << "a late store came through";
        }
        EXPECT_TRUE(is_private(data));
        EXPECT_TRUE(is_private(data + bytes - 1));
    }

    sennit::Rank rank;
    std::unique_ptr<sennit::memory::LocalSegments> segments;
};

// A thread that increments a word without pause and counts its increments.
class Stranger {
  public:
    explicit Stranger(std::uint64_t *word)
        : word_(word), before_(*word), thread_([this] { run(); }) {}
    ~Stranger() { (void)stop(); }
    // Stops the thread and returns the number of lost increments.
    std::uint64_t stop() {
        if (!thread_.joinable()) return lost_;
        stop_.store(true);
        thread_.join();
        lost_ = before_ + made_ - *word_;
        return lost_;
    }
    std::uint64_t made() const { return made_; }

  private:
    void run() {
        while (!stop_.load(std::memory_order_relaxed)) {
            // Not an atomic increment: a plain store to a page that is being replaced must not be
            // lost either.
            for (int i = 0; i < 64; ++i) {
                __atomic_store_n(word_, __atomic_load_n(word_, __ATOMIC_RELAXED) + 1,
                                 __ATOMIC_RELAXED);
            }
            made_ += 64;
        }
    }

    std::uint64_t *word_;
    std::uint64_t before_;
    std::uint64_t made_ = 0;
    std::uint64_t lost_ = 0;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace adopt_test
