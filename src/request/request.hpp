// SPDX-License-Identifier: BSD-3-Clause
// Requests of all kinds: waiting, testing and flushing. Each kind belongs to one folder, which
// keeps the table of its requests and registers its functions here. api/ and all folders that wait
// for a request call this, so nothing else reads the kind of a handle.
//
// A handle is the kind (the highest bit) and the handle in the HandleTable of that kind; the null
// handle is 0.
#pragma once

#include <sennit/rma.h>

#include "base/clock.hpp"
#include "base/handle_table.hpp"
#include "rank/rank.hpp"

namespace sennit::request {

enum class RequestKind : std::uint8_t {
    operation,   // put, get and atomic operations by messages: op/
    collective,  // coll/
};
static_assert(static_cast<std::size_t>(RequestKind::collective) < kRequestKinds);

inline constexpr unsigned kKindShift = 63;
// The layout of the handles in the tables of all kinds.
using Handles = HandleLayout<std::uint64_t, 31, 31>;

constexpr sennit_request make(RequestKind kind, std::uint64_t handle) {
    return {static_cast<std::uint64_t>(kind) << kKindShift | handle};
}
constexpr RequestKind kind_of(sennit_request request) {
    return static_cast<RequestKind>(request.handle >> kKindShift);
}
constexpr std::uint64_t handle_in(sennit_request request) {
    return request.handle & ~(std::uint64_t{1} << kKindShift);
}

inline bool is_null(sennit_request request) {
    return request.handle == 0;
}

// Called by the folder of that kind in start-up and teardown. An empty RequestCalls unregisters the
// kind.
void register_kind(Rank &rank, RequestKind kind, const RequestCalls &functions);

// The error of an invalid handle. Returns ARG.
[[gnu::cold]] sennit_status no_request(sennit_request request);

// The public calls of these names without checks of arguments.
sennit_status wait(Rank &rank, sennit_request *request, const Deadline &deadline);
sennit_status test(Rank &rank, sennit_request *request, int *done);
sennit_status wait_all(Rank &rank, std::size_t count, sennit_request requests[],
                       const Deadline &deadline);
sennit_status test_all(Rank &rank, std::size_t count, sennit_request requests[], int *done);
sennit_status wait_any(Rank &rank, std::size_t count, sennit_request requests[],
                       const Deadline &deadline, std::size_t *index);
// `peer` may be kAnyPeer.
sennit_status flush(Rank &rank, int peer, const Deadline &deadline);
sennit_status flush_local(Rank &rank, int peer, const Deadline &deadline);

}  // namespace sennit::request
