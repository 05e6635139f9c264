/* The standard's tables of types, as lists of USE(C type, name in functions, further arguments).
 * Declarations, generic forms, the library and its tests are made from these.
 *
 * _KINDS are distinct types, for _Generic and overloads; _NAMES are further names of the same
 * types. A table of the standard is _KINDS and _NAMES together.
 */
#ifndef SENNIT_SHMEM_TYPES_H
#define SENNIT_SHMEM_TYPES_H

#pragma GCC system_header

/* C's complex types, also in C++, where they are an extension of compilers. */
__extension__ typedef double _Complex sennit_shmem_complexd;
__extension__ typedef float _Complex sennit_shmem_complexf;

/* Table "Standard RMA Types"; also those of maximum and minimum reductions by teams. */
#define SENNIT_SHMEM_RMA_KINDS(USE, ...)      \
    USE(float, float, __VA_ARGS__)            \
    USE(double, double, __VA_ARGS__)          \
    USE(long double, longdouble, __VA_ARGS__) \
    USE(char, char, __VA_ARGS__)              \
    USE(signed char, schar, __VA_ARGS__)      \
    USE(short, short, __VA_ARGS__)            \
    USE(int, int, __VA_ARGS__)                \
    USE(long, long, __VA_ARGS__)              \
    USE(long long, longlong, __VA_ARGS__)     \
    USE(unsigned char, uchar, __VA_ARGS__)    \
    USE(unsigned short, ushort, __VA_ARGS__)  \
    USE(unsigned int, uint, __VA_ARGS__)      \
    USE(unsigned long, ulong, __VA_ARGS__)    \
    USE(unsigned long long, ulonglong, __VA_ARGS__)
#define SENNIT_SHMEM_RMA_NAMES(USE, ...) \
    USE(int8_t, int8, __VA_ARGS__)       \
    USE(int16_t, int16, __VA_ARGS__)     \
    USE(int32_t, int32, __VA_ARGS__)     \
    USE(int64_t, int64, __VA_ARGS__)     \
    USE(uint8_t, uint8, __VA_ARGS__)     \
    USE(uint16_t, uint16, __VA_ARGS__)   \
    USE(uint32_t, uint32, __VA_ARGS__)   \
    USE(uint64_t, uint64, __VA_ARGS__)   \
    USE(size_t, size, __VA_ARGS__)       \
    USE(ptrdiff_t, ptrdiff, __VA_ARGS__)
#define SENNIT_SHMEM_RMA(USE, ...) \
    SENNIT_SHMEM_RMA_KINDS(USE, __VA_ARGS__) SENNIT_SHMEM_RMA_NAMES(USE, __VA_ARGS__)

/* Table "Standard AMO Types"; also those of wait and test. */
#define SENNIT_SHMEM_AMO_KINDS(USE, ...)   \
    USE(int, int, __VA_ARGS__)             \
    USE(long, long, __VA_ARGS__)           \
    USE(long long, longlong, __VA_ARGS__)  \
    USE(unsigned int, uint, __VA_ARGS__)   \
    USE(unsigned long, ulong, __VA_ARGS__) \
    USE(unsigned long long, ulonglong, __VA_ARGS__)
#define SENNIT_SHMEM_AMO_NAMES(USE, ...) \
    USE(int32_t, int32, __VA_ARGS__)     \
    USE(int64_t, int64, __VA_ARGS__)     \
    USE(uint32_t, uint32, __VA_ARGS__)   \
    USE(uint64_t, uint64, __VA_ARGS__)   \
    USE(size_t, size, __VA_ARGS__)       \
    USE(ptrdiff_t, ptrdiff, __VA_ARGS__)
#define SENNIT_SHMEM_AMO(USE, ...) \
    SENNIT_SHMEM_AMO_KINDS(USE, __VA_ARGS__) SENNIT_SHMEM_AMO_NAMES(USE, __VA_ARGS__)

/* Table "Extended AMO Types". */
#define SENNIT_SHMEM_EXTENDED_KINDS(USE, ...) \
    USE(float, float, __VA_ARGS__)            \
    USE(double, double, __VA_ARGS__)          \
    SENNIT_SHMEM_AMO_KINDS(USE, __VA_ARGS__)
#define SENNIT_SHMEM_EXTENDED(USE, ...) \
    SENNIT_SHMEM_EXTENDED_KINDS(USE, __VA_ARGS__) SENNIT_SHMEM_AMO_NAMES(USE, __VA_ARGS__)

/* Table "Bitwise AMO Types". */
#define SENNIT_SHMEM_BITWISE_KINDS(USE, ...)        \
    USE(unsigned int, uint, __VA_ARGS__)            \
    USE(unsigned long, ulong, __VA_ARGS__)          \
    USE(unsigned long long, ulonglong, __VA_ARGS__) \
    USE(int32_t, int32, __VA_ARGS__)                \
    USE(int64_t, int64, __VA_ARGS__)
#define SENNIT_SHMEM_BITWISE(USE, ...)           \
    SENNIT_SHMEM_BITWISE_KINDS(USE, __VA_ARGS__) \
    USE(uint32_t, uint32, __VA_ARGS__)           \
    USE(uint64_t, uint64, __VA_ARGS__)

/* Types of the older AMOs, whose names lack "atomic": integers, and those with floats. */
#define SENNIT_SHMEM_OLD_AMO(USE, ...) \
    USE(int, int, __VA_ARGS__) USE(long, long, __VA_ARGS__) USE(long long, longlong, __VA_ARGS__)
#define SENNIT_SHMEM_OLD_EXTENDED(USE, ...) \
    USE(float, float, __VA_ARGS__)          \
    USE(double, double, __VA_ARGS__)        \
    SENNIT_SHMEM_OLD_AMO(USE, __VA_ARGS__)

/* Types of wait and test that are deprecated, and of the older wait. */
#define SENNIT_SHMEM_OLD_TEST(USE, ...) \
    USE(short, short, __VA_ARGS__) USE(unsigned short, ushort, __VA_ARGS__)
#define SENNIT_SHMEM_OLD_WAIT(USE, ...) \
    USE(short, short, __VA_ARGS__) SENNIT_SHMEM_OLD_AMO(USE, __VA_ARGS__)

/* Table of reductions by teams: those with AND, OR, XOR, and those with SUM, PROD and scans. MAX
 * and MIN are SENNIT_SHMEM_RMA. */
#define SENNIT_SHMEM_REDUCE_BITS_KINDS(USE, ...)    \
    USE(unsigned char, uchar, __VA_ARGS__)          \
    USE(unsigned short, ushort, __VA_ARGS__)        \
    USE(unsigned int, uint, __VA_ARGS__)            \
    USE(unsigned long, ulong, __VA_ARGS__)          \
    USE(unsigned long long, ulonglong, __VA_ARGS__) \
    USE(int8_t, int8, __VA_ARGS__)                  \
    USE(int16_t, int16, __VA_ARGS__)                \
    USE(int32_t, int32, __VA_ARGS__)                \
    USE(int64_t, int64, __VA_ARGS__)
#define SENNIT_SHMEM_REDUCE_BITS(USE, ...)           \
    SENNIT_SHMEM_REDUCE_BITS_KINDS(USE, __VA_ARGS__) \
    USE(uint8_t, uint8, __VA_ARGS__)                 \
    USE(uint16_t, uint16, __VA_ARGS__)               \
    USE(uint32_t, uint32, __VA_ARGS__)               \
    USE(uint64_t, uint64, __VA_ARGS__)               \
    USE(size_t, size, __VA_ARGS__)
#define SENNIT_SHMEM_COMPLEX(USE, ...)                \
    USE(sennit_shmem_complexd, complexd, __VA_ARGS__) \
    USE(sennit_shmem_complexf, complexf, __VA_ARGS__)
#define SENNIT_SHMEM_REDUCE_SUM_KINDS(USE, ...) \
    SENNIT_SHMEM_RMA_KINDS(USE, __VA_ARGS__) SENNIT_SHMEM_COMPLEX(USE, __VA_ARGS__)
#define SENNIT_SHMEM_REDUCE_SUM(USE, ...) \
    SENNIT_SHMEM_RMA(USE, __VA_ARGS__) SENNIT_SHMEM_COMPLEX(USE, __VA_ARGS__)

/* Table of reductions by active sets. */
#define SENNIT_SHMEM_ACTIVE_BITS(USE, ...) \
    USE(short, short, __VA_ARGS__) SENNIT_SHMEM_OLD_AMO(USE, __VA_ARGS__)
#define SENNIT_SHMEM_ACTIVE_ORDER(USE, ...)    \
    SENNIT_SHMEM_ACTIVE_BITS(USE, __VA_ARGS__) \
    USE(float, float, __VA_ARGS__)             \
    USE(double, double, __VA_ARGS__)           \
    USE(long double, longdouble, __VA_ARGS__)
#define SENNIT_SHMEM_ACTIVE_SUM(USE, ...) \
    SENNIT_SHMEM_ACTIVE_ORDER(USE, __VA_ARGS__) SENNIT_SHMEM_COMPLEX(USE, __VA_ARGS__)

/* Bits of an element of the functions that name a size: USE(bits). */
#define SENNIT_SHMEM_SIZES(USE) USE(8) USE(16) USE(32) USE(64) USE(128)

#endif
