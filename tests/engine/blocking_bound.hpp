// SENNIT_TIMEOUT for a part of a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/knobs.hpp"

namespace sennit::test {

// The bound of blocking calls while it lives. It is a knob of the process.
class BlockingBound {
  public:
    explicit BlockingBound(const char *seconds) {
        setenv("SENNIT_TIMEOUT", seconds, 1);
        EXPECT_EQ(runtime::knobs_read(), SENNIT_OK);
    }
    ~BlockingBound() {
        unsetenv("SENNIT_TIMEOUT");
        EXPECT_EQ(runtime::knobs_read(), SENNIT_OK);
    }
};

}  // namespace sennit::test
