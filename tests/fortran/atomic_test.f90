! Atomic operations by their generic names, for each type, and accumulates. Breaks when a generic name calls the function of another
! type, or an operand or old value is passed wrongly. First each rank works alone on a word of the next rank; then all work on one
! word.
program atomic_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  type(sennit_gptr) :: memory, next
  integer :: rank, size

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, 1024, 64, SENNIT_ALLOC_RESERVE, memory)
  next = sennit_gptr_at(memory, modulo(rank + 1, size))
  call integers_of_4_bytes('4 bytes: ')
  call integers_of_8_bytes('8 bytes: ')
  call floats_of_4_bytes('4 bytes: ')
  call floats_of_8_bytes('8 bytes: ')
  call words_are_incremented_by_their_type()
  call unsigned_words_have_the_same_bits()
  call arrays_are_accumulated()
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call a_word_tells_of_a_put()
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call all_ranks_add_to_one_word()
  call sennit_free(memory)
  call sennit_finalize()
  call end_of_test()

contains

  subroutine integers_of_4_bytes(what)
    character(*), intent(in) :: what
    integer, parameter :: kind_of_word = c_int32_t
    include 'atomic_integer.inc'
  end subroutine integers_of_4_bytes

  subroutine integers_of_8_bytes(what)
    character(*), intent(in) :: what
    integer, parameter :: kind_of_word = c_int64_t
    include 'atomic_integer.inc'
    call sennit_atomic_set(next, 2_c_int64_t**40)
    call sennit_atomic_fetch(next, old)
    call check(old == 2_c_int64_t**40, what // 'a number of more than 4 bytes')
  end subroutine integers_of_8_bytes

  subroutine floats_of_4_bytes(what)
    character(*), intent(in) :: what
    integer, parameter :: kind_of_word = c_float
    include 'atomic_float.inc'
  end subroutine floats_of_4_bytes

  subroutine floats_of_8_bytes(what)
    character(*), intent(in) :: what
    integer, parameter :: kind_of_word = c_double
    include 'atomic_float.inc'
  end subroutine floats_of_8_bytes

  subroutine words_are_incremented_by_their_type()
    integer(c_int32_t) :: small
    integer(c_int64_t) :: large
    call sennit_atomic_set(next, -1_c_int64_t)
    call sennit_atomic_inc_i32(next)
    call sennit_atomic_fetch(next, large)
    call check(large == -4294967296_c_int64_t, 'only the lower 4 bytes change')
    call sennit_atomic_inc_i64(next)
    call sennit_atomic_inc_i32_nbi(next)
    call sennit_atomic_inc_i64_nbi(next)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_atomic_fetch(next, small)
    call check(small == 3, 'three increments')
  end subroutine words_are_incremented_by_their_type

  subroutine unsigned_words_have_the_same_bits()
    integer(c_int32_t) :: old
    call sennit_atomic_set(next, huge(old))
    call sennit_atomic_fetch_add(next, 1, old)
    call sennit_atomic_fetch(next, old)
    call check(old == -huge(old) - 1, 'the sum wraps around')
  end subroutine unsigned_words_have_the_same_bits

  subroutine arrays_are_accumulated()
    integer(c_int32_t), asynchronous :: terms(3), old(3), back(3)
    type(sennit_request) :: request
    call sennit_put(next, [1, 2, 3], 12)
    terms = [10, 20, 30]
    call sennit_accumulate(next, terms, 3, SENNIT_INT32, SENNIT_SUM)
    call sennit_accumulate_nb(next, terms, 3, SENNIT_INT32, SENNIT_SUM, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_accumulate_nbi(next, terms, 3_c_size_t, SENNIT_INT32, SENNIT_MAX)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get_accumulate(next, terms, old, 3, SENNIT_INT32, SENNIT_REPLACE)
    call check(all(old == [21, 42, 63]), 'two sums and a maximum')
    call sennit_get_accumulate_nbi(next, terms, old, 3, SENNIT_INT32, SENNIT_NO_OP)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get(back, next, 12)
    call check(all(old == terms) .and. all(back == terms), 'the replaced array')
  end subroutine arrays_are_accumulated

  subroutine a_word_tells_of_a_put()
    integer(c_int32_t), asynchronous :: terms(2), back(2)
    integer(c_int64_t) :: word
    terms = [5, 6]
    call sennit_atomic_set(next, 0_c_int64_t)
    call sennit_put_word(sennit_gptr_add(next, 8), terms, 8, next, SENNIT_SUM, 3)
    call sennit_put_word_nbi(sennit_gptr_add(next, 8), terms, 8_c_size_t, next, SENNIT_SUM, 4_c_int64_t)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_atomic_fetch(next, word)
    call sennit_get(back, sennit_gptr_add(next, 8), 8)
    call check(word == 7 .and. all(back == terms), 'two puts and the sum in their word')
  end subroutine a_word_tells_of_a_put

  subroutine all_ranks_add_to_one_word()
    integer(c_int64_t) :: total
    integer :: i
    call sennit_atomic_set(next, 0_c_int64_t)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    do i = 1, 100
      call sennit_atomic_add(sennit_gptr_at(memory, 0), int(rank + 1, c_int64_t))
    end do
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    call sennit_atomic_fetch(sennit_gptr_at(memory, 0), total)
    call check(total == 50 * size * (size + 1), 'no addition is lost')
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  end subroutine all_ranks_add_to_one_word

end program atomic_test
