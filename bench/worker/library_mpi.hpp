// The windows of an MPI's subjects. Compiled once with each MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "worker/library.hpp"

namespace sennit::bench {

inline constexpr int kMpiTag = 1;

// Memory that an MPI allocated for one-sided access, with an epoch from the start. All ranks free
// it together, with the last subject that uses it.
struct Window {
    MPI_Win win = MPI_WIN_NULL;
    std::byte *own = nullptr;
    bool locked = true;

    Window() = default;
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    ~Window() {
        if (locked) MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    // Ends the initial epoch, for subjects with their own epochs. Collective.
    void unlock(MPI_Comm comm) {
        MPI_Win_unlock_all(win);
        locked = false;
        MPI_Barrier(comm);
    }
};

// The function that makes the window: `MPI_Win_allocate` or `MPI_Win_allocate_shared`.
enum class Kind { kRemote, kShared };

// The size of a rank's piece in a window for `bytes` bytes, in whole cache lines: if a piece is no
// multiple of 16 bytes, MPICH 4.0.2 puts to a wrong address.
inline MPI_Aint window_bytes(std::size_t bytes) {
    return static_cast<MPI_Aint>(whole_lines(bytes));
}

inline const char *suffix_of(Kind window_kind) {
    return window_kind == Kind::kShared ? "-shared" : "";
}

// Only some ranks work; the others wait inside MPI, so that the MPI makes progress there.
template <class Operation>
Subject while_others_wait(std::string name, MPI_Comm comm, bool works, Operation operation) {
    return {std::move(name), [=](std::size_t operations) mutable {
                const Interval elapsed = works ? time_batch(operations, operation) : kNotTimed;
                MPI_Barrier(comm);
                return elapsed;
            }};
}

std::shared_ptr<Window> make_window(MPI_Comm comm, std::size_t bytes, Kind kind);

// A message with an event, by schemes of MPI that pingpong does not have.
std::vector<Subject> mpi_notify(MPI_Comm comm, const Job &job, const Messages &messages);

std::vector<Subject> mpi_plan(MPI_Comm comm, const Job &job, const Pieces &pieces);

std::vector<Subject> mpi_queue(MPI_Comm comm, const Job &job, const Stream &stream);

}  // namespace sennit::bench
