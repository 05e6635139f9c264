// SPDX-License-Identifier: BSD-3-Clause
// Calls the program's operators. Only this file is compiled with exceptions (CMakeLists.txt): an
// exception that reached the callers would leave the team's turn taken.
#include <cxxabi.h>

#include <exception>

#include "base/fail.hpp"
#include "base/thread_callback.hpp"
#include "coll/call.hpp"

namespace sennit::coll {

sennit_status call_operator(const Call &call, const void *left, const void *right, void *result,
                            std::size_t count) {
    const InCallback here(Callback::combine);
    try {
        call.combine(left, right, result, count, call.context);
        return SENNIT_OK;
    } catch (const std::exception &exception) {
        return fail(SENNIT_ERR_ARG, "the program's operator threw an exception: %s",
                    exception.what());
    } catch (abi::__forced_unwind &) {
        // A thread that is ending cannot be stopped.
        throw;
    } catch (...) {
        return fail(SENNIT_ERR_ARG, "the program's operator threw an exception");
    }
}

}  // namespace sennit::coll
