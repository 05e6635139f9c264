// SPDX-License-Identifier: BSD-3-Clause
// The kernel's record of this process: the mapping at an address, whether memory is locked or
// pinned, the threads. Caches and allocates nothing. An object is an open file of /proc/self, so a
// child of fork needs its own. Used only by memory/adopt/.
#pragma once

#include <cstdint>

namespace sennit::memory::adopt {

struct Mapping {
    enum class Name : std::uint8_t {
        none,         // anonymous
        heap,         // memory of brk()
        stack,        // of the first thread
        special,      // vdso and the like
        memory_file,  // of a rank, here or in another process, running or ended
        other         // any other file
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

    // False: the record cannot be read (no free descriptor, or no /proc).
    bool is_open() const { return file_ >= 0; }

    // The mapping at the address, or the first one above. False: none, or the record cannot be
    // read.
    bool find(std::uint64_t address, Mapping *mapping);

    // For tests: as if the kernel had no PROCMAP_QUERY. Process-wide; must not change during a
    // registration.
    static void set_text_only(bool text_only);

  private:
    bool query(std::uint64_t address, Mapping *mapping, bool *answered);
    bool search_text(std::uint64_t address, Mapping *mapping);

    int file_;
    bool text_only_;
};

// Parses one line of /proc/self/maps. False: invalid.
bool parse_mapping(const char *line, Mapping *mapping);

// Whether some memory of the process may be locked, or pinned by a card.
bool has_fixed_memory();

// The flags of the mappings that overlap the range (in smaps: "lo" locked, "dc" not copied by
// fork). Reads smaps up to the end of the range; if it cannot, all are set.
struct FixedFlags {
    bool locked = false;
    bool not_copied_by_fork = false;
};
FixedFlags fixed_flags(std::uint64_t begin, std::uint64_t end);

// The number of threads of the process; 0 if unknown.
unsigned thread_count();

// Calls `seen` with an address in each thread's control block (the C library's data of a thread)
// until `seen` returns true, then returns true. `is_first`: the thread with which the process
// started.
bool any_control_block(bool (*seen)(void *context, std::uint64_t address, bool is_first),
                       void *context);

// The same address for the calling thread; 0 if unknown.
std::uint64_t own_control_block();

}  // namespace sennit::memory::adopt
