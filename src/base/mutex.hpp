// SPDX-License-Identifier: BSD-3-Clause
// Holds a mutex to the end of the block. Owns nothing.
#pragma once

#include <pthread.h>

namespace sennit {

class MutexLock {
  public:
    explicit MutexLock(pthread_mutex_t &mutex) : mutex_(mutex) {
        (void)pthread_mutex_lock(&mutex_);
    }
    ~MutexLock() { (void)pthread_mutex_unlock(&mutex_); }
    MutexLock(const MutexLock &) = delete;
    MutexLock &operator=(const MutexLock &) = delete;

  private:
    pthread_mutex_t &mutex_;
};

}  // namespace sennit
