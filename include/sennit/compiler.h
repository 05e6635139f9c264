/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between compilers. Included by the other headers; programs need not include it. */
#ifndef SENNIT_COMPILER_H
#define SENNIT_COMPILER_H

/* Calls that take nanoseconds bypass the procedure linkage table, if the compiler has the
 * attribute. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define SENNIT_HOT_CALL __attribute__((noplt))
#endif
#endif
#ifndef SENNIT_HOT_CALL
#define SENNIT_HOT_CALL
#endif

/* The compiler warns about an unused status; error.h tells how to switch that off. Before C++17 and
 * C23 Clang warns about [[nodiscard]], gcc only with -Wpedantic (error.h silences that). */
#if defined(SENNIT_ALLOW_UNCHECKED_STATUS)
#define SENNIT_CHECKED
#elif defined(__clang__)
#define SENNIT_CHECKED __attribute__((warn_unused_result))
#elif defined(__cplusplus) && defined(__has_cpp_attribute)
#if __has_cpp_attribute(nodiscard)
#define SENNIT_CHECKED [[nodiscard]]
#endif
#elif defined(__has_c_attribute)
#if __has_c_attribute(nodiscard)
#define SENNIT_CHECKED [[nodiscard]]
#endif
#endif
#ifndef SENNIT_CHECKED
#define SENNIT_CHECKED
#endif

#endif
