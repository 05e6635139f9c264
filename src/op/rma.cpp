// See rma.hpp.
#include "op/rma.hpp"

#include "base/fail.hpp"
#include "op/direct.hpp"
#include "op/resolve.hpp"
#include "path/router.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

bool same(sennit_request a, sennit_request b) {
    return a.handle == b.handle;
}

}  // namespace

sennit_status start_operation(Rank &rank, Direction direction, const Target &target, void *local,
                              std::size_t bytes, const Completion &completion) {
    switch (completion.mode) {
        case Completion::Mode::blocking:
            return (completion.is_kept ? engine_blocking_kept : engine_blocking)(
                rank, direction, target, local, bytes);
        case Completion::Mode::request:
            return (completion.is_kept ? engine_request_kept : engine_request)(
                rank, direction, target, local, bytes, completion.request);
        case Completion::Mode::implicit:
            return engine_implicit(rank, direction, target, local, bytes);
    }
    return fail(SENNIT_ERR_INTERNAL, "no such completion mode");
}

sennit_status transfer(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                       std::size_t bytes, const Completion &completion) {
    if (local == nullptr && bytes != 0) return fail(SENNIT_ERR_ARG, "the private buffer is null");
    memory::Entry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status != SENNIT_OK) return status;
    status = check_range(*entry, remote, bytes);
    if (status != SENNIT_OK) return status;
    if (bytes == 0 || entry->base != nullptr) {
        if (completion.request != nullptr) *completion.request = SENNIT_REQUEST_NULL;
        if (bytes == 0) return SENNIT_OK;
        std::byte *place = entry->base + remote.offset;
        if (direction == Direction::put) {
            copy(place, local, bytes);
        } else {
            copy(local, place, bytes);
        }
        return SENNIT_OK;
    }
    if (transport::Transport *transport = path::immediate_of(rank, *entry)) {
        const transport::Run run{remote.offset, local, bytes};
        status =
            transport->copy(remote.rank, kind_of(direction), {nullptr, entry->handle}, &run, 1);
        if (status == SENNIT_OK && completion.request != nullptr)
            *completion.request = SENNIT_REQUEST_NULL;
        return status;
    }
    const Target target{remote.rank, transport::Remote{nullptr, entry->handle}, remote.offset};
    return start_operation(rank, direction, target, local, bytes, completion);
}

sennit_status message_target(Rank &rank, sennit_gptr remote, std::size_t bytes, Target *target,
                             bool *by_message) {
    memory::Entry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status == SENNIT_OK) status = check_range(*entry, remote, bytes);
    if (status != SENNIT_OK) return status;
    *by_message = entry->base == nullptr && path::immediate_of(rank, *entry) == nullptr;
    *target = Target{remote.rank, transport::Remote{nullptr, entry->handle}, remote.offset};
    return SENNIT_OK;
}

sennit_status test(Rank &rank, sennit_request *request, int *done) {
    int over = 0;
    const sennit_status status = engine_test(rank, *request, true, &over);
    if (status != SENNIT_OK && over == 0) return status;
    if (over != 0) *request = SENNIT_REQUEST_NULL;
    *done = over;
    return status;
}

sennit_status wait(Rank &rank, sennit_request *request, const Deadline &deadline) {
    int over = 0;
    sennit_status own = engine_test(rank, *request, true, &over);
    if (over == 0 && own != SENNIT_OK) return own;
    if (over == 0) {
        // The transport completes the operation when its peer is lost, so the wait itself watches
        // nobody: the request is then over, not left behind.
        const sennit_status waited = wait_until(rank, deadline, rank.world_rank, [&] {
            own = engine_test(rank, *request, false, &over);
            return over != 0 || own != SENNIT_OK;
        });
        if (waited != SENNIT_OK) return waited;
    }
    *request = SENNIT_REQUEST_NULL;
    return own;
}

sennit_status wait_all(Rank &rank, std::size_t count, sennit_request requests[],
                       const Deadline &deadline) {
    sennit_status first = SENNIT_OK;
    for (std::size_t i = 0; i < count; ++i) {
        if (same(requests[i], SENNIT_REQUEST_NULL)) continue;
        const sennit_status status = wait(rank, &requests[i], deadline);
        if (status == SENNIT_ERR_TIMEOUT && !same(requests[i], SENNIT_REQUEST_NULL)) return status;
        if (status != SENNIT_OK && first == SENNIT_OK) first = status;
    }
    return first;
}

sennit_status test_all(Rank &rank, std::size_t count, sennit_request requests[], int *done) {
    sennit_status first = SENNIT_OK;
    int all = 1;
    bool refused = false;  // some handle is no request
    for (std::size_t i = 0; i < count; ++i) {
        int over = 0;
        const sennit_status status = test(rank, &requests[i], &over);
        if (status != SENNIT_OK && first == SENNIT_OK) first = status;
        if (over == 0) all = 0;
        if (status != SENNIT_OK && over == 0) refused = true;
    }
    if (!refused) *done = all;
    return first;
}

sennit_status wait_any(Rank &rank, std::size_t count, sennit_request requests[],
                       const Deadline &deadline, std::size_t *index) {
    std::size_t found = count;
    int open = 0;
    bool refused = false;  // the handle found is no request
    sennit_status own = SENNIT_OK;
    const auto look = [&] {
        open = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (same(requests[i], SENNIT_REQUEST_NULL)) continue;
            ++open;
            int over = 0;
            own = engine_test(rank, requests[i], open == 1, &over);
            if (over == 0 && own == SENNIT_OK) continue;
            found = i;
            if (over != 0) requests[i] = SENNIT_REQUEST_NULL;
            refused = over == 0;
            return true;
        }
        return open == 0;
    };
    const sennit_status waited = wait_until(rank, deadline, rank.world_rank, look);
    if (waited != SENNIT_OK) return waited;
    if (!refused) *index = found;
    return own;
}

sennit_status flush(Rank &rank, int peer, const Deadline &deadline) {
    store_load_fence();
    return rank.engine == nullptr ? SENNIT_OK : engine_flush(rank, peer, deadline);
}

sennit_status fence(Rank &rank) {
    order_stores();
    order_loads();
    return rank.engine == nullptr ? SENNIT_OK : engine_fence(rank);
}

}  // namespace sennit::op
