/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of elements and operators on them, for accumulate and for collectives. */
#ifndef SENNIT_TYPE_H
#define SENNIT_TYPE_H

#include <sennit/compiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of array elements. */
typedef enum sennit_type {
    SENNIT_INT8 = 1,
    SENNIT_INT16 = 2,
    SENNIT_INT32 = 3,
    SENNIT_INT64 = 4,
    SENNIT_UINT8 = 5,
    SENNIT_UINT16 = 6,
    SENNIT_UINT32 = 7,
    SENNIT_UINT64 = 8,
    SENNIT_FLOAT = 9,
    SENNIT_DOUBLE = 10,
    SENNIT_LONG_DOUBLE = 11, /* reductions only: no processor changes 16 bytes of it at once */
    SENNIT_TYPE_END = 12     /* one more than the last */
} sennit_type;

/* Operators of two elements. Integer sums and products wrap around. MIN and MAX of a number and a
 * NaN give the number in an accumulate, and either of them in a reduction. AND, OR and XOR are
 * bitwise, for integers. */
typedef enum sennit_operator {
    SENNIT_SUM = 1,
    SENNIT_PROD = 2,
    SENNIT_MIN = 3,
    SENNIT_MAX = 4,
    SENNIT_AND = 5,
    SENNIT_OR = 6,
    SENNIT_XOR = 7,
    SENNIT_REPLACE = 8, /* the new element takes the place of the old one */
    SENNIT_NO_OP = 9,   /* the old element stays: get_accumulate then only reads */
    /* Reductions only. A logical operator takes every value but 0 for true and gives 0 or 1. */
    SENNIT_LOGICAL_AND = 10,
    SENNIT_LOGICAL_OR = 11,
    SENNIT_LOGICAL_XOR = 12,
    SENNIT_USER_OPERATOR = 13, /* a function of the program's own */
    SENNIT_OPERATOR_END = 14
} sennit_operator;

#ifdef __cplusplus
}
#endif

#endif
