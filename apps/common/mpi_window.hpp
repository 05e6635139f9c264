// A communicator and a shared window of MPI, and sets of persistent requests, for any application.
// Header-only, because each MPI's programs compile it with that MPI.
#pragma once

#include "failure.hpp"

#include <mpi.h>

#include <memory>
#include <vector>

namespace apps {

// A communicator of all ranks for a single purpose. Constructor and destructor are collective.
class MpiDuplicate {
  public:
    MpiDuplicate() { MPI_Comm_dup(MPI_COMM_WORLD, &ranks_); }
    ~MpiDuplicate() { MPI_Comm_free(&ranks_); }
    MpiDuplicate(const MpiDuplicate &) = delete;
    MpiDuplicate &operator=(const MpiDuplicate &) = delete;

    MPI_Comm ranks() const { return ranks_; }

  private:
    MPI_Comm ranks_ = MPI_COMM_NULL;
};

// Memory of all ranks, mapped by all of them. open() and the destructor are collective.
class MpiWindow {
  public:
    MpiWindow() = default;
    MpiWindow(const MpiWindow &) = delete;
    MpiWindow &operator=(const MpiWindow &) = delete;
    ~MpiWindow() {
        if (window_ != MPI_WIN_NULL) {
            MPI_Win_unlock_all(window_);
            MPI_Win_free(&window_);
        }
        if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
    }

    // This rank's part, at a multiple of kAlignment. Throws Failure, on all ranks, unless they
    // share a node.
    void *open(std::size_t bytes) {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
        int here = 0, all = 0;
        MPI_Comm_size(node_, &here);
        MPI_Comm_size(MPI_COMM_WORLD, &all);
        if (here != all) throw Failure("the ranks of a shared window must be on one node");
        // Without this the parts of the ranks are neighbours in memory and share pages.
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        void *own = nullptr;
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + kAlignment), 1, info, node_, &own,
                                &window_);
        MPI_Info_free(&info);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
        int rank = 0;
        MPI_Comm_rank(node_, &rank);
        return of(rank);
    }

    // The part of a rank, by its number in MPI_COMM_WORLD. A part may begin anywhere in a page, at
    // the same offset for all ranks that map it.
    void *of(int rank) const {
        MPI_Aint size = 0;
        int unit = 0;
        void *memory = nullptr;
        MPI_Win_shared_query(window_, rank, &size, &unit, &memory);
        auto room = static_cast<std::size_t>(size);
        return std::align(kAlignment, 1, memory, room);
    }

    // Makes all ranks' earlier stores visible to all.
    void barrier() const {
        sync();
        MPI_Barrier(node_);
        sync();
    }
    // Orders this rank's loads and stores relative to the operations around the call, such as a
    // message.
    void sync() const { MPI_Win_sync(window_); }

  private:
    static constexpr std::size_t kAlignment = 128;

    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
};

// Persistent requests that are started and waited for together. Waiting for requests that were not
// started returns at once. No request may be active when this object is destroyed.
class MpiRequests {
  public:
    MpiRequests() = default;
    MpiRequests(const MpiRequests &) = delete;
    MpiRequests &operator=(const MpiRequests &) = delete;
    ~MpiRequests() {
        for (MPI_Request &request : requests_)
            MPI_Request_free(&request);
    }

    struct Numbers {
        double *first;
        std::ptrdiff_t count;
    };
    void add_send(Numbers from, int peer, int tag, MPI_Comm ranks) {
        MPI_Send_init(from.first, static_cast<int>(from.count), MPI_DOUBLE, peer, tag, ranks,
                      &requests_.emplace_back());
    }
    void add_receive(Numbers to, int peer, int tag, MPI_Comm ranks) {
        MPI_Recv_init(to.first, static_cast<int>(to.count), MPI_DOUBLE, peer, tag, ranks,
                      &requests_.emplace_back());
    }
    void start() {
        // Open MPI rejects a call with no requests if the array is null.
        if (requests_.empty()) return;
        MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    }
    void wait() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

  private:
    std::vector<MPI_Request> requests_;
};

}  // namespace apps
