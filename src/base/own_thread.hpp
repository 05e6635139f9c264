// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library's own in the program's process.
#pragma once

#include <pthread.h>

#include <csignal>

namespace sennit {

// As pthread_create() with no attributes, but the thread gets no signals: those are for the threads
// of the program.
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
