// SPDX-License-Identifier: BSD-3-Clause
// The library's own threads in the program's process.
#pragma once

#include <pthread.h>

#include <csignal>

namespace sennit {

// Like pthread_create() without attributes, but blocks all signals in the new thread: signals are
// for the program's threads.
inline int create_own_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(thread, nullptr, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return code;
}

}  // namespace sennit
