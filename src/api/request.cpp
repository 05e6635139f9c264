// Requests and flush.
#include "request/request.hpp"

#include "api/call.hpp"
#include "observe/observer.hpp"
#include "runtime/wait.hpp"

using namespace sennit;
using namespace sennit::api;
using runtime::Observed;

namespace {

// `peer` may be kAnyPeer.
sennit_status flush_to(Rank &rank, int peer, std::int64_t timeout_ns) {
    const sennit_status status = check_timeout(timeout_ns);
    return status != SENNIT_OK ? status : request::flush(rank, peer, Deadline::after(timeout_ns));
}

}  // namespace

extern "C" {

sennit_status sennit_wait(sennit_request *request, int64_t timeout_ns) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_wait");
    if (request == nullptr) return null_argument("request", "sennit_wait");
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, "sennit_wait");
    const Observed observed(*rank, "sennit_wait");
    if (request->handle == 0) return SENNIT_OK;
    return done(request::wait(*rank, request, Deadline::after(timeout_ns)), "sennit_wait");
}

sennit_status sennit_test(sennit_request *request, int *is_done) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_test");
    if (request == nullptr || is_done == nullptr)
        return null_argument("an argument", "sennit_test");
    const Observed observed(*rank, "sennit_test");
    return done(request::test(*rank, request, is_done), "sennit_test");
}

sennit_status sennit_wait_all(size_t count, sennit_request requests[], int64_t timeout_ns) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_wait_all");
    if (requests == nullptr && count != 0) return null_argument("requests", "sennit_wait_all");
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, "sennit_wait_all");
    const Observed observed(*rank, "sennit_wait_all");
    return done(request::wait_all(*rank, count, requests, Deadline::after(timeout_ns)),
                "sennit_wait_all");
}

sennit_status sennit_test_all(size_t count, sennit_request requests[], int *is_done) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_test_all");
    if (is_done == nullptr) return null_argument("done", "sennit_test_all");
    if (requests == nullptr && count != 0) return null_argument("requests", "sennit_test_all");
    const Observed observed(*rank, "sennit_test_all");
    return done(request::test_all(*rank, count, requests, is_done), "sennit_test_all");
}

sennit_status sennit_wait_any(size_t count, sennit_request requests[], int64_t timeout_ns,
                              size_t *index) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_wait_any");
    if (index == nullptr) return null_argument("index", "sennit_wait_any");
    if (requests == nullptr && count != 0) return null_argument("requests", "sennit_wait_any");
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, "sennit_wait_any");
    const Observed observed(*rank, "sennit_wait_any");
    return done(request::wait_any(*rank, count, requests, Deadline::after(timeout_ns), index),
                "sennit_wait_any");
}

sennit_status sennit_flush(int rank, int64_t timeout_ns) {
    const char *const name = "sennit_flush";
    Rank *self = caller();
    if (self == nullptr) return no_rank(name);
    if (rank < 0 || rank >= world_size(*self))
        return fail_in(
            fail(SENNIT_ERR_RANGE, "rank %d is outside 0 to %d; sennit_flush_all is for all ranks",
                 rank, world_size(*self) - 1),
            name);
    const Observed observed(*self, name, rank);
    return done(flush_to(*self, rank, timeout_ns), name);
}

sennit_status sennit_flush_all(int64_t timeout_ns) {
    Rank *self = caller();
    if (self == nullptr) return no_rank("sennit_flush_all");
    const Observed observed(*self, "sennit_flush_all");
    return done(flush_to(*self, kAnyPeer, timeout_ns), "sennit_flush_all");
}

}  // extern "C"
