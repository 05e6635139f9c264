// SPDX-License-Identifier: BSD-3-Clause
// Makes the layout of a transfer from the user's box or list of pieces.
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
