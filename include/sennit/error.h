/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses, the last error of a thread, and the log; the conventions of all headers.
 *
 * - A call that can fail returns a sennit_status: SENNIT_OK (0) or an error. After an error
 *   nothing has changed and no output is written, unless the comment says otherwise.
 *   sennit_last_error() has the details. Sennit never aborts or exits.
 * - The compiler warns about an unused status. A cast to void silences one call;
 *   SENNIT_ALLOW_UNCHECKED_STATUS, defined before the first header, silences all.
 * - A call concerns the calling rank alone unless it is marked collective. The caller must be a
 *   rank unless the call is marked "any time". The thread level of sennit_init determines which
 *   threads may call.
 * - Sizes, offsets and strides are bytes. Sizes and counts may be 0 unless a range is given.
 *   Timeouts are nanoseconds from the call: 0 tries once, SENNIT_FOREVER has no limit.
 * - Ranks are world ranks; in calls with a team, ranks of the team.
 * - Handles are values and may be copied. Constants ending in _NULL name nothing.
 *
 * Errors that the comment of a call lists only if it adds something:
 *
 * - STATE: the caller is no rank (before sennit_init, after sennit_finalize, in a forked child);
 * - ARG: a null pointer where something is read or written, a null global pointer or region, a
 *   handle that names nothing of this rank, an unknown flag or constant, a negative timeout;
 * - RANGE: no such rank or index;
 * - NOT_REGISTERED: the memory, signal or queue no longer exists;
 * - NOMEM, OS: from calls that create, open, register, attach or record;
 * - FABRIC: from calls that allocate, create or register (a rail refuses the memory);
 * - TIMEOUT: from calls that wait, after `timeout_ns` or, without it, the knob SENNIT_TIMEOUT
 *   (default: no limit);
 * - OTHER_NODE, PEER_LOST, FABRIC: from calls that reach or wait for another rank. */
#ifndef SENNIT_ERROR_H
#define SENNIT_ERROR_H

#include <sennit/compiler.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* The result of a call. Numbers keep their meaning; later versions may add more. */
typedef enum SENNIT_CHECKED sennit_status {
    SENNIT_OK = 0,
    SENNIT_ERR_ARG = 1,   /* an argument is wrong in itself: null pointer, bad flag */
    SENNIT_ERR_STATE = 2, /* the call does not fit the state: before init, after finalize */
    SENNIT_ERR_NOMEM = 3, /* memory, address space or a table is exhausted */
    SENNIT_ERR_RANGE = 4, /* a rank or an offset is out of range */
    SENNIT_ERR_NOT_REGISTERED = 5,   /* the memory is not (or no longer) a segment */
    SENNIT_ERR_OTHER_NODE = 6,       /* no path leads to that rank */
    SENNIT_ERR_UNSUPPORTED = 7,      /* legal, but this path or this build cannot do it */
    SENNIT_ERR_TIMEOUT = 8,          /* the timeout has passed; the wait may be repeated */
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

#pragma GCC diagnostic pop

/* The last error of a thread, valid until its next failing call. */
typedef struct sennit_error {
    sennit_status status;
    int os_errno;          /* errno of the failing system call, 0 if none */
    int64_t provider_code; /* code of a network provider or launcher library, 0 if none */
    int peer;              /* world rank of the peer concerned, -1 if none */
    const char *operation; /* name of the public function that failed, never NULL */
    const char *path;      /* name of the path, "" if none */
    char text[256];        /* one sentence for people, no newline */
} sennit_error;

/* The calling thread's last error, never NULL; at first its status is SENNIT_OK. Any time. */
const sennit_error *sennit_last_error(void);

/* Set the calling thread's last error and return `status`, for headers and bindings. `text` is
 * copied; `operation` must stay valid. PEER_LOST after PEER_LOST keeps peer and path. Any time. */
sennit_status sennit_error_report(sennit_status status, const char *operation, const char *text,
                                  int64_t provider_code);

/* A constant name such as "SENNIT_ERR_RANGE", or "unknown status". Any time. */
const char *sennit_status_string(sennit_status status);

/* How much is logged: this level and those with lower numbers. */
typedef enum sennit_log_level {
    SENNIT_LOG_NONE = 0,
    SENNIT_LOG_ERROR = 1,
    SENNIT_LOG_WARNING = 2,
    SENNIT_LOG_INFO = 3,
    SENNIT_LOG_DEBUG = 4
} sennit_log_level;

/* Receives one line of the log, without newline. Any call of Sennit may call it, and several
 * threads at the same time. It must return without an exception or longjmp. Calls of Sennit within
 * it log nothing. */
typedef void (*sennit_log_function)(void *context, sennit_log_level level, const char *text);

/* Send the log of this process up to `level` to `function`, or with NULL to stderr. Default:
 * warnings to stderr, or the knob SENNIT_LOG. Any time. */
sennit_status sennit_log_set(sennit_log_function function, void *context, sennit_log_level level);

#ifdef __cplusplus
}
#endif

#endif
