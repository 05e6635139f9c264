// SPDX-License-Identifier: BSD-3-Clause
// Records calls that name memory of a peer. Their path is known only at their end. For other calls
// api/ uses observe/observer.hpp directly.
#pragma once

#include <sennit/notify.h>

#include "observe/observer.hpp"

namespace sennit::api {

using runtime::Observed;

// The path by which this rank reaches the memory; the path to the peer if the memory is not
// attached; NONE if there is no such rank.
sennit_path path_to(Rank &rank, sennit_gptr gptr);

// Records the data of a batch or a plan, whose parts may have different peers.
[[gnu::cold]] void add_parts(Rank &rank, Observed &observed, const sennit_notify_part *parts,
                             std::size_t count);

// Records a put, get or atomic operation, from construction to destruction.
class ObservedAccess {
  public:
    ObservedAccess(Rank &rank, const char *name, sennit_gptr gptr, std::uint64_t bytes)
        : rank_(rank), gptr_(gptr), observed_(rank, name, gptr.rank, bytes) {}
    ~ObservedAccess() {
        if (observed_.is_on()) [[unlikely]]
            observed_.set_path(path_to(rank_, gptr_));
    }
    ObservedAccess(const ObservedAccess &) = delete;
    ObservedAccess &operator=(const ObservedAccess &) = delete;

    void set_bytes(std::uint64_t bytes) {
        if (observed_.is_on()) [[unlikely]]
            observed_.set_bytes(bytes);
    }

  private:
    Rank &rank_;
    sennit_gptr gptr_;
    Observed observed_;  // ends after the destructor's body, which sets the path
};

}  // namespace sennit::api
