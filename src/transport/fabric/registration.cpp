// SPDX-License-Identifier: BSD-3-Clause
// Registers memory with a rail's provider: for peers, and for this rank's own operations.
// docs/design/fabric-providers.md has the requirements of each mode.
#include <cstdint>
#include <cstring>

#include "transport/fabric/rail.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr int kMostTries = 16;  // tries if a key is in use

}  // namespace

int Rail::mr_mode() const {
    return info_ != nullptr ? info_->domain_attr->mr_mode : 0;
}

bool Rail::has_room_for_keys() const {
    return info_->domain_attr->mr_key_size >= sizeof(std::uint64_t);
}

bool Rail::gives_keys() const {
    return (mr_mode() & (FI_MR_PROV_KEY | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED)) != 0 ||
           !has_room_for_keys();
}

RemoteKey Rail::remote_key(fid_mr *registration, const void *memory) const {
    const bool is_virtual = (mr_mode() & FI_MR_VIRT_ADDR) != 0;
    return RemoteKey{is_virtual ? reinterpret_cast<std::uintptr_t>(memory) : 0,
                     fi_mr_key(registration)};
}

std::size_t Rail::raw_key_bytes() const {
    return (mr_mode() & FI_MR_RAW) != 0 ? info_->domain_attr->mr_key_size : 0;
}

int Rail::raw_key(fid_mr *registration, std::byte *raw, std::uint64_t *base) const {
    std::size_t bytes = raw_key_bytes();
    return fi_mr_raw_attr(registration, base, reinterpret_cast<std::uint8_t *>(raw), &bytes, 0);
}

int Rail::map_raw_key(const std::byte *raw, std::uint64_t base, std::uint64_t *key) {
    std::uint8_t copy[kMostRawKeyBytes];
    std::memcpy(copy, raw, raw_key_bytes());
    return fi_mr_map_raw(domain_, base, copy, raw_key_bytes(), key, 0);
}

void Rail::forget_key(std::uint64_t key) {
    if (raw_key_bytes() != 0) (void)fi_mr_unmap_key(domain_, key);
}

// Returns a new key. Short keys may be in use already. The highest bit distinguishes other keys
// from those of key_of().
std::uint64_t Rail::new_key() {
    ++keys_made_;
    if (has_room_for_keys()) return std::uint64_t{1} << 63 | keys_made_;
    return keys_made_ & ((std::uint64_t{1} << 8 * info_->domain_attr->mr_key_size) - 1);
}

// If `key` is 0, chooses a key.
int Rail::register_memory(const Endpoint &endpoint, const iovec &memory, std::uint64_t access,
                          std::uint64_t key, fid_mr **out) {
    if (endpoint.endpoint == nullptr) return -FI_EOPBADSTATE;
    fid_mr *made = nullptr;
    int code = -FI_ENOKEY;
    for (int i = 0; code == -FI_ENOKEY && i < (key != 0 ? 1 : kMostTries); ++i)
        code = fi_mr_reg(domain_, memory.iov_base, memory.iov_len, access, 0,
                         key != 0 ? key : new_key(), 0, &made, nullptr);
    if (code != 0) return code;
    if (binds_memory()) code = fi_mr_bind(made, &endpoint.endpoint->fid, 0);
    if (binds_memory() && code == 0) code = fi_mr_enable(made);
    if (code != 0) drop_object(&made, "a registration");
    *out = made;
    return code;
}

sennit_status Rail::expose(const iovec &memory, std::uint64_t key, fid_mr **out) {
    const bool is_ours = has_room_for_keys() && (mr_mode() & (FI_MR_PROV_KEY | FI_MR_RAW)) == 0;
    const int code =
        register_memory(passive_, memory, FI_REMOTE_READ | FI_REMOTE_WRITE, is_ours ? key : 0, out);
    if (code == 0) return SENNIT_OK;
    return fail_call(SENNIT_ERR_FABRIC, *library_, code, "the registration of %zu bytes",
                     memory.iov_len);
}

Rail::Endpoint &Rail::endpoint_for(Use use) {
    if (use == Use::transfer) return active_;
    return use == Use::send ? outgoing_ : incoming_;
}

int Rail::register_lent(const Endpoint &endpoint, LentMemory *lent) {
    return register_memory(endpoint, lent->memory, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
                           &lent->registration);
}

int Rail::lend(Use use, LentMemory *lent) {
    Endpoint &endpoint = endpoint_for(use);
    const int code = register_lent(endpoint, lent);
    if (code != 0) return code;
    lent->next = endpoint.lent;
    endpoint.lent = lent;
    return 0;
}

void Rail::end_lent(Endpoint *endpoint) {
    for (LentMemory *each = endpoint->lent; each != nullptr; each = each->next)
        drop_object(&each->registration, "a registration");
}

int Rail::lend_again(const Endpoint &endpoint) {
    int code = 0;
    for (LentMemory *each = endpoint.lent; each != nullptr && code == 0; each = each->next)
        if (each->registration == nullptr) code = register_lent(endpoint, each);
    return code;
}

int Rail::lend_once(void *memory, std::size_t bytes, fid_mr **out) {
    return register_memory(active_, iovec{memory, bytes}, FI_READ | FI_WRITE, 0, out);
}

}  // namespace sennit::transport::fabric
