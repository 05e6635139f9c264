/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses, the last error of a thread, and the log.
 *
 * The convention, said once: every function that can fail returns a sennit_status. SENNIT_OK is 0,
 * everything else is an error, and an error changes nothing: outputs are written only on success.
 * The thread that got the error reads its details with sennit_last_error(). Sennit never aborts and
 * never exits.
 */
#ifndef SENNIT_ERROR_H
#define SENNIT_ERROR_H

#include <sennit/compiler.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call says about itself. Numbers never change their meaning; new ones may come. */
typedef enum sennit_status {
    SENNIT_OK = 0,
    SENNIT_ERR_ARG = 1,   /* an argument is wrong in itself: null pointer, bad flag */
    SENNIT_ERR_STATE = 2, /* the call does not fit the state: before init, after finalize */
    SENNIT_ERR_NOMEM = 3, /* memory, address space or a table is exhausted */
    SENNIT_ERR_RANGE = 4, /* a rank or an offset lies outside what it indexes */
    SENNIT_ERR_NOT_REGISTERED = 5,   /* the memory is not (or no longer) a segment */
    SENNIT_ERR_OTHER_NODE = 6,       /* no path leads to that rank */
    SENNIT_ERR_UNSUPPORTED = 7,      /* legal, but this path or this build can not do it */
    SENNIT_ERR_TIMEOUT = 8,          /* the time given was over first; the wait may be repeated */
    SENNIT_ERR_PEER_LOST = 9,        /* the rank waited for has died or has left */
    SENNIT_ERR_SIGNAL_EARLY = 10,    /* a message of a later epoch arrived in this one */
    SENNIT_ERR_SIGNAL_OVERFLOW = 11, /* more messages arrived than the epoch expects */
    SENNIT_ERR_OS = 12,              /* the operating system refused; os_errno says why */
    SENNIT_ERR_FABRIC = 13,          /* a rail or its provider failed */
    SENNIT_ERR_BOOTSTRAP = 14,       /* the launcher or the bootstrap failed or does not match */
    SENNIT_ERR_INTERNAL = 15,        /* a fault in Sennit itself: please report it */
    SENNIT_ERR_OWNER_DIED = 16,      /* the lock is acquired; the rank that held it has died */
    SENNIT_STATUS_END = 17
} sennit_status;

/* What went wrong last in the calling thread. Valid until that thread's next failing call. */
typedef struct sennit_error {
    sennit_status status;
    int os_errno;          /* errno of the failing system call, 0 if none */
    int64_t provider_code; /* code of a network provider or launcher library, 0 if none */
    int peer;              /* world rank of the peer concerned, -1 if none */
    const char *operation; /* name of the public function that failed, never NULL */
    const char *path;      /* name of the path, "" if none */
    char text[256];        /* one sentence for people, no newline */
} sennit_error;

/* The details of the calling thread's last error; never NULL. Before the first error its status is
 * SENNIT_OK. Any thread, any time, also before sennit_init. */
const sennit_error *sennit_last_error(void);

/* Sets the calling thread's last error and returns `status`: for headers and language bindings that
 * are built on Sennit and find errors of their own. `operation` must outlive the thread's use of
 * it; `text` is copied; `provider_code` is 0 if there is none. Any thread, any time. */
sennit_status sennit_error_report(sennit_status status, const char *operation, const char *text,
                                  int64_t provider_code);

/* A short constant name, such as "SENNIT_ERR_RANGE"; "unknown status" for a value that is none.
 * Any thread, any time. */
const char *sennit_status_string(sennit_status status);

/* How much is logged: a level and all below it. */
typedef enum sennit_log_level {
    SENNIT_LOG_NONE = 0,
    SENNIT_LOG_ERROR = 1,
    SENNIT_LOG_WARNING = 2,
    SENNIT_LOG_INFO = 3,
    SENNIT_LOG_DEBUG = 4
} sennit_log_level;

/* Called with one line of text without newline, possibly from several threads at once, and from
 * within any call of Sennit. It must return, without an exception or longjmp, and should not call
 * Sennit: what a call made there would log is dropped. */
typedef void (*sennit_log_function)(void *context, sennit_log_level level, const char *text);

/* Send the log of this process to `function` (NULL: back to stderr) up to and including `level`.
 * The default is stderr and warnings, or what SENNIT_LOG says. Any thread, any time.
 * Errors: ARG for a level that is none. */
sennit_status sennit_log_set(sennit_log_function function, void *context, sennit_log_level level);

#ifdef __cplusplus
}
#endif

#endif
