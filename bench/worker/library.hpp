// The other library of a job: an MPI, OpenSHMEM, or none. One of these is linked into each worker:
// library_mpi*.cpp, compiled with one MPI, library_shmem.cpp or library_none.cpp.
#pragma once

#include <sennit/runtime.h>

#include <memory>
#include <string>
#include <vector>

#include "worker/collective.hpp"
#include "worker/job.hpp"
#include "worker/measure.hpp"
#include "worker/pieces.hpp"
#include "worker/stream.hpp"
#include "worker/strided.hpp"
#include "worker/trips.hpp"

namespace sennit::bench {

// Kinds of `sennit bench atomic`. In the contended ones all ranks use one address at the same time.
enum class AtomicKind {
    fetch_add,
    fetch_add_contended,
    compare_swap,
    accumulate,
    lock,
    lock_contended
};
const char *atomic_name(AtomicKind kind);
constexpr bool is_contended(AtomicKind kind) {
    return kind == AtomicKind::fetch_add_contended || kind == AtomicKind::lock_contended;
}

class Library {
  public:
    virtual ~Library() = default;

    // One line of text, "" for none.
    virtual std::string version() const = 0;

    // Starts Sennit on the ranks that this library started.
    virtual sennit_status start_sennit(const sennit_options &options) const = 0;

    // After sennit_finalize.
    virtual void finish() = 0;

    // End the whole job after a failure.
    [[noreturn]] virtual void abort() const = 0;

    // The subjects of one case, named after the job; none if the library has no such operation.
    // Collective. Their resources exist as long as the subjects, which all ranks destroy together.
    virtual std::vector<Subject> pingpong(const Job &, const Messages &) const { return {}; }
    virtual std::vector<Subject> put(const Job &, const Messages &) const { return {}; }
    // Puts of 8 bytes, one for each word of the messages, all under way at the same time.
    virtual std::vector<Subject> rate(const Job &, const Messages &) const { return {}; }
    virtual std::vector<Subject> get(const Job &, const Messages &) const { return {}; }
    // A message with an event: the subjects of pingpong and others.
    virtual std::vector<Subject> notify(const Job &, const Messages &) const { return {}; }
    virtual std::vector<Subject> plan(const Job &, const Pieces &) const { return {}; }
    virtual std::vector<Subject> queue(const Job &, const Stream &) const { return {}; }
    // The same layout on both sides. The last argument is the private buffer.
    virtual std::vector<Subject> strided(const Job &, const Stripes &, const std::byte *) const {
        return {};
    }
    virtual std::vector<Subject> barrier(const Job &) const { return {}; }
    // The last argument is the size of an array in bytes.
    virtual std::vector<Subject> atomic(const Job &, AtomicKind, std::uint64_t) const { return {}; }
    virtual std::vector<Subject> collective(const Job &, const Collective &) const { return {}; }
};

// Starts the library. Called first in main.
std::unique_ptr<Library> start_library(int *argc, char ***argv);

}  // namespace sennit::bench
