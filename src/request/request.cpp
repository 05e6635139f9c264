// SPDX-License-Identifier: BSD-3-Clause
#include "request/request.hpp"

#include "base/fail.hpp"
#include "runtime/wait.hpp"

namespace sennit::request {
namespace {

const RequestCalls &functions_of(const Rank &rank, RequestKind kind) {
    return rank.request_kinds[static_cast<std::size_t>(kind)];
}

// Tests one request (RequestCalls::test). The test of a request of any kind progresses all others,
// too: other ranks may wait for a rank that only tests this one.
sennit_status test_one(Rank &rank, sennit_request request, bool makes_progress, int *done) {
    const RequestCalls &kind = functions_of(rank, kind_of(request));
    if (makes_progress) {
        // The tests of other kinds poll the paths themselves.
        if (kind_of(request) == RequestKind::collective) poll_hooks(rank);
        poll_requests(rank);
    }
    if (kind.test != nullptr) return kind.test(rank, request, makes_progress, done);
    if (!is_null(request)) return no_request(request);
    *done = 1;
    return SENNIT_OK;
}

// The context of a wait. A wait for requests does not check for lost ranks: the transport completes
// an operation whose peer is lost, and so the request is released as usual.
struct OpenRequests {
    const sennit_request *requests;
    std::size_t count;
};

// For LostSearch::warn, with an OpenRequests: warns of the first open request.
void warn_of_request(Rank &rank, const void *context, int seconds) {
    const OpenRequests &awaited = *static_cast<const OpenRequests *>(context);
    for (std::size_t i = 0; i < awaited.count; ++i) {
        const sennit_request request = awaited.requests[i];
        if (is_null(request)) continue;
        const RequestCalls &kind = functions_of(rank, kind_of(request));
        if (kind.warn != nullptr) kind.warn(rank, request, seconds);
        return;
    }
}

}  // namespace

void register_kind(Rank &rank, RequestKind kind, const RequestCalls &functions) {
    rank.request_kinds[static_cast<std::size_t>(kind)] = functions;
}

sennit_status no_request(sennit_request request) {
    return fail(SENNIT_ERR_ARG, "handle 0x%llx is no request of this rank, or was completed before",
                static_cast<unsigned long long>(request.handle));
}

sennit_status test(Rank &rank, sennit_request *request, int *done) {
    int over = 0;
    const sennit_status status = test_one(rank, *request, true, &over);
    if (status != SENNIT_OK && over == 0) return status;
    if (over != 0) {
        *request = SENNIT_REQUEST_NULL;
    } else {
        note_fruitless_poll(rank);
    }
    *done = over;
    return status;
}

sennit_status wait(Rank &rank, sennit_request *request, const Deadline &deadline) {
    int over = 0;
    sennit_status own = test_one(rank, *request, true, &over);
    if (over == 0 && own != SENNIT_OK) return own;
    if (over == 0) {
        const OpenRequests awaited{request, 1};
        const LostSearch search{nullptr, &awaited, warn_of_request};
        const sennit_status waited = wait_until(rank, deadline, search, [&] {
            own = test_one(rank, *request, false, &over);
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
        if (is_null(requests[i])) continue;
        const sennit_status status = wait(rank, &requests[i], deadline);
        if (status == SENNIT_ERR_TIMEOUT && !is_null(requests[i])) return status;
        if (status != SENNIT_OK && first == SENNIT_OK) first = status;
    }
    return first;
}

sennit_status test_all(Rank &rank, std::size_t count, sennit_request requests[], int *done) {
    sennit_status first = SENNIT_OK;
    int all = 1;
    bool refused = false;  // a handle is invalid
    for (std::size_t i = 0; i < count; ++i) {
        int over = 0;
        // The test of the first open request makes progress for all.
        const sennit_status status = test_one(rank, requests[i], all != 0, &over);
        if (status != SENNIT_OK && first == SENNIT_OK) first = status;
        if (over != 0) {
            requests[i] = SENNIT_REQUEST_NULL;
        } else {
            all = 0;
            if (status != SENNIT_OK) refused = true;
        }
    }
    if (all == 0) note_fruitless_poll(rank);
    if (!refused) *done = all;
    return first;
}

sennit_status wait_any(Rank &rank, std::size_t count, sennit_request requests[],
                       const Deadline &deadline, std::size_t *index) {
    std::size_t found = count;
    int open = 0;
    bool refused = false;  // the found handle is invalid
    sennit_status own = SENNIT_OK;
    const auto look = [&] {
        open = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (is_null(requests[i])) continue;
            ++open;
            int over = 0;
            own = test_one(rank, requests[i], open == 1, &over);
            if (over == 0 && own == SENNIT_OK) continue;
            found = i;
            if (over != 0) requests[i] = SENNIT_REQUEST_NULL;
            refused = over == 0;
            return true;
        }
        return open == 0;
    };
    const OpenRequests awaited{requests, count};
    const LostSearch search{nullptr, &awaited, warn_of_request};
    const sennit_status waited = wait_until(rank, deadline, search, look);
    if (waited != SENNIT_OK) return waited;
    if (!refused) *index = found;
    return own;
}

sennit_status flush(Rank &rank, int peer, const Deadline &deadline) {
    store_load_fence();
    // Other kinds have no implicit operations.
    const RequestCalls &operations = functions_of(rank, RequestKind::operation);
    return operations.flush == nullptr ? SENNIT_OK : operations.flush(rank, peer, deadline);
}

sennit_status flush_local(Rank &rank, int peer, const Deadline &deadline) {
    const RequestCalls &operations = functions_of(rank, RequestKind::operation);
    return operations.flush == nullptr ? SENNIT_OK : operations.flush_local(rank, peer, deadline);
}

}  // namespace sennit::request
