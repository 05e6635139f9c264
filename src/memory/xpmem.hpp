// SPDX-License-Identifier: BSD-3-Clause
// XPMEM: a kernel module by which a process attaches another one's memory. Its library is opened at
// run time, if it is there; what is called of it stands in one table, which a test replaces. Never
// tried with a real module: none can be loaded where this was written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/refusal.hpp"
#include "rank/control_block.hpp"

namespace sennit::memory {

// The functions of libxpmem that are used, with the names and arguments they have there. Numbers of
// segments and permits are 64 bits; -1 is an error, with errno.
struct XpmemCalls {
    struct Address {
        std::int64_t permit;
        std::int64_t offset;
    };
    int (*version)();
    std::int64_t (*make)(void *address, std::size_t bytes, int permit_type, void *permit);
    int (*remove)(std::int64_t segment);
    std::int64_t (*get)(std::int64_t segment, int flags, int permit_type, void *permit);
    int (*release)(std::int64_t permit);
    void *(*attach)(Address from, std::size_t bytes, void *at);
    int (*detach)(void *at);
};

// Null: this process has none, and `why` says so. Looks once.
const XpmemCalls *xpmem_calls(Refused *why);
// For tests: what xpmem_calls() gives from now on; null: what is really there.
void xpmem_replace(const XpmemCalls *calls);

// The owner's side.
struct XpmemPart {
    std::int64_t segment;
    std::uint64_t bytes;       // whole pages
    std::uint32_t head_bytes;  // of the first page, before the buffer
};
Refused xpmem_offer(std::uint64_t address, std::uint64_t bytes, XpmemPart *part);
void xpmem_withdraw(std::int64_t segment);

// The peer's: the first byte of the region, and what xpmem_unmap() needs. Errors: UNSUPPORTED.
sennit_status xpmem_map(const SegmentRecord &record, std::byte **pointer, std::uint64_t *permit);
void xpmem_unmap(std::byte *pointer, std::uint64_t permit);

}  // namespace sennit::memory
