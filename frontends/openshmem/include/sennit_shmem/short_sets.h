/* Waits for and tests of several words of 16 bits, for the C11 forms. The standard has functions
 * for one such word only, but programs use the C11 forms with several. They also compile in C of
 * 1990, which has no C11 forms.
 */
#ifndef SENNIT_SHMEM_SHORT_SETS_H
#define SENNIT_SHMEM_SHORT_SETS_H

#pragma GCC system_header

#define SENNIT_SHMEM_SET_PARAMETERS(T) T *ivars, size_t nelems, const int *status, int cmp, T value
#define SENNIT_SHMEM_SHORT_SETS(T, N)                                                            \
    static __inline__ int shmem_##N##_set_test_all(SENNIT_SHMEM_SET_PARAMETERS(T)) {             \
        size_t i;                                                                                \
        for (i = 0; i < nelems; ++i)                                                             \
            if ((!status || !status[i]) && !shmem_##N##_test(&ivars[i], cmp, value)) return 0;   \
        return 1;                                                                                \
    }                                                                                            \
    static __inline__ size_t shmem_##N##_set_test_any(SENNIT_SHMEM_SET_PARAMETERS(T)) {          \
        size_t i;                                                                                \
        for (i = 0; i < nelems; ++i)                                                             \
            if ((!status || !status[i]) && shmem_##N##_test(&ivars[i], cmp, value)) return i;    \
        return SIZE_MAX;                                                                         \
    }                                                                                            \
    static __inline__ size_t shmem_##N##_set_test_some(T *ivars, size_t nelems, size_t *indices, \
                                                       const int *status, int cmp, T value) {    \
        size_t i;                                                                                \
        size_t count = 0;                                                                        \
        for (i = 0; i < nelems; ++i)                                                             \
            if ((!status || !status[i]) && shmem_##N##_test(&ivars[i], cmp, value))              \
                indices[count++] = i;                                                            \
        return count;                                                                            \
    }                                                                                            \
    static __inline__ void shmem_##N##_set_wait_until_all(SENNIT_SHMEM_SET_PARAMETERS(T)) {      \
        size_t i;                                                                                \
        for (i = 0; i < nelems; ++i)                                                             \
            if (!status || !status[i]) shmem_##N##_wait_until(&ivars[i], cmp, value);            \
    }                                                                                            \
    static __inline__ int shmem_##N##_set_is_empty(size_t nelems, const int *status) {           \
        size_t i;                                                                                \
        for (i = 0; i < nelems; ++i)                                                             \
            if (!status || !status[i]) return 0;                                                 \
        return 1;                                                                                \
    }                                                                                            \
    static __inline__ size_t shmem_##N##_set_wait_until_any(SENNIT_SHMEM_SET_PARAMETERS(T)) {    \
        size_t found = SIZE_MAX;                                                                 \
        if (shmem_##N##_set_is_empty(nelems, status)) return found;                              \
        while (found == SIZE_MAX)                                                                \
            found = shmem_##N##_set_test_any(ivars, nelems, status, cmp, value);                 \
        return found;                                                                            \
    }                                                                                            \
    static __inline__ size_t shmem_##N##_set_wait_until_some(                                    \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T value) {         \
        size_t count = 0;                                                                        \
        if (shmem_##N##_set_is_empty(nelems, status)) return 0;                                  \
        while (count == 0)                                                                       \
            count = shmem_##N##_set_test_some(ivars, nelems, indices, status, cmp, value);       \
        return count;                                                                            \
    }
SENNIT_SHMEM_SHORT_SETS(short, short)
SENNIT_SHMEM_SHORT_SETS(unsigned short, ushort)

#endif
