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

// Whole pages, private or of a memory file, that nobody has touched.
class Pages {
  public:
    explicit Pages(std::uint64_t bytes);                      // private
    Pages(std::uint64_t bytes, int file, bool is_read_only);  // of a file; mapped at once if so
    ~Pages();
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    std::byte *data() const { return m_data; }
    void touch() const;

  private:
    std::uint64_t m_bytes;
    std::byte *m_data;
};

// A memory file of that length.
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

// Who reads whose memory in a transfer. Each rank has one owner at most, and is read by one.
struct MapRole {
    int owner = -1;        // the rank that this one copies from; -1: it copies nothing
    bool is_read = false;  // another one copies from this one
    int owner_processor = -1;
    bool are_threads = false;
};

// Copies from the owner's memory, once both sides are set up. All ranks call leave() and then a
// barrier before they destroy it.
class MapSource {
  public:
    virtual ~MapSource() = default;
    virtual void leave() {}
    // `bytes` from `offset` of the owner's memory. By ranks that have an owner.
    virtual void copy(std::byte *to, std::uint64_t offset, std::uint64_t bytes) const = 0;
};

struct MadeSource {
    std::unique_ptr<MapSource> source;  // null: the way does not work here
    std::string reason;                 // why
};

// Collective: `bytes` of every rank that is read, touched first by its owner where it runs, filled
// with words that tell way, owner and place, and reachable for its reader by `way`. All ranks get
// a source, or none.
MadeSource make_source(const Job &job, const std::string &way, const MapRole &role,
                       std::uint64_t bytes);

// Throws std::runtime_error if a copy of `bytes` from `offset` does not bring the owner's words.
void check_copy(const MapSource &source, const std::string &way, const MapRole &role, std::byte *to,
                std::uint64_t offset, std::uint64_t bytes);

// What ranks tell each other about their memory.
struct MapOffer {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t address = 0;
    sennit_region region = SENNIT_REGION_NULL;
    char failure[512] = "";  // why there is nothing; "": it is there
};

// Maps the memory file that a rank has offered.
std::unique_ptr<Pages> map_file_of(const MapOffer &offer, std::uint64_t bytes, bool is_read_only);

// Collective: everybody's, by rank.
std::vector<MapOffer> exchange(const Job &job, const MapOffer &mine);

}  // namespace sennit::bench
