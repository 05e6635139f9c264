// Sets SENNIT_TIMEOUT during a part of a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/knobs.hpp"

namespace sennit::test {

// The limit of blocking calls while the object exists. The knob belongs to the process.
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
