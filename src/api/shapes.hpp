// SPDX-License-Identifier: BSD-3-Clause
// Makes the shape of a call with a box or a list of pieces from the user's arguments.
#pragma once

#include <sennit/notify.h>

#include "api/call.hpp"
#include "op/layout.hpp"

namespace sennit::api {

inline sennit_status make_layout(op::Direction direction, const sennit_box *box,
                                 op::Layout *layout) {
    return box == nullptr ? null_argument("box") : layout_of_box(*box, direction, layout);
}

inline sennit_status make_layout(op::Direction, const sennit_piece_list *list, op::Layout *layout) {
    if (list == nullptr) return null_argument("list");
    if (list->pieces == nullptr && list->count != 0) return null_argument("pieces");
    return layout_of_list(list->pieces, list->count, layout);
}

}  // namespace sennit::api
