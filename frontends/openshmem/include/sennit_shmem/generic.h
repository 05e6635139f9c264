/* The C11 forms: macros that choose a function by the type of a pointer's target. The number of
 * arguments shows whether the first one is a context. The macros need _Generic: C11, or a compiler
 * that has it in older C too.
 */
#ifndef SENNIT_SHMEM_GENERIC_H
#define SENNIT_SHMEM_GENERIC_H

#pragma GCC system_header

#include <sennit_shmem/short_sets.h>

#define SENNIT_SHMEM_ASSOCIATE(T, N, BEFORE, AFTER) , T : BEFORE##N##AFTER

/* A macro calls the first function for a type that has no form, and the second for a wrong number
 * of arguments. Both take no arguments, so the call does not compile, and the compiler's message
 * shows the name of the function. */
void sennit_shmem_has_no_form_for_this_type(void);
void sennit_shmem_wrong_number_of_arguments(void);

/* The function for the type of the first pointer. This is argument 1, or argument 2 if argument 1
 * is a context or a team. */
#define SENNIT_SHMEM_OF_FIRST(TABLE, VERB, A, ...)                    \
    _Generic(*(A)TABLE(SENNIT_SHMEM_ASSOCIATE, shmem_, VERB), default \
             : sennit_shmem_has_no_form_for_this_type)(A, __VA_ARGS__)
#define SENNIT_SHMEM_OF_SECOND(TABLE, VERB, TEAM, A, ...)             \
    _Generic(*(A)TABLE(SENNIT_SHMEM_ASSOCIATE, shmem_, VERB), default \
             : sennit_shmem_has_no_form_for_this_type)(TEAM, A, __VA_ARGS__)
#define SENNIT_SHMEM_OF_CTX(TABLE, VERB, CTX, A, ...)                     \
    _Generic(*(A)TABLE(SENNIT_SHMEM_ASSOCIATE, shmem_ctx_, VERB), default \
             : sennit_shmem_has_no_form_for_this_type)(CTX, A, __VA_ARGS__)

/* SENNIT_SHMEM_BY_N gives PLAIN for N arguments, WITH for N + 1, and MISCOUNT for other numbers up
 * to 8. */
#define SENNIT_SHMEM_MISCOUNT(...) sennit_shmem_wrong_number_of_arguments(1)
#define SENNIT_SHMEM_MISCOUNT_1 SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_MISCOUNT_2 SENNIT_SHMEM_MISCOUNT_1, SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_MISCOUNT_3 SENNIT_SHMEM_MISCOUNT_2, SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_MISCOUNT_4 SENNIT_SHMEM_MISCOUNT_3, SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_MISCOUNT_5 SENNIT_SHMEM_MISCOUNT_4, SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_MISCOUNT_6 SENNIT_SHMEM_MISCOUNT_5, SENNIT_SHMEM_MISCOUNT
#define SENNIT_SHMEM_NINTH(A, B, C, D, E, F, G, H, I, ...) I
#define SENNIT_SHMEM_PICK_OF(...) SENNIT_SHMEM_NINTH(__VA_ARGS__)
#define SENNIT_SHMEM_PICK(...) SENNIT_SHMEM_PICK_OF(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_6, 0)
#define SENNIT_SHMEM_BY_2(PLAIN, WITH, ...) \
    SENNIT_SHMEM_PICK(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_5, WITH, PLAIN)
#define SENNIT_SHMEM_BY_3(PLAIN, WITH, ...) \
    SENNIT_SHMEM_PICK(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_4, WITH, PLAIN)
#define SENNIT_SHMEM_BY_4(PLAIN, WITH, ...) \
    SENNIT_SHMEM_PICK(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_3, WITH, PLAIN)
#define SENNIT_SHMEM_BY_5(PLAIN, WITH, ...) \
    SENNIT_SHMEM_PICK(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_2, WITH, PLAIN)
#define SENNIT_SHMEM_BY_6(PLAIN, WITH, ...) \
    SENNIT_SHMEM_PICK(__VA_ARGS__, SENNIT_SHMEM_MISCOUNT_1, WITH, PLAIN)
#define SENNIT_SHMEM_BY_7(PLAIN, WITH, ...) SENNIT_SHMEM_PICK(__VA_ARGS__, WITH, PLAIN)
#define SENNIT_SHMEM_CHOOSE(COUNT, TABLE, VERB, ...)                                  \
    SENNIT_SHMEM_BY_##COUNT(SENNIT_SHMEM_OF_FIRST, SENNIT_SHMEM_OF_CTX, __VA_ARGS__)( \
        SENNIT_SHMEM_##TABLE##_KINDS, VERB, __VA_ARGS__)

#define shmem_put(...) SENNIT_SHMEM_CHOOSE(4, RMA, _put, __VA_ARGS__)
#define shmem_get(...) SENNIT_SHMEM_CHOOSE(4, RMA, _get, __VA_ARGS__)
#define shmem_put_nbi(...) SENNIT_SHMEM_CHOOSE(4, RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SENNIT_SHMEM_CHOOSE(4, RMA, _get_nbi, __VA_ARGS__)
#define shmem_p(...) SENNIT_SHMEM_CHOOSE(3, RMA, _p, __VA_ARGS__)
#define shmem_g(...) SENNIT_SHMEM_CHOOSE(2, RMA, _g, __VA_ARGS__)
#define shmem_iput(...) SENNIT_SHMEM_CHOOSE(6, RMA, _iput, __VA_ARGS__)
#define shmem_iget(...) SENNIT_SHMEM_CHOOSE(6, RMA, _iget, __VA_ARGS__)
#define shmem_ibput(...) SENNIT_SHMEM_CHOOSE(7, RMA, _ibput, __VA_ARGS__)
#define shmem_ibget(...) SENNIT_SHMEM_CHOOSE(7, RMA, _ibget, __VA_ARGS__)
#define shmem_put_signal(...) SENNIT_SHMEM_CHOOSE(7, RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SENNIT_SHMEM_CHOOSE(7, RMA, _put_signal_nbi, __VA_ARGS__)

#define shmem_atomic_fetch(...) SENNIT_SHMEM_CHOOSE(2, EXTENDED, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SENNIT_SHMEM_CHOOSE(3, EXTENDED, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SENNIT_SHMEM_CHOOSE(3, EXTENDED, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) \
    SENNIT_SHMEM_CHOOSE(4, AMO, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SENNIT_SHMEM_CHOOSE(2, AMO, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SENNIT_SHMEM_CHOOSE(2, AMO, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SENNIT_SHMEM_CHOOSE(3, AMO, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SENNIT_SHMEM_CHOOSE(3, AMO, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SENNIT_SHMEM_CHOOSE(3, BITWISE, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) SENNIT_SHMEM_CHOOSE(3, EXTENDED, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SENNIT_SHMEM_CHOOSE(4, EXTENDED, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
    SENNIT_SHMEM_CHOOSE(5, AMO, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) \
    SENNIT_SHMEM_CHOOSE(3, AMO, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) \
    SENNIT_SHMEM_CHOOSE(4, AMO, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
    SENNIT_SHMEM_CHOOSE(4, BITWISE, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
    SENNIT_SHMEM_CHOOSE(4, BITWISE, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
    SENNIT_SHMEM_CHOOSE(4, BITWISE, _atomic_fetch_xor_nbi, __VA_ARGS__)

#define shmem_signal_add(...) \
    SENNIT_SHMEM_BY_3(shmem_signal_add, shmem_ctx_signal_add, __VA_ARGS__)(__VA_ARGS__)
#define shmem_signal_set(...) \
    SENNIT_SHMEM_BY_3(shmem_signal_set, shmem_ctx_signal_set, __VA_ARGS__)(__VA_ARGS__)

/* Older names of atomic operations. */
#define SENNIT_SHMEM_OLD(TABLE, VERB, ...) \
    SENNIT_SHMEM_OF_FIRST(SENNIT_SHMEM_OLD_##TABLE, VERB, __VA_ARGS__)
#define shmem_fetch(...) SENNIT_SHMEM_OLD(EXTENDED, _fetch, __VA_ARGS__)
#define shmem_set(...) SENNIT_SHMEM_OLD(EXTENDED, _set, __VA_ARGS__)
#define shmem_swap(...) SENNIT_SHMEM_OLD(EXTENDED, _swap, __VA_ARGS__)
#define shmem_cswap(...) SENNIT_SHMEM_OLD(AMO, _cswap, __VA_ARGS__)
#define shmem_finc(...) SENNIT_SHMEM_OLD(AMO, _finc, __VA_ARGS__)
#define shmem_inc(...) SENNIT_SHMEM_OLD(AMO, _inc, __VA_ARGS__)
#define shmem_fadd(...) SENNIT_SHMEM_OLD(AMO, _fadd, __VA_ARGS__)
#define shmem_add(...) SENNIT_SHMEM_OLD(AMO, _add, __VA_ARGS__)

/* Waiting and testing. */
#define SENNIT_SHMEM_TEST_KINDS(USE, ...) \
    SENNIT_SHMEM_AMO_KINDS(USE, __VA_ARGS__) SENNIT_SHMEM_OLD_TEST(USE, __VA_ARGS__)
#define SENNIT_SHMEM_TESTS(TABLE, VERB, ...) \
    SENNIT_SHMEM_OF_FIRST(SENNIT_SHMEM_##TABLE##_KINDS, VERB, __VA_ARGS__)
#define shmem_wait_until(...) SENNIT_SHMEM_TESTS(TEST, _wait_until, __VA_ARGS__)
#define shmem_test(...) SENNIT_SHMEM_TESTS(TEST, _test, __VA_ARGS__)
#define SENNIT_SHMEM_SETS_KINDS(USE, ...)    \
    SENNIT_SHMEM_AMO_KINDS(USE, __VA_ARGS__) \
    USE(short, short_set, __VA_ARGS__) USE(unsigned short, ushort_set, __VA_ARGS__)
#define shmem_wait_until_all(...) SENNIT_SHMEM_TESTS(SETS, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SENNIT_SHMEM_TESTS(SETS, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SENNIT_SHMEM_TESTS(SETS, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) \
    SENNIT_SHMEM_TESTS(AMO, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) \
    SENNIT_SHMEM_TESTS(AMO, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
    SENNIT_SHMEM_TESTS(AMO, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...) SENNIT_SHMEM_TESTS(SETS, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SENNIT_SHMEM_TESTS(SETS, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SENNIT_SHMEM_TESTS(SETS, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SENNIT_SHMEM_TESTS(AMO, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SENNIT_SHMEM_TESTS(AMO, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SENNIT_SHMEM_TESTS(AMO, _test_some_vector, __VA_ARGS__)

/* Collective calls of teams. */
#define SENNIT_SHMEM_BY_TEAM(TABLE, VERB, ...) \
    SENNIT_SHMEM_OF_SECOND(SENNIT_SHMEM_##TABLE##_KINDS, VERB, __VA_ARGS__)
#define shmem_broadcast(...) SENNIT_SHMEM_BY_TEAM(RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...) SENNIT_SHMEM_BY_TEAM(RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SENNIT_SHMEM_BY_TEAM(RMA, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) SENNIT_SHMEM_BY_TEAM(RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SENNIT_SHMEM_BY_TEAM(RMA, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) SENNIT_SHMEM_BY_TEAM(REDUCE_BITS, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SENNIT_SHMEM_BY_TEAM(REDUCE_BITS, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SENNIT_SHMEM_BY_TEAM(REDUCE_BITS, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SENNIT_SHMEM_BY_TEAM(RMA, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SENNIT_SHMEM_BY_TEAM(RMA, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SENNIT_SHMEM_BY_TEAM(REDUCE_SUM, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SENNIT_SHMEM_BY_TEAM(REDUCE_SUM, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) SENNIT_SHMEM_BY_TEAM(REDUCE_SUM, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) SENNIT_SHMEM_BY_TEAM(REDUCE_SUM, _sum_exscan, __VA_ARGS__)

/* With one argument shmem_sync() is shmem_team_sync(); with four it is the function of active sets.
 */
#define SENNIT_SHMEM_FIFTH(A, B, C, D, E, ...) E
#define shmem_sync(...) \
    SENNIT_SHMEM_FIFTH(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

#endif
