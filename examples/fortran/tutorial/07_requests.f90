! Step 7 of the tutorial: several transfers at the same time, and work meanwhile.
!     sennit run -n 4 07_requests
program requests_example
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 1000, bytes = 8
  type(sennit_gptr) :: rows, from_left, from_right ! a row from the left, a row from the right
  type(sennit_request) :: requests(2)
  real(c_double), asynchronous :: mine(count) ! tells the compiler that calls may use it later
  real(c_double), pointer :: came(:)
  real(c_double) :: work_done
  integer :: rank, size, right, left

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  right = modulo(rank + 1, size)
  left = modulo(rank - 1, size)
  call sennit_alloc(SENNIT_TEAM_WORLD, 2 * count * bytes, 0, 0, rows)
  from_left = rows
  from_right = sennit_gptr_add(rows, count * bytes)
  mine = rank

  ! Started now, complete when the wait has returned. Until then `mine` must not change.
  call sennit_put_nb(sennit_gptr_at(from_left, right), mine, count * bytes, requests(1))
  call sennit_put_nb(sennit_gptr_at(from_right, left), mine, count * bytes, requests(2))
  work_done = work()
  call sennit_wait_all(2, requests, SENNIT_FOREVER)

  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_pointer(rows, came, [2 * count])
  call must_be(nint(came(count)) == left .and. nint(came(count + 1)) == right, 'both rows have come')
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! all ranks have checked

  mine = -rank
  ! The same without requests: the barrier completes this rank's operations.
  call sennit_put_nbi(sennit_gptr_at(from_left, right), mine, count * bytes)
  call sennit_put_nbi(sennit_gptr_at(from_right, left), mine, count * bytes)
  work_done = work_done + work()
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)

  call must_be(nint(came(1)) == -left .and. nint(came(2 * count)) == -right, 'both rows have come again')
  call must_be(work_done > 24.1 .and. work_done < 24.2, 'the work was done')
  if (rank == 0) print '(i0,a,i0,a)', size, ' ranks sent ', count, ' numbers both ways, twice'

  call sennit_free(rows)
  call sennit_finalize()

contains

  function work() result(total)
    real(c_double) :: total
    integer :: i
    total = 0
    do i = 1, 100000
      total = total + 1 / real(i, c_double)
    end do
  end function work

end program requests_example
