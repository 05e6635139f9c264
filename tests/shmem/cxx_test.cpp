// The C++ forms, one of each shape: they only select functions that the C programs test.
#include <type_traits>

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

// Words that the program declares volatile, as programs for older versions of the standard do.
std::add_volatile<long>::type flag;
std::add_volatile<int>::type flags[2];
std::add_volatile<uint64_t>::type volatile_signal;
std::add_volatile<long>::type lock;

void volatile_words() {
    const int mine[2] = {me, me};
    flag = 0;
    flags[0] = 0;
    flags[1] = 0;
    volatile_signal = 0;
    shmem_barrier_all();
    shmem_p(&flag, 7L, next);
    shmem_atomic_add(SHMEM_CTX_DEFAULT, &flags[0], 3, next);
    shmem_atomic_set(&flags[1], 4, next);
    shmem_signal_set(&volatile_signal, 5, next);
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 7);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
    shmem_int_wait_until(&flags[0], SHMEM_CMP_EQ, 3);
    shmem_wait_until_all(flags, 2, nullptr, SHMEM_CMP_GT, 2);
    CHECK(shmem_int_test_all(flags, 2, nullptr, SHMEM_CMP_GT, 2) == 1);
    CHECK(shmem_test(flags, SHMEM_CMP_EQ, 3) == 1 && shmem_int_test(flags, SHMEM_CMP_EQ, 4) == 0);
    CHECK(shmem_signal_wait_until(&volatile_signal, SHMEM_CMP_NE, 0) == 5);
    CHECK(shmem_signal_fetch(&volatile_signal) == 5);
    CHECK(shmem_g(&flag, next) == 7 && shmem_atomic_fetch(&flags[1], next) == 4);
    shmem_set_lock(&lock);
    CHECK(shmem_test_lock(&lock) == 1);
    shmem_clear_lock(&lock);
    shmem_long_wait(&flag, 8);
    shmem_wait(&flag, 8);
    // The forms for other words accept a value of another type without ambiguity.
    CHECK(shmem_test(words, SHMEM_CMP_GE, mine[0] - mine[1]) >= 0);
    shmem_barrier_all();
}

}  // namespace

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"forms", forms}, {"all_forms", all_forms}, {"volatile_words", volatile_words}};
    return run_tests(tests, 3, argc, argv);
}
