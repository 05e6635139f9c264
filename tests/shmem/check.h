/* Error reports of the programs in this folder: every PE continues and fails at its end. */
#ifndef SHMEM_TEST_CHECK_H
#define SHMEM_TEST_CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(CONDITION)                                                                          \
    do {                                                                                          \
        if (!(CONDITION) && ++failures < 20)                                                      \
            fprintf(stderr, "PE %d: %s:%d: %s\n", shmem_my_pe(), __FILE__, __LINE__, #CONDITION); \
    } while (0)

/* One test of a program; the command line can select it by name. */
struct test {
    const char *name;
    void (*run)(void);
};

/* A row of a program's table of tests. */
#define TEST(NAME) \
    { #NAME, NAME }

/* Runs the tests named on the command line, else all; returns 0 if none failed. */
static inline int run_tests(const struct test *tests, size_t count, int argc, char **argv) {
    shmem_init();
    for (size_t i = 0; i < count; ++i) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; ++k)
            wanted |= strcmp(argv[k], tests[i].name) == 0;
        if (!wanted) continue;
        const int before = failures;
        tests[i].run();
        if (failures != before) fprintf(stderr, "PE %d: %s failed\n", shmem_my_pe(), tests[i].name);
        shmem_barrier_all();
    }
    shmem_finalize();
    return failures != 0;
}

#endif
