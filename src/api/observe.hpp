// SPDX-License-Identifier: BSD-3-Clause
// Records a call that names memory of a peer: its path is known only at its end. Other records are
// in observe/observer.hpp, which api/ uses directly.
#pragma once

#include <sennit/notify.h>

#include "observe/observer.hpp"

namespace sennit::api {

using runtime::Observed;

// The path by which this rank reaches the memory; the path to the peer if the memory is not
// attached.
sennit_path path_to(Rank &rank, sennit_gptr gptr);

// Records the data of a batch or a plan, whose parts have their own peers.
[[gnu::cold]] void add_parts(Rank &rank, Observed &observed, const sennit_notify_part *parts,
                             std::size_t count);

// Records a put, get or atomic operation, from here to the end of the block.
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
    Observed observed_;  // destroyed after the body of the destructor
};

}  // namespace sennit::api
