// SPDX-License-Identifier: BSD-3-Clause
// Registers the memory of operations if the provider requires a descriptor of it. Pools of messages
// are registered as a whole. The provider copies very short puts itself. Other small transfers are
// copied to or from a place in registered memory; the memory of larger ones is registered until the
// transfer ends. docs/design/fabric-providers.md has the costs.
//
// Everything here runs with the lock held.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::size_t kCopiedBytes = 16384;                 // measured by lend_figures
constexpr std::size_t kMostCopies = std::size_t{16} << 20;  // of all transfers
constexpr std::size_t kLine = 64;
constexpr std::size_t kPageBytes = 4096;
constexpr std::int64_t kUnlentNs = 1'000'000'000;  // how long registrations may lack room

}  // namespace

sennit_status Network::make_copies() {
    if (!rails_[0].rail.wants_descriptors()) return SENNIT_OK;
    copied_bytes_ = settings_.copied;
    if (copied_bytes_ == 0) copied_bytes_ = std::min(kCopiedBytes, kMostCopies / post_count_);
    copied_bytes_ = (copied_bytes_ + kLine - 1) & ~(kLine - 1);
    const std::size_t bytes = (post_count_ * copied_bytes_ + kPageBytes - 1) & ~(kPageBytes - 1);
    copies_ = static_cast<std::byte *>(std::aligned_alloc(kPageBytes, bytes));
    if (copies_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (unsigned rail = 0; rail < choice_.rails(); ++rail) {
        RailState &state = rails_[rail];
        state.copies.memory = iovec{copies_, bytes};
        const int code = state.rail.lend(Rail::Use::transfer, &state.copies);
        if (code == 0) continue;
        return fail_call(SENNIT_ERR_FABRIC, interfaces_.library(), code,
                         "the registration of %zu bytes", bytes);
    }
    return SENNIT_OK;
}

std::byte *Network::copy_of(const Posted *posted) const {
    return copies_ + static_cast<std::size_t>(posted - posts_) * copied_bytes_;
}

// Returns true if a registration failed for lack of room and is to be retried: other registrations
// end meanwhile. Returns false when none has succeeded for kUnlentNs.
bool Network::may_retry_registration(int code, RailState &state) {
    if (code != -FI_EAGAIN && code != -FI_ENOMEM) return false;
    const std::int64_t now = boot_ns();
    state.registration_refusals.add(now);
    if (state.registration_refusals.length(now) < kUnlentNs) return true;
    state.registration_refusals.since_ns = 0;
    return false;
}

// Returns 0, or an error of libfabric; -FI_EAGAIN: no room now.
int Network::lend_to(Posted *posted, Rail::Transfer *transfer) {
    RailState &state = rails_[posted->rail];
    transfer->is_injected = posted->operation->kind != Operation::Kind::get &&
                            transfer->bytes <= state.rail.most_injected();
    const bool lends = copies_ != nullptr && !transfer->is_injected;
    posted->is_copied = lends && transfer->bytes <= copied_bytes_;
    if (!lends) return 0;
    if (posted->is_copied) {
        std::byte *const copy = copy_of(posted);
        if (posted->operation->kind != Operation::Kind::get)
            std::memcpy(copy, transfer->local, transfer->bytes);
        transfer->local = copy;
        transfer->descriptor = state.copies.descriptor();
        return 0;
    }
    const int code = state.rail.lend_once(transfer->local, transfer->bytes, &posted->lent);
    if (code != 0) return may_retry_registration(code, state) ? -FI_EAGAIN : code;
    state.registration_refusals.since_ns = 0;
    transfer->descriptor = fi_mr_desc(posted->lent);
    return 0;
}

void Network::end_lent(Posted *posted) {
    drop_object(&posted->lent, "a registration");
}

// Copies the data of a get to its destination, if it was received in a copy.
void Network::copy_out(const Posted &posted) {
    const Operation &operation = *posted.operation;
    if (posted.is_copied && operation.kind == Operation::Kind::get)
        std::memcpy(operation.local, copy_of(&posted), operation.bytes);
}

// Closes the endpoint for transfers, and the registrations of private memory. Registrations bound
// to the endpoint must be closed before it. Others are closed after it, since the provider may use
// them until then. Returns false if the endpoint is still open.
bool Network::end_transfers(unsigned rail) {
    const auto end_all = [&] {
        for (std::size_t i = 0; i < post_count_; ++i)
            if (posts_[i].rail == rail) end_lent(posts_ + i);
    };
    if (rails_[rail].rail.binds_memory()) end_all();
    if (!rails_[rail].rail.close(Rail::Use::transfer)) return false;
    end_all();
    return true;
}

// Makes a pool of messages. Returns false if there is no memory, or it cannot be registered.
bool Network::make_messages() {
    auto *const pool = new (std::nothrow) MessagePool;
    if (pool == nullptr || !pool->make(body_bytes())) {
        delete pool;
        return false;
    }
    int code = 0;
    for (unsigned rail = 0; rail < rail_count_ && rails_[rail].rail.wants_descriptors(); ++rail) {
        const iovec memory{pool->memory, MessagePool::kMessages * pool->stride};
        pool->received[rail].memory = pool->sent[rail].memory = memory;
        if (code == 0) code = rails_[rail].rail.lend(Rail::Use::receive, pool->received + rail);
        if (code == 0) code = rails_[rail].rail.lend(Rail::Use::send, pool->sent + rail);
    }
    // After an error the pool stays, since rails may have registered it. No other pool is made.
    pool->next = pools_;
    pools_ = pool;
    if (code != 0) {
        log(SENNIT_LOG_WARNING, "the path fabric cannot register memory for messages");
        no_more_messages_ = true;
        return false;
    }
    for (std::size_t i = 0; i < MessagePool::kMessages; ++i)
        give_back(&pool->at(i));
    messages_made_ += MessagePool::kMessages;
    return true;
}

void Network::free_messages() {
    while (pools_ != nullptr) {
        MessagePool *const pool = pools_;
        pools_ = pool->next;
        delete pool;
    }
}

}  // namespace sennit::transport::fabric
