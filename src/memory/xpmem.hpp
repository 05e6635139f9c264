// SPDX-License-Identifier: BSD-3-Clause
// XPMEM: a kernel module by which a process attaches memory of another process. Its library is
// opened at run time, if present. A table has the library's functions; tests replace the table.
// Never tested with a real module: none could be loaded during development.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/refusal.hpp"
#include "rank/control_block.hpp"

namespace sennit::memory {

// The functions of libxpmem that are used, without the prefix xpmem_. Numbers of segments and
// permits have 64 bits; -1 is an error, with errno.
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

// Null: this process has no XPMEM, and `why` says why. Checked once.
const XpmemCalls *xpmem_calls(Refused *why);
// For tests: the table that xpmem_calls() returns from now on; null: the real one.
void xpmem_replace(const XpmemCalls *calls);

// A buffer that the owner offers. xpmem_offer() begins the offer, xpmem_withdraw() ends it.
struct XpmemPart {
    std::int64_t segment;
    std::uint64_t bytes;       // whole pages
    std::uint32_t head_bytes;  // bytes of the first page before the buffer
};
Refused xpmem_offer(std::uint64_t address, std::uint64_t bytes, XpmemPart *part);
void xpmem_withdraw(std::int64_t segment);

// The peer's side. Returns the first byte of the region in *pointer, and in *permit the second
// argument of xpmem_unmap(). Errors: UNSUPPORTED.
sennit_status xpmem_map(const SegmentRecord &record, std::byte **pointer, std::uint64_t *permit);
void xpmem_unmap(std::byte *pointer, std::uint64_t permit);

}  // namespace sennit::memory
