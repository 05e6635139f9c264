// Memory that one rank owns and another copies from, for each way of `sennit map`.
#pragma once

#include <sennit/sennit.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "worker/job.hpp"

namespace sennit::bench {

// Throws std::runtime_error if the system does not allow it.
void bind_to(int processor);

// Untouched whole pages, private or of a memory file.
class Pages {
  public:
    explicit Pages(std::uint64_t bytes);  // private
    Pages(std::uint64_t bytes, int file,
          bool is_read_only);  // of a file; if read-only, all pages are mapped at once
    ~Pages();
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    std::byte *data() const { return m_data; }
    void touch() const;

  private:
    std::uint64_t m_bytes;
    std::byte *m_data;
};

// A memory file (memfd) of `bytes` bytes.
class MemoryFile {
  public:
    explicit MemoryFile(std::uint64_t bytes);
    ~MemoryFile();
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;
    int descriptor() const { return m_descriptor; }

  private:
    int m_descriptor;
};

// The role of a rank in a transfer. A rank reads from at most one owner, and at most one rank reads
// from it.
struct MapRole {
    int owner = -1;        // the rank that this one copies from; -1: it copies nothing
    bool is_read = false;  // another rank copies from this one
    int owner_processor = -1;
    bool are_threads = false;
};

// Copies from the owner's memory after both sides are set up. All ranks call leave() and then a
// barrier before they destroy it.
class MapSource {
  public:
    virtual ~MapSource() = default;
    virtual void leave() {}
    // Copies `bytes` from `offset` of the owner's memory. Called by ranks that have an owner.
    virtual void copy(std::byte *to, std::uint64_t offset, std::uint64_t bytes) const = 0;
};

struct MadeSource {
    std::unique_ptr<MapSource> source;  // null: the way is not possible here
    std::string reason;                 // why
};

// Collective. Makes `bytes` of memory on every rank that is read, reachable for its reader by
// `way`. The owner touches it first, on its own processor, and fills it with words that depend on
// way, owner and offset. All ranks get a source, or none.
MadeSource make_source(const Job &job, const std::string &way, const MapRole &role,
                       std::uint64_t bytes);

// Throws std::runtime_error if a copy of `bytes` from `offset` does not return the owner's words.
void check_copy(const MapSource &source, const std::string &way, const MapRole &role, std::byte *to,
                std::uint64_t offset, std::uint64_t bytes);

// The description of a rank's memory for the other ranks.
struct MapOffer {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t address = 0;
    sennit_region region = SENNIT_REGION_NULL;
    char failure[512] = "";  // the reason if there is no memory, else ""
};

// Maps the memory file that a rank has offered.
std::unique_ptr<Pages> map_file_of(const MapOffer &offer, std::uint64_t bytes, bool is_read_only);

// Collective: the offers of all ranks, by rank.
std::vector<MapOffer> exchange(const Job &job, const MapOffer &mine);

}  // namespace sennit::bench
