// SPDX-License-Identifier: BSD-3-Clause
// Requests and flush.
#include "request/request.hpp"

#include "api/call.hpp"
#include "runtime/wait.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using Flush = sennit_status (*)(Rank &rank, int peer, const Deadline &deadline);

// `peer` may be kAnyPeer.
sennit_status flush_to(Rank &rank, int peer, std::int64_t timeout_ns, Flush flush) {
    const sennit_status status = check_timeout(timeout_ns);
    return status != SENNIT_OK ? status : flush(rank, peer, Deadline::after(timeout_ns));
}

sennit_status flush_one(int rank, std::int64_t timeout_ns, Flush flush, const char *name) {
    return call(name, [=](Rank &self) {
        if (rank < 0 || rank >= world_size(self))
            return fail(SENNIT_ERR_RANGE, "rank %d%s is outside 0 to %d; %s_all is for all ranks",
                        rank, rank == SENNIT_RANK_NONE ? " (SENNIT_RANK_NONE)" : "",
                        world_size(self) - 1, name);
        const auto flush_rank = [=](Rank &own) { return flush_to(own, rank, timeout_ns, flush); };
        return noted(self, name, flush_rank, rank);
    });
}

sennit_status check_list(std::size_t count, const sennit_request *requests) {
    return requests == nullptr && count != 0 ? null_argument("requests") : SENNIT_OK;
}

}  // namespace

extern "C" {

sennit_status sennit_wait(sennit_request *request, int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        if (request == nullptr) return null_argument("request");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        if (request->handle == 0) return SENNIT_OK;
        return request::wait(rank, request, Deadline::after(timeout_ns));
    });
}

sennit_status sennit_test(sennit_request *request, int *is_done) {
    return noted_call(__func__, [=](Rank &rank) {
        if (request == nullptr || is_done == nullptr) return null_argument("an argument");
        return request::test(rank, request, is_done);
    });
}

sennit_status sennit_wait_all(size_t count, sennit_request requests[], int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        sennit_status status = check_list(count, requests);
        if (status == SENNIT_OK) status = check_timeout(timeout_ns);
        if (status != SENNIT_OK) return status;
        return request::wait_all(rank, count, requests, Deadline::after(timeout_ns));
    });
}

sennit_status sennit_test_all(size_t count, sennit_request requests[], int *is_done) {
    return noted_call(__func__, [=](Rank &rank) {
        if (is_done == nullptr) return null_argument("done");
        const sennit_status status = check_list(count, requests);
        return status == SENNIT_OK ? request::test_all(rank, count, requests, is_done) : status;
    });
}

sennit_status sennit_wait_any(size_t count, sennit_request requests[], int64_t timeout_ns,
                              size_t *index) {
    return noted_call(__func__, [=](Rank &rank) {
        if (index == nullptr) return null_argument("index");
        sennit_status status = check_list(count, requests);
        if (status == SENNIT_OK) status = check_timeout(timeout_ns);
        if (status != SENNIT_OK) return status;
        return request::wait_any(rank, count, requests, Deadline::after(timeout_ns), index);
    });
}

sennit_status sennit_flush(int rank, int64_t timeout_ns) {
    return flush_one(rank, timeout_ns, request::flush, __func__);
}

sennit_status sennit_flush_all(int64_t timeout_ns) {
    return noted_call(
        __func__, [=](Rank &rank) { return flush_to(rank, kAnyPeer, timeout_ns, request::flush); });
}

sennit_status sennit_flush_local(int rank, int64_t timeout_ns) {
    return flush_one(rank, timeout_ns, request::flush_local, __func__);
}

sennit_status sennit_flush_local_all(int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        return flush_to(rank, kAnyPeer, timeout_ns, request::flush_local);
    });
}

}  // extern "C"
