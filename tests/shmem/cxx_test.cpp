// The C++ forms, one of each shape: they only choose what the C programs test.
#include "check.h"
#include "forms.h"

namespace {

int me, next, before;
long words[4];
double numbers[4];
uint64_t signal_word;

void forms() {
    me = shmem_my_pe();
    const int pes = shmem_n_pes();
    next = (me + 1) % pes;
    before = (me + pes - 1) % pes;
    const double mine[4] = {me + 0.5, 1, 2, 3};
    shmem_put(numbers, mine, 2, next);
    shmem_put(SHMEM_CTX_DEFAULT, numbers + 2, mine + 2, 2, next);
    shmem_p(words, static_cast<long>(me), next);
    shmem_barrier_all();
    CHECK(numbers[0] == before + 0.5 && numbers[3] == 3 && words[0] == before);
    CHECK(shmem_g(SHMEM_CTX_DEFAULT, words, before) == (before + pes - 1) % pes);
    shmem_barrier_all();
    words[1] = 0;
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_atomic_add(words + 1, 2L, 0);
    shmem_atomic_inc(SHMEM_CTX_DEFAULT, words + 1, 0);
    shmem_barrier_all();
    CHECK(shmem_atomic_fetch(words + 1, 0) == 3L * pes);
    shmem_put_signal(numbers, mine, 1, &signal_word, 5, SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 5);
    CHECK(numbers[0] == before + 0.5);
    shmem_sync(SHMEM_TEAM_WORLD);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, numbers + 1, numbers + 2, 1) == 0);
    CHECK(numbers[1] == 2.0 * pes);
    CHECK(shmem_test(words, SHMEM_CMP_EQ, static_cast<long>(before)) == 1);
    shmem_wait_until(words, SHMEM_CMP_NE, -1L);
}

}  // namespace

int main(int argc, char **argv) {
    static const struct test tests[] = {{"forms", forms}, {"all_forms", all_forms}};
    return run_tests(tests, 2, argc, argv);
}
