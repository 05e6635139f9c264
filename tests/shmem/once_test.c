/* A put, a get or an element of the size of a word is one store: a program may wait for the word
 * and reset it at once. Checked by single steps: after each instruction a handler counts and
 * resets the word if it has been stored. */
#include <signal.h>

#include "check.h"

static long target[2], source[2];
static int is_counting, stores;

static void step(int number) {
    (void)number;
    if (!is_counting || target[0] == 0) return;
    target[0] = 0;
    ++stores;
}

/* Sets the trap flag: a signal after each instruction. */
static void begin_steps(void) {
    stores = 0;
    is_counting = 1;
    __asm__ __volatile__(
        "leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
        "%%rsp" ::
            : "cc", "memory");
}
static void end_steps(void) {
    __asm__ __volatile__(
        "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
        "%%rsp" ::
            : "cc", "memory");
    is_counting = 0;
}

#define ONCE(...)                                                                  \
    do {                                                                           \
        target[0] = 0;                                                             \
        begin_steps();                                                             \
        __VA_ARGS__;                                                               \
        end_steps();                                                               \
        if (stores != 1) fprintf(stderr, "%d stores: %s\n", stores, #__VA_ARGS__); \
        CHECK(stores == 1);                                                        \
    } while (0)

static void once(void) {
    const int me = shmem_my_pe();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = step;
    sigaction(SIGTRAP, &action, NULL);
    source[0] = source[1] = 0x0101010101010101;
    ONCE(shmem_long_put(target, source, 1, me));
    ONCE(shmem_long_put_nbi(target, source, 1, me));
    ONCE(shmem_long_get(target, source, 1, me));
    ONCE(shmem_long_p(target, source[0], me));
    ONCE(shmem_long_iput(target, source, 1, 1, 2, me));
    ONCE(shmem_int_put((int *)target, (int *)source, 1, me));
    ONCE(shmem_int_get((int *)target, (int *)source, 1, me));
    ONCE(shmem_short_put((short *)target, (short *)source, 1, me));
    ONCE(shmem_short_p((short *)target, 1, me));
    ONCE(shmem_putmem(target, source, 8, me));
    ONCE(shmem_putmem(target, source, 4, me));
    ONCE(shmem_put32(target, source, 1, me));
    ONCE(shmem_put64_nbi(target, source, 1, me));
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(once)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
