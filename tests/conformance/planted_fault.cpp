// A library that is loaded before Sennit's (LD_PRELOAD) and makes some calls fail, so that
// shrink_test.py can check that shrink.py finds the two steps that matter. PLANTED_FAULT in the
// environment selects the fault; a rank is one thread:
//
//     collective   an allreduce damages its result, after a broadcast
//     lock         a lock is refused while the rank holds another, after a try
//     accumulate   a get_accumulate damages the fetched values, after an accumulate with a request
//     strided      a get of a box damages its data, after a put of a list
//     random       a get damages its data, after a put and then a get with a request
//     stress       a notified get damages its data, after a queue existed
//
// Each failure thus needs two steps. All other calls are passed on to Sennit's library.
#include <dlfcn.h>
#include <sennit/sennit.h>

#include <cstdlib>
#include <cstring>

namespace {

bool is_planted(const char *kind) {
    static const char *const word = std::getenv("PLANTED_FAULT");
    return word != nullptr && std::strcmp(word, kind) == 0;
}

thread_local bool is_armed = false;
thread_local bool has_put = false;  // for the fault `random`
thread_local int held = 0;          // locks

void arm(const char *kind) {
    if (is_planted(kind)) is_armed = true;
}

// Damages the result of a finished call.
void damage(const char *kind, sennit_status status, void *result) {
    if (status == SENNIT_OK && is_planted(kind) && is_armed)
        *static_cast<unsigned char *>(result) ^= 0x55;
}

// The function of the next library in the search order.
template <class Function>
Function next(Function, const char *name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

sennit_status sennit_broadcast(sennit_team team, int root, void *buffer, size_t bytes,
                               int64_t timeout_ns) {
    arm("collective");
    return next(sennit_broadcast, __func__)(team, root, buffer, bytes, timeout_ns);
}

sennit_status sennit_allreduce(sennit_team team, const void *source, void *destination,
                               sennit_reduction reduction, int64_t timeout_ns) {
    const sennit_status status =
        next(sennit_allreduce, __func__)(team, source, destination, reduction, timeout_ns);
    if (reduction.count > 0) damage("collective", status, destination);
    return status;
}

sennit_status sennit_lock_try(sennit_lock lock, int *acquired) {
    arm("lock");
    const sennit_status status = next(sennit_lock_try, __func__)(lock, acquired);
    if (status == SENNIT_OK && *acquired != 0) ++held;
    return status;
}

sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns) {
    if (is_planted("lock") && is_armed && held > 0) return SENNIT_ERR_OS;
    const sennit_status status = next(sennit_lock_acquire, __func__)(lock, timeout_ns);
    if (status == SENNIT_OK) ++held;
    return status;
}

sennit_status sennit_lock_release(sennit_lock lock) {
    const sennit_status status = next(sennit_lock_release, __func__)(lock);
    if (status == SENNIT_OK) --held;
    return status;
}

sennit_status sennit_accumulate_nb(sennit_gptr target, const void *source, size_t count,
                                   sennit_type type, sennit_operator op, sennit_request *request) {
    arm("accumulate");
    return next(sennit_accumulate_nb, __func__)(target, source, count, type, op, request);
}

sennit_status sennit_get_accumulate(sennit_gptr target, const void *source, void *result,
                                    size_t count, sennit_type type, sennit_operator op) {
    const sennit_status status =
        next(sennit_get_accumulate, __func__)(target, source, result, count, type, op);
    damage("accumulate", status, result);
    return status;
}

sennit_status sennit_put_indexed(sennit_gptr destination, const void *source, size_t count,
                                 const sennit_piece pieces[]) {
    arm("strided");
    return next(sennit_put_indexed, __func__)(destination, source, count, pieces);
}

sennit_status sennit_get_strided(void *destination, sennit_gptr source, const sennit_box *box) {
    const sennit_status status = next(sennit_get_strided, __func__)(destination, source, box);
    damage("strided", status, destination);
    return status;
}

sennit_status sennit_put_nb(sennit_gptr destination, const void *source, size_t bytes,
                            sennit_request *request) {
    has_put = true;
    return next(sennit_put_nb, __func__)(destination, source, bytes, request);
}

sennit_status sennit_get_nb(void *destination, sennit_gptr source, size_t bytes,
                            sennit_request *request) {
    if (has_put) arm("random");
    return next(sennit_get_nb, __func__)(destination, source, bytes, request);
}

sennit_status sennit_get(void *destination, sennit_gptr source, size_t bytes) {
    const sennit_status status = next(sennit_get, __func__)(destination, source, bytes);
    if (bytes > 0) damage("random", status, destination);
    return status;
}

sennit_status sennit_queue_attach(sennit_queue_address address, sennit_producer *producer) {
    arm("stress");
    return next(sennit_queue_attach, __func__)(address, producer);
}

sennit_status sennit_get_notify_with(void *destination, sennit_peer_block source, size_t offset,
                                     size_t bytes, const sennit_notice *notice) {
    const sennit_status status =
        next(sennit_get_notify_with, __func__)(destination, source, offset, bytes, notice);
    if (bytes > 0) damage("stress", status, destination);
    return status;
}

}  // extern "C"
