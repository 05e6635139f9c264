// SPDX-License-Identifier: BSD-3-Clause
// sennit_error_report: records errors that a header or a binding on top of Sennit found.
#include <sennit/error.h>

#include "base/fail.hpp"

sennit_status sennit_error_report(sennit_status status, const char *operation, const char *text,
                                  int64_t provider_code) {
    const sennit_error last = *sennit::thread_error();
    const bool names_lost = status == SENNIT_ERR_PEER_LOST && last.status == status;
    (void)sennit::fail_peer(status, names_lost ? last.peer : -1, names_lost ? last.path : "", "%s",
                            text != nullptr ? text : "");
    sennit::fail_provider_code(provider_code);
    return sennit::fail_in(status, operation != nullptr ? operation : "");
}
