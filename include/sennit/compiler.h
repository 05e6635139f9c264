/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between compilers. Included by the other headers; no program needs it by itself. */
#ifndef SENNIT_COMPILER_H
#define SENNIT_COMPILER_H

/* Calls that take nanoseconds are made without the detour through the linkage table, where the
 * compiler knows how. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define SENNIT_HOT_CALL __attribute__((noplt))
#endif
#endif
#ifndef SENNIT_HOT_CALL
#define SENNIT_HOT_CALL
#endif

#endif
