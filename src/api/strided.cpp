// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed put and get. Checks the user's arguments and makes the layout from them.
#include <sennit/rma.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "api/shapes.hpp"
#include "op/strided.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using op::Direction;
using Mode = op::Completion::Mode;

// The arguments of a call, except its shape. `name` is for errors.
struct StridedCall {
    Direction direction;
    sennit_gptr remote;
    void *local;
    op::Completion completion;
    const char *name;
};

// The hot path. Returns false in any other case; run() then makes all checks.
bool moved_at_once(const StridedCall &call, const sennit_box *box) {
    sennit_request *const request = call.completion.request;
    if (box == nullptr || (call.completion.mode == Mode::request && request == nullptr))
        return false;
    if (!op::moved_at_once(*current_rank(), call.direction, call.remote, call.local, *box))
        return false;
    if (request != nullptr) *request = SENNIT_REQUEST_NULL;
    return true;
}

bool moved_at_once(const StridedCall & /*call*/, const sennit_piece_list * /*list*/) {
    return false;
}

template <class Shape>
sennit_status run(const StridedCall &call, const Shape &shape) {
    if (moved_at_once(call, shape)) return SENNIT_OK;
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(call.name);
    if (call.completion.mode == Mode::request && call.completion.request == nullptr)
        return null_argument("request", call.name);
    ObservedAccess observed(*rank, call.name, call.remote, 0);
    op::Layout layout;
    sennit_status status = make_layout(call.direction, shape, &layout);
    if (status == SENNIT_OK) observed.set_bytes(layout.bytes);
    if (status == SENNIT_OK)
        status = op::transfer_layout(*rank, call.direction, call.remote, call.local, layout,
                                     call.completion);
    return done(status, call.name);
}

// The const_cast is safe: a put only reads its source.
template <class Shape>
sennit_status put(sennit_gptr destination, const void *source, const Shape &shape,
                  const op::Completion &completion, const char *name) {
    return run({Direction::put, destination, const_cast<void *>(source), completion, name}, shape);
}

template <class Shape>
sennit_status get(void *destination, sennit_gptr source, const Shape &shape,
                  const op::Completion &completion, const char *name) {
    return run({Direction::get, source, destination, completion, name}, shape);
}

constexpr op::Completion kBlocking{Mode::blocking, nullptr};
constexpr op::Completion kImplicit{Mode::implicit, nullptr};

// A temporary, valid until the call returns.
struct ListArgument {
    sennit_piece_list list;
    operator const sennit_piece_list *() const { return &list; }
};

op::Completion by_request(sennit_request *request) {
    return {Mode::request, request};
}

}  // namespace

extern "C" {

// Defines the six calls of a shape. The variadic parameters are the C parameters of the shape.
#define SENNIT_DEFINE_SHAPE(NAME, SHAPE, ...)                                                      \
    sennit_status sennit_put_##NAME(sennit_gptr destination, const void *source, __VA_ARGS__) {    \
        return put(destination, source, SHAPE, kBlocking, __func__);                               \
    }                                                                                              \
    sennit_status sennit_get_##NAME(void *destination, sennit_gptr source, __VA_ARGS__) {          \
        return get(destination, source, SHAPE, kBlocking, __func__);                               \
    }                                                                                              \
    sennit_status sennit_put_##NAME##_nb(sennit_gptr destination, const void *source, __VA_ARGS__, \
                                         sennit_request *request) {                                \
        return put(destination, source, SHAPE, by_request(request), __func__);                     \
    }                                                                                              \
    sennit_status sennit_get_##NAME##_nb(void *destination, sennit_gptr source, __VA_ARGS__,       \
                                         sennit_request *request) {                                \
        return get(destination, source, SHAPE, by_request(request), __func__);                     \
    }                                                                                              \
    sennit_status sennit_put_##NAME##_nbi(sennit_gptr destination, const void *source,             \
                                          __VA_ARGS__) {                                           \
        return put(destination, source, SHAPE, kImplicit, __func__);                               \
    }                                                                                              \
    sennit_status sennit_get_##NAME##_nbi(void *destination, sennit_gptr source, __VA_ARGS__) {    \
        return get(destination, source, SHAPE, kImplicit, __func__);                               \
    }

SENNIT_DEFINE_SHAPE(strided, box, const sennit_box *box)
SENNIT_DEFINE_SHAPE(indexed, (ListArgument{{count, pieces}}), size_t count,
                    const sennit_piece pieces[])

sennit_status sennit_put_strided_local(sennit_gptr destination, const void *source,
                                       const sennit_box *box) {
    return put(destination, source, box, {Mode::local, nullptr}, __func__);
}

}  // extern "C"
