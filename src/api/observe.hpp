// SPDX-License-Identifier: BSD-3-Clause
// Noting a call that names memory of a peer: which path serves it is known at its end. The rest of
// a rank's notes is observe/observer.hpp, which api/ uses as it is.
#pragma once

#include <sennit/notify.h>

#include "observe/observer.hpp"

namespace sennit::api {

using runtime::Observed;

// The path by which this rank reaches the memory; of the peer if it is none that is attached.
sennit_path path_to(Rank &rank, sennit_gptr gptr);

// What the call has moved: of a batch or a plan, whose parts have peers of their own.
[[gnu::cold]] void add_parts(Rank &rank, Observed &observed, const sennit_notify_part *parts,
                             std::size_t count);

// A put, get or atomic operation, from here to the end of the block.
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
    Observed observed_;  // ends after the body of the destructor
};

}  // namespace sennit::api
