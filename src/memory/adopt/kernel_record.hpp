// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says about the memory of this process: the mapping at an address, how much is
// locked or pinned, how many threads there are. Nothing is remembered from one question to the
// next, except the open file of one object; a child of fork needs an object of its own. Used by
// memory/adopt/ only. Allocates nothing.
#pragma once

#include <cstdint>

namespace sennit::memory::adopt {

struct Mapping {
    enum class Name : std::uint8_t {
        none,         // anonymous
        heap,         // of brk
        stack,        // of the first thread
        special,      // vdso and the like
        memory_file,  // of a rank of this process, or of one that was
        other         // a file, or a name that somebody gave
    };
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t file_offset = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: no file
    std::uint64_t page_bytes = 0;
    bool readable = false;
    bool writable = false;
    bool executable = false;
    bool shared = false;
    Name name = Name::none;
};

class KernelRecord {
  public:
    KernelRecord();
    ~KernelRecord();
    KernelRecord(const KernelRecord &) = delete;
    KernelRecord &operator=(const KernelRecord &) = delete;

    // False: it can not be read, and nothing is known (no descriptor is left, or no /proc).
    bool is_open() const { return file_ >= 0; }

    // The mapping that holds the address, or the first one above it. False: there is none, or the
    // record can not be read.
    bool find(std::uint64_t address, Mapping *mapping);

    // For tests: as on a kernel without PROCMAP_QUERY. Process-wide, not to be changed while
    // anybody registers.
    static void set_text_only(bool text_only);

  private:
    bool query(std::uint64_t address, Mapping *mapping, bool *answered);
    bool search_text(std::uint64_t address, Mapping *mapping);

    int file_;
    bool text_only_;
};

// One line of /proc/self/maps. False: it is none.
bool parse_mapping(const char *line, Mapping *mapping);

// Could some memory of the process be locked, or pinned by a card?
bool has_fixed_memory();

// Does the record name one of the flags, two letters each ("lo" locked, "dc" not copied by fork),
// for a mapping that overlaps the range? Reads all of smaps up to there.
struct FixedFlags {
    bool locked = false;
    bool not_copied_by_fork = false;
};
FixedFlags fixed_flags(std::uint64_t begin, std::uint64_t end);

// Threads of the process; 0 if that can not be found out.
unsigned thread_count();

// An address in the control block of each thread: calls `seen` with it until that returns true,
// and then returns true itself. `is_first`: of the thread that the process began with.
bool any_control_block(bool (*seen)(void *context, std::uint64_t address, bool is_first),
                       void *context);

// The same for the calling thread; 0 if it is not known.
std::uint64_t own_control_block();

}  // namespace sennit::memory::adopt
