// SPDX-License-Identifier: BSD-3-Clause
// The two lists of ranges for one system call, and the rest after a partial copy. Owned by one
// copy, on its caller's stack.
#pragma once

#include <limits.h>
#include <sys/uio.h>

#include "transport/transport.hpp"

namespace sennit::transport {

// The most runs of one system call. A longer list gains nothing: a call costs about a microsecond,
// a list of this length tens of microseconds.
inline constexpr std::size_t kBatchRuns = 256;
static_assert(kBatchRuns <= IOV_MAX);

class RunBatch {
  public:
    // Takes runs from the front and returns their number. A run that is adjacent to the last entry
    // on a side extends that entry.
    std::size_t fill(std::uint64_t base, const CopyRun *runs, std::size_t count) {
        const std::size_t taken = count < kBatchRuns ? count : kBatchRuns;
        for (std::size_t i = 0; i < taken; ++i) {
            append(local_, &local_count_, runs[i].local, runs[i].bytes);
            // An address in the owner's process, for the kernel.
            append(remote_, &remote_count_, reinterpret_cast<void *>(base + runs[i].offset),
                   runs[i].bytes);
            bytes_ += runs[i].bytes;
        }
        return taken;
    }

    // Removes the first bytes, which were moved.
    void drop(std::size_t bytes) {
        bytes_ -= bytes;
        drop(local_, &local_first_, bytes);
        drop(remote_, &remote_first_, bytes);
    }

    std::size_t bytes() const { return bytes_; }
    const iovec *local() const { return local_ + local_first_; }
    const iovec *remote() const { return remote_ + remote_first_; }
    std::size_t local_count() const { return local_count_ - local_first_; }
    std::size_t remote_count() const { return remote_count_ - remote_first_; }

  private:
    static void append(iovec *list, std::size_t *count, void *place, std::size_t bytes) {
        if (*count > 0) {
            iovec &last = list[*count - 1];
            if (static_cast<std::byte *>(last.iov_base) + last.iov_len == place) {
                last.iov_len += bytes;
                return;
            }
        }
        list[(*count)++] = iovec{place, bytes};
    }

    static void drop(iovec *list, std::size_t *first, std::size_t bytes) {
        while (bytes > 0) {
            iovec &entry = list[*first];
            const std::size_t part = bytes < entry.iov_len ? bytes : entry.iov_len;
            entry.iov_base = static_cast<std::byte *>(entry.iov_base) + part;
            entry.iov_len -= part;
            bytes -= part;
            if (entry.iov_len == 0) ++*first;
        }
    }

    std::size_t bytes_ = 0;
    std::size_t local_count_ = 0;
    std::size_t remote_count_ = 0;
    std::size_t local_first_ = 0;
    std::size_t remote_first_ = 0;
    // Used up to the counts.
    iovec local_[kBatchRuns];
    iovec remote_[kBatchRuns];
};

}  // namespace sennit::transport
