/* Checks whether pointers lead to the variables and the heap of other PEs: statics_test.c
 * both|heap|none|off. The word says what is mapped; off: variables are not symmetric. Puts and
 * gets work in every case, so they do not show it. */
#include "check.h"

static long variable, initialised = 5;
static char zeros[100000];
static const char *mode;

/* A pointer to the next PE's memory: stores through it arrive, and loads through it return its
 * data. */
static void is_led_to(long *address, int next, int before) {
    const int me = shmem_my_pe();
    shmem_team_t backwards = SHMEM_TEAM_INVALID;
    const int pes = shmem_n_pes();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &backwards) == 0);
    long *const there = shmem_ptr(address, next);
    CHECK(there != NULL);
    CHECK(shmem_team_ptr(backwards, address, pes - 1 - next) == there);
    CHECK(shmem_team_ptr(backwards, address, pes) == NULL);
    *address = me + 100;
    shmem_barrier_all();
    if (there != NULL) CHECK(*there == next + 100);
    shmem_barrier_all();
    if (there != NULL) *there = me + 200;
    shmem_barrier_all();
    CHECK(*address == before + 200);
    shmem_team_destroy(backwards);
}

/* No pointer, but calls work. */
static void is_copied_to(long *address, int next, int before) {
    CHECK(shmem_ptr(address, next) == NULL);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, address, next) == NULL);
    CHECK(shmem_addr_accessible(address, next) == 1);
    *address = -1;
    shmem_barrier_all();
    shmem_long_p(address, shmem_my_pe() + 300, next);
    shmem_barrier_all();
    CHECK(*address == before + 300);
    CHECK(shmem_long_g(address, next) == shmem_my_pe() + 300);
}

static void pointers(void) {
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
    long *const heap = shmem_malloc(sizeof *heap);
    const int has_heap = strcmp(mode, "none") != 0, has_statics = strcmp(mode, "both") == 0;
    const int is_off = strcmp(mode, "off") == 0;
    (has_heap ? is_led_to : is_copied_to)(heap, next, before);
    long *const statics[] = {&variable, &initialised, (long *)(void *)(zeros + sizeof zeros - 32)};
    for (size_t i = 0; i < sizeof statics / sizeof *statics; ++i) {
        if (!is_off)
            (has_statics ? is_led_to : is_copied_to)(statics[i], next, before);
        else
            CHECK(shmem_ptr(statics[i], next) == NULL && shmem_ptr(statics[i], me) == NULL &&
                  shmem_addr_accessible(statics[i], me) == 0);
    }
    shmem_free(heap);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(pointers)};
    if (argc != 2) return 2;
    mode = argv[1];
    return run_tests(tests, 1, 1, argv);
}
