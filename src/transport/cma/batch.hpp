// SPDX-License-Identifier: BSD-3-Clause
// Ranges of memory in the kernel's form: two lists of addresses and lengths, and the rest after a
// partial copy. Owned by one copy, on the stack of its caller.
#pragma once

#include <limits.h>
#include <sys/uio.h>

#include "transport/transport.hpp"

namespace sennit::transport {

// The runs of one system call. A longer list gains nothing: a call takes about a microsecond, a
// list of this length tens of them.
inline constexpr std::size_t kBatchRuns = 256;
static_assert(kBatchRuns <= IOV_MAX);

class RunBatch {
  public:
    // Takes runs from the front and returns their number. A run that continues the one before on a
    // side extends that side's last entry.
    std::size_t fill(std::uint64_t base, const CopyRun *runs, std::size_t count) {
        const std::size_t taken = count < kBatchRuns ? count : kBatchRuns;
        for (std::size_t i = 0; i < taken; ++i) {
            append(local_, &local_count_, runs[i].local, runs[i].bytes);
            // The owner's address: only a number here; the kernel uses it in the owner's memory.
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
    iovec local_[kBatchRuns];   // used up to the counts
    iovec remote_[kBatchRuns];  // used up to the counts
};

}  // namespace sennit::transport
