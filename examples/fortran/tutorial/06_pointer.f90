! Step 6 of the tutorial: another rank's memory as a Fortran pointer.
!     sennit run -n 4 06_pointer
program pointers
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 1000, bytes = 8
  type(sennit_gptr) :: row
  real(c_double), pointer :: mine(:)
  real(c_double) :: total
  integer :: rank, size, right

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, count * bytes, 0, 0, row)
  call sennit_pointer(row, mine, [count])
  mine = rank + 1
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  right = modulo(rank + 1, size)
  total = sum_of(row, right)
  call must_be(nint(total) == count * (right + 1), "the sum of the right rank's row")
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ': sum of rank ', right, ': ', nint(total)

  call sennit_free(row)
  call sennit_finalize()

contains

  ! The sum of a row of some rank: in place if loads reach it, otherwise from a copy.
  function sum_of(row, owner) result(total)
    type(sennit_gptr), intent(in) :: row
    integer, intent(in) :: owner
    real(c_double) :: total
    type(sennit_gptr) :: there
    real(c_double), pointer :: values(:)
    real(c_double) :: copy(count)
    integer :: status
    there = sennit_gptr_at(row, owner)
    call sennit_pointer(there, values, [count], stat=status)
    if (status == SENNIT_OK) then
      total = sum(values)
    else ! the reason is in sennit_last_error()
      call sennit_get(copy, there, c_sizeof(copy))
      total = sum(copy)
    end if
  end function sum_of

end program pointers
