! Work items of uneven size are distributed by a counter to which all ranks add. Results go into a histogram by accumulate. A
! lock protects data of more than one word.
!     sennit run -n 4 counter
program counter
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer(c_int64_t), parameter :: items = 1000
  integer, parameter :: bins = 16

  ! Two words that belong together: the largest result so far, and its item.
  type, bind(C) :: record
    integer(c_int64_t) :: value = -1
    integer(c_int64_t) :: item = -1
  end type record

  type(sennit_gptr) :: counters, histogram, largest, next
  type(sennit_lock) :: lock
  type(record) :: mine
  integer(c_int32_t) :: counts(0:bins - 1)
  integer(c_int64_t) :: item, found
  integer :: keeper, bin

  call sennit_init()
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(item), 0, 0, counters)
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(counts), 0, 0, histogram)
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(mine), 0, 0, largest)
  call sennit_lock_create(SENNIT_TEAM_WORLD, lock)

  ! Rank 0 keeps the counter, the last rank the results.
  next = sennit_gptr_at(counters, 0)
  keeper = sennit_size() - 1
  counts = 0
  do
    call sennit_atomic_fetch_inc(next, item)
    if (item >= items) exit
    found = result_of(item)
    bin = int(modulo(found, int(bins, c_int64_t)))
    counts(bin) = counts(bin) + 1
    if (found > mine%value) mine = record(found, item)
  end do
  call sennit_accumulate(sennit_gptr_at(histogram, keeper), counts, bins, SENNIT_UINT32, SENNIT_SUM)
  call keep_if_largest(lock, sennit_gptr_at(largest, keeper), mine)
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  if (sennit_rank() == keeper) call check()
  call sennit_lock_destroy(lock)
  call sennit_free(largest)
  call sennit_free(histogram)
  call sennit_free(counters)
  call sennit_finalize()

contains

  pure function result_of(item) result(value)
    integer(c_int64_t), intent(in) :: item
    integer(c_int64_t) :: value
    value = modulo(item * item * 7919, 10007_c_int64_t)
  end function result_of

  subroutine keep_if_largest(lock, place, mine)
    type(sennit_lock), intent(in) :: lock
    type(sennit_gptr), intent(in) :: place
    type(record), intent(in) :: mine
    type(record) :: best
    call sennit_lock_acquire(lock, SENNIT_FOREVER)
    call sennit_get(best, place, c_sizeof(best))
    if (mine%value > best%value) call sennit_put(place, mine, c_sizeof(mine))
    call sennit_lock_release(lock)
  end subroutine keep_if_largest

  subroutine check()
    integer(c_int32_t), pointer :: all_counts(:)
    type(record), pointer :: best
    integer(c_int64_t) :: item
    call sennit_pointer(histogram, all_counts, [bins])
    call c_f_pointer(sennit_ptr(largest), best)
    call must_be(sum(all_counts) == items, 'every item in the histogram, once')
    call must_be(best%value == result_of(best%item), 'the largest result of its item')
    do item = 0, items - 1
      call must_be(result_of(item) <= best%value, 'the largest result')
    end do
    print '(i0,a,i0,a,i0)', sum(all_counts), ' items by ', sennit_size(), ' ranks; the largest result is ', best%value
  end subroutine check

end program counter
