! Step 3 of the tutorial: memory that other ranks can reach.
!     sennit run -n 4 03_memory
program memory
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: count = 8, bytes = 8
  type(sennit_gptr) :: row, on_zero, element
  real(c_double), pointer :: mine(:)
  integer :: rank, i
  integer(c_size_t) :: whole

  call sennit_init()
  rank = sennit_rank()

  ! Eight numbers on every rank. All ranks call this together.
  call sennit_alloc(SENNIT_TEAM_WORLD, count * bytes, 0, 0, row)

  ! This rank's piece is ordinary memory, zeroed. Here it is an array with lower bound 0.
  call sennit_pointer(row, mine, [count], lower=[0])
  mine = mine + [(100 * rank + i, i = 0, count - 1)]

  ! The same row on rank 0, and its element 3.
  on_zero = sennit_gptr_at(row, 0)
  element = sennit_gptr_add(on_zero, 3 * bytes)
  print '(4(a,i0))', 'rank ', rank, ': ', nint(mine(0)), '; element 3 of rank ', element%rank, ': byte ', element%offset

  call must_be(row%rank == rank, "the result of the allocation names the caller's own piece")
  call must_be(element%rank == 0 .and. element%offset == 3 * bytes, 'element 3 of rank 0')
  call sennit_segment_bytes(on_zero, whole)
  call must_be(whole == count * bytes, 'rank 0 has as much')
  call sennit_free(row)
  call sennit_finalize()
end program memory
