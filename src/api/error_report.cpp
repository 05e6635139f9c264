// SPDX-License-Identifier: BSD-3-Clause
// sennit_error_report: records errors that a header or a binding on top of Sennit found.
#include <sennit/error.h>

#include "base/fail.hpp"

sennit_status sennit_error_report(sennit_status status, const char *operation, const char *text,
                                  int64_t provider_code) {
    (void)sennit::fail(status, "%s", text != nullptr ? text : "");
    sennit::fail_provider_code(provider_code);
    return sennit::fail_in(status, operation != nullptr ? operation : "");
}
