// SPDX-License-Identifier: BSD-3-Clause
#include "memory/xpmem.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>

#include "base/fail.hpp"
#include "base/linking.hpp"
#include "memory/file.hpp"

namespace sennit::memory {
namespace {

// Values of xpmem.h.
constexpr int kReadWrite = 2;
constexpr int kPermitByMode = 1;
constexpr std::uintptr_t kOwnerOnly = 0600;

std::atomic<const XpmemCalls *> replaced{nullptr};

struct XpmemLibrary {
    XpmemCalls calls{};
    Refused why{Refusal::no_library, 0};
};

XpmemLibrary open_library() {
    XpmemLibrary library;
    // A statically linked program would load a second C library.
    if (linked_statically()) return library;
    void *const handle = dlopen("libxpmem.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return library;
    XpmemCalls &calls = library.calls;
    const bool complete = look_up(handle, "xpmem_version", &calls.version) &&
                          look_up(handle, "xpmem_make", &calls.make) &&
                          look_up(handle, "xpmem_remove", &calls.remove) &&
                          look_up(handle, "xpmem_get", &calls.get) &&
                          look_up(handle, "xpmem_release", &calls.release) &&
                          look_up(handle, "xpmem_attach", &calls.attach) &&
                          look_up(handle, "xpmem_detach", &calls.detach);
    library.why = {Refusal::none, 0};
    if (!complete || calls.version() < 0) library.why = {Refusal::no_device, complete ? errno : 0};
    return library;
}

std::uint64_t page_of(std::uint64_t address) {
    return address / page_bytes() * page_bytes();
}

}  // namespace

const XpmemCalls *xpmem_calls(Refused *why) {
    // relaxed: set by a test before it registers anything.
    const XpmemCalls *const given = replaced.load(std::memory_order_relaxed);
    if (given != nullptr) return given;
    static const XpmemLibrary library = open_library();
    *why = library.why;
    return library.why.is_none() ? &library.calls : nullptr;
}

void xpmem_replace(const XpmemCalls *calls) {
    // relaxed: set by a test before it registers anything.
    replaced.store(calls, std::memory_order_relaxed);
}

Refused xpmem_offer(std::uint64_t address, std::uint64_t bytes, XpmemPart *part) {
    Refused why;
    const XpmemCalls *const calls = xpmem_calls(&why);
    if (calls == nullptr) return why;
    const std::uint64_t begin = page_of(address);
    const std::uint64_t whole = round_up(address + bytes, page_bytes()) - begin;
    const std::int64_t segment = calls->make(reinterpret_cast<void *>(begin), whole, kPermitByMode,
                                             reinterpret_cast<void *>(kOwnerOnly));
    if (segment == -1) return {Refusal::no_device, errno};
    *part = XpmemPart{segment, whole, static_cast<std::uint32_t>(address - begin)};
    return {};
}

void xpmem_withdraw(std::int64_t segment) {
    Refused why;
    const XpmemCalls *const calls = xpmem_calls(&why);
    if (calls != nullptr) (void)calls->remove(segment);
}

sennit_status xpmem_map(const SegmentRecord &record, std::byte **pointer, std::uint64_t *permit) {
    Refused why;
    const XpmemCalls *const calls = xpmem_calls(&why);
    if (calls == nullptr)
        return fail(SENNIT_ERR_UNSUPPORTED,
                    "the owner offers the region by XPMEM, and XPMEM does not work here");
    const std::int64_t got = calls->get(static_cast<std::int64_t>(record.mapping_inode), kReadWrite,
                                        kPermitByMode, nullptr);
    if (got == -1) return fail_os(SENNIT_ERR_UNSUPPORTED, errno, "xpmem_get");
    void *const pages = calls->attach({got, 0}, record.mapped_bytes, nullptr);
    if (pages == reinterpret_cast<void *>(std::intptr_t{-1})) {
        const int reason = errno;
        (void)calls->release(got);
        return fail_os(SENNIT_ERR_UNSUPPORTED, reason, "xpmem_attach");
    }
    *pointer = static_cast<std::byte *>(pages) + record.head_bytes;
    *permit = static_cast<std::uint64_t>(got);
    return SENNIT_OK;
}

void xpmem_unmap(std::byte *pointer, std::uint64_t permit) {
    Refused why;
    const XpmemCalls *const calls = xpmem_calls(&why);
    if (calls == nullptr) return;
    (void)calls->detach(
        reinterpret_cast<void *>(page_of(reinterpret_cast<std::uintptr_t>(pointer))));
    (void)calls->release(static_cast<std::int64_t>(permit));
}

}  // namespace sennit::memory
