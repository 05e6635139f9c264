// Windows for active epochs of two partners: ranks 0 and 1, 2 and 3, ...
#pragma once

#include <cstring>

#include "worker/library_mpi.hpp"

namespace sennit::bench {

// A window of the two partners, without locks.
class PairWindow {
  public:
    PairWindow(MPI_Comm comm, const Job &job, std::uint64_t bytes, Kind kind) {
        MPI_Comm_split(comm, job.rank() / 2, job.rank(), &m_comm);
        // Make the windows of one pair after the other: Open MPI 4.1.4 uses the same name for
        // windows of two communicators without a common rank, if they are made at the same time.
        for (int first = 0; first < job.size(); first += 2) {
            if (job.rank() / 2 * 2 == first) allocate(bytes, kind);
            MPI_Barrier(comm);
        }
    }
    virtual ~PairWindow() {
        MPI_Win_free(&m_win);
        MPI_Comm_free(&m_comm);
    }
    PairWindow(const PairWindow &) = delete;
    PairWindow &operator=(const PairWindow &) = delete;

    int partner() const { return 1 - rank(); }
    MPI_Win win() const { return m_win; }
    MPI_Comm comm() const { return m_comm; }
    const std::byte *own() const { return m_own; }

  private:
    void allocate(std::uint64_t bytes, Kind kind) {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        for (const char *const hint :
             {"no_locks", "same_size", "same_disp_unit", "alloc_shared_noncontig"})
            MPI_Info_set(info, hint, "true");
        const auto allocate = kind == Kind::kShared ? MPI_Win_allocate_shared : MPI_Win_allocate;
        allocate(window_bytes(bytes), 1, info, m_comm, &m_own, &m_win);
        MPI_Info_free(&info);
        std::memset(m_own, 0, bytes);
        MPI_Barrier(m_comm);
    }
    int rank() const {
        int rank = 0;
        MPI_Comm_rank(m_comm, &rank);
        return rank;
    }

    MPI_Comm m_comm = MPI_COMM_NULL;
    MPI_Win m_win = MPI_WIN_NULL;
    std::byte *m_own = nullptr;
};

// The group of the partner.
class Partner {
  public:
    explicit Partner(const PairWindow &window) {
        MPI_Group both = MPI_GROUP_NULL;
        MPI_Comm_group(window.comm(), &both);
        const int there = window.partner();
        MPI_Group_incl(both, 1, &there, &m_group);
        MPI_Group_free(&both);
    }
    ~Partner() { MPI_Group_free(&m_group); }
    Partner(const Partner &) = delete;
    Partner &operator=(const Partner &) = delete;

    MPI_Group group() const { return m_group; }

  private:
    MPI_Group m_group = MPI_GROUP_NULL;
};

// Consecutive fence epochs. In each at most one of the two ranks puts. No rank stores to its own
// window.
class FencedWindow : public PairWindow {
  public:
    FencedWindow(MPI_Comm comm, const Job &job, std::uint64_t bytes, Kind kind)
        : PairWindow(comm, job, bytes, kind) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win());
    }
    ~FencedWindow() override { MPI_Win_fence(MPI_MODE_NOSUCCEED, win()); }
};

}  // namespace sennit::bench
